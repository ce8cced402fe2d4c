#include "kernel/model/plan.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/labels.hpp"

namespace sheaf::kernel {
namespace {

void check_class_weights(const Labels& labels, const SvmOptions& options) {
  if (!is_classification(*options.kind)) {
    if (!options.class_weights.empty() || options.balanced)
      fail_usage("class weights are for classes, not for {}", to_string(*options.kind));
    return;
  }
  for (const auto& [name, weight] : options.class_weights) find_class(labels.class_names, name);
}

/// A share nu of a pair's rows must be support vectors, half of them of each class.
void check_nu(const Labels& labels, const SvmOptions& options, std::span<const float> row_weights) {
  if (options.kind != SvmKind::nu_svc) return;
  const auto counts = count_classes(labels, row_weights);
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  for (const auto& sides : sides_of(*options.kind, counts.size(), options.multi_class)) {
    const auto p = static_cast<std::size_t>(sides.positive);
    const double first = counts[p];
    const double second =
        sides.negative == SvmTask::rest ? all - first : counts[static_cast<std::size_t>(sides.negative)];
    if (first == 0 || second == 0) continue;  // a class without rows takes no part
    if (options.nu * (first + second) / 2 > std::min(first, second))
      fail("specified nu is infeasible: of {} of class {} against {} others, nu can be {:.6g} at most, not {}",
           counted(first, "row"), labels.class_names[p], second, 2 * std::min(first, second) / (first + second),
           options.nu);
  }
}

/// The weights row by row: examples x columns.
std::vector<float> interleaved(const std::vector<std::vector<float>>& columns, std::int64_t rows) {
  std::vector<float> table(static_cast<std::size_t>(rows) * columns.size());
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (std::size_t i = 0; i < columns[k].size(); ++i) table[i * columns.size() + k] = columns[k][i];
  return table;
}

}  // namespace

Labels make_svm_labels(const Target& target, const std::string& source, std::int64_t rows, const SvmOptions& options,
                       std::span<const float> row_weights) {
  Labels labels;
  labels.rows = rows;
  const bool regression = is_regression(*options.kind);
  if (options.kind != SvmKind::one_class)
    labels = make_labels(target, source, rows, regression, regression ? "c-svc" : "epsilon-svr");
  check_class_weights(labels, options);
  check_nu(labels, options, row_weights);
  return labels;
}

std::vector<Sides> sides_of(SvmKind kind, std::size_t classes, MultiClass multi_class) {
  if (!is_classification(kind)) return {{}};
  const auto count = static_cast<std::int32_t>(classes);
  std::vector<Sides> sides;
  if (multi_class == MultiClass::one_vs_rest && count > 2) {
    for (std::int32_t c = 0; c < count; ++c) sides.push_back({c, SvmTask::rest});
    return sides;
  }
  for (std::int32_t i = 0; i < count; ++i)
    for (std::int32_t j = i + 1; j < count; ++j) sides.push_back({i, j});
  return sides;
}

std::size_t svms_of(SvmKind kind, std::size_t classes, MultiClass multi_class) {
  if (!is_classification(kind)) return 1;
  return multi_class == MultiClass::one_vs_rest && classes > 2 ? classes : classes * (classes - 1) / 2;
}

SvmParams svm_params(const SvmOptions& options, std::int64_t features) {
  SvmParams params;
  params.kernel = {options.kernel, options.degree, options.gamma, options.coef0};
  if (options.gamma == 0 && features > 0) params.kernel.gamma = 1 / static_cast<double>(features);
  params.tolerance = options.tolerance;
  params.max_iterations = options.max_iterations;
  return params;
}

SheafPlan::SheafPlan(const Labels& labels, const SvmOptions& options)
    : labels_(labels),
      options_(options),
      sides_(sides_of(*options.kind, labels.class_names.size(), options.multi_class)) {
  sheaf_.kind = *options.kind;
  sheaf_.examples = labels.rows;
  sheaf_.classes = labels.classes;
  sheaf_.values = labels.values;
}

std::int32_t SheafPlan::add_rows(std::vector<float> weights) {
  require(static_cast<std::int64_t>(weights.size()) == labels_.rows, "a column of row weights has another length");
  columns_.push_back(std::move(weights));
  count_classes(static_cast<std::int32_t>(columns_.size()) - 1);
  return static_cast<std::int32_t>(columns_.size()) - 1;
}

void SheafPlan::count_classes(std::int32_t column) {
  counts_.resize(columns_.size());
  auto& counts = counts_[static_cast<std::size_t>(column)];
  counts.assign(std::max<std::size_t>(labels_.class_names.size(), 1), 0.0);
  const auto& weights = columns_[static_cast<std::size_t>(column)];
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] > 0) counts[labels_.classes.empty() ? 0 : static_cast<std::size_t>(labels_.classes[i])] += 1;
}

/// A fold may have fewer rows of a class than the dataset, too few for nu: the largest possible nu is taken then.
/// LIBSVM does not check this.
double SheafPlan::feasible_nu(std::int32_t column, Sides sides) const {
  if (options_.kind != SvmKind::nu_svc) return options_.nu;
  const auto& weights = columns_[static_cast<std::size_t>(column)];
  double sums[2] = {0, 0};
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto c = labels_.classes[i];
    if (c == sides.positive)
      sums[0] += static_cast<double>(weights[i]);
    else if (sides.negative == SvmTask::rest || c == sides.negative)
      sums[1] += static_cast<double>(weights[i]);
  }
  return std::min(options_.nu, 2 * std::min(sums[0], sums[1]) / (sums[0] + sums[1]));
}

SvmTask SheafPlan::make_task(const ModelPlan& model, Sides sides, double cost) const {
  SvmTask task;
  task.rows = model.column;
  task.positive = sides.positive;
  task.negative = sides.negative;
  task.cost_positive = task.cost_negative = cost;
  if (!model.class_weights.empty()) {
    task.cost_positive *= model.class_weights[static_cast<std::size_t>(sides.positive)];
    if (sides.negative != SvmTask::rest)
      task.cost_negative *= model.class_weights[static_cast<std::size_t>(sides.negative)];
  }
  task.nu = feasible_nu(model.column, sides);
  task.epsilon = options_.epsilon.value_or(0);
  return task;
}

ModelPlan SheafPlan::add_model(std::int32_t column, double cost) {
  ModelPlan model;
  model.column = column;
  const auto& counts = counts_[static_cast<std::size_t>(column)];
  const double all = std::accumulate(counts.begin(), counts.end(), 0.0);
  model.class_weights = weigh_classes({options_.class_weights, options_.balanced}, labels_.class_names, counts);
  for (std::size_t c = 0; c < labels_.class_names.size(); ++c) model.present.push_back(counts[c] > 0 ? 1 : 0);
  for (const auto& sides : sides_) {
    double first = all;
    double second = all;
    if (is_classification(*options_.kind)) {
      first = counts[static_cast<std::size_t>(sides.positive)];
      second = sides.negative == SvmTask::rest ? all - first : counts[static_cast<std::size_t>(sides.negative)];
    }
    const bool possible = first > 0 && second > 0;
    model.tasks.push_back(possible ? static_cast<std::int32_t>(sheaf_.tasks.size()) : -1);
    model.rows.push_back(static_cast<std::int64_t>(is_classification(*options_.kind) ? first + second : all));
    if (possible) sheaf_.tasks.push_back(make_task(model, sides, cost));
  }
  return model;
}

/// Rows with a positive weight, those of the first side before those of the second.
std::vector<std::int32_t> SheafPlan::rows_of(std::int32_t column, Sides sides,
                                             std::span<const std::int32_t> order) const {
  const auto& weights = columns_[static_cast<std::size_t>(column)];
  std::vector<std::int32_t> first;
  std::vector<std::int32_t> second;
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const auto row = order.empty() ? static_cast<std::int32_t>(k) : order[k];
    if (!(weights[static_cast<std::size_t>(row)] > 0)) continue;
    const auto c = labels_.classes.empty() ? sides.positive : labels_.classes[static_cast<std::size_t>(row)];
    if (c == sides.positive)
      first.push_back(row);
    else if (sides.negative == SvmTask::rest || c == sides.negative)
      second.push_back(row);
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

PlattPlan SheafPlan::deal(const ModelPlan& model, Sides sides, CRandom& random,
                          std::span<const std::int32_t> order) const {
  PlattPlan plan;
  plan.rows = rows_of(model.column, sides, order);
  random.shuffle(plan.rows);
  const std::size_t count = plan.rows.size();
  for (std::size_t f = 0; f <= platt_folds; ++f) plan.begins[f] = f * count / platt_folds;
  for (const auto row : plan.rows)
    plan.sides.push_back(
        labels_.classes.empty() || labels_.classes[static_cast<std::size_t>(row)] == sides.positive ? 1 : -1);
  return plan;
}

/// `model.column` is the fold's column of row weights.
void SheafPlan::add_platt_fold(const ModelPlan& model, Sides sides, double cost, std::size_t fold, PlattPlan& plan) {
  auto& weights = columns_[static_cast<std::size_t>(model.column)];
  std::int64_t left[2] = {0, 0};
  for (std::size_t k = 0; k < plan.rows.size(); ++k) {
    if (k >= plan.begins[fold] && k < plan.begins[fold + 1])
      weights[static_cast<std::size_t>(plan.rows[k])] = 0;
    else
      ++left[plan.sides[k] > 0 ? 0 : 1];
  }
  const bool possible = left[0] > 0 && (left[1] > 0 || !is_classification(*options_.kind));
  plan.constants[fold] = left[0] > 0 ? 1 : left[1] > 0 ? -1 : 0;
  plan.tasks[fold] = possible ? static_cast<std::int32_t>(sheaf_.tasks.size()) : -1;
  if (possible) sheaf_.tasks.push_back(make_task(model, sides, cost));
}

/// Pairs without a common class have no row in common, so that their folds share columns, as games share a round of a
/// tournament.
void SheafPlan::add_platt(ModelPlan& model, double cost, CRandom& random, std::span<const std::int32_t> order) {
  std::vector<std::vector<std::uint8_t>> taken;  // by round: the classes that have played
  std::vector<std::int32_t> firsts;              // by round: its first column
  for (const auto sides : sides_) {
    const bool pair = sides.negative != SvmTask::rest;
    auto plan = deal(model, sides, random, order);
    const auto free = [&](const auto& round) {
      return pair && round[static_cast<std::size_t>(sides.positive)] == 0 &&
             round[static_cast<std::size_t>(sides.negative)] == 0;
    };
    const auto found = std::find_if(taken.begin(), taken.end(), free);
    const auto round = static_cast<std::size_t>(found - taken.begin());
    if (found == taken.end()) {
      taken.emplace_back(std::max<std::size_t>(labels_.class_names.size(), 1), 0);
      firsts.push_back(static_cast<std::int32_t>(columns_.size()));
      for (std::int32_t f = 0; f < platt_folds; ++f) {
        auto weights = columns_[static_cast<std::size_t>(model.column)];
        add_rows(std::move(weights));
      }
    }
    taken[round][static_cast<std::size_t>(sides.positive)] = 1;
    if (pair) taken[round][static_cast<std::size_t>(sides.negative)] = 1;
    auto part = model;
    for (std::size_t f = 0; f < platt_folds; ++f) {
      part.column = firsts[round] + static_cast<std::int32_t>(f);
      add_platt_fold(part, sides, cost, f, plan);
    }
    model.platt.push_back(std::move(plan));
  }
}

SvmSheaf SheafPlan::finish() {
  const bool plain = columns_.size() == 1 &&
                     std::all_of(columns_[0].begin(), columns_[0].end(), [](float weight) { return weight == 1; });
  sheaf_.weight_columns = std::max(static_cast<std::int32_t>(columns_.size()), 1);
  if (!plain) sheaf_.row_weights = interleaved(columns_, labels_.rows);
  columns_.clear();
  return std::move(sheaf_);
}

std::vector<double> held_out_decisions(const PlattPlan& plan, const Block<double>& decisions) {
  std::vector<double> values;
  values.reserve(plan.rows.size());
  for (std::size_t f = 0; f < platt_folds; ++f)
    for (std::size_t k = plan.begins[f]; k < plan.begins[f + 1]; ++k)
      values.push_back(plan.tasks[f] < 0 ? plan.constants[f] : decisions(plan.rows[k], plan.tasks[f]));
  return values;
}

SvmTraining training_of(const SvmFit& fit, std::int64_t rows) {
  double alphas = 0;
  for (const double coefficient : fit.svm.coefficients) alphas += std::abs(coefficient);
  return {fit.objective, fit.violation, fit.margin,  fit.iterations, static_cast<std::int32_t>(fit.svm.rows.size()),
          fit.bounded,   rows,          fit.svm.rho, alphas,         fit.converged};
}

}  // namespace sheaf::kernel
