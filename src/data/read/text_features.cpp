#include "data/read/text_features.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>

#include "core/fail.hpp"
#include "data/class_order.hpp"
#include "data/labels.hpp"

namespace sheaf {
namespace {

/// Fewer rows are too few to decide whether their texts are ids.
constexpr std::int64_t fewest_rows_of_ids = 10;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits at the beginning, taken off.
std::size_t take_digits(std::string_view& text) {
  const auto count = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  text.remove_prefix(count);
  return count;
}

bool are_dates(const TextColumn& cells, std::int64_t present) {
  bool dates = present > 0;
  for (std::int64_t i = 0; i < cells.rows() && dates; ++i) dates = cells.text(i).empty() || is_date(cells.text(i));
  return dates;
}

std::string why_left_out(std::int64_t present, std::int64_t distinct) {
  if (present < fewest_rows_of_ids || distinct * 2 <= present) return {};
  if (distinct == present) return "its texts are all different, as ids are";
  return fmt::format("{} of its {} texts are different, as in ids and remarks", distinct, present);
}

}  // namespace

bool is_date(std::string_view text) {
  const auto first = take_digits(text);
  if (first == 0 || first > 4 || text.empty()) return false;
  const char between = text.front();
  if (between != '-' && between != '/' && between != '.') return false;
  text.remove_prefix(1);
  const auto second = take_digits(text);
  if (second == 0 || second > 2 || text.empty() || text.front() != between) return false;
  text.remove_prefix(1);
  const auto third = take_digits(text);
  const bool year_first = first == 4 && (third == 1 || third == 2);
  const bool year_last = first <= 2 && (third == 2 || third == 4);
  if (!year_first && !year_last) return false;
  if (text.empty()) return true;
  if (text.front() != 'T' && text.front() != ' ') return false;
  text.remove_prefix(1);
  return std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || std::string_view(":.+-Z AMPamp").find(c) != std::string::npos;
  });
}

namespace {

/// The name without an ending that means id or number, in lower case; none: it has no such ending. PatientID and
/// patientId have one, grid and valid have none.
std::optional<std::string> without_id(std::string_view name) {
  const auto lower = lower_case(name);
  static constexpr std::array<std::string_view, 12> endings{"_id",     " id",     ".id", "-id", "_no",  "_nr",
                                                            "_number", " number", " no", " nr", "_num", ".no"};
  for (const auto ending : endings)
    if (lower.ends_with(ending) && lower.size() > ending.size()) return lower.substr(0, lower.size() - ending.size());
  const bool capital = name.ends_with("ID") || name.ends_with("Id");
  if (capital && name.size() > 2 && std::islower(static_cast<unsigned char>(name[name.size() - 3])) != 0)
    return lower.substr(0, lower.size() - 2);
  return std::nullopt;
}

}  // namespace

bool means_id(std::string_view name) {
  const auto lower = lower_case(name);
  static constexpr std::array<std::string_view, 4> known{"id", "index", "unnamed: 0", "rowid"};
  if (std::find(known.begin(), known.end(), lower) != known.end()) return true;
  static constexpr std::array<std::string_view, 4> endings{"_id", " id", ".id", "-id"};
  if (std::any_of(endings.begin(), endings.end(), [&](std::string_view end) { return lower.ends_with(end); }))
    return true;
  return without_id(name).has_value() && (name.ends_with("ID") || name.ends_with("Id"));
}

bool means_group(std::string_view name) {
  const auto bare = without_id(name).value_or(lower_case(name));
  static constexpr std::array<std::string_view, 16> known{
      "subject", "patient", "person", "participant", "donor", "animal", "family", "individual",
      "mouse",   "rat",     "cage",   "litter",      "pair",  "twin",   "couple", "household"};
  return std::find(known.begin(), known.end(), bare) != known.end();
}

TextFeature make_text_feature(const Reading& reading, const TextColumn& cells, bool asked,
                              const std::vector<std::string>& first) {
  const auto rows = cells.rows();
  const auto distinct = *number_distinct(reading, cells, rows, std::numeric_limits<std::int32_t>::max());
  TextFeature result;
  std::int64_t present = 0;
  for (std::int64_t i = 0; i < rows; ++i) present += cells.text(i).empty() ? 0 : 1;
  const bool gaps = present < rows;
  result.distinct = std::ssize(distinct.names) - (gaps ? 1 : 0);
  result.dates = !asked && are_dates(cells, present);
  if (result.dates)
    result.left_out = "it holds dates";
  else if (!asked)
    result.left_out = why_left_out(present, result.distinct);
  if (!result.left_out.empty()) return result;
  result.names = first;
  std::unordered_map<std::string, std::int32_t> known;
  for (const auto& name : first) known.try_emplace(canonical_label(name), static_cast<std::int32_t>(known.size()));
  std::vector<std::int32_t> level(distinct.names.size(), -1);
  for (const auto place : sorted_places(distinct.names)) {
    const auto& name = distinct.names[place];
    if (name.empty()) continue;
    const auto [at, fresh] = known.try_emplace(canonical_label(name), static_cast<std::int32_t>(result.names.size()));
    if (fresh) result.names.push_back(name);
    level[place] = at->second;
  }
  result.levels.reserve(static_cast<std::size_t>(rows));
  for (const auto id : distinct.ids) result.levels.push_back(level[static_cast<std::size_t>(id)]);
  return result;
}

std::int64_t find_mixed(const TextColumn& cells) {
  std::int64_t text = cells.rows();
  bool numbers = false;
  for (std::int64_t i = 0; i < cells.rows(); ++i) {
    const bool number = !std::isnan(cells.number(i));
    numbers |= number;
    if (!number && text == cells.rows() && !cells.text(i).empty()) text = i;
  }
  return numbers ? text : cells.rows();
}

}  // namespace sheaf
