// Fields and records of CSV text: quotes, delimiters, and where records may be cut apart.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/read/reading.hpp"

namespace sheaf {

struct CsvField {
  std::string_view text;  ///< without quotes and the blanks around; "" still doubled
  const char* at = nullptr;
  bool quoted = false;
  bool escaped = false;  ///< holds ""

  std::string plain() const;  ///< with each "" made one
};

/// Reads the field at `at` and moves to the delimiter, newline, carriage return before it, or end behind it.
CsvField next_field(const Reading& reading, char delimiter, const char*& at, const char* end);

/// The fields of the record at `at`, which moves behind its newline.
std::vector<CsvField> next_record(const Reading& reading, char delimiter, const char*& at, const char* end);

/// Behind the empty lines at `at`.
const char* skip_empty_lines(const char* at, const char* end);

/// A delimiter that numbers or quotes need is a UsageError.
void check_delimiter(char delimiter);

/// The most frequent of , ; tab | outside of quotes in the record at `at`; the comma when there is none.
char find_delimiter(const char* at, const char* end);

struct CsvChunk : Chunk {
  std::int64_t rows;  ///< records but for empty lines
};

/// Cuts at the ends of records, counting their rows.
std::vector<CsvChunk> cut_records(const Reading& reading, std::string_view text);

}  // namespace sheaf
