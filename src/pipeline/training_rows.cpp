// What a model keeps of the rows it was trained on, and how other rows compare with them.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/parallel.hpp"
#include "data/labels.hpp"
#include "data/read/columns.hpp"
#include "pipeline/steps.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t most_features = 100000;
constexpr double far = 10;      // spreads
constexpr double often = 0.05;  // share of the training rows that a feature must not be 0 in for its scale to be known
constexpr double many = 0.1;    // share of the rows that must be far for a warning
constexpr double slack = 0.01;  // for what rounding takes off

/// 4 digits are enough to know a scale, and keep model files small.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 3);
  return std::round(value / unit) * unit;
}

/// Sums over the values of each feature that are there.
struct Sums {
  double values = 0, squares = 0;
  double largest = 0;  // magnitude
  std::int64_t missing = 0;
  std::int64_t nonzeros = 0;
};

void add(double stored, double shift, Sums& sums) {
  const double value = stored - shift;
  if (std::isnan(value)) {
    ++sums.missing;
    return;
  }
  sums.values += value;
  sums.squares += value * value;
  sums.largest = std::max(sums.largest, std::abs(value));
  sums.nonzeros += stored != 0 ? 1 : 0;
}

/// Values less the shift, whose squares lose no digits then.
template <class T>
std::vector<Sums> sum_features(const Context& context, const Dataset<T>& dataset, std::span<const double> shift) {
  std::vector<Sums> sums(static_cast<std::size_t>(dataset.features()));
  const auto shift_of = [&](std::size_t j) { return shift.empty() ? 0.0 : shift[j]; };
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    constexpr std::int64_t features_at_once = 64;
    parallel_ranges(context, dense->columns, features_at_once, [&](Range features) {
      for (std::int64_t i = 0; i < dense->rows; ++i)
        for (auto j = features.begin; j < features.end; ++j) {
          const auto at = static_cast<std::size_t>(j);
          add(static_cast<double>(dense->values[i * dense->columns + j]), shift_of(at), sums[at]);
        }
    });
    return sums;
  }
  const auto& sparse = std::get<SparseMatrix<T>>(dataset.x);
  for (std::int64_t i = 0; i < sparse.rows; ++i)
    pipeline::for_row(sparse, i, [&](std::int64_t feature, T stored) {
      const auto j = static_cast<std::size_t>(feature);
      add(static_cast<double>(stored), shift_of(j), sums[j]);
    });
  return sums;
}

}  // namespace

template <class T>
void describe_training(const Context& context, const Dataset<T>& dataset, Pipeline& pipeline) {
  const auto& target = dataset.target;
  pipeline.label = target.name;
  const auto positive = target.looks_like_classes() ? positive_of(target) : -1;
  if (positive >= 0) pipeline.positive = target.class_names[static_cast<std::size_t>(positive)];
  const auto features = dataset.features();
  if (features == 0 || features > most_features || dataset.rows() == 0) return;
  const auto sums = sum_features(context, dataset, {});
  const bool sparse = is_sparse(dataset.x);
  std::vector<double> means;
  for (const auto& sum : sums) {
    const auto count = static_cast<double>(dataset.rows() - sum.missing);
    means.push_back(count > 0 ? sum.values / count : 0);
  }
  // The zeros that sparse rows leave out are values too, so that their squares are not taken about the mean.
  const auto about = sparse ? sums : sum_features(context, dataset, means);
  for (std::size_t j = 0; j < sums.size(); ++j) {
    const auto count = static_cast<double>(dataset.rows() - sums[j].missing);
    const double squares = sparse ? about[j].squares - count * means[j] * means[j] : about[j].squares;
    const bool constant = count == 0 || pipeline::is_nominal(dataset, static_cast<std::int64_t>(j));
    const double reach = (about[j].largest + (sparse ? std::abs(means[j]) : 0)) / far;
    const double deviation = std::sqrt(std::max(squares, 0.0) / std::max(count, 1.0));
    const bool rare = static_cast<double>(about[j].nonzeros) < often * count;
    const bool varies = !constant && !rare && about[j].largest > 1e-12 * std::abs(means[j]);
    pipeline.means.push_back(constant ? 0 : rounded(means[j]));
    pipeline.spreads.push_back(varies ? rounded(std::max(deviation, reach)) : 0);
  }
}

template <class T>
std::vector<std::string> warn_of_scale(const Pipeline& pipeline, const Dataset<T>& dataset) {
  if (pipeline.means.empty() || std::ssize(pipeline.means) != dataset.features() || dataset.rows() == 0) return {};
  std::vector<std::int64_t> away(pipeline.means.size(), 0);
  std::visit(
      [&](const auto& x) {
        for (std::int64_t i = 0; i < x.rows; ++i)
          pipeline::for_row(x, i, [&](std::int64_t feature, T value) {
            const auto j = static_cast<std::size_t>(feature);
            const double distance = std::abs(static_cast<double>(value) - pipeline.means[j]);
            if (distance > (1 + slack) * far * pipeline.spreads[j]) ++away[j];
          });
      },
      dataset.x);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < away.size(); ++j)
    if (pipeline.spreads[j] > 0 && static_cast<double>(away[j]) >= many * static_cast<double>(dataset.rows()))
      names.push_back(fmt::format("'{}'", dataset.feature_name(static_cast<std::int64_t>(j))));
  if (names.empty()) return {};
  return {fmt::format(
      "{}: the values of {} feature{} are on another scale than those the model was trained on, in {:.0f} % "
      "of the rows or more by over {} standard deviations: {}",
      dataset.source, names.size(), names.size() == 1 ? "" : "s", 100 * many, far, some_names(names))};
}

template void describe_training(const Context&, const Dataset<float>&, Pipeline&);
template void describe_training(const Context&, const Dataset<double>&, Pipeline&);
template std::vector<std::string> warn_of_scale(const Pipeline&, const Dataset<float>&);
template std::vector<std::string> warn_of_scale(const Pipeline&, const Dataset<double>&);

}  // namespace sheaf
