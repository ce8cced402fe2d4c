// Names in line-based files of our own: one name, one line.
#pragma once

#include <string>
#include <string_view>

namespace sheaf {

/// A backslash as \\, line ends as \n and \r, all else as it is.
inline std::string escape_line(std::string_view name) {
  std::string text;
  for (const char c : name) {
    if (c == '\\')
      text += "\\\\";
    else if (c == '\n')
      text += "\\n";
    else if (c == '\r')
      text += "\\r";
    else
      text += c;
  }
  return text;
}

}  // namespace sheaf
