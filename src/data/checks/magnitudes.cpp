#include "data/checks/magnitudes.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <string>

#include "core/fail.hpp"
#include "core/parallel.hpp"

namespace sheaf {
namespace {

constexpr double sums = 16;
constexpr std::int64_t entry_grain = 1 << 16;

/// The first entry beyond `most`; -1: there is none. NaN is a missing value here.
template <class T>
std::int64_t first_beyond(const Context& context, const Array<T>& values, double most) {
  const auto limit = static_cast<T>(most);
  std::atomic<std::int64_t> first = values.size();
  parallel_ranges(context, values.size(), entry_grain, [&](Range range) {
    bool any = false;
    for (std::int64_t k = range.begin; k < range.end; ++k) any |= std::abs(values[k]) > limit;
    if (!any) return;
    std::int64_t at = range.begin;
    while (!(std::abs(values[at]) > limit)) ++at;
    for (auto known = first.load(); at < known && !first.compare_exchange_weak(known, at);) {
    }
  });
  return first < values.size() ? first.load() : -1;
}

template <class T>
std::pair<std::int64_t, std::int64_t> place_of(const DenseMatrix<T>& x, std::int64_t entry) {
  return {entry / x.columns, entry % x.columns};
}
template <class T>
std::pair<std::int64_t, std::int64_t> place_of(const SparseMatrix<T>& x, std::int64_t entry) {
  const auto* behind = std::upper_bound(x.offsets.begin(), x.offsets.end(), entry);
  return {behind - x.offsets.begin() - 1, x.indices[entry]};
}

void check_target(const std::string& source, const std::string& name, const std::vector<double>& values, double most) {
  const auto found = std::find_if(values.begin(), values.end(), [&](double value) { return std::abs(value) > most; });
  if (found == values.end()) return;
  fail("{}: row {}, label{} is {}; squares of numbers beyond {:.2g} overflow: give the label in a larger unit", source,
       found - values.begin() + 1, name.empty() ? "" : fmt::format(" '{}'", name), *found, most);
}

}  // namespace

template <class T>
void check_magnitudes(const Context& context, const Dataset<T>& dataset) {
  const auto rows = static_cast<double>(std::max<std::int64_t>(dataset.rows(), 1));
  const double most = std::sqrt(std::numeric_limits<double>::max() / sums / rows);
  const double most_feature = std::min(most, std::sqrt(static_cast<double>(std::numeric_limits<T>::max()) / sums));
  std::visit(
      [&](const auto& x) {
        const auto entry = first_beyond(context, x.values, most_feature);
        if (entry < 0) return;
        const auto [row, column] = place_of(x, entry);
        fail(
            "{}: row {}, feature {} is {}; squares of numbers beyond {:.2g} overflow: scale the feature, or mark "
            "values "
            "that stand for missing ones as such",
            dataset.source, row + 1, dataset.feature_name(column), x.values[entry], most_feature);
      },
      dataset.x);
  if (dataset.target.looks_like_classes()) return;
  check_target(dataset.source, dataset.target.name, dataset.target.values, most);
  for (const auto& one : dataset.target.further) check_target(dataset.source, one.name, one.values, most);
}

template void check_magnitudes(const Context&, const Dataset<float>&);
template void check_magnitudes(const Context&, const Dataset<double>&);

}  // namespace sheaf
