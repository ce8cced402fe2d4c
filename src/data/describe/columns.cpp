// Finds the steps that columns of a raw table need before a model can learn from them.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>

#include <sheaf/solvers/profile.hpp>

#include "core/text.hpp"
#include "data/describe/row_order.hpp"
#include "data/describe/stored_summary.hpp"
#include "data/read/columns.hpp"
#include "data/split/equal_rows.hpp"

namespace sheaf {
namespace {

using Level = Finding::Level;

/// The values of each feature in the order of the rows, zeros that sparse rows leave out included.
template <class T>
std::vector<T> values_of(const Dataset<T>& dataset, std::int64_t feature, int threads) {
  std::vector<T> values(static_cast<std::size_t>(dataset.rows()), T(0));
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = dense->values[static_cast<std::int64_t>(i) * dense->columns + feature];
    return values;
  }
  const auto& columns = dataset.by_columns(Device::cpu(), threads);
  for (std::int64_t k = columns.offsets[feature]; k < columns.offsets[feature + 1]; ++k)
    values[static_cast<std::size_t>(columns.indices[k])] = columns.values[k];
  return values;
}

/// `missing`: values that each feature lacks.
template <class T>
void missing_values(const Dataset<T>& dataset, const std::vector<std::int64_t>& missing, std::vector<Finding>& found) {
  std::vector<std::size_t> order;
  for (std::size_t j = 0; j < missing.size(); ++j)
    if (missing[j] > 0) order.push_back(j);
  if (order.empty()) return;
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return missing[a] > missing[b]; });
  std::vector<std::string> names;
  for (const auto j : order)
    names.push_back(fmt::format("{} ({})", dataset.feature_name(static_cast<std::int64_t>(j)),
                                percent(static_cast<double>(missing[j]) / static_cast<double>(dataset.rows()))));
  found.push_back({Level::warning, "missing-values",
                   fmt::format("{} feature{} missing values: {}; fit and search fill them in with the median of the "
                               "training rows (--impute)",
                               order.size(), order.size() == 1 ? " has" : "s have", some_names(names))});
}

template <class T>
void nominal_features(const Dataset<T>& dataset, std::vector<Finding>& found) {
  std::vector<std::string> names;
  for (std::size_t j = 0; j < dataset.levels.size(); ++j)
    if (!dataset.levels[j].empty())
      names.push_back(fmt::format("{} ({}: {})", dataset.feature_name(static_cast<std::int64_t>(j)),
                                  counted(dataset.levels[j].size(), "level"), some_names(dataset.levels[j])));
  if (!names.empty())
    found.push_back({Level::note, "nominal-features",
                     fmt::format("{} one feature of 0 and 1 for each level: {}",
                                 names.size() == 1 ? "1 nominal feature becomes"
                                                   : fmt::format("{} nominal features become", names.size()),
                                 some_names(names))});
}

/// Compared by the bytes of their columns, for tables that are not too wide.
template <class T>
void duplicate_features(const Context& context, const Dataset<T>& dataset, std::vector<Finding>& found) {
  constexpr std::int64_t most_cells = 50'000'000;
  if (dataset.rows() * dataset.features() > most_cells || dataset.rows() < 2) return;
  const auto bytes_of = [](const std::vector<T>& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  };
  std::unordered_multimap<std::size_t, std::int64_t> seen;  // the first of equal features, by hash
  std::vector<std::string> names;
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    const auto values = values_of(dataset, j, context.threads());
    if (std::all_of(values.begin(), values.end(), [&](T value) { return value == values[0]; })) continue;
    const auto hash = std::hash<std::string_view>()(bytes_of(values));
    const auto [begin, end] = seen.equal_range(hash);
    const auto first = std::find_if(begin, end, [&](const auto& one) {
      return bytes_of(values_of(dataset, one.second, context.threads())) == bytes_of(values);
    });
    if (first == end)
      seen.emplace(hash, j);
    else
      names.push_back(fmt::format("{} = {}", dataset.feature_name(j), dataset.feature_name(first->second)));
  }
  if (names.empty()) return;
  constexpr std::size_t few = 20;  // that one may name
  const auto* remedy = names.size() <= few
                           ? "leave them out: --ignore"
                           : "mostly rare or hardly varying ones are, which a filter leaves out: --min-prevalence 0.01 "
                             "or --min-variance; an L1 penalty or --select takes one of each set";
  found.push_back(
      {Level::warning, "duplicate-features",
       fmt::format("{} of {} feature{} equal to another one: {}; {}", grouped(std::ssize(names)),
                   grouped(dataset.features()), names.size() == 1 ? "s is" : "s are", some_names(names), remedy)});
}

template <class T>
void groups(const Dataset<T>& dataset, std::vector<Finding>& found) {
  if (dataset.groups.empty()) return;
  const auto& target = dataset.target;
  std::map<std::int32_t, std::int32_t> class_of;  // -1: several
  if (target.looks_like_classes())
    for (std::size_t i = 0; i < dataset.groups.size(); ++i) {
      const auto [at, fresh] = class_of.try_emplace(dataset.groups[i], target.classes[i]);
      if (!fresh && at->second != target.classes[i]) at->second = -1;
    }
  auto text = fmt::format("{} of rows, which searches keep together", counted(dataset.group_names.size(), "group"));
  const auto mixed =
      std::count_if(class_of.begin(), class_of.end(), [](const auto& entry) { return entry.second < 0; });
  if (!class_of.empty())
    text += mixed == 0 ? "; all rows of a group have one class, so that a group counts like one row"
                       : fmt::format("; {} of them have rows of several classes", mixed);
  found.push_back({Level::note, "groups", text});
}

template <class T>
void row_order(const Dataset<T>& dataset, std::vector<Finding>& found) {
  if (const auto order = describe_order(dataset); !order.empty())
    found.push_back({Level::note, "ordered-rows",
                     order + "; to predict what comes later, search --split time" +
                         (dataset.row_columns.dates.empty() ? "" : " --order " + dataset.row_columns.dates)});
}

template <class T>
void equal_rows(const Context& context, const Dataset<T>& dataset, std::vector<Finding>& found) {
  const auto sets = find_equal_rows(dataset.x, context.threads());
  if (sets.rows == 0) return;
  found.push_back(
      {Level::note, "equal-rows",
       fmt::format("{} of {} rows have the same features as another row{}", grouped(sets.rows), grouped(dataset.rows()),
                   sets.few_values ? ", since the features have few values"
                                   : "; searches keep such rows on one side of every split")});
}

}  // namespace

template <class T>
std::vector<Finding> column_findings(const Context& context, const Dataset<T>& dataset) {
  std::vector<Finding> found;
  for (const auto& note : dataset.notes) found.push_back({Level::note, "reading", note});
  std::vector<std::int64_t> missing(static_cast<std::size_t>(dataset.features()), 0);
  std::visit([&](const auto& x) { count_missing(x, missing); }, dataset.x);
  missing_values(dataset, missing, found);
  nominal_features(dataset, found);
  duplicate_features(context, dataset, found);
  groups(dataset, found);
  row_order(dataset, found);
  equal_rows(context, dataset, found);
  for (auto& finding : data_findings(context, dataset))
    if (finding.code != "constant-features" && finding.code != "leak" && finding.code != "rare-classes")
      found.push_back(std::move(finding));  // those are found with the features as models see them
  return found;
}

template <class T>
std::vector<Finding> stored_findings(const Dataset<T>& dataset, const StoredSummary& summary) {
  std::vector<Finding> found;
  for (const auto& note : dataset.notes) found.push_back({Level::note, "reading", note});
  found.push_back({Level::note, "values-not-read",
                   "this is what the file says of its matrix; --read-values yes reads it all, to compare features with "
                   "the label, to find equal rows and columns, and to look for misleading values"});
  missing_values(dataset, summary.missing, found);
  nominal_features(dataset, found);
  groups(dataset, found);
  return found;
}

template std::vector<Finding> stored_findings(const Dataset<float>&, const StoredSummary&);
template std::vector<Finding> stored_findings(const Dataset<double>&, const StoredSummary&);
template std::vector<Finding> column_findings(const Context&, const Dataset<float>&);
template std::vector<Finding> column_findings(const Context&, const Dataset<double>&);

}  // namespace sheaf
