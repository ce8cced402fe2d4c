// SAGA (Defazio, Bach, Lacoste-Julien 2014) over batches of rows. The objective is the mean of those of B batches,
// f = 1/B sum f_b + alpha/2 |w|^2. For each batch, the slopes u_b of its rows at its last visit are kept, and the mean
// m of the gradients X_b'u_b. A visit computes new slopes at w and steps by
//
//     w -= rate P (X_b'(u_new - u_b) + m + alpha w),     P = B B' of coordinates.hpp,
//
// two block products of the batch. Rows are dealt to the batches at random once, and a pass visits the batches in a new
// random order, both by the context's seed.
//
// Differences: batches rather than rows, so that a step is a product of matrices for all models of the block; steps in
// coordinates in which the features are uncorrelated, which makes SAGA converge in tens of passes; and a pass is one
// direction of descent.cpp, whose line search from where the pass began to where it ended makes the objective fall
// whatever the rate, and measures the gradient exactly. The rate follows the lengths it finds. A pass that does not
// lead down is replaced by a gradient step.
#include "linear/glm/saga.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sheaf::linear {
namespace {

/// A GPU has little to do for a small batch, and a backend costs it memory.
std::int64_t most_batches(Device device) { return device.is_cuda() ? 16 : 64; }
constexpr std::int64_t fewest_rows = 16;
/// A pass of which a line search takes less went too far.
constexpr double short_pass = 0.7;
constexpr double growth = 1.25;
/// Passes after which the mean gradient is computed from the slopes anew, as rounding gathers in it.
constexpr int refresh_every = 16;

/// Batches much smaller than the number of weights allow steps so much shorter that more of them gain nothing.
std::int64_t batch_count(std::int64_t rows, std::int64_t weights, Device device) {
  const std::int64_t size = std::max(fewest_rows, std::min(weights / 4, rows / 8));
  return std::clamp<std::int64_t>(rows / size, 1, most_batches(device));
}

/// 1 / 3L, as SAGA's proof has it. In coordinates in which rows have the second moments I, those of n rows of a batch
/// have eigenvalues up to about (1 + sqrt(weights / n))^2 (Marchenko and Pastur 1967).
double first_rate(double batch_rows, double weights) {
  const double root = 1 + std::sqrt(weights / batch_rows);
  return 1 / (3 * root * root);
}

/// The rows of a table of `columns` columns.
template <class Value>
std::vector<Value> rows_of(std::span<const Value> table, std::span<const std::int32_t> rows, std::int32_t columns) {
  std::vector<Value> result;
  if (table.empty()) return result;
  for (const auto i : rows) {
    const auto row = table.subspan(static_cast<std::size_t>(i) * static_cast<std::size_t>(columns),
                                   static_cast<std::size_t>(columns));
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

GlmSheaf sheaf_of_rows(const GlmSheaf& whole, std::span<const std::int32_t> rows) {
  GlmSheaf sheaf;
  sheaf.examples = std::ssize(rows);
  sheaf.tasks = whole.tasks;
  sheaf.weight_columns = whole.weight_columns;
  sheaf.row_weights = rows_of<float>(whole.row_weights, rows, whole.weight_columns);
  sheaf.target_columns = whole.target_columns;
  sheaf.targets = rows_of<double>(whole.targets, rows, whole.target_columns);
  const auto columns = static_cast<std::int64_t>(whole.offsets.size()) / std::max<std::int64_t>(whole.examples, 1);
  sheaf.offsets = rows_of<double>(whole.offsets, rows, static_cast<std::int32_t>(columns));
  return sheaf;
}

std::vector<double> divided(std::vector<double> values, double by) {
  for (double& value : values) value /= by;
  return values;
}

}  // namespace

template <class T>
Saga<T>::Batch::Batch(const Context& context, const Dataset<T>& dataset, const Objective<T>& whole,
                      std::span<const std::int32_t> places, double batches)
    : rows(take_rows(dataset, places, context.threads())),
      sheaf(sheaf_of_rows(whole.sheaf(), places)),
      ops(make_ops<T>(context.with({.progress = &silent_progress()}), rows, whole.params().intercept ? T(1) : T(0))),
      objective(*ops, sheaf, whole.params(), divided(whole.weight_sums(), batches)) {}

template <class T>
Saga<T>::Saga(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round)
    : Descent<T>(context, objective, round),
      context_(context),
      coordinates_(context, dataset, objective, this->sheaf_tasks()),
      random_(context.seed()) {
  const std::int64_t weights = this->ops().weights();
  const std::int64_t count = batch_count(dataset.rows(), weights, context.device());
  std::vector<std::int32_t> order(static_cast<std::size_t>(dataset.rows()));
  std::iota(order.begin(), order.end(), 0);
  random_.shuffle(std::span(order));
  const std::span<const std::int32_t> all(order);
  for (std::int64_t b = 0; b < count; ++b) {
    const auto first = static_cast<std::size_t>(b * dataset.rows() / count);
    const auto end = static_cast<std::size_t>((b + 1) * dataset.rows() / count);
    std::vector<std::int32_t> places(all.begin() + static_cast<std::ptrdiff_t>(first),
                                     all.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(places.begin(), places.end());
    batches_.push_back(std::make_unique<Batch>(context, dataset, objective, places, static_cast<double>(count)));
  }
  choose_in_batches(this->sheaf_tasks());
  for (Block<T>* block : {&mean_, &change_, &step_, &gradient_, &scratch_, &iterate_})
    *block = objective.weights_block();
  const double rows = static_cast<double>(dataset.rows()) / static_cast<double>(count);
  rates_.assign(this->tasks(), first_rate(rows, static_cast<double>(weights)));
  astray_.assign(this->tasks(), 0);
}

template <class T>
void Saga<T>::choose_in_batches(std::span<const std::int32_t> tasks) {
  for (auto& batch : batches_) {
    batch->objective.choose(tasks);
    batch->fresh = batch->objective.examples_block();
    batch->z = batch->objective.examples_block();
    if (batch->slopes.rows() == 0) batch->slopes = batch->objective.examples_block();
  }
}

/// Slopes at w; change_ becomes X_b'(new slopes - old ones).
template <class T>
void Saga<T>::visit(Batch& batch, const Block<T>& w) {
  const std::vector<double> ones(this->tasks(), 1.0);
  const std::vector<double> minus(this->tasks(), -1.0);
  std::vector<double> values(this->tasks());
  batch.objective.apply(w, batch.z);
  batch.objective.losses(batch.z.view(), {}, {}, values, batch.fresh.view(), {});
  batch.objective.combine(ones, batch.fresh.view(), minus, batch.slopes.view());
  batch.ops->multiply_transposed(std::as_const(batch.slopes).view(), change_.view());
  batch.ops->synchronize();  // each batch has a stream of its own
  std::swap(batch.slopes, batch.fresh);
}

/// All slopes at w, and their mean gradient.
template <class T>
void Saga<T>::load_slopes() {
  const std::vector<double> share(this->tasks(), 1 / static_cast<double>(batches_.size()));
  const std::vector<double> ones(this->tasks(), 1.0);
  mean_ = this->objective().weights_block();
  for (auto& batch : batches_) {
    batch->slopes = batch->objective.examples_block();
    visit(*batch, this->w_);
    this->objective().combine(share, std::as_const(change_).view(), ones, mean_.view());
    this->ops().synchronize();
  }
  for (std::size_t t = 0; t < this->tasks(); ++t) this->count_products(t, 1);
}

template <class T>
void Saga<T>::run_pass() {
  auto& objective = this->objective();
  const std::size_t tasks = this->tasks();
  const std::vector<double> ones(tasks, 1.0);
  const std::vector<double> zeros(tasks, 0.0);
  const std::vector<double> share(tasks, 1 / static_cast<double>(batches_.size()));
  std::vector<double> back;
  for (const double rate : rates_) back.push_back(-rate);
  std::vector<std::size_t> order(batches_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  random_.shuffle(std::span(order));
  objective.combine(ones, std::as_const(this->w_).view(), zeros, iterate_.view());
  for (const std::size_t b : order) {
    context_.check_stop();
    this->ops().synchronize();
    visit(*batches_[b], iterate_);
    objective.combine(ones, std::as_const(change_).view(), zeros, step_.view());
    objective.combine(ones, std::as_const(mean_).view(), ones, step_.view());
    objective.combine(objective.alphas(), objective.penalised(iterate_), ones, objective.penalised(step_));
    objective.combine(share, std::as_const(change_).view(), ones, mean_.view());
    coordinates_.from_gradient(step_, scratch_);
    coordinates_.to_weights(scratch_, step_);
    objective.combine(back, std::as_const(step_).view(), ones, iterate_.view());
  }
  objective.combine(ones, std::as_const(iterate_).view(), zeros, this->d_.view());
  const std::vector<double> minus(tasks, -1.0);
  objective.combine(minus, std::as_const(this->w_).view(), ones, this->d_.view());
  for (std::size_t t = 0; t < tasks; ++t) this->count_products(t, 1);
}

/// Rates rise until line searches find that passes go too far: curvature falls as losses fall.
template <class T>
void Saga<T>::adapt_rates() {
  for (std::size_t t = 0; t < this->tasks(); ++t) {
    const auto& state = this->states()[t];
    if (state.fit.iterations == 0 || astray_[t] != 0) continue;
    rates_[t] *= state.length < short_pass ? 0.5 : growth;
  }
}

template <class T>
bool Saga<T>::all_converged(const std::vector<double>& measures) const {
  for (std::size_t t = 0; t < this->tasks(); ++t) {
    const auto& state = this->states()[t];
    if (state.start < 0 || !(measures[t] <= this->relative_tolerance() * state.start)) return false;
  }
  return true;
}

/// Tasks whose pass does not lead down take a gradient step, and shorter ones from now on.
template <class T>
void Saga<T>::replace_astray() {
  auto& objective = this->objective();
  const auto slopes =
      objective.dots(std::vector<Dot<T>>{{std::as_const(this->g_).view(), std::as_const(this->d_).view()}});
  const std::vector<double> ones(this->tasks(), 1.0);
  const std::vector<double> zeros(this->tasks(), 0.0);
  auto steepest = zeros;
  auto own = ones;
  for (std::size_t t = 0; t < this->tasks(); ++t) {
    astray_[t] = std::isfinite(slopes[t]) && slopes[t] < 0 ? 0 : 1;
    if (astray_[t] == 0) continue;
    rates_[t] /= 4;
    steepest[t] = -1;
    own[t] = 0;
  }
  if (own == ones) return;
  objective.combine(ones, std::as_const(gradient_).view(), zeros, scratch_.view());
  coordinates_.to_weights(scratch_, step_);
  objective.combine(steepest, std::as_const(step_).view(), own, this->d_.view());
}

template <class T>
std::vector<double> Saga<T>::find_directions() {
  coordinates_.from_gradient(this->g_, gradient_);
  auto measures =
      this->objective().dots(std::vector<Dot<T>>{{std::as_const(gradient_).view(), std::as_const(gradient_).view()}});
  for (double& measure : measures) measure = std::sqrt(measure);
  if (all_converged(measures)) return measures;
  adapt_rates();
  // Slopes of a pass that went astray may be of any size.
  const bool astray = std::any_of(astray_.begin(), astray_.end(), [](auto flag) { return flag != 0; });
  if (astray || passes_ % refresh_every == 0) load_slopes();
  ++passes_;
  run_pass();
  replace_astray();
  return measures;
}

template <class T>
void Saga<T>::keep(std::span<const std::int32_t> places) {
  std::vector<std::int32_t> tasks;
  std::vector<double> rates;
  std::vector<std::uint8_t> astray;
  for (const auto place : places) {
    const auto t = static_cast<std::size_t>(place);
    tasks.push_back(this->states()[t].task);
    rates.push_back(rates_[t]);
    astray.push_back(astray_[t]);
  }
  rates_ = std::move(rates);
  astray_ = std::move(astray);
  const auto columns = this->objective().columns_of(places);
  coordinates_.keep(columns);
  for (Block<T>* block : {&mean_, &change_, &step_, &gradient_, &scratch_, &iterate_}) this->keep_block(*block, places);
  for (auto& batch : batches_) batch->slopes = kept_columns(*batch->ops, batch->slopes, columns);
  choose_in_batches(tasks);
}

template class Saga<float>;
template class Saga<double>;

}  // namespace sheaf::linear
