// Text as a field of a CSV line.
#pragma once

#include <string>

namespace sheaf {

/// The text, in quotes if necessary.
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n\r ") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result.append(c == '"' ? 2 : 1, c);
  return result + '"';
}

}  // namespace sheaf
