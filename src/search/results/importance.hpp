// Permutation importance: by how much the score gets worse if a feature is shuffled among the rows that a model did not
// see. Linear models add what each feature contributes, so that a shuffle moves decision values by differences of
// contributions; other models predict the shuffled rows.
#pragma once

#include <span>
#include <vector>

#include "search/plan/plan.hpp"

namespace sheaf::engine {

template <class T>
class Importance {
 public:
  /// All must outlive it. Does nothing if no shuffles are requested.
  Importance(const Dataset<T>& dataset, const Labels& labels, const SearchResult& result);

  /// The model of one split on its held-out rows: `test`, rows `rows` of the dataset.
  void add(const Context& context, const Model& model, const Dataset<T>& test, std::span<const std::int32_t> rows,
           std::int32_t split);
  /// The most important first.
  std::vector<FeatureImportance> finish() const;

 private:
  const Dataset<T>& dataset_;
  const Labels& labels_;
  const SearchResult& result_;
  std::vector<std::vector<double>> drops_;  // splits x features
};

}  // namespace sheaf::engine
