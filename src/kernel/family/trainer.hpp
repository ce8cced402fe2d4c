// SVMs of one kernel, trained together and scored on their test rows; shared by the search and LIBSVM's own grid.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include <sheaf/solvers/search_space.hpp>
#include <sheaf/solvers/svm.hpp>

#include "data/labels.hpp"
#include "family/split_table.hpp"
#include "kernel/model/plan.hpp"

namespace sheaf::engine {

/// A model of one kernel.
struct SvmJob {
  std::int32_t split = 0;  // column of the split table
  double cost = 1;
};

template <class T>
class SvmTrainer {
 public:
  /// All must outlive it. `options` holds everything but cost, gamma and degree.
  SvmTrainer(const Dataset<T>& dataset, const Labels& labels, const SvmOptions& options, bool keep_decisions = false);

  /// Binary SVMs of a model.
  std::int32_t tasks() const { return static_cast<std::int32_t>(sides_.size()); }
  KernelCounts counts() const { return counts_; }

  /// May be called by several threads, each with its own device.
  std::vector<ModelScores> train(const Context& context, double gamma, int degree, const SplitTable& table,
                                 std::span<const SvmJob> jobs);

 private:
  std::vector<ModelScores> score(const Context& context, std::span<const std::int32_t> rows,
                                 std::span<const kernel::ModelPlan* const> plans, const Block<double>& decisions) const;

  const Dataset<T>& dataset_;
  const Labels& labels_;
  const SvmOptions& options_;
  bool keep_decisions_;
  std::vector<kernel::Sides> sides_;
  std::mutex mutex_;
  KernelCounts counts_;
};

}  // namespace sheaf::engine
