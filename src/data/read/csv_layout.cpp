#include "data/read/csv_layout.hpp"

#include <algorithm>
#include <unordered_map>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/read/impute.hpp"
#include "data/text/number.hpp"

namespace sheaf {

bool is_number(const CsvField& field) {
  double ignored = 0;
  return parse_whole_number(field.text, ignored) == NumberStatus::ok;
}

bool is_text(const CsvField& field) {
  double ignored = 0;
  return !is_missing(field.text) && parse_whole_number(field.text, ignored) == NumberStatus::none;
}

bool looks_like_header(const std::vector<CsvField>& first, const std::vector<CsvField>& second) {
  bool numbers = false;
  bool texts = false;
  for (std::size_t j = 0; j < first.size(); ++j) {
    const bool number = is_number(first[j]);
    const bool missing = is_missing(first[j].text);
    const bool below = j < second.size() && (is_number(second[j]) || is_missing(second[j].text));
    if (!number && !missing && below) return true;
    if (first[j].quoted && below && !second[j].quoted) return true;
    if (means_label(first[j].plain())) return true;
    numbers |= number;
    texts |= !number && !missing;
  }
  return texts && !numbers;
}

namespace {

std::vector<std::string> header_names(const Reading& reading, const std::vector<CsvField>& fields) {
  std::vector<std::string> names;
  std::unordered_map<std::string, std::size_t> seen;
  for (const CsvField& field : fields) {
    names.push_back(checked_name(reading, field.plain(), field.at));
    const auto [before, added] = seen.try_emplace(names.back(), names.size());
    if (!added && !names.back().empty())
      fail_at(reading, field.at,
              fmt::format("the name {} stands twice in the header: columns {} and {}", shown(names.back()),
                          before->second, names.size()));
  }
  return names;
}

/// A line of the text outside of quotes, and how many fields it has. Misplaced quotes are no defect here: titles are
/// free text.
struct HeadLine {
  Chunk text;
  std::size_t fields;
};

HeadLine head_line(const char* at, const char* end, char delimiter) {
  HeadLine line{{at, at}, 1};
  bool inside = false;
  for (; at < end && (inside || *at != '\n'); ++at) {
    if (*at == '"') inside = !inside;
    line.fields += !inside && *at == delimiter ? 1 : 0;
  }
  line.text.end = at;
  return line;
}

std::vector<HeadLine> head_lines(const char* at, const char* end, char delimiter, std::size_t most) {
  std::vector<HeadLine> lines;
  while (lines.size() < most && (at = skip_empty_lines(at, end)) < end) {
    lines.push_back(head_line(at, end, delimiter));
    at = std::min(lines.back().text.end + 1, end);
  }
  return lines;
}

/// The line as fields; none if it is no record.
std::vector<CsvField> fields_of(const Reading& reading, const HeadLine& line, char delimiter) {
  const char* at = line.text.begin;
  try {
    return next_record(reading, delimiter, at, line.text.end);
  } catch (const ParseError&) {
    return {};
  }
}

/// Nothing behind the first field.
bool is_padded(const std::vector<CsvField>& fields) {
  return fields.size() > 2 && !fields.front().text.empty() &&
         std::all_of(fields.begin() + 1, fields.end(), [](const CsvField& field) { return field.text.empty(); });
}

/// The text before the first row or the header, and whether the rows begin with names that the header leaves out.
struct Head {
  char delimiter;
  const char* begin;
  std::int64_t titles = 0;
  bool row_names = false;
};

class HeadFinder {
 public:
  HeadFinder(const Reading& reading, const char* at) : reading_(reading), at_(at) {}

  Head find() {
    const char asked = reading_.options.delimiter;
    Head head{asked != 0 ? asked : find_delimiter(at_, reading_.limit()), at_};
    if (is_plain(head.delimiter)) return head;
    const auto last = head_lines(at_, reading_.limit(), head.delimiter, sampled).back().text;
    delimiter_ = asked != 0 ? asked : find_delimiter(last.begin, last.end);
    lines_ = head_lines(at_, reading_.limit(), delimiter_, sampled);
    const std::size_t first = first_record();
    if (first == lines_.size()) return head;
    head.delimiter = delimiter_;
    head.begin = lines_[first].text.begin;
    head.titles = static_cast<std::int64_t>(first);
    head.row_names = lines_[first].fields + 1 == width();
    return head;
  }

 private:
  static constexpr std::size_t sampled = 50;

  std::size_t width() const { return lines_.back().fields; }

  /// The first lines have as many fields each, which are more than one, and the first is no comment or title.
  bool is_plain(char delimiter) const {
    constexpr std::size_t few = 3;
    const auto lines = head_lines(at_, reading_.limit(), delimiter, few);
    const auto same = [&](const HeadLine& line) { return line.fields == lines[0].fields; };
    if (lines.size() < 2 || !std::all_of(lines.begin(), lines.end(), same) || lines[0].fields == 1) return false;
    if (*lines[0].text.begin == '#') return true;
    return lines[0].fields < 3 || !is_padded(fields_of(reading_, lines[0], delimiter));
  }

  /// The line of the header or of the first row; as many as there are: nothing is to be left out.
  std::size_t first_record() const {
    if (lines_.size() < 2 || width() < 2) return lines_.size();
    std::size_t first = lines_.size() - 1;
    while (first > 0 && lines_[first - 1].fields == width()) --first;
    while (first + 2 < lines_.size() && is_padded(fields_of(reading_, lines_[first], delimiter_))) ++first;
    const bool names = first > 0 && lines_[first - 1].fields + 1 == width() && has_row_names(first);
    if (names) --first;
    if (first + 1 >= lines_.size()) return lines_.size();
    for (std::size_t k = 0; k < first; ++k)
      if (!is_title(k, first)) return lines_.size();
    return first > 0 || names ? first : lines_.size();
  }

  bool is_title(std::size_t k, std::size_t first) const {
    const HeadLine& line = lines_[k];
    if (*line.text.begin == '#' || (line.fields == 1 && !is_number(fields_or_text(line)))) return true;
    const auto fields = fields_of(reading_, line, delimiter_);
    if (is_padded(fields)) return true;
    return line.fields + 1 < width() && !fields.empty() && is_text(fields.front()) &&
           looks_like_header(fields_of(reading_, lines_[first], delimiter_),
                             fields_of(reading_, lines_[first + 1], delimiter_));
  }

  CsvField fields_or_text(const HeadLine& line) const {
    const auto fields = fields_of(reading_, line, delimiter_);
    return fields.empty() ? CsvField{{line.text.begin, 1}, line.text.begin, true, false} : fields.front();
  }

  /// Whether all lines from `first` on begin with a text or with 1, 2, 3 ..., and the line before holds names.
  bool has_row_names(std::size_t first) const {
    const auto names = fields_of(reading_, lines_[first - 1], delimiter_);
    if (names.empty() ||
        !std::all_of(names.begin(), names.end(), [](const auto& field) { return field.quoted || is_text(field); }))
      return false;
    bool texts = true;
    bool numbers = true;
    bool ends = false;  // with something
    for (std::size_t k = first; k < lines_.size(); ++k) {
      const auto fields = fields_of(reading_, lines_[k], delimiter_);
      if (fields.empty()) return false;
      texts = texts && is_text(fields.front());
      numbers = numbers && fields.front().text == std::to_string(k - first + 1);
      ends = ends || !fields.back().text.empty();
    }
    return (texts || numbers) && ends;
  }

  const Reading& reading_;
  const char* at_;
  char delimiter_ = ',';
  std::vector<HeadLine> lines_;
};

/// The column of ids that the options name, else the first; -1: they name none.
std::int64_t find_id(const Reading& reading, const std::vector<std::string>& names) {
  const auto& wanted = reading.options.id;
  if (wanted.empty()) return -1;
  const auto found = std::find(names.begin(), names.end(), wanted);
  return found == names.end() ? 0 : found - names.begin();
}

void note_head(const Reading& reading, const Head& head, const char* begin, std::vector<std::string>& notes) {
  if (head.titles > 0) {
    const char* end = line_end(begin, reading.limit());
    notes.push_back(fmt::format("{}: {} before the table {} left out: {}{}", reading.name, counted(head.titles, "line"),
                                head.titles == 1 ? "is" : "are",
                                shown(std::string_view(begin, static_cast<std::size_t>(end - begin))),
                                head.titles == 1 ? "" : " ..."));
  }
  if (head.row_names)
    notes.push_back(fmt::format(
        "{}: the first line has one name less than the rows have fields, so that the first field of each row is its "
        "name and no feature",
        reading.name));
}

}  // namespace

CsvLayout find_layout(const Reading& reading) {
  if (reading.options.delimiter != 0) check_delimiter(reading.options.delimiter);
  const char* end = reading.limit();
  const char* begin = skip_empty_lines(reading.text.data(), end);
  if (begin == end) fail("{}: holds no rows", reading.name);
  const Head head = HeadFinder(reading, begin).find();
  CsvLayout layout;
  layout.delimiter = head.delimiter;
  const char* at = head.begin;
  layout.body = at;
  auto first = next_record(reading, layout.delimiter, at, end);
  const char* rest = skip_empty_lines(at, end);
  std::vector<CsvField> second;
  if (const char* next = rest; next < end) second = next_record(reading, layout.delimiter, next, end);
  const bool header = reading.options.header == Header::yes || head.row_names ||
                      (reading.options.header == Header::automatic && looks_like_header(first, second));
  if (header && second.empty()) fail("{}: holds a header and no rows", reading.name);
  // Some programs end the line of names with a delimiter, and only that.
  if (header && first.back().text.empty() && first.size() == second.size() + 1) first.pop_back();
  if (header) layout.body = rest;
  layout.names = header ? header_names(reading, first) : std::vector<std::string>(first.size());
  if (head.row_names) layout.names.insert(layout.names.begin(), std::string());
  layout.header = header;
  layout.roles = choose_columns(reading, layout.names, true, head.row_names ? 1 : 0, find_id(reading, layout.names));
  note_head(reading, head, begin, layout.roles.notes);
  if (!header && reading.options.header == Header::automatic && reading.options.label.empty() &&
      !reading.options.known && layout.roles.label >= 0)
    layout.roles.notes.push_back(
        fmt::format("{}: the first line holds no names (--header yes: it does), so that columns are known by their "
                    "positions and the last, {}, is taken as the label (--label names another)",
                    reading.name, layout.roles.label + 1));
  return layout;
}

std::string transposed(const Reading& reading) {
  if (reading.options.delimiter != 0) check_delimiter(reading.options.delimiter);
  const char* end = reading.limit();
  const char* at = skip_empty_lines(reading.text.data(), end);
  if (at == end) fail("{}: holds no rows", reading.name);
  const Head head = HeadFinder(reading, at).find();
  std::vector<std::vector<CsvField>> rows;
  double bytes = static_cast<double>(reading.text.size());
  for (at = head.begin; (at = skip_empty_lines(at, end)) < end;) {
    const char* begin = at;
    auto fields = next_record(reading, head.delimiter, at, end);
    if (rows.empty() && head.row_names) fields.insert(fields.begin(), CsvField{{begin, 0}, begin, false, false});
    if (!rows.empty() && fields.size() != rows.front().size())
      fail_at(reading, begin,
              fmt::format("the row has {}; {} are expected, as in the first row", counted(fields.size(), "field"),
                          rows.front().size()));
    bytes += static_cast<double>(fields.size() * sizeof(CsvField));
    check_memory(reading, bytes, "the fields of a table to be transposed");
    rows.push_back(std::move(fields));
  }
  std::string text;
  for (std::size_t j = 0; j < rows.front().size(); ++j) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const CsvField& field = rows[i][j];
      if (i > 0) text += head.delimiter;
      if (field.quoted) text += '"';
      text += field.text;
      if (field.quoted) text += '"';
    }
    text += '\n';
  }
  return text;
}

}  // namespace sheaf
