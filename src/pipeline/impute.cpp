#include "data/read/impute.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

Missing method_of(Imputation imputation) {
  switch (imputation) {
    case Imputation::mean:
      return Missing::mean;
    case Imputation::median:
      return Missing::median;
    default:
      return Missing::most_frequent;
  }
}

/// Room for more columns behind those of the rows of x.
template <class T>
DenseMatrix<T> widened(const DenseMatrix<T>& x, std::int64_t more, int threads) {
  DenseMatrix<T> wide{x.rows, x.columns + more, Array<T>(x.rows * (x.columns + more))};
  parallel_ranges(threads, x.rows, 1024, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      T* to = wide.values.data() + i * wide.columns;
      std::copy_n(x.values.data() + i * x.columns, x.columns, to);
      std::fill_n(to + x.columns, more, T(0));
    }
  });
  return wide;
}

/// Marks missing values by a 1 in a column behind the others.
template <class T>
void mark(const DenseMatrix<T>& x, std::span<const std::int64_t> features, DenseMatrix<T>& wide) {
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::size_t k = 0; k < features.size(); ++k)
      if (std::isnan(x.values[i * x.columns + features[k]]))
        wide.values[i * wide.columns + x.columns + static_cast<std::int64_t>(k)] = 1;
}

template <class T>
Matrix<T> with_indicators(const DenseMatrix<T>& x, std::span<const std::int64_t> features, int threads) {
  auto wide = widened(x, std::ssize(features), threads);
  mark(x, features, wide);
  return wide;
}

template <class T>
Matrix<T> with_indicators(const SparseMatrix<T>& x, std::span<const std::int64_t> features, int /*threads*/) {
  std::vector<std::int32_t> place(static_cast<std::size_t>(x.columns), -1);
  for (std::size_t k = 0; k < features.size(); ++k)
    place[static_cast<std::size_t>(features[k])] = static_cast<std::int32_t>(x.columns) + static_cast<std::int32_t>(k);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    std::vector<std::int32_t> marked;
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) {
      indices.push_back(x.indices[k]);
      values.push_back(x.values[k]);
      const auto at = place[static_cast<std::size_t>(x.indices[k])];
      if (at >= 0 && std::isnan(x.values[k])) marked.push_back(at);
    }
    for (const auto at : marked) {
      indices.push_back(at);
      values.push_back(T(1));
    }
    offsets.push_back(std::ssize(indices));
  }
  return SparseMatrix<T>{x.rows, x.columns + std::ssize(features), Array<std::int64_t>::copy_of(offsets),
                         Array<std::int32_t>::copy_of(indices), Array<T>::copy_of(values)};
}

}  // namespace

template <class T>
ImputeStep pipeline::learn_impute(const Context& context, const Dataset<T>& dataset, const PipelineOptions& options) {
  ImputeStep step;
  const auto gaps = features_with_gaps(dataset);
  for (std::size_t j = 0; j < gaps.size() && options.indicate_missing; ++j)
    if (gaps[j]) step.indicated.push_back(static_cast<std::int64_t>(j));
  std::vector<bool> wanted(gaps.size(), true);
  for (std::size_t j = 0; j < gaps.size() && options.impute == Imputation::constant; ++j)
    wanted[j] = is_nominal(dataset, static_cast<std::int64_t>(j));
  step.fill = learn_fills(context, dataset, method_of(options.impute), wanted);
  for (std::size_t j = 0; j < gaps.size(); ++j)
    if (!wanted[j]) step.fill[j] = options.fill;
  return step;
}

template <class T>
void pipeline::apply(const Context& context, const ImputeStep& step, Dataset<T>& dataset) {
  if (!step.indicated.empty()) {
    const auto before = dataset.features();
    dataset.replace_x(
        std::visit([&](const auto& x) { return with_indicators(x, step.indicated, context.threads()); }, dataset.x));
    std::vector<std::string> names;
    for (std::int64_t j = 0; j < before; ++j) names.push_back(dataset.feature_name(j));
    for (const auto j : step.indicated) names.push_back(names[static_cast<std::size_t>(j)] + " is missing");
    dataset.feature_names = std::move(names);
    if (!dataset.levels.empty()) dataset.levels.resize(static_cast<std::size_t>(dataset.features()));
    for (auto& column : dataset.annotations) column.values.resize(static_cast<std::size_t>(dataset.features()));
  }
  auto fill = step.fill;
  fill.resize(static_cast<std::size_t>(dataset.features()), 0.0);
  fill_in(context, fill, dataset.change_x());
}

template ImputeStep pipeline::learn_impute(const Context&, const Dataset<float>&, const PipelineOptions&);
template ImputeStep pipeline::learn_impute(const Context&, const Dataset<double>&, const PipelineOptions&);
template void pipeline::apply(const Context&, const ImputeStep&, Dataset<float>&);
template void pipeline::apply(const Context&, const ImputeStep&, Dataset<double>&);

}  // namespace sheaf
