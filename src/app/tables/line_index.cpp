#include "app/tables/line_index.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>
#include <unistd.h>

#include "app/files/folder.hpp"
#include "data/read/csv_layout.hpp"

namespace sheaf::app {
namespace {

constexpr std::int64_t stride = 256;  // rows between places that are kept
constexpr std::size_t block = std::size_t{1} << 20U;
constexpr std::size_t longest_heading = std::size_t{64} << 20U;  // of very wide tables
constexpr std::size_t most_bytes = std::size_t{64} << 20U;       // of a page

/// Bytes from a place on, as many as there are up to `size`.
std::size_t read_at(const OpenFile& file, char* to, std::size_t size, std::uint64_t place) {
  std::size_t done = 0;
  while (done < size) {
    const auto got = ::pread(file.descriptor(), to + done, size - done, static_cast<off_t>(place + done));
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

/// The end of the record that begins at `begin`: its line end, or npos.
std::size_t record_end(std::string_view text, std::size_t begin) {
  bool quoted = false;
  for (auto i = begin; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == '\n' && !quoted) return i;
  }
  return text.npos;
}

std::string_view without_end(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

char find_delimiter(std::string_view line) {
  constexpr std::array<char, 3> known{',', ';', '\t'};
  std::array<std::ptrdiff_t, 3> counts{};
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    for (std::size_t k = 0; k < known.size() && !quoted; ++k)
      if (c == known[k]) ++counts[k];
  }
  const auto most = std::max_element(counts.begin(), counts.end());
  if (*most > 0) return known[static_cast<std::size_t>(most - counts.begin())];
  return line.find(' ') == line.npos ? ',' : ' ';
}

bool equal_words(std::string_view a, std::string_view b) {
  return a.size() >= b.size() && std::equal(b.begin(), b.end(), a.begin(), [](char x, char y) {
           return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
         });
}

/// The fields that the reader of datasets sees; within `record`.
std::vector<CsvField> fields_of(std::string_view record, char delimiter) {
  std::vector<CsvField> fields;
  for (std::size_t begin = 0; begin <= record.size();) {
    auto end = begin;
    for (bool inside = false; end < record.size() && (inside || record[end] != delimiter); ++end)
      inside = inside != (record[end] == '"');
    auto text = record.substr(begin, end - begin);
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const bool quoted = text.size() > 1 && text.front() == '"' && text.back() == '"';
    if (quoted) text = text.substr(1, text.size() - 2);
    fields.push_back({text, text.data(), quoted});
    begin = end + 1;
  }
  return fields;
}

/// The name behind "@attribute", which may be quoted.
std::string attribute_name(std::string_view line) {
  auto rest = line.substr(std::min(line.find_first_of(" \t"), line.size()));
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  if (rest.empty()) return {};
  if (rest.front() == '\'' || rest.front() == '"') return std::string(rest.substr(1, rest.find(rest.front(), 1) - 1));
  return std::string(rest.substr(0, rest.find_first_of(" \t{")));
}

}  // namespace

std::vector<std::string> split_record(std::string_view record, char delimiter) {
  std::vector<std::string> fields(1);
  record = without_end(record);
  bool quoted = false;
  for (std::size_t i = 0; i < record.size(); ++i) {
    const char c = record[i];
    if (quoted && c == '"' && i + 1 < record.size() && record[i + 1] == '"')
      fields.back() += record[++i];
    else if (c == '"')
      quoted = !quoted;
    else if (c == delimiter && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  return fields;
}

bool is_number(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error != std::errc::invalid_argument && end == text.data() + text.size();
}

bool is_date(std::string_view text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto marks = std::count_if(text.begin(), text.end(), [](char c) { return c == '-' || c == '/' || c == '.'; });
  const auto digits = std::count_if(text.begin(), text.end(), digit);
  return text.size() >= 8 && text.size() <= 30 && digit(text.front()) && marks >= 2 && digits >= 6 &&
         !is_number(text) && text.find_first_not_of("0123456789-/.: TZ+") == text.npos;
}

LineIndex::LineIndex(std::string path) : path_(std::move(path)), facts_(facts_of(path_)) { read_heading(); }

void LineIndex::read_heading() {
  const auto file = open_file(path_);
  std::string text;
  std::size_t first = 0, end = std::string::npos;
  for (std::size_t size = block; end == std::string::npos; size *= 4) {
    text.resize(size);
    text.resize(read_at(file, text.data(), size, 0));
    if (text.starts_with("\xEF\xBB\xBF") && first == 0) first = 3;
    if (read_arff_heading(text)) return;
    while (first < text.size() && (text[first] == '#' || text[first] == '\n' || text[first] == '\r'))
      first = std::min(text.find('\n', first), text.size() - 1) + 1;  // comments
    end = record_end(text, first);
    if (text.size() < size || size > longest_heading) break;
  }
  const auto line = without_end(std::string_view(text).substr(first, end == std::string::npos ? end : end - first));
  delimiter_ = find_delimiter(line);
  columns_ = split_record(line, delimiter_);
  const auto rest = end == std::string::npos ? std::string_view() : std::string_view(text).substr(end + 1);
  const auto below = rest.substr(0, record_end(rest, 0));
  const bool header = looks_like_header(fields_of(line, delimiter_), fields_of(without_end(below), delimiter_));
  begin_ = header ? (end == std::string::npos ? text.size() : end + 1) : first;
  if (!header)
    for (std::size_t k = 0; k < columns_.size(); ++k) columns_[k] = fmt::format("{}", k + 1);
  scanned_ = begin_;
}

bool LineIndex::read_arff_heading(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    const auto line = without_end(text.substr(at, end - at));
    at = end + 1;
    if (line.empty() || line.front() == '%') continue;
    if (line.front() != '@') return false;
    if (equal_words(line, "@attribute")) names.push_back(attribute_name(line));
    if (!equal_words(line, "@data")) continue;
    columns_ = std::move(names);
    begin_ = scanned_ = std::min(at, text.size());
    return true;
  }
  return false;
}

/// Goes on behind what is known, until the end of the file, the time or the row that is wanted.
void LineIndex::scan(std::chrono::steady_clock::time_point deadline, std::int64_t wanted) {
  const auto file = open_file(path_);
  std::string buffer(block, '\0');
  while (!complete_ && rows_ < wanted && std::chrono::steady_clock::now() < deadline) {
    const auto got = read_at(file, buffer.data(), block, scanned_);
    for (std::size_t i = 0; i < got; ++i) {
      const char c = buffer[i];
      if (!in_row_) {
        if (c == '\n' || c == '\r') continue;  // an empty line is no row
        if (rows_ % stride == 0) places_.push_back(scanned_ + i);
        in_row_ = true;
      }
      if (c == '"') in_quotes_ = !in_quotes_;
      if (c == '\n' && !in_quotes_) {
        in_row_ = false;
        ++rows_;
      }
    }
    scanned_ += got;
    if (got == block) continue;
    rows_ += in_row_ ? 1 : 0;
    in_row_ = false;
    complete_ = true;
  }
}

LineIndex::Page LineIndex::read(std::int64_t from, std::int64_t count, std::chrono::milliseconds time) {
  const std::lock_guard lock(mutex_);
  scan(std::chrono::steady_clock::now() + time, std::numeric_limits<std::int64_t>::max());
  Page page{{}, rows_, complete_};
  const auto last = std::min(from + count, rows_);
  if (from >= last) return page;
  const auto file = open_file(path_);
  const auto place = places_[static_cast<std::size_t>(from / stride)];
  auto skip = from % stride;
  std::string text;
  std::size_t at = 0;
  while (std::ssize(page.records) < last - from && text.size() < most_bytes) {
    const auto before = text.size();
    text.resize(before + block);
    const auto got = read_at(file, text.data() + before, block, place + before);
    text.resize(before + got);
    while (std::ssize(page.records) < last - from) {
      while (at < text.size() && (text[at] == '\n' || text[at] == '\r')) ++at;
      auto end = record_end(text, at);
      if (end == text.npos && got == block) break;
      end = std::min(end, text.size());
      if (at >= end) break;
      if (skip > 0)
        --skip;
      else
        page.records.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    if (got < block) break;
  }
  return page;
}

}  // namespace sheaf::app
