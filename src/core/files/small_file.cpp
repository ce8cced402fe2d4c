#include "core/files/small_file.hpp"

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace sheaf {
namespace {

struct OpenFile {
  explicit OpenFile(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number >= 0) ::close(number);
  }

  const int number;
};

}  // namespace

std::optional<std::string> small_file(const std::string& path) {
  const OpenFile file(path);
  if (file.number < 0) return std::nullopt;
  std::string bytes;
  constexpr std::size_t piece = 16384;
  for (std::size_t filled = 0;;) {  // files of /proc have no size before they are read
    bytes.resize(filled + piece);
    const auto count = ::read(file.number, bytes.data() + filled, piece);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    filled += static_cast<std::size_t>(count);
    bytes.resize(filled);
    if (count == 0) return bytes;
  }
}

}  // namespace sheaf
