// Labels, groups and row weights from memory.
#include <cmath>
#include <concepts>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include <sheaf/solvers/predictions.hpp>

#include "core/names.hpp"
#include "core/text.hpp"
#include "data/label_numbers.hpp"
#include "data/memory/argument.hpp"
#include "data/memory/labels.hpp"
#include "data/read/reading.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace memory {
namespace {

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

/// An entry as its number; NaN if it is a word.
template <std::floating_point V>
double number_of(std::string_view argument, std::int64_t entry, V value) {
  if (!std::isfinite(value)) fail_argument(argument, "entry {} is {}, but a finite number is expected", entry, value);
  return static_cast<double>(value);
}
template <std::integral V>
double number_of(std::string_view argument, std::int64_t entry, V value) {
  const auto number = static_cast<double>(value);
  if (is_beyond_exact(number))
    fail_argument(argument, "entry {} is {}, but integers below 2^53 are expected; give larger ones as texts", entry,
                  value);
  return number;
}
double number_of(std::string_view argument, std::int64_t entry, std::string_view text) {
  if (text.empty()) fail_argument(argument, "entry {} is empty", entry);
  if (!is_utf8(text)) fail_argument(argument, "entry {} is no UTF-8 text: {}", entry, shown(text));
  double number = 0;
  return parse_whole_number(text, number) == NumberStatus::ok ? number : no_number;
}

template <class V>
Distinct number_entries(std::string_view argument, std::span<const V> entries) {
  Distinct result;
  LabelNumbers labels;
  bool numbers_only = true;
  for (std::int64_t i = 0; i < std::ssize(entries); ++i) {
    const V& entry = entries[static_cast<std::size_t>(i)];
    const double number = number_of(argument, i, entry);
    std::string_view word;
    if constexpr (!std::is_arithmetic_v<V>) word = entry;
    const auto [id, added] = labels.add(number, word);
    if (added) result.names.push_back(word.empty() ? fmt::format("{}", number + 0.0) : std::string(word));  // no -0
    result.ids.push_back(id);
    result.values.push_back(number);
    numbers_only = numbers_only && !std::isnan(number);
  }
  if (!numbers_only) result.values.clear();
  return result;
}

/// Numbers the classes as the caller did.
void take_order(const std::vector<std::string>& class_names, Distinct& classes) {
  std::unordered_map<std::string, std::int32_t> known;
  for (const auto& name : class_names)
    if (!known.try_emplace(canonical_label(name), static_cast<std::int32_t>(known.size())).second)
      fail_argument("class_names", "'{}' stands twice", name);
  std::vector<std::int32_t> place;
  for (std::size_t c = 0; c < classes.names.size(); ++c) {
    const auto found = known.find(canonical_label(classes.names[c]));
    if (found == known.end()) {
      const auto row = std::find(classes.ids.begin(), classes.ids.end(), c) - classes.ids.begin();
      fail_argument("labels", "entry {} is '{}', which is not one of 'class_names': {}", row, classes.names[c],
                    join_names(class_names));
    }
    place.push_back(found->second);
  }
  for (std::size_t c = 0; c < class_names.size(); ++c)
    if (std::find(place.begin(), place.end(), c) == place.end())
      fail_argument("class_names", "no row has the class '{}'; leave it out", class_names[c]);
  for (auto& id : classes.ids) id = place[static_cast<std::size_t>(id)];
  classes.names = class_names;
}

/// When rows enter, and their strata.
void take_risks(const DatasetOptions& options, Target& target) {
  const auto rows = target.values.size();
  if (!options.entries.empty() && options.entries.size() != rows)
    fail_argument("entries", "has {}, but there are {} times", counted(options.entries.size(), "entry"), rows);
  for (std::size_t i = 0; i < options.entries.size(); ++i)
    if (!(options.entries[i] < target.values[i]) || !std::isfinite(options.entries[i]))
      fail_argument("entries", "entry {} is {}, but a number below the time {} is expected", i, options.entries[i],
                    target.values[i]);
  target.entries = options.entries;
  target.strata = number_distinct("strata", options.strata).ids;
  if (!target.strata.empty() && target.strata.size() != rows)
    fail_argument("strata", "has {}, but there are {} times", counted(target.strata.size(), "entry"), rows);
}

/// Labels are times.
void take_events(const DatasetOptions& options, Target& target) {
  const auto& events = options.events;
  if (target.values.empty() || target.fixed_order) fail_argument("labels", "must be times, which are numbers");
  if (events.size() != target.values.size())
    fail_argument("events", "has {}, but there are {} times", counted(events.size(), "entry"), target.values.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!(target.values[i] >= 0) && options.entries.empty())
      fail_argument("labels", "entry {} is {}, but a time of 0 or more is expected", i, target.values[i]);
    if (events[i] != 0 && events[i] != 1)
      fail_argument("events", "entry {} is {}, but 1 (the event came) or 0 (censored) is expected", i, events[i]);
    target.events.push_back(events[i] == 1 ? 1 : 0);
  }
  target.kind = LabelKind::numbers;
  take_risks(options, target);
}

}  // namespace

Distinct number_distinct(std::string_view argument, const LabelSpan& entries) {
  return std::visit([&](auto span) { return number_entries(argument, span); }, entries);
}

void check_names(std::string_view argument, const std::vector<std::string>& names, std::int64_t count) {
  if (std::ssize(names) != count)
    fail_argument(argument, "has {}, but the matrix has {}", counted(names.size(), "name"), counted(count, "column"));
  std::unordered_set<std::string_view> seen;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (!is_utf8(names[j])) fail_argument(argument, "entry {} is no UTF-8 text: {}", j, shown(names[j]));
    if (!names[j].empty() && !seen.insert(names[j]).second)
      fail_argument(argument, "entry {} is '{}', a name that an earlier column has", j, names[j]);
  }
}

}  // namespace memory

Target make_target(const LabelSpan& labels, const DatasetOptions& options) {
  auto distinct = memory::number_distinct("labels", labels);
  Target target;
  target.name = options.target_name;
  target.fixed_order = !options.class_names.empty();
  if (target.fixed_order) memory::take_order(options.class_names, distinct);
  target.values = std::move(distinct.values);
  if (!options.events.empty()) {
    memory::take_events(options, target);
    return target;
  }
  if (!target.values.empty() && std::ssize(distinct.names) > Target::max_classes) return target;
  target.classes = std::move(distinct.ids);
  target.class_names = std::move(distinct.names);
  if (target.fixed_order)
    target.kind = LabelKind::classes;
  else
    target.order_classes();
  return target;
}

std::vector<float> make_row_weights(const FloatSpan& weights, std::int64_t rows) {
  return std::visit(
      [&](auto span) {
        if (std::ssize(span) != rows)
          memory::fail_argument("row_weights", "has {}, but the dataset has {}", counted(span.size(), "entry"),
                                counted(rows, "row"));
        std::vector<float> result;
        for (const auto weight : span) {
          result.push_back(static_cast<float>(weight));
          if (!(weight >= 0) || !std::isfinite(result.back()))
            memory::fail_argument("row_weights", "entry {} is {}, but a finite number of 0 or more is expected",
                                  result.size() - 1, weight);
        }
        if (std::all_of(result.begin(), result.end(), [](float weight) { return weight == 0; }) && rows > 0)
          memory::fail_argument("row_weights", "all {} weights are 0, which leaves no row to train on", rows);
        return result;
      },
      weights);
}

}  // namespace sheaf
