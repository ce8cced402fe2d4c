#include "data/sheaf_file/columns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sheaf::sheaf_file {
namespace {

/// Each number at least `low` and below `end`.
template <class Number>
void check_range(const File& file, std::span<const Number> numbers, std::int64_t low, std::int64_t end,
                 std::string_view what) {
  const auto wrong = std::find_if(numbers.begin(), numbers.end(), [&](auto number) {
    return static_cast<std::int64_t>(number) < low || static_cast<std::int64_t>(number) >= end;
  });
  if (wrong != numbers.end())
    file.damaged(fmt::format("row {} has number {} of its {} {}", wrong - numbers.begin() + 1,
                             static_cast<std::int64_t>(*wrong), end, what));
}

template <class Number>
void check_finite(const File& file, std::span<const Number> numbers, std::string_view what, double least) {
  const auto wrong =
      std::find_if(numbers.begin(), numbers.end(), [&](auto value) { return !std::isfinite(value) || value < least; });
  if (wrong != numbers.end())
    file.damaged(fmt::format("the {} of row {} is {}", what, wrong - numbers.begin() + 1, *wrong));
}

template <class Number>
std::vector<Number> copy_of(std::span<const Number> numbers) {
  return {numbers.begin(), numbers.end()};
}

constexpr double any = std::numeric_limits<double>::lowest();

Target read_target(const File& file, const About& about) {
  const auto rows = file.header().rows;
  Target target;
  target.name = about.label;
  target.kind = about.kind;
  target.fixed_order = about.fixed_order;
  target.class_names = file.texts(SectionKind::class_names, -1, "names of classes");
  if (std::ssize(target.class_names) > Target::max_classes)
    file.damaged(fmt::format("it has {} classes", target.class_names.size()));
  const auto classes = file.elements<std::int32_t>(SectionKind::classes, rows, "classes of rows");
  check_range(file, classes, 0, std::ssize(target.class_names), "classes");
  target.classes = copy_of(classes);
  target.positive = about.positive < std::ssize(target.class_names) ? about.positive : -1;
  const auto values = file.elements<double>(SectionKind::label_values, rows, "labels");
  check_finite(file, values, "label", any);
  target.values = copy_of(values);
  const auto events = file.elements<std::uint8_t>(SectionKind::events, rows, "events");
  check_range(file, events, 0, 2, "events");
  target.events = copy_of(events);
  const auto entries = file.elements<double>(SectionKind::entries, rows, "entries of survival");
  check_finite(file, entries, "entry", any);
  target.entries = copy_of(entries);
  const auto strata = file.elements<std::int32_t>(SectionKind::strata, rows, "strata");
  check_range(file, strata, 0, rows, "strata");
  target.strata = copy_of(strata);
  const auto targets = std::ssize(about.further_labels);
  if (targets > std::numeric_limits<std::int32_t>::max() - 1) file.damaged("it has too many labels");
  const auto further = file.elements<double>(SectionKind::further_labels, targets * rows, "further labels");
  check_finite(file, further, "further label", any);
  if (targets > 0 && (further.empty() || values.empty())) file.damaged("labels that it names are not there");
  for (std::int64_t c = 0; c < targets; ++c)
    target.further.push_back({about.further_labels[static_cast<std::size_t>(c)],
                              copy_of(further.subspan(static_cast<std::size_t>(c * rows), values.size()))});
  if (!target.events.empty()) {
    check_finite(file, values, "time", target.entries.empty() ? 0 : any);
    if (values.empty()) file.damaged("it has events without times");
  } else if (!target.entries.empty() || !target.strata.empty()) {
    file.damaged("it has entries or strata without events");
  }
  if (target.kind == LabelKind::numbers && target.values.empty() && !target.classes.empty())
    file.damaged("its labels are no numbers");
  if (target.kind == LabelKind::classes && target.classes.empty() && !target.values.empty())
    file.damaged("its labels are no classes");
  return target;
}

RowColumns read_row_columns(const File& file, const About& about) {
  const auto rows = file.header().rows;
  RowColumns columns;
  const auto weights = file.elements<float>(SectionKind::weights, rows, "weights");
  check_finite(file, weights, "weight", 0);
  columns.weights = copy_of(weights);
  const auto times = file.elements<std::int32_t>(SectionKind::times, rows, "times");
  check_range(file, times, 0, rows, "times");
  columns.times = copy_of(times);
  const auto folds = file.elements<std::int32_t>(SectionKind::folds, rows, "folds");
  check_range(file, folds, -1, std::ssize(about.fold_names), "folds");
  columns.folds = copy_of(folds);
  columns.time_name = about.time_name;
  columns.fold_names = about.fold_names;
  columns.dates = about.dates;
  return columns;
}

std::vector<AnnotationColumn> read_annotations(const File& file, const About& about) {
  const auto sections = file.all(SectionKind::annotation);
  if (sections.size() != about.annotations.size())
    file.damaged(
        fmt::format("it has {} annotations of features, and names {}", sections.size(), about.annotations.size()));
  std::vector<AnnotationColumn> columns;
  for (std::size_t k = 0; k < sections.size(); ++k) {
    const auto what = fmt::format("entries of '{}'", about.annotations[k]);
    columns.push_back({about.annotations[k], file.texts(*sections[k], file.header().features, what)});
  }
  return columns;
}

std::vector<std::vector<std::string>> read_levels(const File& file) {
  const auto features = file.header().features;
  const auto counts = file.elements<std::int32_t>(SectionKind::level_counts, features, "numbers of levels");
  if (counts.empty()) return {};
  auto names = file.texts(SectionKind::levels, -1, "levels");
  std::vector<std::vector<std::string>> levels;
  std::int64_t at = 0;
  for (const auto count : counts) {
    if (count < 0 || count > std::ssize(names) - at) file.damaged(fmt::format("it has {} levels", names.size()));
    const auto begin = std::make_move_iterator(names.begin() + at);
    levels.emplace_back(begin, begin + count);
    at += count;
  }
  return levels;
}

}  // namespace

template <class T>
void read_columns(const File& file, const About& about, Dataset<T>& dataset) {
  const auto rows = file.header().rows;
  dataset.feature_names = file.texts(SectionKind::feature_names, file.header().features, "names of features");
  dataset.row_names = file.texts(SectionKind::row_names, rows, "names of rows");
  dataset.levels = read_levels(file);
  dataset.annotations = read_annotations(file, about);
  dataset.target = read_target(file, about);
  dataset.group_names = file.texts(SectionKind::group_names, -1, "names of groups");
  const auto groups = file.elements<std::int32_t>(SectionKind::groups, rows, "groups of rows");
  check_range(file, groups, 0, std::ssize(dataset.group_names), "groups");
  dataset.groups = copy_of(groups);
  dataset.row_columns = read_row_columns(file, about);
  if (file.all(SectionKind::kept_column).size() != about.kept.size())
    file.damaged(fmt::format("{} kept columns are not there", about.kept.size()));
}

std::vector<std::string> read_kept(const File& file, const About& about, std::size_t column) {
  return file.texts(*file.all(SectionKind::kept_column)[column], file.header().rows,
                    fmt::format("entries of '{}'", about.kept[column]));
}

template void read_columns(const File&, const About&, Dataset<float>&);
template void read_columns(const File&, const About&, Dataset<double>&);

}  // namespace sheaf::sheaf_file
