// A file mapped into memory.
#pragma once

#include <cstddef>
#include <string_view>

namespace sheaf {

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

 private:
  const char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t slot_ = 0;
};

}  // namespace sheaf
