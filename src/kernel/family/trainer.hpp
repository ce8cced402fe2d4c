// SVMs of one kernel, trained together and scored on their test rows, on one device; shared by the search and LIBSVM's
// own grid.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/search_space.hpp>
#include <sheaf/solvers/svm.hpp>

#include "data/labels.hpp"
#include "family/split_table.hpp"
#include "kernel/model/plan.hpp"
#include "kernel/values/class_choice.hpp"
#include "kernel/values/table.hpp"
#include "score/scorer.hpp"

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
  SvmTrainer(const Context& context, const Dataset<T>& dataset, const Labels& labels, const SvmOptions& options,
             bool keep_decisions = false);

  /// From now on, jobs are over the splits of `table`, which must outlive their training.
  void load(const SplitTable& table);
  /// Adds to `counts`.
  std::vector<ModelScores> train(double gamma, int degree, std::span<const SvmJob> jobs, KernelCounts& counts);

 private:
  struct Batch;
  Batch plan(std::span<const SvmJob> jobs, kernel::SheafPlan& sheaf) const;
  std::vector<std::int32_t> columns_of_tasks(const Batch& batch, std::size_t tasks) const;
  void decide_pairs(const Batch& batch, SvmFits& fits, const KernelParams& kernel, BlockView<double> z) const;
  std::vector<Scores> score_models(const Batch& batch, BlockView<const double> z);

  const Context& context_;
  const Dataset<T>& dataset_;
  const Labels& labels_;
  const SvmOptions& options_;
  kernel::ClassChoice choice_;
  score::Scorer<double> scorer_;
  kernel::KeptRows kept_;
  const SplitTable* table_ = nullptr;
};

}  // namespace sheaf::engine
