#include <sheaf/solvers/scaling.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <sheaf/solvers/profile.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/matrices/value_at.hpp"
#include "data/nominal.hpp"
#include "data/prepare/dense.hpp"
#include "data/prepare/scaling.hpp"

namespace sheaf {
namespace {

constexpr std::array<std::string_view, 5> method_names{"01", "-11", "standard", "maxabs", "robust"};

/// 1 / size; 1 for a constant, and for ranges too narrow to be stretched.
double inverse(double size) { return size > 0 && std::isfinite(1 / size) ? 1 / size : 1; }

ScaleStep unit_step(double low, double high) { return {low, inverse(high - low)}; }

ScaleStep symmetric_step(double low, double high) {
  const double half = (high - low) / 2;
  const double factor = inverse(half);
  return {factor == 1 ? low + 1 : low + half, factor};  // a factor of 1: of width 2, or goes to the lower end
}

ScaleStep make_step(const FeatureSummary& feature, ScaleMethod method) {
  const double low = feature.minimum;
  const double high = feature.maximum;
  const double magnitude = std::max(std::abs(low), std::abs(high));
  switch (method) {
    case ScaleMethod::unit_interval:
      return unit_step(low, high);
    case ScaleMethod::symmetric_interval:
      return symmetric_step(low, high);
    case ScaleMethod::standard:
      return low == high ? ScaleStep{low, 1} : ScaleStep{feature.mean, inverse(feature.standard_deviation)};
    case ScaleMethod::max_abs:
      return {0, inverse(magnitude)};
    case ScaleMethod::robust:
      break;  // needs the values in order
  }
  throw InternalError("a scaling method has no rule");
}

template <class T>
void check_step(const Dataset<T>& dataset, std::int64_t j, const FeatureSummary& feature, const ScaleStep& step) {
  if (std::isfinite(feature.mean) && std::isfinite(step.shift) && step.factor != 0) return;
  const double most = std::max(std::abs(feature.minimum), std::abs(feature.maximum));
  const auto stands_out = [&](std::int64_t i) {
    const double value = value_at(dataset.x, i, j);
    return !std::isfinite(value) || std::abs(value) >= most;
  };
  std::int64_t row = 0;
  while (row + 1 < dataset.rows() && !stands_out(row)) ++row;
  fail(
      "{}: row {}, feature {} is {}; the feature can't be scaled, since sums of such values overflow: give it in a "
      "larger unit, or mark values that stand for missing ones as such",
      dataset.source, row + 1, dataset.feature_name(j), value_at(dataset.x, row, j));
}

bool changes(const Scaling& scaling, std::int64_t feature) {
  const auto j = static_cast<std::size_t>(feature);
  return scaling.shift[j] != 0 || scaling.factor[j] != 1;
}

template <class T>
void check_features(const Scaling& scaling, const Dataset<T>& dataset) {
  if (scaling.features() != dataset.features())
    fail("the scaling was learnt on {} and the dataset {} has {}", counted(scaling.features(), "feature"),
         dataset.source, dataset.features());
  for (std::int64_t j = 0; j < dataset.features() && !dataset.levels.empty(); ++j)
    if (is_nominal(dataset, j) && changes(scaling, j))
      fail(
          "feature '{}' of {} holds levels, and the scaling was learnt on numbers; learn it on columns of the same "
          "type",
          dataset.feature_name(j), dataset.source);
  if (scaling.feature_names.empty() || dataset.feature_names.empty()) return;
  const auto [ours, theirs] = std::mismatch(scaling.feature_names.begin(), scaling.feature_names.end(),
                                            dataset.feature_names.begin(), dataset.feature_names.end());
  if (ours == scaling.feature_names.end()) return;
  fail("feature {} is called '{}' in the scaling and '{}' in the dataset {}; bring the columns into the same order",
       ours - scaling.feature_names.begin() + 1, *ours, *theirs, dataset.source);
}

template <class T>
T scaled(const Scaling& scaling, T value, std::int64_t feature) {
  const auto j = static_cast<std::size_t>(feature);
  return static_cast<T>((static_cast<double>(value) - scaling.shift[j]) * scaling.factor[j]);
}

template <class T>
void apply_to(const Context& context, const Scaling& scaling, DenseMatrix<T>& x) {
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(x.columns, 1));
  parallel_ranges(context, x.rows, grain, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      T* row = x.values.data() + i * x.columns;
      for (std::int64_t j = 0; j < x.columns; ++j) row[j] = scaled(scaling, row[j], j);
    }
  });
}

template <class T>
void apply_to(const Context& context, const Scaling& scaling, SparseMatrix<T>& x) {
  parallel_ranges(context, x.nonzeros(), 1 << 16, [&](Range entries) {
    for (std::int64_t k = entries.begin; k < entries.end; ++k) x.values[k] = scaled(scaling, x.values[k], x.indices[k]);
  });
}

/// Linear between the values around it, as numpy's percentile.
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

ScaleStep robust_step(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), inverse(quantile(values, 0.75) - quantile(values, 0.25))};
}

/// The zeros that sparse rows leave out are values too.
template <class T>
std::vector<ScaleStep> robust_steps(const Context& context, const Dataset<T>& dataset) {
  std::vector<ScaleStep> steps(static_cast<std::size_t>(dataset.features()));
  const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x);
  const auto* columns = dense == nullptr ? &dataset.by_columns(Device::cpu(), context.threads()) : nullptr;
  parallel_for(context, dataset.features(), [&](std::int64_t j) {
    if (is_nominal(dataset, j)) return;
    std::vector<double> values(static_cast<std::size_t>(dataset.rows()), 0.0);
    for (std::size_t i = 0; i < values.size() && dense != nullptr; ++i)
      values[i] = static_cast<double>(dense->values[static_cast<std::int64_t>(i) * dense->columns + j]);
    if (columns != nullptr)
      for (std::int64_t k = columns->offsets[j]; k < columns->offsets[j + 1]; ++k)
        values[static_cast<std::size_t>(columns->indices[k])] = static_cast<double>(columns->values[k]);
    if (!values.empty()) steps[static_cast<std::size_t>(j)] = robust_step(values);
  });
  return steps;
}

}  // namespace

ScaleMethod parse_scale_method(std::string_view text) {
  return static_cast<ScaleMethod>(find_name("scaling", text, method_names));
}

std::string_view to_string(ScaleMethod method) { return method_names[static_cast<std::size_t>(method)]; }

template <class T>
ScaleStep scale_step(const Dataset<T>& dataset, std::int64_t j, const FeatureSummary& feature, ScaleMethod method) {
  const auto step = make_step(feature, method);
  check_step(dataset, j, feature, step);
  return step;
}

template <class T>
Scaling learn_scaling(const Context& context, const Dataset<T>& dataset, ScaleMethod method) {
  const auto summary = summarize(context, dataset);
  Scaling scaling{method, {}, {}, dataset.feature_names};
  std::vector<ScaleStep> robust;
  if (method == ScaleMethod::robust) robust = robust_steps(context, dataset);
  for (const auto& feature : summary.per_feature) {
    const auto j = scaling.features();
    ScaleStep step;
    if (!is_nominal(dataset, j)) {
      step = method == ScaleMethod::robust ? robust[static_cast<std::size_t>(j)] : make_step(feature, method);
      check_step(dataset, j, feature, step);
    }
    scaling.shift.push_back(step.shift);
    scaling.factor.push_back(step.factor);
  }
  return scaling;
}

template <class T>
void apply_scaling(const Context& context, const Scaling& scaling, Dataset<T>& dataset) {
  check_features(scaling, dataset);
  const bool shifts = std::any_of(scaling.shift.begin(), scaling.shift.end(), [](double shift) { return shift != 0; });
  if (shifts && is_sparse(dataset.x))
    make_dense(context, dataset, "shifting", "scale by maxabs, which keeps it sparse");
  std::visit([&](auto& x) { apply_to(context, scaling, x); }, dataset.change_x());
}

template ScaleStep scale_step(const Dataset<float>&, std::int64_t, const FeatureSummary&, ScaleMethod);
template ScaleStep scale_step(const Dataset<double>&, std::int64_t, const FeatureSummary&, ScaleMethod);
template Scaling learn_scaling(const Context&, const Dataset<float>&, ScaleMethod);
template Scaling learn_scaling(const Context&, const Dataset<double>&, ScaleMethod);
template void apply_scaling(const Context&, const Scaling&, Dataset<float>&);
template void apply_scaling(const Context&, const Scaling&, Dataset<double>&);

}  // namespace sheaf
