// Files under construction. A result appears under its name complete or not at all, whichever way the process ends, and
// stays there when the machine loses its power.
#pragma once

#include <string>
#include <string_view>

namespace sheaf {

/// Treatment of a target that is a symbolic link.
enum class Links {
  follow,   ///< the file it points to is written, as other programs do with names that a user gives
  replace,  ///< the link is replaced by the file: in folders of results, where no user requested the link
};

/// A new file beside `target`, which publish() renames to it. Its name is unpredictable. Before publish() the
/// destructor removes it, and so does remove_temporaries(). A file that is replaced keeps its permissions; a new one
/// has those of the umask. A target that exists and is no regular file (a pipe, /dev/null), or that names a descriptor
/// (/dev/stdout, /dev/fd/3), is written directly: publish() does nothing and nothing is ever removed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target, Links links = Links::follow);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  /// Open for writing until publish().
  int descriptor() const { return descriptor_; }
  /// The file is complete: writes it to the disk and gives it its name. A refusal of the system is an Error.
  void publish();
  /// The same if there is no file of that name yet. False: there is one, which stays. Of several processes one alone
  /// succeeds, on NFS too.
  bool publish_first();

 private:
  void create();
  void synchronise();
  void close_checked();
  void forget() noexcept;

  std::string given_;  // for messages
  std::string target_;
  std::string path_;
  int descriptor_ = -1;
  int slot_ = -1;
};

/// Removes every file under construction. Safe inside a signal handler.
void remove_temporaries() noexcept;

/// Whether `name` is that of a TemporaryFile for the file `target` of the same folder.
bool is_temporary_name(std::string_view name, std::string_view target);

/// The path that writing to `path` writes to: links are followed, also those to files that do not exist.
std::string without_links(const std::string& path);

/// Makes what was done to names in the folder of `path` survive a loss of power, if the file system can.
void synchronise_folder_of(const std::string& path) noexcept;

}  // namespace sheaf
