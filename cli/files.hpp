// The files that a command reads and writes, compared before any work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sheaf::cli {

enum class FileUse : std::uint8_t { none, read, written, folder };

struct CommandFile {
  std::string name;  ///< "--output", "FILE"
  std::string path;
  FileUse use = FileUse::none;
};

/// An output that is also an input or another output, by whichever of its names, and an input or output inside a folder
/// of results are a UsageError. An output that cannot be written, since its folder is missing, is an Error. "-" and
/// devices are no files.
void check_files(const std::vector<CommandFile>& files);

}  // namespace sheaf::cli
