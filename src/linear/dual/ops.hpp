// The verbs of dual coordinate descent: passes over the rows for blocks of models that are trained side by side. Only
// ops_cpu.cpp and ops_cuda.cu name a thread.
//
// A block has the weights of its models side by side for each feature, and likewise their dual variables for each row:
// one read of a row serves all of them. Models of a block visit the rows in the same order. A model is one task, or for
// Crammer and Singer's loss one task for each class, in a row.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/solvers/linear.hpp>

#include "linear/dual/order.hpp"

namespace sheaf::linear::dual {

/// Parameters of a pass for one model; see DualRow.
struct PassBounds {
  double upper = std::numeric_limits<double>::infinity();
  double lower = -std::numeric_limits<double>::infinity();
  bool visited = false;  ///< false: the model is finished, and the pass leaves it as it is
};

/// Results of a pass for one model.
struct PassSums {
  double largest = 0;   ///< of the violations, with their sign; never below 0
  double smallest = 0;  ///< never above 0
  double amount = 0;    ///< sum over the visits of DualVisit::amount
  double gap = 0;       ///< an estimate of the duality gap of the rows visited: each was measured at its visit
  double visits = 0;    ///< rows visited
  double left_out = 0;  ///< of those, rows (or classes of rows) that the next passes leave out
  double shared = 0;    ///< rows that any model of the block visited
};

/// One model as it stands.
struct Measure {
  double squares = 0;  ///< w'w
  double losses = 0;   ///< sum of cost * loss
  double gap = 0;      ///< the duality gap
};

/// Rows and losses of one model at w = 0.
struct Start {
  double rows = 0;    ///< with a weight above 0
  double losses = 0;  ///< sum of cost * loss
};

template <class T>
class DualOps {
 public:
  DualOps() = default;
  DualOps(const DualOps&) = delete;
  DualOps& operator=(const DualOps&) = delete;
  virtual ~DualOps() = default;

  /// Models of a block, but for those that move_out() makes. Spans over models have an entry for each of them.
  virtual std::int32_t width() const = 0;
  /// Whether blocks are best passed over together; else each by a thread of its own, from its start to its end.
  virtual bool together() const = 0;
  /// Whether models that no longer share many rows with others of their block are better off alone.
  virtual bool moves_out() const = 0;
  /// Bytes of one block.
  virtual std::int64_t block_bytes() const = 0;
  /// Bytes of data shared by all blocks.
  virtual std::int64_t data_bytes() const = 0;

  /// Room for `blocks` blocks. Verbs of different blocks may be called by different threads.
  virtual void reserve(std::int32_t blocks) = 0;
  /// w = 0, and no row has been visited; the tasks of at most width() models.
  virtual void start(std::int32_t block, std::span<const Task> tasks, std::span<Start> starts) = 0;
  /// Visits the rows of each block once, in the order of this pass. `gaps`: PassSums::gap is wanted too.
  virtual void pass(std::span<const std::int32_t> blocks, std::int64_t pass, bool gaps,
                    std::span<const PassBounds> bounds, std::span<PassSums> sums) = 0;
  /// The model continues as the only one of the block `alone`, as it stands; its old block must not visit it any more.
  virtual void move_out(std::int32_t block, std::int32_t model, std::int32_t alone) = 0;
  /// The models with a flag visit all of their rows again.
  virtual void take_back(std::int32_t block, std::span<const std::uint8_t> models) = 0;
  /// How the models of a block stand. Decision values of all rows go to column columns[model] of `decisions` (of
  /// several classes: from there on), on this device, unless that is empty or the column is below 0.
  virtual void measure(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> decisions,
                       std::span<Measure> measures) = 0;
  /// The weights go to column columns[model] of `weights`, or from there on, in CPU memory, unless that is below 0.
  virtual void copy_weights(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> weights) = 0;
  /// Gives the block's memory back.
  virtual void release(std::int32_t block) = 0;
};

/// The backend of the context's device for `tasks` models. The dataset and the sheaf must outlive it and not move.
template <class T>
std::unique_ptr<DualOps<T>> make_dual_ops(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                          Loss loss, T bias, std::int32_t tasks);

// The backends, for make_dual_ops() alone.
template <class Set, class T>
std::unique_ptr<DualOps<T>> make_cpu_dual_ops(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                              Loss loss, T bias, std::int32_t tasks);
template <class T>
std::unique_ptr<DualOps<T>> make_cuda_dual_ops(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                               Loss loss, T bias);

}  // namespace sheaf::linear::dual
