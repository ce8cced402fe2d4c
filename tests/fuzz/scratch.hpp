// A folder of this process for what can only be read from files; it vanishes at the end.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

namespace sheaf::fuzz {

class Scratch {
 public:
  static const std::string& folder() {
    static const Scratch one;
    return one.path_;
  }
  /// Writes a file there; returns its path.
  static std::string file(const std::string& name, std::string_view bytes) {
    const auto path = folder() + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  Scratch() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path memory = "/dev/shm";
    const auto parent = fs::is_directory(memory, error) ? memory : fs::temp_directory_path();
    path_ = (parent / ("sheaf-fuzz-" + std::to_string(getpid()))).string();
    fs::create_directories(path_);
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string path_;
};

}  // namespace sheaf::fuzz
