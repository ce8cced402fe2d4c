// Linear models and elastic nets behind a selection that is made inside the splits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "search/plan/make_search.hpp"

namespace sheaf::engine {

/// Numbers of selected features: in front of the family's own point if several are tried.
struct SelectedCounts {
  std::vector<std::int64_t> counts;  // none: there is no selection

  bool searched() const { return counts.size() > 1; }
  std::int64_t largest() const { return counts.empty() ? 0 : counts.back(); }
  std::int64_t of(const Point& point) const {
    return searched() ? static_cast<std::int64_t>(point.front()) : largest();
  }
  /// The point of the family itself.
  Point own_part(const Point& point) const { return {point.begin() + (searched() ? 1 : 0), point.end()}; }
};

/// Arguments of a search with selection.
template <class T>
struct SelectionSetup {
  const Dataset<T>* dataset = nullptr;  // behind the steps that learn nothing
  SearchSpace search;
  SearchOptions options;     // without a pipeline
  PipelineOptions pipeline;  // filters, scaling and selection
  SelectedCounts counts;
};

/// Some of the splits of a table, which may be taken several times, by their places in it.
SplitTable take_splits(const SplitTable& table, std::span<const std::size_t> places);

/// Calls move(dataset, model): weights of the model then belong to the features of the dataset.
template <class T>
using MoveWeights = std::function<void(const Dataset<T>& dataset, ModelScores& model)>;

/// A trainer of families that take column transforms. The features of all splits are selected as one request when a
/// table is loaded; models of all splits and counts are then trained as one sheaf, on the features that any of them
/// selected: to each the others are 0. Both arguments must outlive it.
template <class T>
std::unique_ptr<Trainer> make_selection_trainer(const Context& context, const SelectionSetup<T>& setup,
                                                MoveWeights<T> move_weights);

}  // namespace sheaf::engine
