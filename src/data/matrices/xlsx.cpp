// Excel workbooks (.xlsx): one sheet is made the CSV text that Excel would save, and read as such, so that the rules
// for headers, labels, ids, dates and missing values are those of CSV. Dates are written as 2021-03-14.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"
#include "data/budget.hpp"
#include "data/bytes/zip.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/text/number.hpp"
#include "data/xml/xml.hpp"

namespace sheaf {

template <class T>
Dataset<T> read_csv(const Reading& reading);

namespace {

constexpr std::string_view workbook_part = "xl/workbook.xml";
constexpr std::int64_t most_columns = 16384;  // of a sheet of Excel
constexpr std::int64_t most_sheet_rows = 1048576;

struct Cell {
  std::int32_t column;
  std::string text;
  bool quoted;  // a text, not a number
};
using SheetRow = std::vector<Cell>;

/// Whether a number format shows a date or a time: y, m, d, h or s outside of quotes and brackets.
bool is_date_format(std::string_view code) {
  bool quoted = false;
  for (std::size_t i = 0; i < code.size(); ++i) {
    const char c = code[i];
    if (c == '\\' || c == '_' || c == '*') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == '[') {
      const auto close = std::min(code.find(']', i), code.size());
      const auto inside = code.substr(i + 1, close - i - 1);
      if (inside == "h" || inside == "hh" || inside == "m" || inside == "mm" || inside == "s" || inside == "ss")
        return true;
      i = close;
    } else if (!quoted && std::string_view("ymdhsYMDHS").find(c) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

bool is_built_in_date(std::int64_t format) { return (format >= 14 && format <= 22) || (format >= 45 && format <= 47); }

/// Days since 1899-12-30 as a date, with a time of day if there is one. Howard Hinnant, "chrono-compatible low-level
/// date algorithms".
std::string date_text(double serial) {
  const auto seconds = std::llround(serial * 86400);
  const auto day = seconds >= 0 ? seconds / 86400 : (seconds - 86399) / 86400;
  const auto second = seconds - day * 86400;
  const auto z = day - 25569 + 719468;  // days since 0000-03-01; 25569 is 1970-01-01
  const auto era = (z >= 0 ? z : z - 146096) / 146097;
  const auto doe = z - era * 146097;
  const auto yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const auto doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const auto mp = (5 * doy + 2) / 153;
  const auto d = doy - (153 * mp + 2) / 5 + 1;
  const auto m = mp < 10 ? mp + 3 : mp - 9;
  const auto y = yoe + era * 400 + (m <= 2 ? 1 : 0);
  auto text = fmt::format("{:04}-{:02}-{:02}", y, m, d);
  if (second != 0) text += fmt::format(" {:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60);
  return text;
}

std::int64_t whole(std::string_view text, std::int64_t otherwise) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() ? value : otherwise;
}

class Workbook {
 public:
  explicit Workbook(const Reading& reading) : reading_(reading), zip_(reading.text, reading.name) {
    read_sheets();
    read_links();
    read_shared_texts();
    read_styles();
  }

  /// The sheet that the options name, else the first.
  const std::string& sheet() const {
    const auto& wanted = reading_.options.sheet;
    if (sheets_.empty()) fail("{}: the workbook has no sheets", reading_.name);
    if (wanted.empty()) return sheets_.front().first;
    for (const auto& [name, link] : sheets_)
      if (name == wanted) return name;
    std::vector<std::string> names;
    for (const auto& [name, link] : sheets_) names.push_back(name);
    fail_unknown("sheet", wanted, names);
  }
  std::size_t sheets() const { return sheets_.size(); }

  std::vector<SheetRow> rows(const std::string& sheet) {
    const auto link =
        std::find_if(sheets_.begin(), sheets_.end(), [&](const auto& one) { return one.first == sheet; })->second;
    const auto target = links_.find(link);
    if (target == links_.end())
      fail("{}: the workbook does not say where the sheet {} is", reading_.name, shown(sheet));
    return read_cells(target->second);
  }

 private:
  /// Reads a part as XML; an optional one may be missing.
  void read_part(const std::string& name, const XmlHandlers& handlers, bool optional) const {
    const auto* member = zip_.find(name);
    if (member == nullptr && optional) return;
    if (member == nullptr) fail("{}: is no workbook of Excel: it has no '{}'", reading_.name, name);
    const auto content = zip_.read(*member, cpu_budget(reading_.context));
    const auto place = fmt::format("{} ({})", reading_.name, name);
    if (!content.bytes.empty()) read_xml({reading_.context, content.bytes, place, reading_.options}, handlers);
  }

  void read_sheets() {
    read_part(std::string(workbook_part),
              {[&](std::string_view element, const Attributes& a, const char*) {
                 if (element == "sheet") sheets_.emplace_back(a["name"], a["id"]);
                 if (element == "workbookPr") days_1904_ = a["date1904"] == "1" || a["date1904"] == "true";
               },
               [](std::string_view, const char*) {}},
              false);
  }

  void read_links() {
    read_part("xl/_rels/workbook.xml.rels",
              {[&](std::string_view element, const Attributes& a, const char*) {
                 if (element != "Relationship") return;
                 const std::string target(a["Target"]);
                 links_[std::string(a["Id"])] = target.starts_with('/') ? target.substr(1) : "xl/" + target;
               },
               [](std::string_view, const char*) {}},
              false);
  }

  /// Phonetic readings (rPh) are no part of a text.
  void read_shared_texts() {
    bool inside = false;
    bool phonetic = false;
    read_part("xl/sharedStrings.xml",
              {[&](std::string_view element, const Attributes&, const char*) {
                 if (element == "si") shared_.emplace_back();
                 if (element == "rPh") phonetic = true;
                 inside = element == "t" && !phonetic && !shared_.empty();
               },
               [&](std::string_view element, const char*) {
                 if (element == "rPh") phonetic = false;
                 inside = false;
               },
               [&](std::string_view text) {
                 if (inside) shared_.back() += text;
               }},
              true);
  }

  void read_styles() {
    std::map<std::int64_t, bool> formats;
    bool inside = false;
    read_part("xl/styles.xml",
              {[&](std::string_view element, const Attributes& a, const char*) {
                 if (element == "numFmt") formats[whole(a["numFmtId"], -1)] = is_date_format(a["formatCode"]);
                 if (element == "cellXfs") inside = true;
                 if (element != "xf" || !inside) return;
                 const auto format = whole(a["numFmtId"], 0);
                 const auto own = formats.find(format);
                 dates_.push_back(own != formats.end() ? own->second : is_built_in_date(format));
               },
               [&](std::string_view element, const char*) {
                 if (element == "cellXfs") inside = false;
               }},
              true);
  }

  /// The column of a reference such as AB12, from 0; -1: it is none.
  static std::int64_t column_of(std::string_view reference) {
    std::int64_t column = 0;
    std::size_t letters = 0;
    for (; letters < reference.size() && reference[letters] >= 'A' && reference[letters] <= 'Z' && letters < 4;
         ++letters)
      column = column * 26 + (reference[letters] - 'A' + 1);
    return letters == 0 || column > most_columns ? -1 : column - 1;
  }

  void add_cell(const std::string& part, std::string_view kind, std::int64_t style, std::string value,
                std::int64_t column, SheetRow& row) const {
    const auto refuse = [&](std::string_view what) { fail("{} ({}): {} {}", reading_.name, part, what, shown(value)); };
    if (kind == "e" || value.empty()) return;  // an error such as #DIV/0! is a missing value
    bool quoted = kind != "n" && !kind.empty();
    if (kind == "s") {
      const auto k = whole(value, -1);
      if (k < 0 || k >= std::ssize(shared_))
        refuse(fmt::format("a number below the {} shared texts expected, found", shared_.size()));
      value = shared_[static_cast<std::size_t>(k)];
    } else if (kind == "b") {
      value = value == "1" ? "TRUE" : "FALSE";
      quoted = false;
    } else if (!quoted) {
      double number = 0;
      if (parse_whole_number(std::string_view(value), number) != NumberStatus::ok)
        refuse("a number expected in a cell, found");
      const bool date = style >= 0 && style < std::ssize(dates_) && dates_[static_cast<std::size_t>(style)];
      if (date && number > -700000 && number < 3e6) value = date_text(number + (days_1904_ ? 1462 : 0));
    }
    if (!value.empty()) row.push_back({static_cast<std::int32_t>(column), std::move(value), quoted});
  }

  std::vector<SheetRow> read_cells(const std::string& part) const {
    std::vector<SheetRow> rows;
    std::string kind;
    std::string value;
    std::int64_t style = 0;
    std::int64_t column = -1;
    bool in_cell = false;
    bool in_value = false;
    bool phonetic = false;
    read_part(part,
              {[&](std::string_view element, const Attributes& a, const char*) {
                 if (element == "row") {
                   rows.emplace_back();
                   column = -1;
                   if (std::ssize(rows) > most_sheet_rows)
                     fail("{} ({}): has more than {} rows", reading_.name, part, most_sheet_rows);
                 } else if (element == "c") {
                   if (rows.empty()) fail("{} ({}): a cell stands outside of rows", reading_.name, part);
                   in_cell = true;
                   kind = a["t"];
                   style = whole(a["s"], 0);
                   value.clear();
                   const auto own = a["r"].empty() ? column + 1 : column_of(a["r"]);
                   if (own <= column || own >= most_columns)
                     fail("{} ({}): the cell {} does not follow the one before it in its row", reading_.name, part,
                          shown(a["r"]));
                   column = own;
                 }
                 if (element == "rPh") phonetic = true;
                 in_value = in_cell && !phonetic && (element == "v" || element == "t");
               },
               [&](std::string_view element, const char*) {
                 in_value = false;
                 if (element == "rPh") phonetic = false;
                 if (element != "c") return;
                 in_cell = false;
                 add_cell(part, kind, style, std::move(value), column, rows.back());
                 value.clear();
               },
               [&](std::string_view text) {
                 if (in_value) value += text;
               }},
              false);
    return rows;
  }

  const Reading& reading_;
  ZipArchive zip_;
  std::vector<std::pair<std::string, std::string>> sheets_;  // names and links
  std::map<std::string, std::string> links_;                 // to parts of the archive
  std::vector<std::string> shared_;
  std::vector<bool> dates_;  // of each style
  bool days_1904_ = false;
};

/// Rows and columns without any content are left out.
std::string csv_of(const Reading& reading, std::vector<SheetRow> rows) {
  std::erase_if(rows, [](const SheetRow& row) { return row.empty(); });
  std::vector<bool> used;
  double bytes = 0;
  for (const auto& row : rows)
    for (const auto& cell : row) {
      if (cell.column >= std::ssize(used)) used.resize(static_cast<std::size_t>(cell.column) + 1);
      used[static_cast<std::size_t>(cell.column)] = true;
      bytes += static_cast<double>(cell.text.size()) + 2;
    }
  check_memory(reading, bytes + static_cast<double>(rows.size()) * static_cast<double>(used.size()),
               fmt::format("{} of {} cells", counted(rows.size(), "row"), used.size()));
  std::string text;
  for (const auto& row : rows) {
    auto cell = row.begin();
    bool first = true;
    for (std::size_t j = 0; j < used.size(); ++j) {
      if (!used[j]) continue;
      if (!first) text += ',';
      first = false;
      if (cell == row.end() || cell->column != static_cast<std::int32_t>(j)) continue;
      if (cell->quoted) text += '"';
      for (const char c : cell->text) text.append(c == '"' ? 2 : 1, c);
      if (cell->quoted) text += '"';
      ++cell;
    }
    text += '\n';
  }
  return text;
}

}  // namespace

bool looks_like_xlsx(std::string_view bytes) {
  if (!is_zip(bytes)) return false;
  try {
    const std::string name;
    return ZipArchive(bytes, name).find(workbook_part) != nullptr;
  } catch (const Error&) {
    return false;
  }
}

template <class T>
Dataset<T> read_xlsx(const Reading& reading) {
  if (!is_zip(reading.text))
    fail("{}: is no workbook of Excel (.xlsx): it begins with {}, and a zip archive is expected", reading.name,
         shown(reading.text.substr(0, 4)));
  Workbook workbook(reading);
  const auto sheet = workbook.sheet();
  const auto text = csv_of(reading, workbook.rows(sheet));
  const auto name = fmt::format("{} (sheet {})", reading.name, shown(sheet));
  if (text.empty()) fail("{}: is empty", name);
  auto options = reading.options;
  options.delimiter = ',';
  options.decimal = '.';
  const Reading own{reading.context, text, name, options, reading.chunk_bytes};
  const bool guessed = options.sheet.empty() && workbook.sheets() > 1;
  const auto first =
      fmt::format("the first of {} sheets is read, {} (--sheet names another)", workbook.sheets(), shown(sheet));
  try {
    auto dataset = options.metadata.empty() ? read_csv<T>(own) : read_with_metadata<T>(own, read_csv<T>);
    if (guessed) dataset.notes.push_back(fmt::format("{}: {}", reading.name, first));
    return dataset;
  } catch (const ParseError&) {
    throw;
  } catch (const Error& error) {
    if (guessed) fail("{}; {}", error.what(), first);
    throw;
  }
}

template Dataset<float> read_xlsx(const Reading&);
template Dataset<double> read_xlsx(const Reading&);

}  // namespace sheaf
