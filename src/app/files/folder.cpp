#include "app/files/folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/http/url.hpp"
#include "core/fail.hpp"

namespace sheaf::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void not_found(std::string_view what) {
  throw Refusal{404, "not_found", fmt::format("{}: there is no such file or folder here", what)};
}

}  // namespace

Folder::Folder(const std::string& path) {
  std::error_code error;
  root_ = fs::canonical(path, error).string();
  if (error) fail("{}: the folder cannot be opened: {}", path, error.message());
  if (!fs::is_directory(root_, error)) fail("{}: is no folder", path);
}

std::string Folder::find(std::string_view relative) const {
  if (!is_plain_path(relative)) not_found(relative);
  std::error_code error;
  const auto path = fs::canonical(fs::path(root_) / relative, error).string();
  const auto inside = root_ == "/" ? root_ : root_ + "/";
  if (error || !path.starts_with(inside) || !is_plain_path(std::string_view(path).substr(inside.size())))
    not_found(relative);
  return path;
}

std::string Folder::find_by_id(std::string_view id) const {
  const auto path = path_of(id);
  if (!path) throw Refusal{404, "not_found", "there is nothing of that id"};
  return find(*path);
}

std::string Folder::id_of(std::string_view relative) { return to_base64url(relative); }

std::optional<std::string> Folder::path_of(std::string_view id) {
  auto path = from_base64url(id);
  if (!path || path->empty()) return std::nullopt;
  return path;
}

std::string Folder::relative(std::string_view absolute) const {
  const auto inside = root_ == "/" ? root_ : root_ + "/";
  return std::string(absolute.starts_with(inside) ? absolute.substr(inside.size()) : absolute);
}

bool is_plain_path(std::string_view relative) {
  if (relative.empty() || relative.size() > 4000) return false;
  if (std::any_of(relative.begin(), relative.end(), [](unsigned char c) { return c < 32 || c == 127; })) return false;
  for (std::size_t at = 0; at <= relative.size();) {
    const auto end = std::min(relative.find('/', at), relative.size());
    if (end == at || relative[at] == '.') return false;
    at = end + 1;
  }
  return true;
}

std::string safe_file_name(std::string_view name) {
  name = name.substr(name.find_last_of("/\\") + 1);
  std::string safe;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       std::string_view("._-+").find(c) != std::string_view::npos;
    safe += plain ? c : '_';
  }
  const auto begin = safe.find_first_not_of(".-");
  safe = begin == safe.npos ? "" : safe.substr(begin);
  constexpr std::size_t longest = 120;  // its ending says the format
  if (safe.size() > longest) safe = safe.substr(safe.size() - longest);
  return safe.empty() ? "file" : safe;
}

OpenFile open_file(const std::string& path) {
  OpenFile file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat status {};
  if (file.descriptor() < 0 || ::fstat(file.descriptor(), &status) != 0 || !S_ISREG(status.st_mode))
    not_found(path.substr(path.rfind('/') + 1));
  return file;
}

std::string file_text(const std::string& path) {
  constexpr off_t most = off_t{256} << 20;
  const auto file = open_file(path);
  struct stat status {};
  ::fstat(file.descriptor(), &status);
  if (status.st_size > most)
    throw Refusal{413, "too_large", fmt::format("{}: is too large to be shown", path.substr(path.rfind('/') + 1))};
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t done = 0;
  while (done < text.size()) {
    const auto got = ::pread(file.descriptor(), text.data() + done, text.size() - done, static_cast<off_t>(done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

}  // namespace sheaf::app
