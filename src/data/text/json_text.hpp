// JSON that somebody else may have written. Its depth is limited, since reading, comparing and printing are recursive.
#pragma once

#include <string_view>

namespace sheaf {

inline constexpr int deepest_json = 64;  // ours has fewer than ten levels

/// Whether brackets are nested at most so deep; of text that is no JSON, any answer.
inline bool is_shallow_json(std::string_view text, int deepest = deepest_json) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest)
      return false;
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return true;
}

/// Discarded if it is no JSON or nested too deep.
template <class Json>
Json parse_json(std::string_view text) {
  return Json::parse(is_shallow_json(text) ? text : std::string_view(), nullptr, false);
}

}  // namespace sheaf
