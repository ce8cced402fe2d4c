// Labels, groups and row weights from memory.
#include <bit>
#include <cmath>
#include <concepts>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include <sheaf/predictions.hpp>

#include "core/names.hpp"
#include "data/memory/argument.hpp"
#include "data/memory/labels.hpp"
#include "data/read/reading.hpp"
#include "data/text/number.hpp"

namespace sheaf {
namespace memory {
namespace {

constexpr double most_exact = 0x1p53;  // integers up to it are numbers of their own in double

/// An entry of the caller's as its number, or none where it is a word.
template <std::floating_point V>
std::optional<double> number_of(std::string_view argument, std::int64_t entry, V value) {
  if (!std::isfinite(value)) fail_argument(argument, "entry {} is {}, but a finite number is expected", entry, value);
  return static_cast<double>(value);
}
template <std::integral V>
std::optional<double> number_of(std::string_view argument, std::int64_t entry, V value) {
  const auto number = static_cast<double>(value);
  if (std::abs(number) > most_exact)
    fail_argument(argument, "entry {} is {}, but integers of up to 2^53 are expected; give larger ones as texts", entry,
                  value);
  return number;
}
std::optional<double> number_of(std::string_view argument, std::int64_t entry, std::string_view text) {
  if (text.empty()) fail_argument(argument, "entry {} is empty", entry);
  if (!is_utf8(text)) fail_argument(argument, "entry {} is no UTF-8 text: {}", entry, shown(text));
  double number = 0;
  if (parse_whole_number(text, number) != NumberStatus::ok) return {};
  return number;
}

std::string name_of(std::string_view text) { return std::string(text); }
template <class V>
requires std::is_arithmetic_v<V> std::string name_of(V value) {
  return fmt::format("{}", static_cast<double>(value) + 0.0);  // both zeros are 0
}

/// Numbers entries by first appearance; equal numbers are one, however spelled.
template <class V>
Distinct number_entries(std::string_view argument, std::span<const V> entries) {
  Distinct result;
  std::unordered_map<std::uint64_t, std::int32_t> numbers;  // by their bits; both zeros are +0
  std::unordered_map<std::string_view, std::int32_t> words;
  for (std::int64_t i = 0; i < std::ssize(entries); ++i) {
    const V& entry = entries[static_cast<std::size_t>(i)];
    const auto number = number_of(argument, i, entry);
    const auto next = static_cast<std::int32_t>(result.names.size());
    std::int32_t id = 0;
    if (number) {
      id = numbers.try_emplace(std::bit_cast<std::uint64_t>(*number + 0.0), next).first->second;
      result.values.push_back(*number);
    } else if constexpr (!std::is_arithmetic_v<V>) {
      id = words.try_emplace(entry, next).first->second;
    }
    if (id == next) result.names.push_back(name_of(entry));
    result.ids.push_back(id);
  }
  if (result.values.size() != result.ids.size()) result.values.clear();
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

}  // namespace

Distinct number_distinct(std::string_view argument, const LabelSpan& entries) {
  return std::visit([&](auto span) { return number_entries(argument, span); }, entries);
}

void check_names(std::string_view argument, const std::vector<std::string>& names, std::int64_t count) {
  if (std::ssize(names) != count)
    fail_argument(argument, "has {} names, but the matrix has {} columns", names.size(), count);
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
  if (!target.values.empty() && std::ssize(distinct.names) > Target::max_classes) return target;
  target.classes = std::move(distinct.ids);
  target.class_names = std::move(distinct.names);
  return target;
}

std::vector<float> make_row_weights(const FloatSpan& weights, std::int64_t rows) {
  return std::visit(
      [&](auto span) {
        if (std::ssize(span) != rows)
          memory::fail_argument("row_weights", "has {} entries, but the dataset has {} rows", span.size(), rows);
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
