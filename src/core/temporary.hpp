// Files under construction. A result appears under its name complete or not at all, whichever way the process ends.
#pragma once

#include <string>

namespace sheaf {

/// A name to write to beside `target`, which publish() renames to it. Until then the destructor removes the file, and
/// so does remove_temporaries(). Links are followed. A target that exists and is no regular file (/dev/stdout, a pipe)
/// is written directly: path() is the target itself, publish() does nothing and nothing is ever removed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }
  /// The file is complete and closed: gives it its name. A refusal of the system is an Error.
  void publish();

 private:
  void forget() noexcept;

  std::string target_;
  std::string path_;
  int slot_ = -1;
};

/// Removes every file under construction. Safe inside a signal handler.
void remove_temporaries() noexcept;

}  // namespace sheaf
