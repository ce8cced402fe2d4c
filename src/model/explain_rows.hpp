// Shapley values of models of any kind, from predictions for rows that are partly those of the reference.
#pragma once

#include <utility>
#include <vector>

#include <sheaf/model.hpp>

namespace sheaf {

/// The features of one row that differ from the reference are the players; a coalition is the row with the reference's
/// values for all others.
template <class T>
struct RowGame {
  std::vector<std::int32_t> columns;  ///< of the values, ascending; empty: all
  std::vector<T> values;              ///< of the row
  std::vector<std::int64_t> players;  ///< features of the dataset
  /// For each player, its places among the values, and the values of the reference there.
  std::vector<std::vector<std::pair<std::size_t, T>>> reference;
};

/// Explains models by their predictions alone.
template <class T>
class RowExplainer {
 public:
  /// `reference` and `origins` as those of LinearExplainer. `features`: of the dataset. The model must outlive it.
  RowExplainer(const Context& context, const TrainedModel& model, std::vector<double> reference,
               std::vector<std::int64_t> origins, std::int64_t features, const ExplainOptions& options);

  /// Row i of `prepared`, which is `dataset` after the pipeline; `column`: the decision value. Values of contributions
  /// are left to the caller.
  Explanation explain(const Dataset<T>& prepared, const Dataset<T>& dataset, std::int64_t i, std::int32_t column) const;

 private:
  RowGame<T> game_of(const Dataset<T>& prepared, const Dataset<T>& dataset, std::int64_t i) const;
  /// The decision value behind each step of a walk; `start`: also that of the reference, in front.
  std::vector<double> walk(const RowGame<T>& game, const Dataset<T>& like, std::int32_t column,
                           std::span<const std::int32_t> toggles, bool start) const;
  std::vector<std::vector<std::int32_t>> orders_of(const RowGame<T>& game) const;

  const Context& context_;
  const TrainedModel& model_;
  std::vector<double> reference_;
  std::vector<std::vector<std::int64_t>> made_from_;  // by feature of the dataset: those of the model
  std::vector<std::vector<std::int32_t>> orders_;     // of all features of the dataset
  std::size_t most_;
};

/// The decision value of `column` for row i: for SVMs of pairs of classes, the sum over the pairs that the class is in.
double explained_decision(const TrainedModel& model, const Predictions& predictions, std::int64_t i,
                          std::int32_t column);

}  // namespace sheaf
