// The one folder that is served. Nothing outside it is ever named, whatever links and dots a request has.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/http/message.hpp"

namespace sheaf::app {

class Folder {
 public:
  /// One that is not there is an Error.
  explicit Folder(const std::string& path);

  const std::string& root() const { return root_; }
  /// The canonical path of what is there; throws a 404 Refusal for all else: what does not exist, lies outside by dots
  /// or symbolic links, or has a name that begins with a dot.
  std::string find(std::string_view relative) const;
  /// The same for what a client names by an id.
  std::string find_by_id(std::string_view id) const;
  static std::string id_of(std::string_view relative);
  static std::optional<std::string> path_of(std::string_view id);
  /// Without the folder in front.
  std::string relative(std::string_view absolute) const;

 private:
  std::string root_;
};

/// `relative` has no empty, ".", ".." or hidden part, and no control characters.
bool is_plain_path(std::string_view relative);

/// A file name made from what a client sent: its last part, with _ for what is not a letter, a digit or one of "._-+ ",
/// and not hidden.
std::string safe_file_name(std::string_view name);

/// For a regular file, links at its end not followed; a 404 Refusal if it is none.
OpenFile open_file(const std::string& path);
/// All of such a file. One of more than 256 MiB is a 413 Refusal.
std::string file_text(const std::string& path);

}  // namespace sheaf::app
