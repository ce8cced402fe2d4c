// How strongly each feature alone goes with the label, and how strongly it would by chance.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

struct AssociationOptions {
  int shuffles = 19;  ///< shuffled labels to compare with: 1 / (shuffles + 1) is the family-wise error rate of `chance`
  int bins = 50;      ///< of the histograms
};

/// Ranks of a feature (ties share their mean rank) against the label. Two classes and numbers: the rank correlation, -1
/// to 1, positive where larger values go with `positive_class` or with larger labels. More classes: the correlation
/// ratio of the ranks, 0 to 1 (the square root of Kruskal and Wallis's H / (n - 1)). Constant features have 0.
struct Associations {
  std::vector<double> correlation;  ///< one per feature; empty: no label, or but one class
  std::vector<double> auc;  ///< two classes only: chance that a random positive has the larger value (ties: half)
  std::int32_t positive_class = -1;  ///< two classes only
  int shuffles = 0;
  double chance = 0;              ///< the largest magnitude that any feature reached with any of the shuffled labels
  std::vector<double> histogram;  ///< features by magnitude, `bins` equal steps from 0 to 1
  std::vector<double> chance_histogram;  ///< the same for shuffled labels, mean over the shuffles

  bool empty() const { return correlation.empty(); }
  bool directed() const { return positive_class >= 0; }
};

/// The result depends on context.seed(), not on the number of threads.
template <class T>
Associations associate(const Context& context, const Dataset<T>& dataset, const AssociationOptions& options = {});

}  // namespace sheaf
