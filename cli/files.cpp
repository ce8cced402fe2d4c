#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <sys/stat.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/temporary.hpp"

namespace sheaf::cli {
namespace {

namespace fs = std::filesystem;

/// A file by its place on the disk if it exists, else by the only path that leads there.
struct Identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::string path;
  bool operator==(const Identity&) const = default;
};

fs::path folder_of(const std::string& path) {
  const auto folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

/// None: no file that could be lost.
std::optional<Identity> identity_of(const CommandFile& file) {
  struct stat status {};
  const bool standard_input = file.path == "-" && file.use == FileUse::read;
  if (file.path.empty() || (file.path == "-" && !standard_input)) return std::nullopt;
  if ((standard_input ? ::fstat(STDIN_FILENO, &status) : ::stat(file.path.c_str(), &status)) == 0) {
    if (S_ISCHR(status.st_mode) || (standard_input && !S_ISREG(status.st_mode))) return std::nullopt;
    return Identity{status.st_dev, status.st_ino, {}};
  }
  const auto target = without_links(file.path);
  std::error_code error;
  const auto folder = fs::canonical(folder_of(target), error);
  return Identity{0, 0, ((error ? folder_of(target) : folder) / fs::path(target).filename()).string()};
}

bool lies_in(const CommandFile& file, const CommandFile& folder) {
  std::error_code error;
  const auto outer = fs::canonical(folder.path, error);
  if (error) return false;
  auto inner = fs::canonical(folder_of(without_links(file.path)), error);
  if (error) return false;
  for (;; inner = inner.parent_path()) {
    if (inner == outer) return true;
    if (inner == inner.parent_path()) return false;
  }
}

void check_pair(const CommandFile& output, const CommandFile& other) {
  const auto same = identity_of(output);
  if (!same || same != identity_of(other)) return;
  const auto path = other.path == "-" ? "standard input" : other.path;
  if (other.use == FileUse::read)
    fail_usage("{} {} would replace {} {}, which the command reads: they are one file; name another one", output.name,
               output.path, other.name, path);
  fail_usage("{} {} and {} {} are one file; name another one for one of them", other.name, path, output.name,
             output.path);
}

void check_folder(const CommandFile& folder, const CommandFile& other) {
  if (other.path.empty() || other.path == "-" || other.use == FileUse::folder || !lies_in(other, folder)) return;
  fail_usage("{} {} lies in {} {}, whose files the command writes; {} another place", other.name, other.path,
             folder.name, folder.path, other.use == FileUse::read ? "copy it to" : "name");
}

void check_place(const CommandFile& output) {
  if (output.path.empty() || output.path == "-") return;
  std::error_code error;
  if (fs::is_directory(output.path, error)) fail("{} {}: is a folder, not a file", output.name, output.path);
  if (fs::exists(output.path, error) && !fs::is_regular_file(output.path, error)) return;  // a pipe, a device
  const auto folder = folder_of(without_links(output.path)).string();
  if (!fs::is_directory(folder, error)) fail("{} {}: the folder {} is not there", output.name, output.path, folder);
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    fail("{} {}: the folder {} cannot be written: {}", output.name, output.path, folder, std::strerror(errno));
}

}  // namespace

void check_files(const std::vector<CommandFile>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].use == FileUse::written)
      for (std::size_t k = 0; k < files.size(); ++k)
        if (k < i || (k > i && files[k].use == FileUse::read)) check_pair(files[i], files[k]);
    if (files[i].use == FileUse::folder)
      for (const auto& other : files) check_folder(files[i], other);
  }
  for (const auto& file : files)
    if (file.use == FileUse::written) check_place(file);
}

}  // namespace sheaf::cli
