#include "data/read/columns.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>

#include "core/fail.hpp"
#include "core/names.hpp"

namespace sheaf {
namespace {

/// The column meant by a name, or by a position from 1, negative from the end.
std::int64_t find_column(const Reading& reading, const std::vector<std::string>& names, const std::string& wanted) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found != names.end() && !wanted.empty()) return found - names.begin();
  const auto columns = static_cast<std::int64_t>(names.size());
  std::int64_t position = 0;
  const auto [end, problem] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), position);
  if (wanted.empty() || problem != std::errc() || end != wanted.data() + wanted.size()) {
    const std::string nearest = nearest_name(wanted, names);
    fail_usage("{}: there is no column {} among {}{}", reading.name, shown(wanted), columns,
               nearest.empty() ? "" : fmt::format("; did you mean {}?", shown(nearest)));
  }
  const std::int64_t column = position > 0 ? position - 1 : columns + position;
  if (position == 0 || column < 0 || column >= columns)
    fail_usage("{}: there is no column {}: the file has {} columns, counted from 1, or from -1 backwards", reading.name,
               position, columns);
  return column;
}

std::int64_t default_label(const std::vector<std::string>& names, const ColumnRoles& roles, bool by_name) {
  const auto is_free = [&](std::size_t j) { return !roles.ignored[j] && roles.group != static_cast<std::int64_t>(j); };
  for (std::size_t j = 0; by_name && j < names.size(); ++j)
    if (is_free(j) && means_label(names[j])) return static_cast<std::int64_t>(j);
  for (std::size_t j = names.size(); j-- > 0;)
    if (is_free(j)) return static_cast<std::int64_t>(j);
  return -1;
}

}  // namespace

bool means_label(const std::string& name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  static constexpr std::array<std::string_view, 4> known{"label", "class", "target", "y"};
  return std::find(known.begin(), known.end(), lower) != known.end();
}

ColumnRoles choose_columns(const Reading& reading, const std::vector<std::string>& names, bool by_name) {
  const ReadOptions& options = reading.options;
  ColumnRoles roles;
  roles.ignored.assign(names.size(), false);
  for (const std::string& wanted : options.ignore)
    roles.ignored[static_cast<std::size_t>(find_column(reading, names, wanted))] = true;
  if (!options.group.empty()) roles.group = find_column(reading, names, options.group);
  if (options.label.empty())
    roles.label = default_label(names, roles, by_name);
  else if (options.label != "none")
    roles.label = find_column(reading, names, options.label);
  if (roles.label >= 0 && roles.label == roles.group)
    fail_usage("{}: column {} cannot be both the label and the group", reading.name, roles.label + 1);
  for (const std::int64_t special : {roles.label, roles.group})
    if (special >= 0 && roles.ignored[static_cast<std::size_t>(special)])
      fail_usage("{}: column {} is to be ignored, but is the label or the group", reading.name, special + 1);
  for (std::int64_t j = 0; j < roles.columns(); ++j)
    if (j != roles.label && j != roles.group && !roles.ignored[static_cast<std::size_t>(j)])
      roles.features.push_back(j);
  return roles;
}

std::vector<std::string> feature_names(const std::vector<std::string>& names, const ColumnRoles& roles) {
  std::vector<std::string> result;
  bool only_positions = true;
  for (const std::int64_t j : roles.features) {
    const std::string position = std::to_string(j + 1);
    const std::string& name = names[static_cast<std::size_t>(j)];
    result.push_back(name.empty() ? position : name);
    if (result.back() != std::to_string(result.size())) only_positions = false;
  }
  if (only_positions) result.clear();
  return result;
}

}  // namespace sheaf
