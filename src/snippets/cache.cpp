#include <filesystem>
#include <system_error>

#include <sheaf/version.hpp>

#include "core/fail.hpp"
#include "core/hash/sha256.hpp"
#include "snippets/compile.hpp"

namespace sheaf::snippets {

std::string cache_name(const std::string& text, const std::string& compiler) {
  return sha256(version() + std::string("\n") + compiler + "\n" + text).substr(0, 32);
}

std::string cache_path(const std::string& folder, const std::string& name) {
  if (folder.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) fail("{}: the folder of compiled snippets can't be made: {}", folder, error.message());
  return (std::filesystem::path(folder) / name).string();
}

}  // namespace sheaf::snippets
