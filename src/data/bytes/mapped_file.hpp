// A file mapped into memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sheaf {

/// A .sheaf file begins so. It is used where it is mapped, and may be larger than the memory.
inline constexpr std::string_view sheaf_magic = "\x89SHEAF\r\n";

/// If another process cuts the file short while it is mapped, the pages that are gone read as zeros, and cut_short()
/// says so: whoever reads must ask it before trusting what was read.
class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// False if the system cannot map the file; reading it works everywhere.
  bool map(int file, std::size_t size);
  bool mapped() const { return data_ != nullptr; }
  std::string_view view() const { return {data_, size_}; }
  bool cut_short() const;
  /// Asks the system to read the whole file now.
  void read_ahead() const;
  /// The file stays in use after it was read: from now on check_inputs() fails once it is cut short.
  void keep_in_use(const std::string& name) const;

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t slot_ = 0;
  mutable std::string name_;  // in use: that of the file
};

}  // namespace sheaf
