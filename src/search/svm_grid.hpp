// Models of one kernel, trained together and judged on the rows that they did not see.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <sheaf/svm_search.hpp>

#include "kernel/model/plan.hpp"

namespace sheaf::search {

struct SplitRows {
  std::vector<std::vector<float>> weights;       // of each split
  std::vector<std::vector<std::int32_t>> tests;  // rows of each split
};

struct GridModel {
  std::int32_t split = 0;  // among those of SplitRows
  double cost = 1;
};

template <class T>
class SvmGrid {
 public:
  /// All must outlive it. `options` says everything but cost, gamma and degree.
  SvmGrid(const Dataset<T>& dataset, const kernel::SvmLabels& labels, const SvmOptions& options);

  /// The class of F1 and ROC; -1: none.
  std::int32_t positive() const { return positive_; }
  std::int32_t machines() const { return static_cast<std::int32_t>(sides_.size()); }
  const KernelCounts& counts() const { return counts_; }

  /// May be called by several threads, each with its own device.
  std::vector<ModelScores> train(const Context& context, double gamma, int degree, const SplitRows& splits,
                                 std::span<const GridModel> models);

 private:
  ModelScores judge(std::span<const std::int32_t> rows, const kernel::ModelPlan& plan, const Block<double>& decisions,
                    std::int32_t first) const;
  void judge_classes(std::span<const std::int32_t> rows, const kernel::ModelPlan& plan, const Block<double>& decisions,
                     std::int32_t first, ModelScores& scores) const;

  const Dataset<T>& dataset_;
  const kernel::SvmLabels& labels_;
  const SvmOptions& options_;
  std::vector<kernel::Sides> sides_;
  std::int32_t positive_ = -1;
  std::mutex mutex_;
  KernelCounts counts_;
};

}  // namespace sheaf::search
