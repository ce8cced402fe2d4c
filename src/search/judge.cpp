#include "search/judge.hpp"

#include <limits>

namespace sheaf::search {
namespace {

/// The larger number, or the name that appears second.
std::int32_t positive_class(const linear::Problem& problem, const Target& target) {
  if (problem.class_names.size() != 2) return -1;
  if (target.values.empty()) return 1;
  for (std::size_t i = 0; i < problem.classes.size(); ++i)
    if (problem.classes[i] != problem.classes[0])
      return target.values[i] > target.values[0] ? problem.classes[i] : problem.classes[0];
  return 1;
}

ModelScores nothing_known() {
  ModelScores result;
  result.scores.fill(std::numeric_limits<double>::quiet_NaN());
  return result;
}

double& at(ModelScores& scores, Metric metric) { return scores.scores[static_cast<std::size_t>(metric)]; }

std::vector<std::int64_t> confusion(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted,
                                    std::size_t classes) {
  if (classes > most_confused) return {};
  std::vector<std::int64_t> table(classes * classes, 0);
  for (std::size_t i = 0; i < truth.size(); ++i)
    ++table[static_cast<std::size_t>(truth[i]) * classes + static_cast<std::size_t>(predicted[i])];
  return table;
}

std::vector<double> roc(std::span<const double> decisions, std::span<const std::int32_t> truth, std::int32_t positive) {
  std::vector<double> values;
  std::vector<std::uint8_t> flags;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    values.push_back(positive == 0 ? decisions[i] : -decisions[i]);
    flags.push_back(truth[i] == positive ? 1 : 0);
  }
  return roc_curve(values, flags, roc_points);
}

}  // namespace

Judge::Judge(const linear::Problem& problem, const Target& target, const LinearOptions& options)
    : problem_(problem),
      probabilities_(linear_solver(options.loss).probabilities),
      columns_(static_cast<std::int32_t>(problem.sheaf.target_columns)),
      positive_(positive_class(problem, target)) {}

ModelScores Judge::judge(std::span<const std::int32_t> rows, std::span<const double> decisions) const {
  return problem_.class_names.empty() ? judge_amounts(rows, decisions) : judge_classes(rows, decisions);
}

ModelScores Judge::judge_classes(std::span<const std::int32_t> rows, std::span<const double> decisions) const {
  const auto classes = problem_.class_names.size();
  const auto width = static_cast<std::size_t>(columns_);
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    truth.push_back(problem_.classes[static_cast<std::size_t>(rows[i])]);
    predicted.push_back(linear::choose_class(decisions.subspan(i * width, width), classes));
  }
  auto result = nothing_known();
  at(result, Metric::accuracy) = accuracy(truth, predicted);
  at(result, Metric::balanced_accuracy) = balanced_accuracy(truth, predicted, static_cast<std::int32_t>(classes));
  at(result, Metric::f1) = f1(truth, predicted, static_cast<std::int32_t>(classes), positive_);
  at(result, Metric::auc) = auc_of_classes(decisions, columns_, truth);
  if (probabilities_) at(result, Metric::log_loss) = log_loss(decisions, columns_, truth);
  result.confusion = confusion(truth, predicted, classes);
  if (positive_ >= 0) result.roc = roc(decisions, truth, positive_);
  return result;
}

ModelScores Judge::judge_amounts(std::span<const std::int32_t> rows, std::span<const double> decisions) const {
  std::vector<double> truth;
  for (const auto row : rows) truth.push_back(problem_.sheaf.targets[static_cast<std::size_t>(row)]);
  auto result = nothing_known();
  at(result, Metric::r2) = r_squared(decisions, truth);
  at(result, Metric::rmse) = root_mean_squared_error(decisions, truth);
  return result;
}

}  // namespace sheaf::search
