#include "linear/glm/descent.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/fail.hpp"
#include "linear/losses/terms.hpp"

namespace sheaf::linear {
namespace {

constexpr double armijo = 1e-4;
constexpr double flat = 0.9;  // a slope that is so much smaller ends a line search
constexpr int most_trials = 40;
/// Mean losses from here on have rows whose mean the family does not have: each of them costs `forbidden`.
constexpr double no_likelihood = 1e-12 * forbidden;
constexpr int refresh_every = 64;  // steps, after which z is computed from w again

/// The search for a length along one direction: a bracket of the minimum, made smaller by the slopes at its ends. An
/// end that stays twice has its slope halved (Dowell and Jarratt 1971, the Illinois method), lest the other one comes
/// nearer by ever smaller steps. The objective is convex.
class LineSearch {
 public:
  static constexpr double first_length = 1;

  LineSearch(double f, double slope, double noise) : f_(f), slope_(slope), low_slope_(slope), noise_(noise) {}
  bool done() const { return done_; }
  double length() const { return length_; }
  /// The objective and its slope at length().
  void tried(double f, double slope) {
    if (!(slope_ < 0)) return give_up();
    const bool falls = f <= f_ + armijo * length_ * slope_ + noise_;
    if (falls && std::abs(slope) <= flat * std::abs(slope_)) return accept(f);
    const bool moves_low = falls && slope < 0;
    if (moves_low) {
      low_ = length_;
      low_slope_ = slope;
      low_f_ = f;
      if (trials_ > 0 && moved_low_) high_slope_ /= 2;
    } else {
      high_ = length_;
      high_slope_ = slope;
      if (trials_ > 0 && !moved_low_) low_slope_ /= 2;
    }
    moved_low_ = moves_low;
    if (++trials_ >= most_trials) return give_up();
    length_ = next();
  }
  /// The objective at length(), once it is done; f if no step is taken.
  double value() const { return value_; }
  /// Whether length() differs from the last trial.
  bool gave_up() const { return gave_up_; }

 private:
  double next() const {
    if (!std::isfinite(high_)) return 2 * length_;
    const double width = high_ - low_;
    const double secant = high_slope_ > 0 ? -low_slope_ / (high_slope_ - low_slope_) : 0.5;
    return low_ + width * std::clamp(std::isfinite(secant) ? secant : 0.1, 0.1, 0.9);
  }
  void accept(double f) {
    done_ = true;
    value_ = f;
  }
  /// The best end of the bracket, which may be where it began.
  void give_up() {
    gave_up_ = true;
    length_ = low_;
    accept(low_ > 0 ? low_f_ : f_);
  }

  double f_, slope_;
  double low_ = 0, low_slope_, low_f_ = 0;
  double high_ = std::numeric_limits<double>::infinity(), high_slope_ = 0;
  double noise_;
  double length_ = first_length;
  double value_ = 0;
  int trials_ = 0;
  bool moved_low_ = false;  // by the last trial
  bool done_ = false;
  bool gave_up_ = false;
};

}  // namespace

template <class T>
Descent<T>::Descent(const Context& context, Objective<T>& objective, Round round)
    : context_(context), objective_(objective) {
  for (std::int32_t t = 0; t < round.count; ++t) {
    State state;
    state.task = round.first + t;
    states_.push_back(state);
  }
  choose();
  for (Block<T>* block : {&w_, &g_, &d_}) *block = objective.weights_block();
  for (Block<T>* block : {&z_, &u_, &second_, &q_, &step_}) *block = objective.examples_block();
}

template <class T>
std::vector<std::int32_t> Descent<T>::sheaf_tasks() const {
  std::vector<std::int32_t> tasks;
  for (const State& state : states_) tasks.push_back(state.task);
  return tasks;
}

template <class T>
void Descent<T>::choose() {
  objective_.choose(sheaf_tasks());
}

/// At these weights, one or more columns a task.
template <class T>
void Descent<T>::begin_at(const Block<T>& weights) {
  w_ = weights.to(ops().device());
  objective_.apply(w_, z_);
  std::vector<double> values(tasks());
  objective_.losses(z_.view(), {}, {}, values, u_.view(), second_.view());
  const auto w = objective_.penalised(w_);
  const auto squares = objective_.dots(std::vector<Dot<T>>{{w, w}});
  for (std::size_t t = 0; t < tasks(); ++t) states_[t].f = values[t] + objective_.alphas()[t] / 2 * squares[t];
  objective_.gradient(u_, w_, g_);
}

/// At the models without features, or at the weights that were given; how small a gradient ends training is a share of
/// that of the former in either case.
template <class T>
void Descent<T>::begin() {
  Block<T> start(ops().weights(), w_.tasks());
  for (std::size_t t = 0; t < tasks() && objective_.params().intercept; ++t) {
    const auto null = objective_.null_model(states_[t].task);
    for (std::size_t k = 0; k < null.intercepts.size(); ++k)
      start(ops().weights() - 1, static_cast<std::int32_t>(t * null.intercepts.size() + k)) =
          static_cast<T>(null.intercepts[k]);
  }
  begin_at(start);
  const auto& given = objective_.params().start;
  if (given.empty()) return;
  const auto measures = find_directions();
  for (std::size_t t = 0; t < tasks(); ++t) set_start(t, measures[t]);
  const auto width = static_cast<std::size_t>(objective_.columns());
  for (std::size_t j = 0; j < given.size(); ++j)
    for (std::size_t t = 0; t < tasks(); ++t)
      start(static_cast<std::int64_t>(j / width), static_cast<std::int32_t>(t * width + j % width)) =
          static_cast<T>(given[j]);
  begin_at(start);
  for (const State& state : states_)
    if (!(state.f < no_likelihood))
      fail_usage("at the weights that training is to start from (start), a row's mean is not one that the family has");
}

template <class T>
void Descent<T>::run(Fits<T>& fits) {
  begin();
  while (true) {
    context_.check_stop();
    const bool ended = check(find_directions());
    if (ended) compact(fits);
    if (states_.empty()) return;
    search_lines();
  }
}

/// A second stopping test for classes, whose least loss is 0: with a small penalty the least objective is a small share
/// of the objective at the start, and a gradient that is small relative to the first one proves little. The last eighth
/// of the steps counts: short steps follow one another where curvatures differ much. Without a penalty there may be no
/// minimum.
template <class T>
bool Descent<T>::gained_little(const State& state) const {
  const auto& params = objective_.params();
  const bool classes = objective_.multinomial() || params.loss == Loss::logistic;
  if (!classes || !(objective_.sheaf().tasks[static_cast<std::size_t>(state.task)].alpha > 0)) return true;
  constexpr double noise = 10 * static_cast<double>(std::numeric_limits<T>::epsilon());
  const auto steps = std::ssize(state.objectives) - 1;
  if (steps < 1) return true;
  const double before = state.objectives[static_cast<std::size_t>(steps - std::max<std::ptrdiff_t>(1, steps / 8))];
  return before - state.f <= std::max(relative_tolerance(), noise) * state.f;
}

/// Marks the tasks that have finished; returns whether there are any.
template <class T>
bool Descent<T>::check(const std::vector<double>& measures) {
  const double relative = relative_tolerance();
  bool ended = false;
  for (std::size_t t = 0; t < tasks(); ++t) {
    State& state = states_[t];
    if (state.start < 0) state.start = measures[t];
    const double rounding = 10 * static_cast<double>(std::numeric_limits<T>::epsilon()) * (1 + std::abs(state.f));
    state.objectives.push_back(state.f);
    state.fit.objective = state.f;
    state.fit.gradient_norm = state.start > 0 ? measures[t] / state.start : 0.0;
    state.fit.tolerance = relative;
    state.fit.converged = measures[t] <= rounding || (measures[t] <= relative * state.start && gained_little(state));
    const bool stuck = state.fit.iterations > 0 && state.length == 0;
    state.finished = state.fit.converged || stuck || state.fit.iterations >= objective_.params().max_iterations ||
                     !std::isfinite(measures[t]);
    if (objective_.params().on_step) objective_.params().on_step(state.task, state.fit);
    context_.progress().advance(state.progress.approach(state.fit.gradient_norm, relative));
    ended = ended || state.finished;
  }
  return ended;
}

/// f(length) = mean loss at z + length q + alpha / 2 |w + length d|^2: no product with X but q = X d.
template <class T>
void Descent<T>::search_lines() {
  ops().multiply(d_.view(), q_.view());
  const auto w = objective_.penalised(w_);
  const auto d = objective_.penalised(d_);
  const std::vector<Dot<T>> at_start{{g_.view(), d_.view()}, {w, w}, {w, d}, {d, d}};
  const auto& alphas = objective_.alphas();
  std::vector<double> start;  // these inner products
  std::vector<LineSearch> lines;
  std::vector<std::uint8_t> going(tasks(), 1);
  const std::vector<double> zeros(tasks(), 0.0);
  std::vector<double> lengths(tasks(), LineSearch::first_length);
  while (std::any_of(going.begin(), going.end(), [](auto flag) { return flag != 0; })) {
    context_.check_stop();
    objective_.combine(lengths, q_.view(), zeros, step_.view());
    std::vector<double> values(tasks());
    ops().delay_sums(true);
    objective_.losses(z_.view(), step_.view(), going, values, u_.view(), second_.view());
    ops().delay_sums(false);
    std::vector<Dot<T>> products{{u_.view(), q_.view(), {}, true}};
    const bool first = lines.empty();
    if (first) products.insert(products.end(), at_start.begin(), at_start.end());  // all sums come at once
    const auto sums = objective_.dots(products);                                   // `values` too are there now
    if (first) start.assign(sums.begin() + static_cast<std::ptrdiff_t>(tasks()), sums.end());
    for (std::size_t t = 0; t < tasks(); ++t) {
      if (first) {
        const double noise = 10 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(states_[t].f);
        lines.emplace_back(states_[t].f, start[t], noise);
      }
      if (going[t] == 0) continue;
      const double ww = start[tasks() + t], wd = start[2 * tasks() + t], dd = start[3 * tasks() + t];
      const double length = lengths[t];
      lines[t].tried(values[t] + alphas[t] / 2 * (ww + 2 * length * wd + length * length * dd),
                     sums[t] + alphas[t] * (wd + length * dd));
      going[t] = lines[t].done() ? 0 : 1;
      lengths[t] = lines[t].length();
    }
  }
  for (std::size_t t = 0; t < tasks(); ++t) {
    states_[t].length = lengths[t];
    if (lengths[t] > 0) states_[t].f = lines[t].value();
  }
  move(lengths, std::any_of(lines.begin(), lines.end(), [](const auto& line) { return line.gave_up(); }));
}

/// Slopes and second derivatives are those of the last trial already, unless that is `stale`.
template <class T>
void Descent<T>::move(std::span<const double> lengths, bool stale) {
  const std::vector<double> ones(tasks(), 1.0);
  objective_.combine(lengths, d_.view(), ones, w_.view());
  objective_.combine(lengths, q_.view(), ones, z_.view());
  int most = 0;
  for (std::size_t t = 0; t < tasks(); ++t) {
    most = std::max(most, ++states_[t].fit.iterations);
    count_products(t, 1);
  }
  const bool refreshed = most % refresh_every == 0;
  if (refreshed) objective_.apply(w_, z_);
  std::vector<double> values(tasks());
  if (refreshed || stale) objective_.losses(z_.view(), {}, {}, values, u_.view(), second_.view());
  objective_.gradient(u_, w_, g_);
}

template <class T>
void Descent<T>::keep_block(Block<T>& block, std::span<const std::int32_t> places) const {
  block = kept_columns(ops(), block, objective_.columns_of(places));
}

/// The weights of finished tasks go to the results, and the others move together.
template <class T>
void Descent<T>::compact(Fits<T>& fits) {
  std::vector<std::int32_t> finished;
  std::vector<std::int32_t> going;
  for (std::size_t t = 0; t < tasks(); ++t)
    (states_[t].finished ? finished : going).push_back(static_cast<std::int32_t>(t));
  const std::int32_t width = objective_.columns();
  const Block<T> weights = kept_columns(ops(), w_, objective_.columns_of(finished)).to(Device::cpu());
  for (std::size_t k = 0; k < finished.size(); ++k) {
    State& state = states_[static_cast<std::size_t>(finished[k])];
    fits.tasks[static_cast<std::size_t>(state.task)] = state.fit;
    context_.progress().advance(state.progress.finish());
    for (std::int64_t j = 0; j < weights.rows(); ++j)
      for (std::int32_t c = 0; c < width; ++c)
        fits.weights(j, state.task * width + c) = weights(j, static_cast<std::int32_t>(k) * width + c);
  }
  if (going.empty()) return states_.clear();
  for (Block<T>* block : {&w_, &g_, &d_, &z_, &u_, &second_, &q_, &step_}) keep_block(*block, going);
  keep(going);
  std::erase_if(states_, [](const State& state) { return state.finished; });
  choose();
}

template class Descent<float>;
template class Descent<double>;

}  // namespace sheaf::linear
