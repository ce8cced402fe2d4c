// The verbs of rescoring: all operations of training on a device. One object holds the normalised features of all PSMs
// on its device, their labels, and for each training part the role of every PSM in it.
//
// All models are linear: a vector of weights has one entry for each feature and the bias last. Weights, gradients and
// Hessians are doubles on the host (a few kilobytes); only rows are on the device.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/array.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "core/host_device.hpp"

namespace sheaf::rescore {

/// Role of a PSM in a training part; its code is 4 * bin + role. Bin 0 is outside of the part; nested bins count from
/// 1.
enum Role : std::uint16_t { decoy = 0, positive = 1, other_target = 2 };
SHEAF_HOST_DEVICE constexpr std::uint16_t code_of(std::int32_t bin, Role role) {
  return static_cast<std::uint16_t>(4 * bin + role);
}
SHEAF_HOST_DEVICE constexpr std::int32_t bin_of(std::uint16_t code) { return code / 4; }
SHEAF_HOST_DEVICE constexpr Role role_of(std::uint16_t code) { return static_cast<Role>(code % 4); }

/// One support vector machine: min over w of |w|^2 / 2 + sum over rows of |cost| / 2 * max(0, 1 - sign(cost) x'w)^2.
struct SvmTask {
  std::int32_t part = 0;      ///< the training part whose codes hold the roles of rows
  std::vector<double> costs;  ///< of each code; above 0: of class +1, below 0: of class -1, 0: the row is not used
};

/// Sums over the rows at the weights of the SVMs of one block.
struct SvmSums {
  std::vector<double> losses;          ///< of each task: the sum over rows, without the penalty
  std::vector<double> gradients;       ///< tasks x weights, without the penalty
  std::vector<std::int64_t> switched;  ///< rows that became or ceased to be support vectors since the last pass
};

/// The PSMs to count for one vector of weights, and the false discovery rate.
struct AcceptQuery {
  std::int32_t part = 0;
  std::int32_t bin = 0;  ///< rows of this nested bin; 0: of the whole part
  double limit = 0.01;
  bool inclusive = false;  ///< FDR <= limit (else <)
  bool plus_one = false;   ///< one decoy more than there are is counted
};
struct Accepted {
  std::int64_t targets = 0;
  double above = std::numeric_limits<double>::infinity();  ///< exactly those that score more than this
};

/// Tasks of one block of SVMs: one bit of a word for each.
constexpr std::int32_t most_svms = 32;

template <class T>
class RescoreOps {
 public:
  RescoreOps(std::int64_t rows, std::int64_t features) : rows_(rows), features_(features) {}
  RescoreOps(const RescoreOps&) = delete;
  RescoreOps& operator=(const RescoreOps&) = delete;
  virtual ~RescoreOps() = default;

  std::int64_t rows() const { return rows_; }
  std::int64_t features() const { return features_; }
  std::int64_t weights() const { return features_ + 1; }

  /// The bin of every row in a training part; parts are numbered from 0 as they come. No target is positive then.
  virtual void set_part(std::int32_t part, std::span<const std::uint16_t> bins) = 0;
  /// Positives of part p become the targets of it that score more than above[p] by w[p], for the first w.size() parts;
  /// returns how many of each.
  virtual std::vector<std::int64_t> mark_positives(std::span<const std::vector<double>> w,
                                                   std::span<const double> above) = 0;
  /// Positives of a part become the rows of it that are flagged.
  virtual std::int64_t mark_positives(std::int32_t part, std::span<const std::uint8_t> flags) = 0;

  /// Row i's score by the weights of number which[i]; empty: by number 0. The scores are on the device.
  virtual Array<double> score(std::span<const std::vector<double>> w, std::span<const std::uint16_t> which) = 0;
  /// For each query, with its weights: how many targets are accepted.
  virtual std::vector<Accepted> accept(std::span<const AcceptQuery> queries,
                                       std::span<const std::vector<double>> w) = 0;

  /// A new block of up to most_svms tasks, without support vectors.
  virtual void set_svms(std::int32_t block, std::span<const SvmTask> tasks) = 0;
  /// Frees the memory of the block's support vectors.
  virtual void forget_svms(std::int32_t block) = 0;
  /// One pass over all rows. `hessians` (tasks x weights x weights, lower triangles) get the terms of rows that became
  /// support vectors, and lose those of rows that ceased to be: begin with zeros and keep them between passes.
  virtual SvmSums pass(std::int32_t block, std::span<const std::vector<double>> w, std::span<double> hessians) = 0;

 private:
  std::int64_t rows_;
  std::int64_t features_;
};

/// Whether a row of bin `bin` is counted by a query of bin `wanted`.
SHEAF_HOST_DEVICE constexpr bool is_counted(std::int32_t wanted, std::int32_t bin) {
  return wanted == 0 ? bin > 0 : bin == wanted;
}

/// Accepted targets from the scores of decoys (sorted, the best first) and of targets (in any order), of which there
/// may be more, all worse than these: enough_decoys() of them must be here, or all.
template <class T>
Accepted count_accepted(const AcceptQuery& query, std::span<const T> decoys, std::span<const T> targets);

/// With more decoys than this above it, no score is accepted.
inline std::int64_t enough_decoys(const AcceptQuery& query, std::int64_t targets) {
  return static_cast<std::int64_t>(query.limit * static_cast<double>(targets)) + 2;
}

/// `x` holds normalised features and must outlive the verbs; on the verbs' device they are used in place, else copied
/// there. Labels are 1 and -1.
template <class T>
std::unique_ptr<RescoreOps<T>> make_rescore_ops(const Context& context, const DenseMatrix<T>& x,
                                                std::span<const std::int8_t> labels);

// The backends, for make_rescore_ops alone.
template <class Set, class T>
std::unique_ptr<RescoreOps<T>> make_cpu_rescore_ops_for(const Context& context, const DenseMatrix<T>& x,
                                                        std::span<const std::int8_t> labels);
template <class T>
std::unique_ptr<RescoreOps<T>> make_cuda_rescore_ops(const Context& context, const DenseMatrix<T>& x,
                                                     std::span<const std::int8_t> labels);

}  // namespace sheaf::rescore
