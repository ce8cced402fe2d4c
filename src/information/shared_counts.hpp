// Counts that several selections on the same rows share: a pair that one criterion has counted is not counted again for
// the next.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "information/count/ops.hpp"

namespace sheaf::information {

/// Columns of sums. They do not depend on the counting method, so that all methods of an ensemble share them. A column
/// is kept if there is room when it is first counted; giving up others would take longer than counting.
class ColumnMemory {
 public:
  static constexpr std::int64_t most_bytes = std::int64_t{128} << 20;

  /// Drops counts made with other weights.
  void choose_rows(std::span<const std::uint32_t> weights);
  /// Empty: not known.
  std::span<const JointSums> find(std::int32_t feature, bool with_class) const;
  void keep(std::int32_t feature, bool with_class, std::span<const JointSums> sums);

 private:
  struct Column {
    std::vector<JointSums> sums;
    bool with_class = false;
  };
  std::int64_t bytes_ = 0;
  std::vector<std::uint32_t> weights_;
  std::unordered_map<std::int32_t, Column> columns_;
};

/// `ops` with a memory of sums or terms, of at most `most_bytes`, or of columns if it counts those.
std::unique_ptr<Ops> share_counts(std::unique_ptr<Ops> ops, const Problem& problem, int threads,
                                  std::int64_t most_bytes, std::shared_ptr<ColumnMemory> columns);

}  // namespace sheaf::information
