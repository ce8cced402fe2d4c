#include <algorithm>

#include "core/fail.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

std::string name_of(const EncodeStep::Column& column, const std::string& feature,
                    const std::vector<std::string>& levels) {
  if (column.levels.empty()) return feature;
  if (column.levels.size() > 1) return feature + "=other";
  return feature + "=" + levels[static_cast<std::size_t>(column.levels.front())];
}

}  // namespace

template <class T>
std::vector<std::vector<std::int64_t>> pipeline::count_levels(const Dataset<T>& dataset) {
  std::vector<std::vector<std::int64_t>> counts;
  if (dataset.levels.empty()) return counts;
  for (const auto& levels : dataset.levels) counts.emplace_back(levels.size(), 0);
  std::vector<std::int64_t> seen(counts.size(), 0);
  std::visit(
      [&](const auto& x) {
        for (std::int64_t i = 0; i < x.rows; ++i)
          pipeline::for_row(x, i, [&](std::int64_t j, T value) {
            auto& of = counts[static_cast<std::size_t>(j)];
            if (of.empty() || !(value >= 0) || static_cast<std::size_t>(value) >= of.size()) return;
            ++of[static_cast<std::size_t>(value)];
            ++seen[static_cast<std::size_t>(j)];
          });
        for (std::size_t j = 0; j < counts.size(); ++j)
          if (is_sparse(dataset.x) && !counts[j].empty()) counts[j][0] += x.rows - seen[j];  // zeros are not stored
      },
      dataset.x);
  return counts;
}

template <class T>
EncodeStep pipeline::learn_encode(const Dataset<T>& dataset, std::int64_t min_level_rows) {
  EncodeStep step;
  const auto counts = count_levels(dataset);
  for (std::int64_t j = 0; j < dataset.features(); ++j) {
    if (!is_nominal(dataset, j)) {
      step.columns.push_back({j, {}});
      continue;
    }
    EncodeStep::Column rare{j, {}};
    const auto& of = counts[static_cast<std::size_t>(j)];
    for (std::size_t level = 0; level < of.size(); ++level) {
      if (of[level] == 0) continue;  // it has no rows
      if (of[level] < min_level_rows)
        rare.levels.push_back(static_cast<std::int32_t>(level));
      else
        step.columns.push_back({j, {static_cast<std::int32_t>(level)}});
    }
    if (!rare.levels.empty()) step.columns.push_back(std::move(rare));
  }
  return step;
}

/// The result is sparse if the dataset was, or if most of it is zeros of levels.
template <class T>
void pipeline::apply(const Context& context, const EncodeStep& step, Dataset<T>& dataset) {
  const bool sparse = is_sparse(dataset.x);
  const auto features = static_cast<std::size_t>(dataset.features());
  // The new place of each feature, or of each of its levels.
  std::vector<std::int32_t> plain(features, -1);
  std::vector<std::vector<std::int32_t>> coded(features);
  std::vector<std::string> names;
  for (std::size_t c = 0; c < step.columns.size(); ++c) {
    const auto& column = step.columns[c];
    const auto j = static_cast<std::size_t>(column.feature);
    const auto& levels = dataset.levels.empty() ? std::vector<std::string>() : dataset.levels[j];
    names.push_back(name_of(column, dataset.feature_name(column.feature), levels));
    if (column.levels.empty()) plain[j] = static_cast<std::int32_t>(c);
    if (!column.levels.empty()) coded[j].resize(levels.size(), -1);
    for (const auto level : column.levels) coded[j][static_cast<std::size_t>(level)] = static_cast<std::int32_t>(c);
  }
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  std::vector<std::pair<std::int32_t, T>> row;
  std::vector<std::uint8_t> stored(features);
  const auto place = [&](std::size_t j, T value) {
    if (plain[j] >= 0 && (value != 0 || sparse)) row.emplace_back(plain[j], value);
    if (plain[j] >= 0 || !(value >= 0) || static_cast<std::size_t>(value) >= coded[j].size()) return;
    const auto at = coded[j][static_cast<std::size_t>(value)];
    if (at >= 0) row.emplace_back(at, T(1));
  };
  std::visit(
      [&](const auto& x) {
        for (std::int64_t i = 0; i < x.rows; ++i) {
          row.clear();
          std::fill(stored.begin(), stored.end(), std::uint8_t{0});
          for_row(x, i, [&](std::int64_t j, T value) {
            stored[static_cast<std::size_t>(j)] = 1;
            place(static_cast<std::size_t>(j), value);
          });
          for (std::size_t j = 0; j < features && sparse; ++j)
            if (stored[j] == 0 && plain[j] < 0) place(j, T(0));  // the first level, which sparse data leave out
          std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
          for (const auto& [index, value] : row) {
            indices.push_back(index);
            values.push_back(value);
          }
          offsets.push_back(std::ssize(indices));
        }
      },
      dataset.x);
  const auto columns = static_cast<std::int64_t>(step.columns.size());
  SparseMatrix<T> encoded{dataset.rows(), columns, Array<std::int64_t>::copy_of(offsets),
                          Array<std::int32_t>::copy_of(indices), Array<T>::copy_of(values)};
  const bool stay_sparse = sparse || 4 * std::ssize(values) < dataset.rows() * columns;
  dataset.replace_x(stay_sparse ? Matrix<T>(std::move(encoded)) : Matrix<T>(to_dense(encoded, context.threads())));
  dataset.feature_names = std::move(names);
  dataset.levels.clear();
  for (auto& column : dataset.annotations) {  // levels have those of their feature
    std::vector<std::string> texts;
    for (const auto& made : step.columns) texts.push_back(column.values[static_cast<std::size_t>(made.feature)]);
    column.values = std::move(texts);
  }
}

template std::vector<std::vector<std::int64_t>> pipeline::count_levels(const Dataset<float>&);
template std::vector<std::vector<std::int64_t>> pipeline::count_levels(const Dataset<double>&);
template EncodeStep pipeline::learn_encode(const Dataset<float>&, std::int64_t);
template EncodeStep pipeline::learn_encode(const Dataset<double>&, std::int64_t);
template void pipeline::apply(const Context&, const EncodeStep&, Dataset<float>&);
template void pipeline::apply(const Context&, const EncodeStep&, Dataset<double>&);

}  // namespace sheaf
