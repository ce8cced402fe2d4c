// Shared by the readers of all formats: the text, the place of a defect in it, and chunks of lines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/io.hpp>

namespace sheaf {

struct Reading {
  const Context& context;
  std::string_view text;  ///< without a byte order mark; outlives the reading
  const std::string& name;
  const ReadOptions& options;
  std::int64_t chunk_bytes = std::int64_t{1} << 20;  ///< about; results and messages do not depend on it
  bool mapped = false;                               ///< the text is a mapped file: pages given up are read again
  /// Keeps the text alive for a dataset that uses it where it is; empty: none may.
  std::shared_ptr<const void> owner = {};

  const char* limit() const { return text.data() + text.size(); }
};

/// The text behind its byte order mark, if it has one.
inline std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

/// Throws a ParseError for the place of `at`, which points into the text or to its end.
[[noreturn]] void fail_at(const Reading& reading, const char* at, std::string_view message);

/// The text is not what it was when it was counted: another program writes to the file.
[[noreturn]] void fail_changed(const Reading& reading);

/// An Error unless `bytes` more of memory, besides a text that is not a mapped file, are within the budget. `what`
/// needs them: "1,000 rows of 20 features".
void check_memory(const Reading& reading, double bytes, std::string_view what);

/// A piece of the text for messages: in quotes, shortened, bytes that do not print escaped.
std::string shown(std::string_view piece);

/// ASCII letters in lower case.
std::string lower_case(std::string_view text);

bool is_utf8(std::string_view text);

/// A name from the text, for messages and reports; one that is not UTF-8 is a defect.
std::string checked_name(const Reading& reading, std::string_view name, const char* at);

/// Throws for a NUL byte, which no text holds, and for UTF-16.
void check_is_text(const Reading& reading);

struct Chunk {
  const char* begin;
  const char* end;

  std::int64_t size() const { return end - begin; }
};

/// Gives up the memory of a chunk that was read if the text is a large mapped file: the dataset needs about as much.
void release_pages(const Reading& reading, Chunk chunk);

/// Cuts behind line ends, about `chunk_bytes` each; no chunk is empty.
std::vector<Chunk> cut_lines(std::string_view text, std::int64_t chunk_bytes);

/// Newlines in a chunk, at memory speed.
std::int64_t count_byte(Chunk chunk, char byte);

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The next newline, or `end`.
const char* line_end(const char* at, const char* end);

/// parse_dataset with chunks of another size.
template <class T>
Dataset<T> parse_chunked(const Context& context, std::string_view text, const std::string& name,
                         const ReadOptions& options, std::int64_t chunk_bytes);

}  // namespace sheaf
