#include "data/read/columns.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include <fmt/ranges.h>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/text.hpp"

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
    fail_usage("{}: there is no column {}: the file has {}, counted from 1, or from -1 backwards", reading.name,
               position, counted(columns, "column"));
  return column;
}

/// A column or, if none has that name, several with commas between.
std::vector<std::int64_t> find_labels(const Reading& reading, const std::vector<std::string>& names,
                                      const std::string& wanted) {
  std::vector<std::int64_t> columns;
  const bool one = std::find(names.begin(), names.end(), wanted) != names.end();
  for (std::size_t at = 0; at <= wanted.size();) {
    const auto comma = one ? wanted.size() : std::min(wanted.find(',', at), wanted.size());
    const auto column = find_column(reading, names, wanted.substr(at, comma - at));
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      fail_usage("{}: --label names the column {} twice", reading.name, shown(name_or_position(names, column)));
    columns.push_back(column);
    at = comma + 1;
  }
  return columns;
}

/// Whether columns are found by the names that a model has of them.
bool knows_names(const ReadOptions& options, const std::vector<std::string>& names) {
  return options.known && !options.known->features.empty() &&
         std::any_of(names.begin(), names.end(), [](const auto& name) { return !name.empty(); });
}

/// Whether a header cell means that its column may be the label.
bool means_outcome(const std::string& name) {
  const auto lower = lower_case(name);
  static constexpr std::array<std::string_view, 5> known{"diagnosis", "outcome", "disease", "phenotype", "response"};
  return std::find(known.begin(), known.end(), lower) != known.end();
}

std::int64_t default_label(const std::vector<std::string>& names, const ColumnRoles& roles, bool by_name) {
  const auto is_free = [&](std::size_t j) { return !roles.ignored[j] && !roles.taken(static_cast<std::int64_t>(j)); };
  for (const auto means : {means_label, means_outcome})
    for (std::size_t j = 0; by_name && j < names.size(); ++j)
      if (is_free(j) && means(names[j])) return static_cast<std::int64_t>(j);
  for (std::size_t j = names.size(); j-- > 0;)
    if (is_free(j)) return static_cast<std::int64_t>(j);
  return -1;
}

/// Notes which column was taken as the label, unless its name leaves no doubt: y and class may be features next to
/// another label in the last column. Without any names, find_layout() notes it.
void note_guess(const Reading& reading, const std::vector<std::string>& names, ColumnRoles& roles) {
  if (roles.label < 0 || names[static_cast<std::size_t>(roles.label)].empty()) return;
  const auto& name = names[static_cast<std::size_t>(roles.label)];
  const auto last = default_label(names, roles, false);
  const auto lower = lower_case(name);
  if (lower == "label" || lower == "target" || (means_label(name) && roles.label == last)) return;
  const auto why = roles.label != last
                       ? fmt::format("for its name, though the last column is {}", shown(name_or_position(names, last)))
                       : std::string("since it is the last column and none is called label or target");
  roles.notes.push_back(
      fmt::format("{}: {} is taken as the label, {} (--label names another)", reading.name, shown(name), why));
}

/// All targets of a model; nothing if the dataset lacks one of them. Without names they are the last columns, if there
/// are more than the features of the model.
std::vector<std::int64_t> known_targets(const KnownColumns& known, const std::vector<std::string>& names,
                                        const ColumnRoles& roles, bool by_known_names) {
  std::vector<std::int64_t> free;
  for (std::int64_t j = 0; j < std::ssize(names); ++j)
    if (!roles.ignored[static_cast<std::size_t>(j)] && !roles.taken(j)) free.push_back(j);
  const auto count = 1 + std::ssize(known.further_labels);
  if (!by_known_names) {
    if (std::ssize(free) != known.count + count) return {};
    return {free.end() - count, free.end()};
  }
  std::vector<std::int64_t> found;
  const auto find = [&](const std::string& name) {
    for (const auto j : free)
      if (names[static_cast<std::size_t>(j)] == name) found.push_back(j);
  };
  find(known.label);
  for (const auto& name : known.further_labels) find(name);
  return std::ssize(found) == count ? found : std::vector<std::int64_t>();
}

/// The label of a dataset that a model predicts: the column of the name it had in training; without names the last one,
/// if there is one more than the features of the model.
std::int64_t known_label(const KnownColumns& known, const std::vector<std::string>& names, const ColumnRoles& roles,
                         bool by_name, bool by_known_names) {
  if (by_known_names) {
    if (known.label.empty()) {
      auto free = roles;
      for (std::size_t j = 0; j < names.size(); ++j)
        free.ignored[j] = free.ignored[j] ||
                          std::find(known.features.begin(), known.features.end(), names[j]) != known.features.end();
      return default_label(names, free, by_name);
    }
    for (std::size_t j = 0; j < names.size(); ++j)
      if (names[j] == known.label && !roles.ignored[j] && !roles.taken(static_cast<std::int64_t>(j)))
        return static_cast<std::int64_t>(j);
    return -1;
  }
  std::int64_t free = 0;
  for (std::int64_t j = 0; j < roles.columns(); ++j)
    free += roles.ignored[static_cast<std::size_t>(j)] || roles.taken(j) ? 0 : 1;
  return free == known.count ? -1 : default_label(names, roles, by_name);
}

/// Features of a model that a header lacks, in small letters.
std::unordered_set<std::string> lacking(const KnownColumns& known, const std::vector<std::string>& names) {
  const std::unordered_set<std::string_view> there(names.begin(), names.end());
  std::unordered_set<std::string> result;
  for (const auto& name : known.features)
    if (!name.empty() && !there.contains(name)) result.insert(lower_case(name));
  return result;
}

/// Ignores columns that a model does not use. One whose name differs in letter case only stays, so that the model can
/// name it when it misses its own.
void keep_known(const Reading& reading, const KnownColumns& known, const std::vector<std::string>& names,
                ColumnRoles& roles) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t f = 0; f < known.features.size(); ++f) places.try_emplace(known.features[f], f);
  const bool all_named = places.find({}) == places.end();  // an elastic net need not name what it gives no weight
  const auto missing = lacking(known, names);
  std::vector<std::string> others;
  for (std::size_t j = 0; j < names.size(); ++j) {
    const auto position = static_cast<std::int64_t>(j);
    if (position == roles.label || roles.taken(position) || roles.ignored[j]) continue;
    const auto found = places.find(names[j]);
    if (found == places.end()) {
      if (missing.contains(lower_case(names[j]))) continue;
      roles.ignored[j] = true;
      others.push_back(names[j]);
    } else {
      roles.nominal[j] = !known.levels.empty() && !known.levels[found->second].empty();
    }
  }
  if (!others.empty() && all_named)
    roles.notes.push_back(fmt::format("{}: {} column{} the model does not know {} left out: {}", reading.name,
                                      others.size(), others.size() == 1 ? "" : "s", others.size() == 1 ? "is" : "are",
                                      some_names(others)));
}

/// By the options, or as the model names them.
void choose_labels(const Reading& reading, const std::vector<std::string>& names, bool by_name, bool by_known_names,
                   ColumnRoles& roles) {
  const ReadOptions& options = reading.options;
  std::vector<std::int64_t> several;
  if (!options.label.empty() && options.label != "none")
    several = find_labels(reading, names, options.label);
  else if (options.label.empty() && options.known && !options.known->further_labels.empty())
    several = known_targets(*options.known, names, roles, by_known_names);
  else if (options.label.empty() && options.known)
    roles.label = known_label(*options.known, names, roles, by_name, by_known_names);
  else if (options.label.empty()) {
    roles.label = default_label(names, roles, by_name);
    if (by_name) note_guess(reading, names, roles);
  }
  if (several.empty()) return;
  roles.label = several.front();
  roles.further.assign(several.begin() + 1, several.end());
}

void check_roles(const Reading& reading, const ColumnRoles& roles) {
  const auto labels = roles.labels();
  const auto is_label = [&](std::int64_t column) {
    return std::find(labels.begin(), labels.end(), column) != labels.end();
  };
  if (roles.group >= 0 && is_label(roles.group))
    fail_usage("{}: column {} cannot be both the label and the group", reading.name, roles.group + 1);
  if (roles.event >= 0 && (is_label(roles.event) || roles.event == roles.group))
    fail_usage("{}: column {} cannot be both the event and the {}", reading.name, roles.event + 1,
               is_label(roles.event) ? "label, which is the time" : "group");
  if (roles.event >= 0 && roles.label < 0)
    fail_usage("{}: events need times: name the column of the times with --label", reading.name);
  if (roles.event >= 0 && labels.size() > 1)
    fail_usage("{}: --label names {}, but events belong to one time; name one column", reading.name,
               counted(labels.size(), "column"));
  if (labels.size() > 1 && reading.options.task == LabelKind::classes)
    fail_usage("{}: --label names {}, and several targets are numbers, not classes; name one column", reading.name,
               counted(labels.size(), "column"));
  if (roles.event < 0 && (roles.entry >= 0 || roles.strata >= 0))
    fail_usage(
        "{}: entries and strata (--entry, --strata) are for survival; name the column of the events with --event",
        reading.name);
  const std::array<std::pair<std::int64_t, std::string_view>, 7> others{{{roles.event, "event"},
                                                                         {roles.group, "group"},
                                                                         {roles.entry, "entry"},
                                                                         {roles.strata, "strata"},
                                                                         {roles.order, "order"},
                                                                         {roles.weight, "weight"},
                                                                         {roles.split, "split"}}};
  for (std::size_t k = 2; k < others.size(); ++k) {
    const auto [column, what] = others[k];
    if (column < 0) continue;
    if (is_label(column))
      fail_usage("{}: column {} cannot be both the label and the {}", reading.name, column + 1, what);
    for (std::size_t before = 0; before < k; ++before)
      if (others[before].first == column)
        fail_usage("{}: column {} cannot be both the {} and the {}", reading.name, column + 1, others[before].second,
                   what);
  }
  auto special = labels;
  special.insert(special.end(),
                 {roles.event, roles.entry, roles.strata, roles.group, roles.order, roles.weight, roles.split});
  for (const auto column : special)
    if (column >= 0 && roles.ignored[static_cast<std::size_t>(column)])
      fail_usage(
          "{}: column {} is to be ignored, but is the label, the event, the entry, the strata, the group, the order, "
          "the weight or the split",
          reading.name, column + 1);
}

}  // namespace

std::vector<std::int64_t> ColumnRoles::labels() const {
  std::vector<std::int64_t> result;
  if (label >= 0) result.push_back(label);
  result.insert(result.end(), further.begin(), further.end());
  return result;
}

bool ColumnRoles::taken(std::int64_t column) const {
  return column == event || column == entry || column == strata || column == group || column == order ||
         column == weight || column == split || std::find(further.begin(), further.end(), column) != further.end();
}

std::string name_or_position(const std::vector<std::string>& names, std::int64_t column) {
  const auto& name = names[static_cast<std::size_t>(column)];
  return name.empty() ? std::to_string(column + 1) : name;
}

std::vector<std::int64_t> find_columns(const Reading& reading, const std::vector<std::string>& names,
                                       const std::vector<std::string>& wanted) {
  std::vector<std::int64_t> columns;
  columns.reserve(wanted.size());
  for (const auto& one : wanted) columns.push_back(find_column(reading, names, one));
  return columns;
}

std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t listed = 10;
  const auto shown = std::min(names.size(), listed);
  auto text = fmt::format("{}", fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

bool means_label(const std::string& name) {
  const auto lower = lower_case(name);
  static constexpr std::array<std::string_view, 4> known{"label", "class", "target", "y"};
  return std::find(known.begin(), known.end(), lower) != known.end();
}

ColumnRoles choose_columns(const Reading& reading, const std::vector<std::string>& names, bool by_name,
                           std::int64_t row_names, std::int64_t id) {
  const ReadOptions& options = reading.options;
  ColumnRoles roles;
  roles.ignored.assign(names.size(), false);
  std::fill_n(roles.ignored.begin(), row_names, true);
  roles.id = id;
  if (id >= 0) roles.ignored[static_cast<std::size_t>(id)] = true;
  roles.nominal.assign(names.size(), false);
  const bool by_known_names = knows_names(options, names);
  for (const std::string& wanted : options.ignore)
    roles.ignored[static_cast<std::size_t>(find_column(reading, names, wanted))] = true;
  if (!options.group.empty() && options.group != "none") roles.group = find_column(reading, names, options.group);
  if (!options.event.empty()) roles.event = find_column(reading, names, options.event);
  if (!options.entry.empty()) roles.entry = find_column(reading, names, options.entry);
  if (!options.strata.empty()) roles.strata = find_column(reading, names, options.strata);
  if (!options.order.empty()) roles.order = find_column(reading, names, options.order);
  if (!options.weight_column.empty()) roles.weight = find_column(reading, names, options.weight_column);
  if (!options.split_column.empty()) roles.split = find_column(reading, names, options.split_column);
  choose_labels(reading, names, by_name, by_known_names, roles);
  check_roles(reading, roles);
  for (const std::string& wanted : options.nominal)
    roles.nominal[static_cast<std::size_t>(find_column(reading, names, wanted))] = true;
  if (by_known_names) keep_known(reading, *options.known, names, roles);
  for (std::int64_t j = 0; j < roles.columns(); ++j)
    if (j != roles.label && !roles.taken(j) && !roles.ignored[static_cast<std::size_t>(j)]) roles.features.push_back(j);
  if (options.known && !by_known_names)
    for (std::size_t f = 0; f < std::min(roles.features.size(), options.known->levels.size()); ++f)
      roles.nominal[static_cast<std::size_t>(roles.features[f])] = !options.known->levels[f].empty();
  return roles;
}

std::vector<std::string> feature_names(const std::vector<std::string>& names, const ColumnRoles& roles) {
  std::vector<std::string> result;
  bool only_positions = true;
  for (const std::int64_t j : roles.features) {
    result.push_back(name_or_position(names, j));
    if (result.back() != std::to_string(result.size())) only_positions = false;
  }
  if (only_positions) result.clear();
  return result;
}

}  // namespace sheaf
