#include "app/files/listing.hpp"

#include <algorithm>
#include <cstring>

#include <dirent.h>
#include <sys/stat.h>

#include <sheaf/io.hpp>
#include <sheaf/rescore.hpp>

namespace sheaf::app {
namespace {

constexpr int deepest = 8;
constexpr std::size_t most_data = 5000;
constexpr std::size_t most_runs = 50000;
constexpr std::size_t most_visited = 500000;
constexpr std::chrono::milliseconds age{1500};
constexpr int pause = 20;  // a walk is repeated after so many times its own duration at the earliest

/// A walk that follows no links and enters no hidden folder.
class Walk {
 public:
  explicit Walk(Listing& listing) : listing_(listing) {}

  void visit(const std::string& path, const std::string& relative, int depth) {
    DIR* stream = ::opendir(path.c_str());
    if (stream == nullptr) return;
    std::vector<std::string> files, folders;
    while (const dirent* entry = ::readdir(stream)) {
      const std::string name = entry->d_name;
      if (!is_plain_path(name)) continue;
      if (++visited_ > most_visited) break;
      auto type = entry->d_type;
      if (type == DT_UNKNOWN) type = type_of(path + "/" + name);
      if (type == DT_REG) files.push_back(name);
      if (type == DT_DIR) folders.push_back(name);
    }
    ::closedir(stream);
    std::sort(files.begin(), files.end());
    std::sort(folders.begin(), folders.end());
    if (is_run(files)) return add_run(path, relative);
    for (const auto& name : files) add_file(path, relative, name);
    if (depth >= deepest || full()) listing_.truncated = listing_.truncated || !folders.empty();
    if (depth >= deepest) return;
    for (const auto& name : folders)
      if (!full()) visit(path + "/" + name, relative.empty() ? name : relative + "/" + name, depth + 1);
  }

 private:
  static unsigned char type_of(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return DT_UNKNOWN;
    return S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
  }

  bool full() const { return visited_ > most_visited || listing_.runs.size() >= most_runs; }

  static bool is_run(const std::vector<std::string>& files) {
    const auto has = [&](const char* name) { return std::binary_search(files.begin(), files.end(), name); };
    return has("results.json") || has("journal.txt") || (has("settings.json") && has("report.html")) ||
           (has("settings.json") && files.size() <= 2);
  }

  void add_run(const std::string& path, const std::string& relative) {
    if (relative.empty()) return;
    listing_.runs.push_back({relative, facts_of(path + "/settings.json"), facts_of(path + "/journal.txt"),
                             facts_of(path + "/results.json")});
  }

  void add_file(const std::string& path, const std::string& relative, const std::string& name) {
    const auto [kind, format] = kind_and_format(name);
    if (kind.empty()) return;
    if (listing_.data.size() >= most_data) {
      listing_.truncated = true;
      return;
    }
    listing_.data.push_back(
        {relative.empty() ? name : relative + "/" + name, kind, format, facts_of(path + "/" + name)});
  }

  Listing& listing_;
  std::size_t visited_ = 0;
};

}  // namespace

FileFacts facts_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return {status.st_size,
          static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) / 1e9,
          static_cast<std::uint64_t>(status.st_ino)};
}

std::pair<std::string_view, std::string_view> kind_and_format(std::string_view name) {
  if (const auto* table = find_format_by_ending(formats(), name)) return {"table", table->name};
  if (const auto* matches = find_format_by_ending(match_formats(), name)) return {"psms", matches->name};
  return {};
}

std::shared_ptr<const Listing> Lister::list() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!latest_ || now - when_ > std::max<std::chrono::steady_clock::duration>(age, pause * took_)) {
    auto listing = std::make_shared<Listing>();
    Walk(*listing).visit(folder_.root(), "", 0);
    latest_ = std::move(listing);
    when_ = std::chrono::steady_clock::now();
    took_ = when_ - now;
  }
  return latest_;
}

void Lister::forget() {
  const std::lock_guard lock(mutex_);
  latest_.reset();
}

}  // namespace sheaf::app
