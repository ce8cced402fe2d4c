// The content hash of files, the one that sha256sum prints.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace sheaf {

/// The hash of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::string_view bytes);
  /// 64 hexadecimal digits; nothing may be added after it.
  std::string finish();

 private:
  void add_blocks(std::string_view blocks);

  std::array<std::uint32_t, 8> state_;
  std::uint64_t bytes_ = 0;  // in whole blocks
  std::string rest_;         // less than a block
};

std::string sha256(std::string_view bytes);

struct FileHash {
  std::int64_t size = 0;
  std::string sha256;  // 64 hexadecimal digits
};
FileHash hash_file(const std::string& path);

}  // namespace sheaf
