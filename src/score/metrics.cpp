#include "score/metrics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "core/names.hpp"

namespace sheaf {
namespace score {
namespace {

constexpr bool large_is_good = true;
constexpr bool small_is_good = false;

/// Rarely used fields of a metric.
struct Details {
  std::string_view aliases = {};
  bool summary = true;
  std::int32_t least_classes = 2;
};

/// The place of a row is its metric's number; those that Metric does not name stand behind the others.
constexpr auto unnamed = static_cast<Metric>(255);

constexpr MetricRow row(Metric metric, std::string_view name, std::string_view title, std::string_view about,
                        bool larger_is_better, Need need, double (*value)(const Statistics&), Details details = {}) {
  const bool survival = need == Need::survival;
  return {{metric, name, title, about, larger_is_better, need == Need::errors || survival, need == Need::probabilities,
           details.least_classes, details.summary, details.aliases, survival},
          need,
          value};
}

/// The share of rows whose true class is among the `k` largest columns.
template <std::size_t k>
double top_k(const Statistics& s) {
  static_assert(k < true_rank_bins);
  std::int64_t found = 0;
  for (std::size_t rank = 0; rank < k; ++rank) found += s.true_ranks[rank];
  return static_cast<double>(found) / s.rows;
}

constexpr std::array rows{
    row(Metric::accuracy, "accuracy", "accuracy", "share of rows predicted right", large_is_good, Need::classes,
        [](const Statistics& s) { return accuracy(s.classes); },
        {.aliases = "recall-weighted precision-micro recall-micro f1-micro"}),
    row(Metric::balanced_accuracy, "balanced-accuracy", "balanced accuracy",
        "mean over the classes of the share predicted right", large_is_good, Need::classes,
        [](const Statistics& s) { return balanced_accuracy(s.classes); }),
    row(Metric::precision, "precision", "precision",
        "share right of the rows predicted as positive; more than two classes: mean over the classes", large_is_good,
        Need::classes, [](const Statistics& s) { return macro_mean(s.classes, class_precision, s.positive); }),
    row(Metric::recall, "recall", "recall",
        "share of the positive rows that is found; more than two classes: mean over the classes", large_is_good,
        Need::classes, [](const Statistics& s) { return macro_mean(s.classes, class_recall, s.positive); },
        {.aliases = "sensitivity"}),
    row(Metric::f1, "f1", "F1",
        "harmonic mean of precision and recall of the positive class; more than two classes: mean over the classes",
        large_is_good, Need::classes, [](const Statistics& s) { return macro_mean(s.classes, class_f1, s.positive); }),
    row(Metric::matthews_corrcoef, "matthews-corrcoef", "Matthews correlation",
        "correlation of true and predicted classes, -1 to 1; 0 is as good as chance", large_is_good, Need::classes,
        [](const Statistics& s) { return matthews_correlation(s.classes); }, {.aliases = "mcc"}),
    row(Metric::auc, "auc", "AUC",
        "area under the ROC curve, ties count half; more than two classes: mean of each against the rest",
        large_is_good, Need::rankings, [](const Statistics& s) { return mean_of(s.rankings, auc); },
        {.aliases = "roc-auc roc-auc-ovr"}),
    row(Metric::average_precision, "average-precision", "average precision",
        "area under the precision-recall curve; more than two classes: mean of each against the rest", large_is_good,
        Need::rankings, [](const Statistics& s) { return mean_of(s.rankings, average_precision); },
        {.aliases = "pr-auc"}),
    row(Metric::log_loss, "log-loss", "log-loss", "mean of -log(probability of the true class)", small_is_good,
        Need::probabilities, [](const Statistics& s) { return s.probabilities.log_loss / s.rows; }),
    row(Metric::brier_score, "brier-score", "Brier score",
        "mean squared distance of the probabilities from the truth; more than two classes: summed over the classes",
        small_is_good, Need::probabilities, [](const Statistics& s) { return s.probabilities.brier / s.rows; },
        {.aliases = "brier"}),
    row(Metric::top_2_accuracy, "top-2-accuracy", "top-2 accuracy",
        "share of rows whose true class is among the 2 with the largest values", large_is_good, Need::true_ranks,
        top_k<2>, {.aliases = "top-k-accuracy", .least_classes = 3}),
    row(Metric::top_3_accuracy, "top-3-accuracy", "top-3 accuracy",
        "share of rows whose true class is among the 3 with the largest values", large_is_good, Need::true_ranks,
        top_k<3>, {.least_classes = 4}),
    row(Metric::top_5_accuracy, "top-5-accuracy", "top-5 accuracy",
        "share of rows whose true class is among the 5 with the largest values", large_is_good, Need::true_ranks,
        top_k<5>, {.least_classes = 6}),
    row(Metric::precision_macro, "precision-macro", "precision (macro)", "mean over the classes of the precision",
        large_is_good, Need::classes, [](const Statistics& s) { return macro_mean(s.classes, class_precision); },
        {.summary = false}),
    row(Metric::precision_weighted, "precision-weighted", "precision (weighted)",
        "mean over the classes of the precision, each weighted by its rows", large_is_good, Need::classes,
        [](const Statistics& s) { return weighted_mean(s.classes, class_precision); }, {.summary = false}),
    row(Metric::recall_macro, "recall-macro", "recall (macro)",
        "mean of the recall over the classes that occur in the truth or among the predictions", large_is_good,
        Need::classes, [](const Statistics& s) { return macro_mean(s.classes, class_recall); }, {.summary = false}),
    row(Metric::f1_macro, "f1-macro", "F1 (macro)", "mean over the classes of F1", large_is_good, Need::classes,
        [](const Statistics& s) { return macro_mean(s.classes, class_f1); }, {.summary = false}),
    row(Metric::f1_weighted, "f1-weighted", "F1 (weighted)", "mean over the classes of F1, each weighted by its rows",
        large_is_good, Need::classes, [](const Statistics& s) { return weighted_mean(s.classes, class_f1); },
        {.summary = false}),
    row(Metric::roc_auc_ovr_weighted, "roc-auc-ovr-weighted", "AUC (weighted)",
        "mean over the classes of the AUC of each against the rest, each weighted by its rows", large_is_good,
        Need::rankings, [](const Statistics& s) { return weighted_mean_of(s.rankings, auc); },
        {.summary = false, .least_classes = 3}),
    row(Metric::r2, "r2", "R2", "1 - squared error / squared distance of the target from its mean", large_is_good,
        Need::errors, [](const Statistics& s) { return r_squared(s.errors.squares, s.spread); }),
    row(Metric::rmse, "rmse", "RMSE", "square root of the mean squared error", small_is_good, Need::errors,
        [](const Statistics& s) { return std::sqrt(s.errors.squares / s.rows); },
        {.aliases = "root-mean-squared-error"}),
    row(Metric::mean_absolute_error, "mean-absolute-error", "mean absolute error",
        "mean distance of the predictions from the target", small_is_good, Need::errors,
        [](const Statistics& s) { return s.errors.absolute / s.rows; }, {.aliases = "mae"}),
    row(Metric::mean_squared_error, "mean-squared-error", "mean squared error",
        "mean squared distance of the predictions from the target", small_is_good, Need::errors,
        [](const Statistics& s) { return s.errors.squares / s.rows; }, {.aliases = "mse", .summary = false}),
    row(Metric::max_error, "max-error", "largest error", "largest distance of a prediction from the target",
        small_is_good, Need::errors, [](const Statistics& s) { return s.rows > 0 ? s.errors.largest : std::nan(""); },
        {.summary = false}),
    row(Metric::mean_poisson_deviance, "mean-poisson-deviance", "mean Poisson deviance",
        "mean of 2 (y log(y / m) - y + m) for predictions m above 0 of targets y of 0 or more", small_is_good,
        Need::errors, [](const Statistics& s) { return s.errors.poisson / s.rows; }, {.summary = false}),
    row(Metric::mean_gamma_deviance, "mean-gamma-deviance", "mean gamma deviance",
        "mean of 2 (log(m / y) + y / m - 1) for predictions m and targets y above 0", small_is_good, Need::errors,
        [](const Statistics& s) { return s.errors.gamma / s.rows; }, {.summary = false}),
    row(Metric::mean_tweedie_deviance, "mean-tweedie-deviance", "mean Tweedie deviance",
        "mean deviance of power 1.5 for predictions above 0 of targets of 0 or more", small_is_good, Need::errors,
        [](const Statistics& s) { return s.errors.tweedie / s.rows; }, {.summary = false}),
    row(Metric::mean_pinball_loss, "mean-pinball-loss", "mean pinball loss",
        "mean of q (y - m) if a prediction m is below the target y, (1 - q) (m - y) above; q is the quantile of "
        "elastic-net-quantile, 0.5 of other models",
        small_is_good, Need::errors, [](const Statistics& s) { return pinball_loss(s.errors, s.quantile) / s.rows; },
        {.summary = false}),
    row(Metric::concordance, "concordance", "concordance",
        "share of pairs of rows, of which one had its event first, in which it has the larger hazard; ties count half",
        large_is_good, Need::survival, [](const Statistics& s) { return s.survival.ordered / s.survival.pairs; },
        {.aliases = "c-index concordance-index"}),
    row(Metric::partial_likelihood_deviance, "partial-likelihood-deviance", "partial likelihood deviance",
        "what test rows add to the deviance of Cox's partial likelihood of the rows trained on, an event",
        small_is_good, Need::survival, [](const Statistics& s) { return s.survival.deviance / s.survival.events; }),
};

constexpr auto infos = [] {
  std::array<MetricInfo, rows.size()> result{};
  for (std::size_t k = 0; k < rows.size(); ++k) {
    result[k] = rows[k].info;
    result[k].metric = static_cast<Metric>(k);
  }
  return result;
}();

constexpr bool in_order() {
  for (std::size_t k = 0; k < rows.size(); ++k)
    if (rows[k].info.metric != unnamed && rows[k].info.metric != static_cast<Metric>(k)) return false;
  return rows.size() < static_cast<std::size_t>(unnamed);
}
static_assert(in_order(), "the rows stand in the order of Metric");

/// Whether `name` is among `names`, which have spaces between.
bool among(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const auto end = std::min(names.find(' '), names.size());
    if (names.substr(0, end) == name) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

}  // namespace

const MetricRow& metric_row(Metric metric) { return rows[static_cast<std::size_t>(metric)]; }

}  // namespace score

std::span<const MetricInfo> metrics() { return score::infos; }

std::vector<double> no_scores() { return std::vector<double>(score::rows.size(), std::nan("")); }

const MetricInfo& info(Metric metric) { return score::infos[static_cast<std::size_t>(metric)]; }

Metric parse_metric(std::string_view name) {
  std::string dashed(name);
  std::replace(dashed.begin(), dashed.end(), '_', '-');
  for (const auto& row : metrics())
    if (row.name == dashed || score::among(row.aliases, dashed)) return row.metric;
  std::vector<std::string> known;
  for (const auto& row : metrics()) known.emplace_back(row.name);
  fail_unknown("score", name, known);
}

}  // namespace sheaf
