#include "data/read/csv_fields.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/read/count_bytes.hpp"

namespace sheaf {
namespace {

bool at_line_end(const char* at, const char* end) {
  return at == end || *at == '\n' || (*at == '\r' && (at + 1 == end || at[1] == '\n'));
}

bool is_space(char c, char delimiter) { return (c == ' ' || c == '\t') && c != delimiter; }

/// The quoted field whose opening quote stands at `at`.
CsvField quoted_field(const Reading& reading, char delimiter, const char*& at, const char* end) {
  CsvField field{{}, at, true, false};
  const char* begin = ++at;
  for (;;) {
    const void* quote = at < end ? std::memchr(at, '"', static_cast<std::size_t>(end - at)) : nullptr;
    if (quote == nullptr) fail_at(reading, field.at, "the quote that opens here is never closed");
    at = static_cast<const char*>(quote);
    if (at + 1 == end || at[1] != '"') break;
    field.escaped = true;
    at += 2;
  }
  field.text = {begin, static_cast<std::size_t>(at - begin)};
  ++at;
  while (at < end && is_space(*at, delimiter)) ++at;
  if (at_line_end(at, end) || *at == delimiter) return field;
  fail_at(reading, at,
          "a delimiter or the end of the line expected behind the closing quote; write \"\" for a quote inside");
}

/// Rows of a chunk that holds no quote. Lines without content are no rows.
std::int64_t count_rows(Chunk chunk) {
  const char* at = chunk.begin;
  std::int64_t rows = 0;
  const auto ends_row = [&](const char* p) {  // whether a newline ends a line that is not empty
    if (*p != '\n' || p == chunk.begin || p[-1] == '\n') return false;
    return p[-1] != '\r' || (p - 1 > chunk.begin && p[-2] != '\n');
  };
  for (; at < chunk.end && at - chunk.begin < 2; ++at) rows += ends_row(at) ? 1 : 0;
  rows += count_lanes(at, chunk.end, [](const char* p) {
    const ByteLanes before = load_lanes(p - 1);
    const ByteLanes empty =
        equal_lanes(before, '\n') | (equal_lanes(before, '\r') & equal_lanes(load_lanes(p - 2), '\n'));
    return equal_lanes(load_lanes(p), '\n') & ~empty;
  });
  for (; at < chunk.end; ++at) rows += ends_row(at) ? 1 : 0;
  const char* last_line = chunk.end;
  while (last_line > chunk.begin && last_line[-1] != '\n') --last_line;
  return rows + (at_line_end(last_line, chunk.end) ? 0 : 1);
}

/// The same with quotes; a chunk begins outside of them.
std::int64_t count_quoted_rows(Chunk chunk) {
  std::int64_t rows = 0;
  bool inside = false;
  const char* line = chunk.begin;
  for (const char* at = chunk.begin; at < chunk.end; ++at) {
    if (*at == '"') inside = !inside;
    if (*at != '\n' || inside) continue;
    rows += at_line_end(line, chunk.end) ? 0 : 1;
    line = at + 1;
  }
  return rows + (at_line_end(line, chunk.end) ? 0 : 1);
}

/// Piece k of `parts` nearly equal ones.
Chunk piece_of(std::string_view text, std::int64_t parts, std::int64_t k) {
  const Range range = part_of(static_cast<std::int64_t>(text.size()), parts, k);
  return {text.data() + range.begin, text.data() + range.end};
}

/// Quotes in each piece; empty if there are none at all.
std::vector<std::int64_t> count_quotes(const Reading& reading, std::string_view text) {
  const std::int64_t parts = static_cast<std::int64_t>(text.size()) / reading.chunk_bytes + 1;
  std::vector<std::int64_t> quotes(static_cast<std::size_t>(parts));
  parallel_for(reading.context, parts, [&](std::int64_t k) {
    quotes[static_cast<std::size_t>(k)] = count_byte(piece_of(text, parts, k), '"');
    release_pages(reading, piece_of(text, parts, k));
  });
  const bool none = std::all_of(quotes.begin(), quotes.end(), [](std::int64_t count) { return count == 0; });
  return none ? std::vector<std::int64_t>{} : quotes;
}

/// Cuts text with quotes: whether a newline stands inside of some depends on all quotes before it.
std::vector<Chunk> cut_quoted(std::string_view text, const std::vector<std::int64_t>& quotes) {
  const auto size = static_cast<std::int64_t>(text.size());
  const auto parts = static_cast<std::int64_t>(quotes.size());
  std::vector<Chunk> chunks;
  const char* begin = text.data();
  bool inside = false;
  for (std::int64_t k = 0; k < parts; ++k) {
    const Chunk part = piece_of(text, parts, k);
    bool quoted = inside;
    const char* cut = part.begin;
    for (; cut < part.end && (quoted || *cut != '\n'); ++cut) quoted ^= *cut == '"';
    inside ^= quotes[static_cast<std::size_t>(k)] % 2 == 1;
    if (cut == part.end) continue;
    chunks.push_back({begin, cut + 1});
    begin = cut + 1;
  }
  if (begin < text.data() + size) chunks.push_back({begin, text.data() + size});
  return chunks;
}

}  // namespace

std::string CsvField::plain() const {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    result += text[i];
    if (escaped && text[i] == '"') ++i;
  }
  return result;
}

CsvField next_field(const Reading& reading, char delimiter, const char*& at, const char* end) {
  while (at < end && is_space(*at, delimiter)) ++at;
  if (at < end && *at == '"' && delimiter != '"') return quoted_field(reading, delimiter, at, end);
  const char* begin = at;
  for (; at < end && *at != delimiter && *at != '\n'; ++at)
    if (*at == '"') fail_at(reading, at, "a quote inside a field that does not begin with one; quote the whole field");
  if (at > begin && at[-1] == '\r' && at_line_end(at, end)) --at;
  const char* stop = at;
  while (stop > begin && is_space(stop[-1], delimiter)) --stop;
  return {{begin, static_cast<std::size_t>(stop - begin)}, begin, false, false};
}

std::vector<CsvField> next_record(const Reading& reading, char delimiter, const char*& at, const char* end) {
  std::vector<CsvField> fields;
  for (;;) {
    fields.push_back(next_field(reading, delimiter, at, end));
    if (at == end || *at != delimiter) break;
    ++at;
  }
  at = std::min(line_end(at, end) + 1, end);
  return fields;
}

const char* skip_empty_lines(const char* at, const char* end) {
  while (at < end && at_line_end(at, end)) at = std::min(line_end(at, end) + 1, end);
  return at;
}

void check_delimiter(char delimiter) {
  const auto c = static_cast<unsigned char>(delimiter);
  if (std::isalnum(c) == 0 && c < 0x80 && std::string_view("\"\r\n.+-").find(delimiter) == std::string_view::npos)
    return;
  fail_usage("{} cannot stand between fields; choose a comma, a semicolon, a tab, a blank or another sign",
             shown({&delimiter, 1}));
}

char find_delimiter(const char* at, const char* end) {
  static constexpr std::array<char, 4> known{',', ';', '\t', '|'};
  std::array<std::int64_t, 4> counts{};
  bool inside = false;
  for (; at < end && (inside || *at != '\n'); ++at) {
    if (*at == '"') inside = !inside;
    for (std::size_t k = 0; k < known.size(); ++k) counts[k] += !inside && *at == known[k] ? 1 : 0;
  }
  return known[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

std::vector<CsvChunk> cut_records(const Reading& reading, std::string_view text) {
  const auto counted = count_quotes(reading, text);
  const bool quotes = !counted.empty();
  const std::vector<Chunk> cut = quotes ? cut_quoted(text, counted) : cut_lines(text, reading.chunk_bytes);
  std::vector<CsvChunk> chunks(cut.size());
  parallel_for(reading.context, static_cast<std::int64_t>(cut.size()), [&](std::int64_t k) {
    const Chunk chunk = cut[static_cast<std::size_t>(k)];
    chunks[static_cast<std::size_t>(k)] = {chunk, quotes ? count_quoted_rows(chunk) : count_rows(chunk)};
    release_pages(reading, chunk);
  });
  return chunks;
}

}  // namespace sheaf
