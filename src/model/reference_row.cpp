#include "model/reference_row.hpp"

#include <algorithm>
#include <numeric>

#include "pipeline/origins.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

/// Row r has the means of numbers, and level r of each nominal feature, or its last one.
template <class T>
std::vector<T> means_by_level(const Pipeline& pipeline, std::size_t rows) {
  const auto features = pipeline.means.size();
  std::vector<T> values(rows * features);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const auto j = k % features;
    const auto levels = j < pipeline.levels.size() ? pipeline.levels[j].size() : 0;
    values[k] =
        static_cast<T>(levels > 0 ? static_cast<double>(std::min(k / features, levels - 1)) : pipeline.means[j]);
  }
  return values;
}

/// Stored as `like` is, so that steps do the same to it.
template <class T>
Matrix<T> matrix_of(const std::vector<T>& values, std::int64_t rows, const Matrix<T>& like) {
  const auto columns = std::ssize(values) / rows;
  if (!is_sparse(like)) return DenseMatrix<T>{rows, columns, Array<T>::copy_of(values)};
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> indices;
  for (std::int64_t i = 0; i <= rows; ++i) offsets.push_back(i * columns);
  for (std::int64_t k = 0; k < rows * columns; ++k) indices.push_back(static_cast<std::int32_t>(k % columns));
  return SparseMatrix<T>{rows, columns, Array<std::int64_t>::copy_of(offsets), Array<std::int32_t>::copy_of(indices),
                         Array<T>::copy_of(values)};
}

}  // namespace

template <class T>
std::vector<double> reference_row(const Context& context, const Pipeline& pipeline, const Dataset<T>& aligned,
                                  std::int64_t features) {
  std::vector<double> reference(static_cast<std::size_t>(features), 0.0);
  if (aligned.rows() == 0 || pipeline.means.empty() || std::ssize(pipeline.means) != aligned.features())
    return reference;
  std::size_t most_levels = 1;
  for (const auto& levels : pipeline.levels) most_levels = std::max(most_levels, levels.size());
  const auto rows = static_cast<std::int64_t>(most_levels);
  auto means = take_rows(aligned, std::vector<std::int32_t>(most_levels, 0), 1);
  means.replace_x(matrix_of(means_by_level<T>(pipeline, most_levels), rows, aligned.x));
  const auto prepared = apply_pipeline(context, pipeline, means);
  const auto origins = pipeline::origins(pipeline, features);
  const auto share = [&](std::int64_t feature, std::int64_t row) {
    const auto j = static_cast<std::size_t>(feature);
    const auto r = static_cast<std::size_t>(row);
    if (j >= pipeline.levels.size() || pipeline.levels[j].empty()) return row == 0 ? 1.0 : 0.0;
    return j < pipeline.level_shares.size() && r < pipeline.level_shares[j].size() ? pipeline.level_shares[j][r] : 0.0;
  };
  std::visit(
      [&](const auto& x) {
        for (std::int64_t i = 0; i < rows; ++i)
          pipeline::for_row(x, i, [&](std::int64_t j, T value) {
            const auto k = static_cast<std::size_t>(j);
            if (j < features) reference[k] += share(origins[k], i) * static_cast<double>(value);
          });
      },
      prepared.x);
  return reference;
}

std::vector<double> reference_columns(const Pipeline& pipeline, std::int64_t features) {
  if (std::ssize(pipeline.means) != features) return std::vector<double>(static_cast<std::size_t>(features), 0.0);
  auto reference = pipeline.means;
  for (std::size_t j = 0; j < std::min(pipeline.level_shares.size(), reference.size()); ++j) {
    const auto& shares = pipeline.level_shares[j];
    if (!shares.empty())
      reference[j] = static_cast<double>(std::max_element(shares.begin(), shares.end()) - shares.begin());
  }
  return reference;
}

template std::vector<double> reference_row(const Context&, const Pipeline&, const Dataset<float>&, std::int64_t);
template std::vector<double> reference_row(const Context&, const Pipeline&, const Dataset<double>&, std::int64_t);

}  // namespace sheaf
