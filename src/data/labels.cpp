#include "data/labels.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include <sheaf/solvers/survival.hpp>

#include "core/names.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/text/exact_decimal.hpp"
#include "data/text/number.hpp"

namespace sheaf {

std::string canonical_label(std::string_view label) {
  double value = 0;
  if (parse_whole_number(label, value) != NumberStatus::ok) return std::string(label);
  if (is_beyond_exact(value)) return to_string(exact_decimal(label));
  return fmt::format("{}", value + 0.0);  // both zeros are 0
}

namespace {

/// Many classes that are not whole numbers, not stated to be classes.
bool is_doubtful(const Target& target) {
  constexpr std::size_t few = 20;
  if (target.kind != LabelKind::automatic || target.class_names.size() <= few) return false;
  return std::any_of(target.class_names.begin(), target.class_names.end(), [](const std::string& name) {
    double value = 0;
    return parse_whole_number(name, value) != NumberStatus::ok || value != std::floor(value);
  });
}

void check_target(const Target& target, const std::string& source, bool regression, std::string_view instead) {
  if (target.empty()) fail("{}: has no labels to learn from", source);
  refuse_several(target, source);
  if (target.survival())
    fail("{}: times with events (--event) are for Cox models: --model elastic-net, or --model glm --family cox",
         source);
  if (regression && target.values.empty())
    fail("{}: some labels are not numbers, which a regression needs; train classes instead ({})", source, instead);
  if (!regression && target.classes.empty())
    fail("{}: the labels have over {} distinct values and are no classes; train a regression instead ({})", source,
         Target::max_classes, instead);
  if (!regression && is_doubtful(target))
    fail(
        "{}: the label{} has {} that are not whole numbers: are they classes? say --task "
        "classification, or --task regression for numbers, or name another column (--label)",
        source, target.name.empty() ? "" : fmt::format(" '{}'", target.name),
        counted(target.class_names.size(), "different value"));
}

void order_classes(Labels& labels) {
  auto& names = labels.class_names;
  if (names.size() != 2 || canonical_label(names[0]) != "-1" || canonical_label(names[1]) != "1") return;
  std::swap(names[0], names[1]);
  for (auto& c : labels.classes) c = 1 - c;
}

}  // namespace

Labels make_labels(const Target& target, const std::string& source, std::int64_t rows, bool regression,
                   std::string_view instead) {
  check_target(target, source, regression, instead);
  Labels labels;
  labels.rows = rows;
  if (regression) {
    labels.values = target.values;
    return labels;
  }
  labels.class_names = target.class_names;
  labels.classes = target.classes;
  if (!target.fixed_order) order_classes(labels);
  labels.positive = target.positive >= 0 ? target.positive : positive_class(labels.class_names);
  return labels;
}

void check_label_kind(const Target& target, bool regression, std::string_view option) {
  if (target.empty() || target.kind == LabelKind::automatic) return;
  const bool numbers = target.kind == LabelKind::numbers;
  if (regression != numbers)
    fail_usage("the labels are {}, but --{} is for {}; leave it out, or change --task",
               numbers ? "the numbers of a regression" : "classes", option, regression ? "a regression" : "classes");
}

Labels make_several_labels(const Target& target, std::int64_t rows) {
  Labels labels;
  labels.rows = rows;
  labels.targets = target.targets();
  labels.values = target.table();
  return labels;
}

void refuse_several(const Target& target, const std::string& source) {
  if (target.several())
    fail(
        "{}: --label names {} ({}), and only the models elastic-net, lasso and ridge, with all features "
        "(without "
        "--select), take more than one; name one",
        source, counted(target.targets(), "target"), join_names(target.target_names()));
}

Labels make_survival_labels(const Target& target, const std::string& source, std::int64_t rows) {
  if (!target.survival())
    fail(
        "{}: a Cox model needs times and events: name the column of the times with --label and that of the events "
        "with --event",
        source);
  if (std::find(target.events.begin(), target.events.end(), 1) == target.events.end())
    fail("{}: no row has an event: all are censored, and nothing can be learnt from them", source);
  Labels labels;
  labels.rows = rows;
  labels.events = target.events;
  labels.strata = target.strata;
  // Entries and times are of one scale, and made equal together.
  auto times = target.values;
  times.insert(times.end(), target.entries.begin(), target.entries.end());
  times = tie_times(times);
  const auto end = times.begin() + static_cast<std::ptrdiff_t>(target.values.size());
  labels.values.assign(times.begin(), end);
  labels.entries.assign(end, times.end());
  for (std::size_t i = 0; i < labels.entries.size(); ++i)
    if (!(labels.entries[i] < labels.values[i]))
      fail("{}: row {} is followed from {} to {}; it must enter before its time", source, i + 1, target.entries[i],
           target.values[i]);
  return labels;
}

std::int32_t positive_of(const Target& target) {
  return target.positive >= 0 ? target.positive : positive_class(target.class_names);
}

void check_two_classes(const Labels& labels, const std::string& source) {
  if (labels.class_names.size() == 1)
    fail("{}: all rows have class {}; training needs at least two classes", source, labels.class_names[0]);
}

std::vector<double> weigh_classes(const ClassWeights& weights, std::span<const std::string> class_names,
                                  std::span<const double> counts) {
  std::vector<double> result(class_names.size(), 1.0);
  double rows = 0;
  for (const double count : counts) rows += count;
  for (std::size_t c = 0; c < result.size() && weights.balanced; ++c)
    if (counts[c] > 0) result[c] = rows / (static_cast<double>(result.size()) * counts[c]);
  for (const auto& [name, weight] : weights.named) result[find_class(class_names, name)] = weight;
  return result;
}

std::vector<double> count_classes(const Labels& labels, std::span<const float> times) {
  std::vector<double> counts(labels.class_names.size(), 0.0);
  for (std::size_t i = 0; i < labels.classes.size(); ++i)
    counts[static_cast<std::size_t>(labels.classes[i])] += times.empty() ? 1.0 : static_cast<double>(times[i]);
  return counts;
}

double standard_deviation(std::span<const double> values, std::span<const float> row_weights) {
  const auto weight_of = [&](std::size_t i) { return row_weights.empty() ? 1.0 : static_cast<double>(row_weights[i]); };
  double weights = 0;
  double mean = 0;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double weight = weight_of(i);
    if (weight == 0) continue;
    weights += weight;
    const double distance = values[i] - mean;
    mean += distance * weight / weights;
    squares += weight * distance * (values[i] - mean);
  }
  return weights > 0 ? std::sqrt(squares / weights) : 0;
}

bool all_one(std::span<const double> weights) {
  return std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1; });
}

std::size_t find_class(std::span<const std::string> names, const std::string& wanted) {
  const auto same = [spelling = canonical_label(wanted)](const auto& name) {
    return canonical_label(name) == spelling;
  };
  const auto found = std::find_if(names.begin(), names.end(), same);
  if (found == names.end()) fail_unknown("class", wanted, names);
  return static_cast<std::size_t>(found - names.begin());
}

std::vector<std::int32_t> match_classes(std::span<const std::string> names, std::span<const std::string> labels) {
  std::unordered_map<std::string, std::int32_t> known;
  for (const auto& name : names) known.try_emplace(canonical_label(name), static_cast<std::int32_t>(known.size()));
  std::vector<std::int32_t> match;
  match.reserve(labels.size());
  for (const auto& label : labels) {
    const auto found = known.find(canonical_label(label));
    match.push_back(found == known.end() ? -1 : found->second);
  }
  return match;
}

std::string integer_label(const std::string& name, std::string_view program) {
  auto canonical = canonical_label(name);
  int value = 0;
  const auto* end = canonical.data() + canonical.size();
  const auto result = std::from_chars(canonical.data(), end, value);
  if (result.ec != std::errc() || result.ptr != end)
    fail("the class '{}' is no integer, and {}'s model files hold no other; use Sheaf's own format", name, program);
  return canonical;
}

}  // namespace sheaf
