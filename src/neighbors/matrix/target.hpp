// A distance matrix under construction, in a file PATH.partial that survives the process and gets its name at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <sheaf/context.hpp>

#include "neighbors/matrix/layout.hpp"

namespace sheaf::neighbors {

class MatrixTarget {
 public:
  MatrixTarget() = default;
  MatrixTarget(const MatrixTarget&) = delete;
  MatrixTarget& operator=(const MatrixTarget&) = delete;
  virtual ~MatrixTarget() = default;

  /// The blocks that are to be computed, of at most `rows` rows each.
  virtual std::vector<Range> blocks(std::int64_t rows) = 0;
  /// Whether another process has written the block.
  virtual bool is_done(Range /*block*/) { return false; }
  /// Whether this process is to compute the block; false: another one does.
  virtual bool claim(Range /*block*/) { return true; }
  /// All values of block number `unit`. Any thread may bring its own; claim() and is_done() may be asked meanwhile.
  virtual void write(std::int64_t unit, Range block, const double* values) = 0;
  /// Once all blocks are written: those that the file does not hold as they were written, to be computed again.
  virtual std::vector<Range> damaged(const Context& /*context*/) { return {}; }
  /// Gives the complete file its name.
  virtual void publish() = 0;
};

/// Of one process: PATH.settings is a journal of the blocks that are on the disk. `settings`: what two runs must have
/// in common for one to go on with the other's file.
std::unique_ptr<MatrixTarget> open_own_matrix(const Context& context, const std::string& path,
                                              const std::string& settings, const MatrixLayout& layout, bool resume);

/// Of all processes that join: the folder PATH.units says who computes which block, and which are on the disk. One that
/// gives no sign of life for `lease` seconds loses its blocks.
std::unique_ptr<MatrixTarget> join_matrix(const std::string& path, const std::string& settings,
                                          const MatrixLayout& layout, double lease);

/// The rows that are not done, in blocks of at most `step`.
std::vector<Range> blocks_beside(const std::vector<Range>& done, std::int64_t rows, std::int64_t step);

}  // namespace sheaf::neighbors
