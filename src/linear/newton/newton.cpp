// Newton's method for a block of linear models, each: min over w of f(w) = w'Rw / 2 + sum_i c_i loss(x_i'w, y_i), R = I
// but for an unpenalised bias.
//
// Lin, Weng, Keerthi 2008 (trust region, alg. 1 and 2), Hsia, Chiang, Lin 2018 (preconditioner), Galli, Lin 2021 (line
// search and the stopping rule of the conjugate gradients); constants as in LIBLINEAR. Differences: many tasks move
// through one loop, each in its own phase. A task in phase `conjugate` needs X'D(Xd), one in phase `gradient` for
// X'(slopes): both are "apply X, change the rows, apply X'", so one pair of block products per turn of the loop serves
// all tasks, whatever their phase, and no task waits for another. A task in phase `gradient` has d = w, which adds Rw
// to its gradient and gives a fresh z = Xw. If the device takes X'D(Xd) in one pass over X (`fused`), Xd need not be
// kept, and Xs may be made once, when the step s is found. Norms in the preconditioner's metric follow from
// recurrences, so a turn needs two vectors of scalars on the host.
#include "linear/newton/newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <sheaf/error.hpp>

#include "core/rounds.hpp"

namespace sheaf::linear {
namespace {

constexpr std::int32_t most_followed = 4;
/// Tasks for which memory is kept before the data get the rest: fewer side by side would waste each pass over X.
constexpr std::int32_t fewest_worth_room = 8;

/// The share of the rarer class among the rows each task trains on, at least one row's, counted once for each pair of
/// rows and target; 1 for regression.
template <class T>
std::vector<double> rarer_shares(LinearOps<T>& ops, const Sheaf& sheaf, Loss loss) {
  std::vector<double> shares(sheaf.tasks.size(), 1.0);
  if (is_regression(loss)) return shares;
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> places;
  std::vector<Task> distinct;
  for (const Task& task : sheaf.tasks)
    if (places.try_emplace({task.rows, task.target}, distinct.size()).second) distinct.push_back(task);
  ops.choose_tasks(distinct);
  std::vector<double> used(distinct.size());
  std::vector<double> positive(distinct.size());
  ops.count_rows(used, positive);
  for (std::size_t t = 0; t < shares.size(); ++t) {
    const std::size_t place = places.at({sheaf.tasks[t].rows, sheaf.tasks[t].target});
    const double rarer = std::max(std::min(positive[place], used[place] - positive[place]), 1.0);
    shares[t] = rarer / std::max(used[place], 1.0);
  }
  return shares;
}

}  // namespace

template <class T>
NewtonBlock<T>::NewtonBlock(const Context& context, LinearOps<T>& ops, const Sheaf& sheaf, const NewtonParams& params,
                            std::span<const Chain> chains, const Block<T>* start, std::span<const double> shares)
    : context_(context),
      ops_(ops),
      sheaf_(sheaf),
      params_(params),
      places_(sheaf.tasks.size(), -1),
      shares_(shares),
      bias_ridge_(params.bias > 0 && !params.penalise_bias ? T(0) : T(1)),
      hessians_fit_(have_room(chains)) {
  for (const Chain& chain : chains) {
    TaskState state;
    state.task = chain.front();
    state.later = std::span(chain).subspan(1);
    state.share = shares[static_cast<std::size_t>(state.task)];
    states_.push_back(state);
    for (const std::int32_t task : chain) places_[static_cast<std::size_t>(task)] = 0;
  }
  std::int32_t tasks = 0;
  for (std::int32_t& place : places_)
    if (place == 0) place = tasks++;
  for (Block<T>* block : {&z_, &zs_, &u_, &curvatures_}) *block = Block<T>(ops.examples(), count(), ops.device());
  decide_following();
  if (follows()) q_ = Block<T>(ops.examples(), count(), ops.device());
  for (Block<T>* block : {&w_, &g_, &s_, &r_, &d_, &hd_, &inverse_})
    *block = Block<T>(ops.weights(), count(), ops.device());
  results_ = Block<T>(ops.weights(), tasks, ops.device());
  if (start == nullptr) return;
  Block<T> mine(ops.weights(), count());
  for (std::int64_t j = 0; j < mine.rows(); ++j)
    for (std::int32_t t = 0; t < count(); ++t) mine(j, t) = (*start)(j, states_[static_cast<std::size_t>(t)].task);
  w_ = mine.to(ops.device());
}

/// Xs follows s through the conjugate gradients if Xd is there anyway, or costs little: few tasks, and a loss whose
/// curvature makes every row count.
template <class T>
void NewtonBlock<T>::decide_following() {
  follows_ = follows_ && (!fused() || (is_strictly_convex(params_.loss) && count() <= most_followed));
}

template <class T>
std::vector<std::uint8_t> NewtonBlock<T>::wanted(Phase phase) const {
  std::vector<std::uint8_t> result;
  for (const TaskState& state : states_) result.push_back(state.phase == phase ? 1 : 0);
  return result;
}

/// The rows of a block that the penalty counts.
template <class T>
BlockView<const T> NewtonBlock<T>::penalised(const Block<T>& block) const {
  auto view = block.view();
  if (bias_ridge_ == T(0)) --view.rows;
  return view;
}

template <class T>
void NewtonBlock<T>::choose_tasks() {
  std::vector<Task> tasks;
  for (const TaskState& state : states_) tasks.push_back(sheaf_.tasks[static_cast<std::size_t>(state.task)]);
  ops_.choose_tasks(tasks);
}

template <class T>
void NewtonBlock<T>::begin() {
  choose_tasks();
  std::vector<double> wRw(states_.size());
  const std::vector<Dot<T>> products{{penalised(w_), penalised(w_)}};
  ops_.dots(products, wRw);
  const bool warm = std::any_of(wRw.begin(), wRw.end(), [](double value) { return value > 0; });
  if (warm) {
    measure_gradient_at_zero();
    ops_.multiply(w_.view(), z_.view());
  }
  for (std::size_t t = 0; t < states_.size(); ++t) states_[t].wRw = wRw[t];
  evaluate(std::vector<std::uint8_t>(states_.size(), 1));
  for (TaskState& state : states_)
    if (!warm) state.f0 = state.f;
  const std::vector<double> ones(states_.size(), 1.0);
  const std::vector<double> zeros(states_.size(), 0.0);
  ops_.combine(ones, w_.view(), zeros, d_.view());
}

/// Objective, slopes (into u) and curvatures at z.
template <class T>
void NewtonBlock<T>::evaluate(std::span<const std::uint8_t> which) {
  std::vector<double> values(states_.size());
  ops_.losses(params_.loss, z_.view(), {}, which, values, u_.view(), curvatures_.view());
  for (std::size_t t = 0; t < states_.size(); ++t)
    if (which[t] != 0) states_[t].f = values[t] + states_[t].wRw / 2;
}

/// Warm starts are measured against the gradient at w = 0 all the same. z is still zero here.
template <class T>
void NewtonBlock<T>::measure_gradient_at_zero() {
  std::vector<double> values(states_.size());
  ops_.losses(params_.loss, z_.view(), {}, {}, values, u_.view(), {});
  for (std::size_t t = 0; t < states_.size(); ++t) states_[t].f0 = values[t];
  ops_.multiply_transposed(u_.view(), g_.view());
  const std::vector<Dot<T>> products{{g_.view(), g_.view()}};
  ops_.dots(products, values);
  for (std::size_t t = 0; t < states_.size(); ++t) states_[t].g0 = std::sqrt(values[t]);
}

template <class T>
void NewtonBlock<T>::run(Fits<T>& fits) {
  begin();
  while (true) {
    context_.check_stop();
    step();
    continue_chains(fits);
    compact(fits);
    if (states_.empty()) return return_results(fits);
  }
}

/// The weights of all tasks of the block, in one piece.
template <class T>
void NewtonBlock<T>::return_results(Fits<T>& fits) {
  ops_.synchronize();
  Block<T> here = ops_.device().is_cpu() ? std::move(results_) : results_.to(Device::cpu());
  if (here.tasks() == static_cast<std::int32_t>(places_.size())) {
    fits.weights = std::move(here);
    return;
  }
  for (std::int64_t j = 0; j < here.rows(); ++j)
    for (std::size_t t = 0; t < places_.size(); ++t)
      if (places_[t] >= 0) fits.weights(j, static_cast<std::int32_t>(t)) = here(j, places_[t]);
}

template <class T>
void NewtonBlock<T>::step() {
  const auto conjugate = wanted(Phase::conjugate);
  if (fused() && !any(conjugate)) {
    diagonal_ = Block<T>(ops_.weights(), count(), ops_.device());
    ops_.transpose_both(u_.view(), hd_.view(), curvatures_.view(), diagonal_.view());
  } else if (fused()) {
    ops_.sandwich(d_.view(), curvatures_.view(), u_.view(), conjugate, follows() ? q_.view() : BlockView<T>{},
                  hd_.view());
  } else {
    ops_.multiply(d_.view(), q_.view());
    ops_.multiply_elements(curvatures_.view(), q_.view(), conjugate, u_.view());
    ops_.multiply_transposed(u_.view(), hd_.view());
  }
  std::vector<double> dHd(states_.size());
  ops_.finish_curvature(bias_ridge_, d_.view(), hd_.view(), dHd);
  const auto gradients = wanted(Phase::gradient);  // before any task changes its phase
  if (any(gradients)) take_gradients(gradients);
  diagonal_ = {};
  if (any(conjugate)) advance_conjugate(conjugate, dHd);
}

/// The norm of the gradient at which a task ends. The least that differs from 0 in T is a multiple of its precision.
template <class T>
double NewtonBlock<T>::wanted_norm(const TaskState& state) const {
  const double share = params_.tolerance * state.share * state.g0;
  if (params_.stop == StopRule::gradient) return share;
  const bool by_objective = params_.stop == StopRule::objective;
  const double left = std::sqrt(2 * params_.tolerance * (by_objective ? state.f : std::max(state.f0 - state.f, 0.0)));
  return std::max(by_objective ? std::min(share, left) : left, least_share * state.g0);
}

/// A norm that bounds the remaining gain if the bias has no penalty, for the tasks `which`; others keep theirs. At the
/// best bias for w, f is strongly convex in w (modulus 1). Its gradient there and what the bias itself can gain follow
/// from the gradient g here and the column t of the Hessian that belongs to the bias, which is in proportion to X'D1:
/// |g - (g_b / t_b) t|^2 + g_b^2 / h_b, to second order in g_b, with h_b the second derivative of f in the bias.
template <class T>
std::vector<double> NewtonBlock<T>::profiled_norms(const std::vector<std::uint8_t>& which) {
  const auto tasks = states_.size();
  std::vector<double> norms;
  for (const TaskState& state : states_) norms.push_back(state.fit.gradient_norm);
  if (!any(which) || bias_ridge_ != T(0) || params_.stop == StopRule::gradient) return norms;
  Block<T> column(ops_.weights(), count(), ops_.device());
  ops_.multiply_transposed(curvatures_.view(), column.view());
  const auto bias_of = [](const Block<T>& block) {
    auto view = block.view();
    view.data += (view.rows - 1) * view.stride;
    view.rows = 1;
    return view;
  };
  const std::vector<Dot<T>> products{{g_.view(), std::as_const(column).view()},
                                     {std::as_const(column).view(), std::as_const(column).view()},
                                     {bias_of(g_), bias_of(g_)},
                                     {bias_of(g_), bias_of(column)},
                                     {bias_of(column), bias_of(column)}};
  std::vector<double> found(products.size() * tasks);
  ops_.dots(products, found);
  for (std::size_t t = 0; t < tasks; ++t) {
    const double column_bias = found[4 * tasks + t];
    if (which[t] == 0 || !(column_bias > 0)) continue;
    const double ratio = found[3 * tasks + t] / column_bias;
    const double profiled = norms[t] * norms[t] - 2 * ratio * found[t] + ratio * ratio * found[tasks + t];
    const double of_bias = found[2 * tasks + t] / (params_.bias * std::sqrt(column_bias));
    norms[t] = std::max(norms[t], std::sqrt(std::max(profiled, 0.0) + of_bias));
  }
  return norms;
}

/// For tasks in phase `gradient`, hd holds the gradient and q, if there is one, a fresh Xw.
template <class T>
void NewtonBlock<T>::take_gradients(const std::vector<std::uint8_t>& which) {
  std::vector<double> norms(states_.size());
  ops_.keep_gradients(which, hd_.view(), g_.view(), norms);
  if (!fused()) ops_.combine(as_factors(which), q_.view(), inverted(as_factors(which)), z_.view());
  std::vector<std::uint8_t> going(states_.size(), 0);
  std::vector<std::uint8_t> near(states_.size(), 0);
  std::vector<double> before(states_.size(), 0.0);
  for (std::size_t t = 0; t < states_.size(); ++t) {
    TaskState& state = states_[t];
    if (which[t] == 0) continue;
    before[t] = std::exchange(state.fit.gradient_norm, std::sqrt(norms[t]));
    state.fit.objective = state.f;
    if (state.g0 < 0) state.g0 = state.fit.gradient_norm;
    state.fit.tolerance = wanted_norm(state);
    near[t] = state.fit.gradient_norm <= state.fit.tolerance ? 1 : 0;
  }
  norms = profiled_norms(near);
  for (std::size_t t = 0; t < states_.size(); ++t) {
    TaskState& state = states_[t];
    if (which[t] == 0) continue;
    state.fit.gradient_norm = norms[t];
    state.fit.converged = state.fit.gradient_norm <= state.fit.tolerance;
    context_.progress().advance(state.progress.approach(state.fit.gradient_norm, state.fit.tolerance));
    const bool wanders = state.blind && state.fit.gradient_norm > before[t] / 2;
    const bool over = state.fit.converged || wanders || state.fit.iterations >= params_.max_iterations;
    state.phase = over ? Phase::finished : Phase::conjugate;
    going[t] = over ? 0 : 1;
  }
  if (any(going)) start_conjugate(going, true);
}

/// s = 0, r = -g, d = M^-1 r; at a new point M is made first.
template <class T>
void NewtonBlock<T>::start_conjugate(const std::vector<std::uint8_t>& which, bool new_point) {
  const auto tasks = states_.size();
  if (new_point) precondition(which);
  const std::vector<double> zeros(tasks, 0.0);
  if (follows()) ops_.combine(zeros, z_.view(), inverted(as_factors(which)), zs_.view());
  std::vector<double> rz(tasks);
  ops_.start_directions(which, g_.view(), inverse_.view(), r_.view(), s_.view(), d_.view(), rz);
  if (const auto own = by_hessian(which); any(own)) {
    solve_hessians(rz);
    ops_.combine(as_factors(own), solved_.view(), inverted(as_factors(own)), d_.view());
    for (std::size_t t = 0; t < tasks; ++t)
      if (own[t] != 0 && states_[t].delta < 0) states_[t].delta = std::sqrt(rz[t]);
  }
  for (std::size_t t = 0; t < tasks; ++t) {
    TaskState& state = states_[t];
    if (which[t] == 0) continue;
    state.phase = Phase::conjugate;
    state.rz = state.rz0 = state.dMd = rz[t];
    state.sMd = state.sMs = state.model = 0;
    state.steps = 0;
    state.boundary = false;
  }
  const bool unbounded = std::any_of(states_.begin(), states_.end(), [](const auto& c) { return c.delta < 0; });
  if (unbounded) set_regions(which);
}

/// The first trust region: |g| in the preconditioner's metric.
template <class T>
void NewtonBlock<T>::set_regions(const std::vector<std::uint8_t>& which) {
  std::vector<double> gMg(states_.size());
  const std::vector<Dot<T>> products{{g_.view(), g_.view(), inverse_.view()}};
  ops_.dots(products, gMg);
  for (std::size_t t = 0; t < states_.size(); ++t)
    if (which[t] != 0 && states_[t].delta < 0) states_[t].delta = std::sqrt(gMg[t]);
}

/// How far to go along d; to the trust region's boundary if that is nearer.
template <class T>
double NewtonBlock<T>::step_length(TaskState& state, double dHd) const {
  const double alpha = state.rz / dHd;
  if (params_.rule == StepRule::line_search) return alpha;
  const double ahead = state.sMs + 2 * alpha * state.sMd + alpha * alpha * state.dMd;
  if (ahead <= state.delta * state.delta) return alpha;
  state.boundary = true;
  const double room = std::max(0.0, state.delta * state.delta - state.sMs);
  const double root = std::sqrt(state.sMd * state.sMd + state.dMd * room);
  return state.sMd >= 0 ? room / (state.sMd + root) : (root - state.sMd) / state.dMd;
}

template <class T>
bool NewtonBlock<T>::conjugate_done(TaskState& state) const {
  const int most = static_cast<int>(std::clamp<std::int64_t>(ops_.weights(), 5, 1000000));
  if (state.boundary || state.steps >= most || state.rz <= 0) return true;
  if (params_.rule == StepRule::trust_region) return std::sqrt(state.rz) <= 0.1 * std::sqrt(state.rz0);
  return false;
}

template <class T>
void NewtonBlock<T>::advance_conjugate(const std::vector<std::uint8_t>& which, const std::vector<double>& dHd) {
  const auto tasks = states_.size();
  std::vector<double> alpha(tasks, 0.0);
  std::vector<double> beta(tasks, 1.0);
  std::vector<double> fresh(tasks, 0.0);
  std::vector<double> rz(tasks);
  std::vector<std::uint8_t> done(tasks, 0);
  for (std::size_t t = 0; t < tasks; ++t) {
    TaskState& state = states_[t];
    if (which[t] == 0) continue;
    ++state.fit.products;
    ++state.steps;
    if (dHd[t] > 0)
      alpha[t] = step_length(state, dHd[t]);
    else
      done[t] = 1;  // rounding has eaten the curvature
  }
  ops_.advance(alpha, d_.view(), hd_.view(), inverse_.view(), s_.view(), r_.view(), rz);
  if (hessians_) solve_hessians(rz);
  if (follows()) ops_.combine(alpha, q_.view(), std::vector<double>(tasks, 1.0), zs_.view());
  for (std::size_t t = 0; t < tasks; ++t) {
    TaskState& state = states_[t];
    if (which[t] == 0 || done[t] != 0) continue;
    const double gain = alpha[t] * state.rz - alpha[t] * alpha[t] * dHd[t] / 2;
    state.model -= gain;
    state.sMs += 2 * alpha[t] * state.sMd + alpha[t] * alpha[t] * state.dMd;
    const double ratio = rz[t] / state.rz;
    state.sMd = ratio * (state.sMd + alpha[t] * state.dMd);
    state.dMd = rz[t] + ratio * ratio * state.dMd;
    state.rz = rz[t];
    const double loose = std::min(0.5, std::sqrt(std::sqrt(state.rz0)));
    const bool flat = params_.rule == StepRule::line_search && state.steps * gain <= loose * -state.model;
    done[t] = flat || conjugate_done(state) ? 1 : 0;
    beta[t] = ratio;
    fresh[t] = 1;
  }
  redirect(fresh, beta);
  if (any(done)) try_steps(done);
  if (const auto worth = worth_hessians(); any(worth)) use_hessians(worth);
}

/// Compacts the block once a quarter of it is idle.
template <class T>
void NewtonBlock<T>::compact(Fits<T>& fits) {
  std::vector<std::int32_t> finished;
  std::vector<std::int32_t> going;
  for (std::int32_t t = 0; t < count(); ++t)
    (states_[static_cast<std::size_t>(t)].phase == Phase::finished ? finished : going).push_back(t);
  if (finished.empty() || (!going.empty() && finished.size() * 4 < states_.size())) return;
  keep_results(finished, fits);
  std::erase_if(states_, [](const TaskState& state) { return state.phase == Phase::finished; });
  if (states_.empty()) return;
  decide_following();
  q_ = follows() ? kept_columns(ops_, q_, going) : Block<T>{};
  for (Block<T>* block : {&z_, &zs_, &u_, &curvatures_, &w_, &g_, &s_, &r_, &d_, &hd_, &inverse_})
    *block = kept_columns(ops_, *block, going);
  for (Block<T>* block : {&w_before_, &z_before_, &solved_})
    if (block->tasks() > 0) *block = kept_columns(ops_, *block, going);
  if (hessians_) hessians_->keep(going);
  choose_tasks();
}

template class NewtonBlock<float>;
template class NewtonBlock<double>;

}  // namespace sheaf::linear

namespace sheaf {

template <class T>
Fits<T> newton(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const NewtonParams& params,
               const Block<T>* start) {
  using Training = linear::NewtonBlock<T>;
  const auto chains = params.along_costs ? linear::chains_along_costs(sheaf) : linear::single_chains(sheaf);
  std::size_t longest = 1;
  for (const auto& chain : chains) longest = std::max(longest, chain.size());
  const auto columns = static_cast<std::int32_t>(chains.size());
  const auto tasks = static_cast<std::int32_t>(sheaf.tasks.size());
  const std::int64_t weights = dataset.features() + (params.bias > 0 ? 1 : 0);
  const auto per_chain = Training::bytes_per_chain(dataset.rows(), weights, static_cast<std::int64_t>(longest));
  const std::int64_t blocks = per_chain * block_stride(std::min(columns, linear::fewest_worth_room));
  const bool hidden_bias = sheaf.column_transforms > 0 && !(params.bias > 0);
  const auto ops = linear::make_ops<T>(context, dataset, static_cast<T>(hidden_bias ? 1 : params.bias), blocks);
  if (hidden_bias) ops->hide_bias();
  ops->load_tables(sheaf);
  const auto rounds = plan_rounds(columns, ops->data_bytes(), per_chain, context.memory());
  Fits<T> fits{{}, std::vector<TaskFit>(sheaf.tasks.size())};
  if (rounds.size() != 1) fits.weights = Block<T>(ops->weights(), tasks);  // a single round brings its own
  Stage stage(context.progress(), "training", tasks * progress_per_model);
  const auto shares = linear::rarer_shares(*ops, sheaf, params.loss);
  for (const Round& round : rounds) {
    const auto some =
        std::span(chains).subspan(static_cast<std::size_t>(round.first), static_cast<std::size_t>(round.count));
    Training(context, *ops, sheaf, params, some, start, shares).run(fits);
  }
  return fits;
}

template Fits<float> newton(const Context&, const Dataset<float>&, const Sheaf&, const NewtonParams&,
                            const Block<float>*);
template Fits<double> newton(const Context&, const Dataset<double>&, const Sheaf&, const NewtonParams&,
                             const Block<double>*);

}  // namespace sheaf
