// A whole search: every cost on every split trained in common sheaves, scored on the rows left out, the best chosen and
// trained again on all rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/linear_model.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/splits.hpp>

namespace sheaf {

enum class Choice : std::uint8_t {
  best,                ///< the best mean score; of equals the smallest cost
  one_standard_error,  ///< the smallest cost whose mean is within one standard error of the best
};

struct SearchOptions {
  LinearOptions linear;            ///< its cost is not used
  std::vector<double> costs;       ///< empty: default_costs()
  std::optional<SplitKind> split;  ///< none: stratified for classes, k-fold for amounts
  std::int32_t folds = 5;          ///< folds, shuffles or bootstraps
  double test_fraction = 0.2;      ///< stratified shuffle
  std::int32_t outer = 0;          ///< outer folds of nested validation; 0: none
  std::optional<Metric> score;     ///< to choose by; none: accuracy for classes, R2 for amounts
  Choice choice = Choice::best;
  std::int32_t batch = 0;  ///< tasks trained and recorded together; 0: as many as are worth it and fit
};
/// With everything that was left open decided. A score that does not suit the loss is a UsageError.
SearchOptions decided(SearchOptions options);
std::vector<double> default_costs();
/// "0.1,1,10", or "0.001:1000:7" for 7 costs from 0.001 to 1000 in equal steps of the logarithm. Ascending, each once.
/// `name` stands for them in messages.
std::vector<double> parse_costs(std::string_view text, std::string_view name = "cost");

/// One cost on one split.
struct ModelScores : Scores {
  std::vector<TaskFit> fits;  ///< one a decision value; kernel machines: one for all
  std::int64_t support = -1;  ///< kernel machines: support vectors of all, each once
};

/// Over the splits that define the score.
struct Summarised {
  double mean = 0;
  double deviation = 0;       ///< of a sample: divided by splits - 1; 0 for a single split
  double standard_error = 0;  ///< deviation / sqrt(splits)
  std::int32_t splits = 0;
};
Summarised summarise(std::span<const double> scores);

/// Where a table of means and standard errors, one a cost in ascending order, is best and which row is chosen.
struct Chosen {
  std::size_t best = 0;
  std::size_t chosen = 0;
};
Chosen choose(std::span<const Summarised> table, bool larger_is_better, Choice choice);

/// One outer fold of a nested validation: the search without its rows, and the chosen model's scores on them.
struct OuterFold {
  std::size_t chosen = 0;  ///< position of the cost
  Summarised inner;        ///< of the chosen cost
  ModelScores scores;
};

struct SearchResult {
  SearchOptions options;  ///< with everything that was left open decided
  std::uint64_t seed = 0;
  std::string source;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::vector<std::string> class_names;  ///< in the order of the model; regression: none
  std::int32_t positive = 0;             ///< two classes: that of F1 and ROC, the larger number or the later name
  std::int32_t splits = 0;
  std::vector<ModelScores> models;  ///< costs x splits
  Chosen chosen;
  std::vector<OuterFold> outer;
  LinearModel model;                  ///< trained on all rows
  std::vector<std::string> warnings;  ///< of tasks that did not converge
  std::vector<std::string> notes;     ///< what to try next

  std::vector<double> scores(std::size_t cost, Metric metric) const;
  Summarised summary(std::size_t cost, Metric metric) const { return summarise(scores(cost, metric)); }
  /// The metrics that this search has.
  std::vector<Metric> known() const;
  double cost() const { return options.costs[chosen.chosen]; }
};

/// How the work is cut: part of what makes two runs the same bit for bit.
struct BatchPlan {
  std::int64_t memory = 0;
  std::int32_t tasks = 0;
};

/// Remembers finished batches, so that a search that was ended can go on.
class SearchLog {
 public:
  SearchLog() = default;
  SearchLog(const SearchLog&) = delete;
  SearchLog& operator=(const SearchLog&) = delete;
  virtual ~SearchLog() = default;
  /// The plan that an earlier run began with, else the proposed one, which is remembered.
  virtual BatchPlan agree(const BatchPlan& proposed) = 0;
  /// The models of a batch that is finished already; nullptr: it is not.
  virtual const std::vector<ModelScores>* recall(std::int32_t batch) = 0;
  /// Returns when the batch will survive the end of the process.
  virtual void keep(std::int32_t batch, const std::vector<ModelScores>& models) = 0;
};

/// A split that trains without rows of some class, or whose test rows do not define the score to choose by, is an Error
/// before anything is trained.
template <class T>
SearchResult search_linear(const Context& context, const Dataset<T>& dataset, const SearchOptions& options,
                           SearchLog* log = nullptr);

template <>
const std::vector<Parameter<SearchOptions>>& parameters();

std::string search_json(const SearchResult& result);
/// One line for each cost and split.
std::string search_csv(const SearchResult& result);
/// A complete page with its plots inside; loads nothing from anywhere.
std::string search_html(const SearchResult& result);

}  // namespace sheaf
