// The content hash of files, the one that sha256sum prints.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sheaf {

std::string sha256(std::string_view bytes);

struct FileHash {
  std::int64_t size = 0;
  std::string sha256;  // 64 hexadecimal digits
};
FileHash hash_file(const std::string& path);

}  // namespace sheaf
