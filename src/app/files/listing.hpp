// The contents of the folder: datasets, and folders of results whoever made them. Only names and times are read.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/folder.hpp"

namespace sheaf::app {

/// A regular file; all zeros: it is not there.
struct FileFacts {
  std::int64_t bytes = 0;
  double modified = 0;  ///< seconds since 1970
  std::uint64_t inode = 0;

  bool there() const { return inode != 0; }
  bool operator==(const FileFacts&) const = default;
};
FileFacts facts_of(const std::string& path);

struct DataFile {
  std::string path;       ///< below the folder
  std::string_view kind;  ///< table or psms
  std::string_view format;
  FileFacts facts;
};
/// Empty kind: sheaf reads no such file.
std::pair<std::string_view, std::string_view> kind_and_format(std::string_view name);

struct RunFolder {
  std::string path;
  FileFacts settings, journal, results;
};

struct Listing {
  std::vector<DataFile> data;  ///< in order of their paths
  std::vector<RunFolder> runs;
  bool truncated = false;
};

/// Keeps the latest listing for a moment.
class Lister {
 public:
  explicit Lister(const Folder& folder) : folder_(folder) {}
  std::shared_ptr<const Listing> list();
  /// The next listing is a new one.
  void forget();

 private:
  const Folder& folder_;
  std::mutex mutex_;
  std::shared_ptr<const Listing> latest_;
  std::chrono::steady_clock::time_point when_;
  std::chrono::steady_clock::duration took_{};
};

}  // namespace sheaf::app
