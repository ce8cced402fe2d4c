#include "linear/glm/objective.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sheaf::linear {
namespace {

/// A probability that is neither 0 nor 1, by half a row of `rows`.
double inside(double share, double rows) {
  const double edge = 0.5 / std::max(rows, 1.0);
  return std::clamp(share, edge, 1 - edge);
}

Sheaf tables_of(const GlmSheaf& sheaf) {
  Sheaf tables;
  tables.examples = sheaf.examples;
  tables.weight_columns = sheaf.weight_columns;
  tables.row_weights = sheaf.row_weights;
  tables.target_columns = sheaf.target_columns;
  tables.targets = sheaf.targets;
  return tables;
}

/// The sum of each column of row weights.
std::vector<double> sums_of_weights(const GlmSheaf& sheaf) {
  const auto columns = static_cast<std::size_t>(sheaf.weight_columns);
  std::vector<double> sums(columns, sheaf.row_weights.empty() ? static_cast<double>(sheaf.examples) : 0.0);
  for (std::size_t e = 0; e < sheaf.row_weights.size(); ++e)
    sums[e % columns] += static_cast<double>(sheaf.row_weights[e]);
  return sums;
}

}  // namespace

template <class T>
void add_offsets(LinearOps<T>& ops, std::span<const double> offsets, Block<T>& z) {
  const Block<T> own = ops.own_examples(offsets);
  std::vector<std::int32_t> columns;
  for (std::int32_t t = 0; t < z.tasks(); ++t) columns.push_back(t % own.tasks());
  const Block<T> there = kept_columns(ops, own, columns);
  const std::vector<double> ones(static_cast<std::size_t>(z.tasks()), 1.0);
  ops.combine(ones, there.view(), ones, z.view());
  ops.synchronize();  // before the offsets go
}

template <class T>
Objective<T>::Objective(LinearOps<T>& ops, const GlmSheaf& sheaf, const GlmParams& params,
                        std::vector<double> weight_sums)
    : ops_(ops), sheaf_(sheaf), params_(params), weight_sums_(std::move(weight_sums)) {
  if (weight_sums_.empty()) weight_sums_ = sums_of_weights(sheaf);
  ops.load_tables(tables_of(sheaf));
  if (!cox()) return;
  const bool efron = params.ties == Ties::efron;
  ops.load_risks(make_risk_tables(sheaf.risk, sheaf.targets, sheaf.row_weights, sheaf.weight_columns, efron));
}

template <class T>
void Objective<T>::choose(std::span<const std::int32_t> tasks) {
  chosen_.assign(tasks.begin(), tasks.end());
  alphas_.clear();
  std::vector<Task> chosen;
  for (const std::int32_t t : tasks) {
    const GlmTask& task = sheaf_.tasks[static_cast<std::size_t>(t)];
    const double sum = weight_sums_[static_cast<std::size_t>(task.rows)];
    const double cost = sum > 0 ? 1 / sum : 0.0;
    chosen.push_back({task.rows, task.target, cost, cost, params_.parameter});
    alphas_.push_back(task.alpha);
  }
  ops_.choose_tasks(chosen);
}

template <class T>
Block<T> Objective<T>::examples_block() const {
  return Block<T>(ops_.examples(), static_cast<std::int32_t>(tasks()) * columns(), ops_.device());
}

template <class T>
Block<T> Objective<T>::weights_block() const {
  return Block<T>(ops_.weights(), static_cast<std::int32_t>(tasks()) * columns(), ops_.device());
}

template <class T>
BlockView<T> Objective<T>::penalised(Block<T>& block) const {
  auto view = block.view();
  if (params_.intercept) --view.rows;
  return view;
}

template <class T>
void Objective<T>::losses(BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
                          BlockView<T> slopes, BlockView<T> second) const {
  if (multinomial())
    ops_.softmax(columns(), z, step, wanted, values, slopes, second);
  else if (cox())
    ops_.partial_likelihood(z, step, wanted, values, slopes, second);
  else
    ops_.losses(params_.loss, z, step, wanted, values, slopes, second);
}

template <class T>
void Objective<T>::curvature(const Block<T>& second, Block<T>& q) const {
  if (multinomial())
    ops_.softmax_curvature(columns(), second.view(), {}, q.view());
  else if (cox())
    ops_.partial_curvature(second.view(), q.view());
  else
    ops_.multiply_elements(second.view(), q.view(), {}, q.view());
}

template <class T>
void Objective<T>::own_curvatures(Block<T>& second) const {
  if (multinomial()) ops_.softmax_diagonal(columns(), second.view());
}

template <class T>
std::vector<double> Objective<T>::dots(std::span<const Dot<T>> products) const {
  const auto width = static_cast<std::size_t>(columns());
  std::vector<double> all(products.size() * tasks() * width);
  ops_.dots(products, all);
  std::vector<double> sums(products.size() * tasks(), 0.0);
  for (std::size_t e = 0; e < all.size(); ++e) sums[e / width] += all[e];
  return sums;
}

template <class T>
void Objective<T>::combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
                           BlockView<T> b) const {
  ops_.combine(per_column(alpha), a, per_column(beta), b);
}

template <class T>
void Objective<T>::combine_all(std::span<const double> factors, std::span<const BlockView<const T>> blocks,
                               BlockView<T> out) const {
  ops_.combine_all(per_column(factors), blocks, out);
}

template <class T>
void Objective<T>::apply(const Block<T>& w, Block<T>& z) const {
  ops_.multiply(w.view(), z.view());
  if (!sheaf_.offsets.empty()) add_offsets<T>(ops_, sheaf_.offsets, z);
}

template <class T>
void Objective<T>::gradient(const Block<T>& slopes, Block<T>& w, Block<T>& g) const {
  ops_.multiply_transposed(slopes.view(), g.view());
  const std::vector<double> ones(tasks(), 1.0);
  combine(alphas_, penalised(w), ones, penalised(g));
}

template <class T>
std::vector<std::int32_t> Objective<T>::columns_of(std::span<const std::int32_t> places) const {
  std::vector<std::int32_t> result;
  for (const std::int32_t place : places)
    for (std::int32_t k = 0; k < columns(); ++k) result.push_back(place * columns() + k);
  return result;
}

template <class T>
typename Objective<T>::Null Objective<T>::null_model(std::int32_t number) const {
  const GlmTask& task = sheaf_.tasks[static_cast<std::size_t>(number)];
  const auto rows = static_cast<double>(sheaf_.examples);
  std::vector<double> sums(static_cast<std::size_t>(columns()), 0.0);  // of weights, by class; else of weight * target
  double weights = 0;
  std::vector<double> shifts(sums.size(), 0.0);  // sums of weight * offset
  for (std::int64_t i = 0; i < sheaf_.examples; ++i) {
    const double weight =
        sheaf_.row_weights.empty()
            ? 1.0
            : static_cast<double>(sheaf_.row_weights[static_cast<std::size_t>(i * sheaf_.weight_columns + task.rows)]);
    const double y = sheaf_.targets[static_cast<std::size_t>(i * sheaf_.target_columns + task.target)];
    weights += weight;
    for (std::size_t k = 0; k < shifts.size() && !sheaf_.offsets.empty(); ++k)
      shifts[k] += weight * sheaf_.offsets[static_cast<std::size_t>(i) * shifts.size() + k];
    if (multinomial())
      sums[static_cast<std::size_t>(y)] += weight;
    else
      sums[0] += weight * y;
  }
  Null result;
  if (cox()) {
    result.curvature = weights > 0 ? sums[0] / weights : 0.0;  // the share of events
    result.intercepts = {0};
    return result;
  }
  if (multinomial()) {
    double mean = 0;
    result.curvature = 0;
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const double share = inside(sums[k] / weights, rows);
      result.curvature += share * (1 - share) / static_cast<double>(sums.size());
      sums[k] = std::log(share) - shifts[k] / weights;
    }
    for (const double sum : sums) mean += sum / static_cast<double>(sums.size());
    for (const double sum : sums) result.intercepts.push_back(sum - mean);
    return result;
  }
  const double mean = weights > 0 ? sums[0] / weights : 0.0;
  with_glm_loss(params_.loss, [&](auto functor) {
    using Functor = decltype(functor);
    const auto curvature = [&](double z, double y) { return Functor::terms(z, y, params_.parameter).curvature; };
    if constexpr (Functor::targets == TargetRange::classes) {
      const double share = inside((mean + 1) / 2, rows);
      const double z = Functor::link(share, params_.parameter);
      result.curvature = share * curvature(z, 1.0) + (1 - share) * curvature(z, -1.0);
      result.intercepts = {z};
    } else {
      const double level = Functor::targets == TargetRange::any ? mean : std::max(mean, 1e-8);
      const double z = Functor::link(level, params_.parameter);
      result.curvature = curvature(z, level);
      result.intercepts = {z};
    }
  });
  if (weights > 0) result.intercepts[0] -= shifts[0] / weights;
  return result;
}

template void add_offsets(LinearOps<float>&, std::span<const double>, Block<float>&);
template void add_offsets(LinearOps<double>&, std::span<const double>, Block<double>&);
template class Objective<float>;
template class Objective<double>;

}  // namespace sheaf::linear
