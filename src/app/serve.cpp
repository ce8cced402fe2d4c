#include "app/serve.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/http/server.hpp"
#include "app/site.hpp"
#include "core/fail.hpp"
#include "core/hash/sha256.hpp"

namespace sheaf::app {
namespace {

namespace fs = std::filesystem;

/// The folder of the server's own files: below the one that is served or, if it only reads, a temporary one.
class StateFolder {
 public:
  StateFolder(const std::string& root, bool read_only) : temporary_(read_only) {
    if (temporary_) {
      make_temporary();
      return;
    }
    path_ = root + "/.sheaf-app";
    if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
      fail("{}: cannot be made: {}; to look at the folder without writing to it, give --read-only", path_,
           std::strerror(errno));
    if (!fs::is_directory(fs::symlink_status(path_))) fail("{}: is no folder", path_);
    lock_ = ::open((path_ + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (lock_ < 0) fail("{}/lock: cannot be written: {}", path_, std::strerror(errno));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      ::close(lock_);
      fail("{}: another sheaf app serves this folder; use it, end it, or start this one with --read-only", root);
    }
    remove_leftovers();
  }
  StateFolder(const StateFolder&) = delete;
  StateFolder& operator=(const StateFolder&) = delete;
  ~StateFolder() {
    std::error_code ignored;
    if (temporary_)
      fs::remove_all(path_, ignored);
    else
      ::close(lock_);
  }
  const std::string& path() const { return path_; }

 private:
  void make_temporary() {
    auto name = (fs::temp_directory_path() / "sheaf-app-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) fail("{}: cannot be made: {}", name, std::strerror(errno));
    path_ = name;
  }

  /// Files of short work of an earlier server.
  void remove_leftovers() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(path_, ignored)) {
      const auto name = entry.path().filename().string();
      const bool work = name.starts_with("work-") || name.starts_with("table-") || name.starts_with("typed-") ||
                        (name.starts_with('p') && name.ends_with(".csv")) || name.ends_with(".part");
      if (work) fs::remove(entry.path(), ignored);
    }
  }

  bool temporary_;
  std::string path_;
  int lock_ = -1;
};

std::string checked_prefix(std::string prefix) {
  while (prefix.ends_with('/')) prefix.pop_back();
  if (prefix.empty()) return prefix;
  const auto plain = [](unsigned char c) { return std::isalnum(c) != 0 || std::strchr("/-_.~@", c) != nullptr; };
  if (!prefix.starts_with('/') || !std::all_of(prefix.begin(), prefix.end(), plain) ||
      prefix.find("//") != prefix.npos || prefix.find("..") != prefix.npos)
    fail_usage("--prefix {}: is no path such as /user/anna/sheaf", prefix);
  return prefix;
}

}  // namespace

void serve(const ServeOptions& options, Commands commands, const std::stop_token& stop,
           const std::function<void(const std::string& address)>& begun) {
  const auto prefix = checked_prefix(options.prefix);
  const Folder folder(options.folder);
  const StateFolder state(folder.root(), options.read_only);
  Services services({.folder = folder.root(),
                     .program = options.program,
                     .state = state.path(),
                     .jobs_at_once = options.jobs_at_once,
                     .read_only = options.read_only},
                    std::move(commands));
  const bool any = options.host == "0.0.0.0" || options.host == "::";
  const auto name = any                                           ? std::string("127.0.0.1")
                    : options.host.find(':') != std::string::npos ? "[" + options.host + "]"
                                                                  : options.host;
  AppSite site(services, {.token = make_token(),
                          .prefix = prefix,
                          .hosts = options.hosts,
                          .cookie = "sheaf-" + sha256(folder.root() + prefix).substr(0, 8),
                          .address = name,
                          .encrypted = options.certificate.has_value()});
  Server server(site, options.host, options.port, options.certificate);
  // A certificate is that of a name.
  const auto shown = options.certificate && !options.hosts.empty() ? options.hosts.front() : name;
  begun(fmt::format("{}://{}:{}{}/?token={}", options.certificate ? "https" : "http", shown, server.port(), prefix,
                    site.token()));
  server.run(stop);
}

}  // namespace sheaf::app
