// How far the work is, as one line of JSON in a file: for programs that run this one and show it, such as sheaf app.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <sheaf/solvers/progress.hpp>

#include "core/removed_name.hpp"
#include "pace.hpp"

namespace sheaf::cli {

class ProgressFile : public Progress {
 public:
  /// Made when there is something to write. A file that cannot be written is none: the work goes on. `temporary`: it
  /// is removed at the end, whichever way the process ends.
  explicit ProgressFile(std::string path, bool temporary = false) : path_(std::move(path)), temporary_(temporary) {}
  ProgressFile(const ProgressFile&) = delete;
  ProgressFile& operator=(const ProgressFile&) = delete;
  ~ProgressFile() override;

 private:
  void on_begin(std::string_view stage, std::int64_t total) override;
  void on_advance(std::int64_t by) override;
  void write();

  std::string path_;
  bool temporary_;
  int descriptor_ = -1;
  std::optional<RemovedName> removed_;
  std::string stage_;
  Pace pace_;
};

}  // namespace sheaf::cli
