// How elastic nets are scored, as glmnet scores them: deviances, measures of held-out rows and their standard errors,
// and the choice among the penalties of a path.
//
// Decision values stand model by model, each with its classes (or targets) one after another, and of these the rows:
// rows x (classes x models), column by column. Offsets are part of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/solvers/elastic_net.hpp>

namespace sheaf {

/// The targets that decision values are compared with.
struct NetResponse {
  Loss loss = Loss::squared;  ///< one of elastic nets
  double loss_parameter = 0;
  std::int32_t classes = 1;          ///< decision values of a model
  std::vector<double> targets = {};  ///< as in NetSheaf, but column by column
  RiskTimes risk = {};               ///< cox
  std::vector<double> weights = {};  ///< one a row; empty: all 1
  std::vector<double> offsets = {};  ///< of the model without features, one a row; empty: all 0
  /// An addition to the deviance of each row, since no model knows more than shares of two classes; empty: nothing.
  std::vector<double> saturated = {};

  std::size_t rows() const { return targets.size() / static_cast<std::size_t>(classes); }
};

/// Twice what the log-likelihood lacks to that of a perfect fit, of several targets the sum of squares, and of huber
/// and quantile the loss itself: of all rows, one a model.
std::vector<double> net_deviances(const NetResponse& response, std::span<const double> decisions);
/// That of the best model without features.
double null_deviance(const NetResponse& response, bool intercept = true);

enum class NetMeasure : std::uint8_t { squared_error, absolute_error, deviance, class_error, auc, concordance };
/// By glmnet's names: mse, mae, deviance, class, auc and C. Another name is a UsageError.
NetMeasure parse_net_measure(std::string_view name);
/// The mean over all rows, one a model; of survival models the deviance of all rows together.
std::vector<double> net_scores(const NetResponse& response, NetMeasure measure, std::span<const double> decisions);

/// Means over held-out rows and their standard errors, one a model.
struct NetFoldScores {
  std::vector<double> mean, error;
};
/// `folds`: that of each row, from 0, which did not train the models that its decision values are of; of survival
/// models those of all rows are there for each fold, one fold after another. `groups`: rows that are one observation
/// for standard errors (the folds themselves: errors are those of folds' means); empty: each row is. Survival models
/// always have errors of folds; `together`: what the rows of a fold add to the deviance of the others, else theirs
/// alone.
NetFoldScores score_net_folds(const NetResponse& response, NetMeasure measure, std::span<const double> decisions,
                              std::span<const std::int32_t> folds, std::span<const std::int32_t> groups, bool together);

/// A scored model of one path, or of several of different shares of relaxed models.
struct NetPoint {
  double alpha = 0;
  double share = 1;
  double mean = 0, error = 0;
};
/// The best point, and the one of the largest alpha (then share) within its standard error. Means that are not numbers
/// are passed over.
std::pair<std::size_t, std::size_t> choose_net(std::span<const NetPoint> points, NetMeasure measure);

/// Whether the class of some row is certain to one in a hundred thousand, as that of separated rows is, or the rate of
/// a count is as small beside that of the model without features: of one model.
bool is_certain(const NetResponse& response, std::span<const double> decisions);

/// For each row: whether its event came (1 or 0), less the number of events expected of it. `values` are logarithms of
/// hazards.
std::vector<double> martingale_residuals(const RiskTimes& risk, std::span<const double> events,
                                         std::span<const float> weights, std::span<const double> values, Ties ties);

}  // namespace sheaf
