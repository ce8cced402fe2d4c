// The head of an ARFF file: the relation's name and the attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "data/read/reading.hpp"

namespace sheaf {

struct ArffAttribute {
  enum class Kind : std::uint8_t { numeric, nominal, text };

  std::string name;
  Kind kind = Kind::numeric;
  std::string type;  ///< as written; for messages
  const char* at = nullptr;
  std::vector<std::string> levels;
  std::vector<double> level_numbers;  ///< NaN for a level that is no number
  std::unordered_map<std::string, std::int32_t> level_ids;
};

struct ArffHeader {
  std::vector<ArffAttribute> attributes;
  const char* data = nullptr;  ///< behind the line of @data
};

ArffHeader read_arff_header(const Reading& reading);

/// A word, or text in ' or " with \ before quotes inside; moves `at` behind it. `line` ends it at the latest.
struct ArffToken {
  std::string_view text;  ///< in the file; for quoted text without the quotes
  const char* at = nullptr;
  bool quoted = false;
  bool escaped = false;  ///< holds a backslash

  std::string plain() const;
};
ArffToken next_arff_token(const Reading& reading, const char*& at, const char* line);

inline const char* skip_arff_blanks(const char* at, const char* end) {
  while (at < end && is_blank(*at)) ++at;
  return at;
}

/// Whether nothing but a comment stands from `at` on, blanks skipped before.
inline bool at_arff_end(const char* at, const char* line) { return at == line || *at == '%'; }

}  // namespace sheaf
