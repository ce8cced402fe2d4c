// Every metric by the plain functions of scores.hpp: what the scores of a device are compared with.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <sheaf/scores.hpp>

namespace sheaf::test {

/// One model's predictions of its test rows.
struct Predictions {
  std::int32_t classes = 0;    // 0: regression
  std::int32_t positive = -1;  // two classes
  std::vector<double> decisions;
  std::vector<std::int32_t> truth, predicted;
  std::vector<double> values;  // regression: the truth

  std::int32_t columns() const { return classes > 2 ? classes : 1; }
  std::size_t rows() const { return classes > 0 ? truth.size() : values.size(); }

  /// Adds a row with the class of its largest column.
  void add(std::vector<double> row, std::int32_t label) {
    std::int32_t best = row.size() == 1 && !(row[0] > 0) ? 1 : 0;
    for (std::size_t c = 1; c < row.size(); ++c)
      if (row[c] > row[static_cast<std::size_t>(best)]) best = static_cast<std::int32_t>(c);
    decisions.insert(decisions.end(), row.begin(), row.end());
    truth.push_back(label);
    predicted.push_back(best);
  }

  /// Two classes: values that rise with the chance of the positive one, and which rows belong to it.
  std::vector<double> positive_values() const {
    auto result = decisions;
    for (double& value : result) value = positive == 0 ? value : -value;
    return result;
  }
  std::vector<std::uint8_t> positive_rows() const {
    std::vector<std::uint8_t> result;
    for (const auto label : truth) result.push_back(label == positive ? 1 : 0);
    return result;
  }
};

inline double plain_score(Metric metric, const Predictions& p) {
  switch (metric) {
    case Metric::accuracy:
      return accuracy(p.truth, p.predicted);
    case Metric::balanced_accuracy:
      return balanced_accuracy(p.truth, p.predicted, p.classes);
    case Metric::precision:
      return precision(p.truth, p.predicted, p.classes, p.positive);
    case Metric::recall:
      return recall(p.truth, p.predicted, p.classes, p.positive);
    case Metric::f1:
      return f1(p.truth, p.predicted, p.classes, p.positive);
    case Metric::matthews_corrcoef:
      return matthews_correlation(p.truth, p.predicted, p.classes);
    case Metric::auc:
      return auc_of_classes(p.decisions, p.columns(), p.truth);
    case Metric::average_precision:
      return average_precision_of_classes(p.decisions, p.columns(), p.truth, p.positive);
    case Metric::log_loss:
      return log_loss(p.decisions, p.columns(), p.truth);
    case Metric::brier_score:
      return brier_score(p.decisions, p.columns(), p.truth);
    case Metric::top_2_accuracy:
      return top_k_accuracy(p.decisions, p.columns(), p.truth, 2);
    case Metric::top_3_accuracy:
      return top_k_accuracy(p.decisions, p.columns(), p.truth, 3);
    case Metric::top_5_accuracy:
      return top_k_accuracy(p.decisions, p.columns(), p.truth, 5);
    case Metric::precision_macro:
      return precision(p.truth, p.predicted, p.classes);
    case Metric::precision_weighted:
      return precision_weighted(p.truth, p.predicted, p.classes);
    case Metric::recall_macro:
      return recall(p.truth, p.predicted, p.classes);
    case Metric::f1_macro:
      return f1(p.truth, p.predicted, p.classes);
    case Metric::f1_weighted:
      return f1_weighted(p.truth, p.predicted, p.classes);
    case Metric::roc_auc_ovr_weighted:
      return auc_of_classes_weighted(p.decisions, p.columns(), p.truth);
    case Metric::r2:
      return r_squared(p.decisions, p.values);
    case Metric::rmse:
      return root_mean_squared_error(p.decisions, p.values);
    case Metric::mean_absolute_error:
      return mean_absolute_error(p.decisions, p.values);
    case Metric::mean_squared_error:
      return mean_squared_error(p.decisions, p.values);
    case Metric::max_error:
      return max_error(p.decisions, p.values);
    case Metric::mean_poisson_deviance:
      return mean_poisson_deviance(p.decisions, p.values);
    case Metric::mean_gamma_deviance:
      return mean_gamma_deviance(p.decisions, p.values);
    case Metric::mean_tweedie_deviance:
      return mean_tweedie_deviance(p.decisions, p.values);
    case Metric::mean_pinball_loss:
      return mean_pinball_loss(p.decisions, p.values);
    case Metric::concordance:
    case Metric::partial_likelihood_deviance:
      break;  // of survival times, which predictions here are not: survival_test has them
  }
  return 0;
}

/// Whether a device adds it up from fractions, in an order of its own. All others are made of whole numbers.
inline bool is_sum(Metric metric) {
  return metric == Metric::average_precision || info(metric).probabilities ||
         (info(metric).regression && metric != Metric::max_error);
}

}  // namespace sheaf::test
