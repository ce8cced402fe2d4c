// Functions shared by the writers of whole matrices.
#include <algorithm>
#include <unordered_set>

#include "core/fail.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/nominal.hpp"

namespace sheaf {
namespace {

/// The names of the rows, else a kept column of ids; nullptr: there is none.
template <class T>
const std::vector<std::string>* find_row_names(const Dataset<T>& dataset) {
  if (!dataset.row_names.empty()) return &dataset.row_names;
  for (const auto& kept : dataset.kept) {
    const std::unordered_set<std::string_view> distinct(kept.values.begin(), kept.values.end());
    if (distinct.size() == kept.values.size() && distinct.count("") == 0) return &kept.values;
  }
  return nullptr;
}

std::vector<std::string> positions(std::int64_t count) {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < count; ++i) names.push_back(std::to_string(i + 1));
  return names;
}

}  // namespace

template <class T>
void check_numbers_only(const Writing<T>& writing) {
  const auto& dataset = writing.dataset;
  if (writing.options.digits > 0)
    fail_usage("{}: holds numbers in binary form, which have no number of digits (--digits)", writing.path);
  for (std::int64_t j = 0; j < dataset.features(); ++j)
    if (is_nominal(dataset, j))
      fail(
          "{}: holds numbers only, and the feature '{}' has levels; make one feature of each level first (sheaf "
          "convert), or write CSV",
          writing.path, dataset.feature_name(j));
}

template <class T>
std::vector<std::string> written_row_names(const Dataset<T>& dataset) {
  const auto* names = find_row_names(dataset);
  return names == nullptr ? positions(dataset.rows()) : *names;
}

template <class T>
std::vector<std::string> written_feature_names(const Dataset<T>& dataset) {
  return dataset.feature_names.empty() ? positions(dataset.features()) : dataset.feature_names;
}

template <class T>
std::vector<WrittenColumn> written_columns(const Dataset<T>& dataset) {
  std::vector<WrittenColumn> columns;
  const auto* row_names = find_row_names(dataset);
  for (const auto& kept : dataset.kept)
    if (row_names == nullptr || kept.values != *row_names) columns.push_back({kept.name, kept.values, {}});
  const auto rows = static_cast<std::size_t>(dataset.rows());
  const auto unused = [&](std::string name) {
    while (std::any_of(columns.begin(), columns.end(), [&](const auto& one) { return one.name == name; })) name += '_';
    return name;
  };
  if (!dataset.groups.empty()) {
    WrittenColumn group{unused("group"), {}, {}};
    for (const auto id : dataset.groups) group.texts.push_back(dataset.group_names[static_cast<std::size_t>(id)]);
    columns.push_back(std::move(group));
  }
  if (dataset.target.empty()) return columns;
  WrittenColumn label{unused(dataset.target.name.empty() ? "label" : dataset.target.name), {}, dataset.target.values};
  for (std::size_t i = 0; i < rows; ++i) {
    std::string text;
    append_label(text, dataset, static_cast<std::int64_t>(i));
    label.texts.push_back(std::move(text));
  }
  columns.push_back(std::move(label));
  return columns;
}

template void check_numbers_only(const Writing<float>&);
template void check_numbers_only(const Writing<double>&);
template std::vector<std::string> written_row_names(const Dataset<float>&);
template std::vector<std::string> written_row_names(const Dataset<double>&);
template std::vector<std::string> written_feature_names(const Dataset<float>&);
template std::vector<std::string> written_feature_names(const Dataset<double>&);
template std::vector<WrittenColumn> written_columns(const Dataset<float>&);
template std::vector<WrittenColumn> written_columns(const Dataset<double>&);

}  // namespace sheaf
