// The bytes of a matrix in a file: several threads and processes write their own parts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neighbors/matrix/layout.hpp"

namespace sheaf::neighbors {

/// An open file, closed on every way out. A symbolic link is refused.
class MatrixBytes {
 public:
  /// A new file is as private as the one of the name `target` that it will replace.
  MatrixBytes(std::string path, int flags, const std::string& target = {});
  MatrixBytes(const MatrixBytes&) = delete;
  MatrixBytes& operator=(const MatrixBytes&) = delete;
  ~MatrixBytes();

  std::int64_t size() const;
  void set_size(std::int64_t bytes);
  /// Any thread may write its own part.
  void write_at(std::int64_t offset, const void* bytes, std::int64_t count);
  /// False: the file ends before that.
  bool read_at(std::int64_t offset, void* bytes, std::int64_t count) const;
  /// Whether the block is the one that was written.
  bool holds(const MatrixLayout& layout, Range block, const std::string& check, std::vector<double>& room) const;
  /// Returns when the bytes will survive a loss of power.
  void synchronise();
  /// Gives the file, which lies under `from`, the name `to` and the permissions of a file that it replaces. False:
  /// there is no file of the name `from` any more.
  bool publish(const std::string& from, const std::string& to);
  /// Whether the file has this name.
  bool is_at(const std::string& path) const;

 private:
  [[noreturn]] void fail_to_write() const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace sheaf::neighbors
