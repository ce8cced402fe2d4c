#include "search/svm_region.hpp"

#include <cmath>

namespace sheaf::search {
namespace {

/// Half the mean squared distance of two rows: the sum of all variances.
template <class T>
double spread_of(const Dataset<T>& dataset) {
  const auto rows = static_cast<double>(dataset.rows());
  std::vector<double> sums(static_cast<std::size_t>(dataset.features()), 0.0);
  double squares = 0;
  const auto add = [&](std::int64_t column, T value) {
    sums[static_cast<std::size_t>(column)] += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  };
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    for (std::int64_t k = 0; k < dense->values.size(); ++k) add(k % dense->columns, dense->values[k]);
  } else {
    const auto& sparse = std::get<SparseMatrix<T>>(dataset.x);
    for (std::int64_t k = 0; k < sparse.values.size(); ++k) add(sparse.indices[k], sparse.values[k]);
  }
  double spread = squares / rows;
  for (const double sum : sums) spread -= sum / rows * (sum / rows);
  return spread;
}

}  // namespace

template <class T>
Region region_of(const Dataset<T>& dataset, const SvmSearchOptions& options) {
  Region region;
  region.halvings = options.refine;
  const bool costs = options.svm.kind != SvmKind::nu_svc;
  region.costs = costs ? std::vector<double>{-4, 0, 4, 8} : std::vector<double>{0};
  region.low.cost = -8;
  region.high.cost = 16;
  if (!has_gamma(options.svm.kernel)) {
    region.gammas = {0};
    return region;
  }
  const double spread = spread_of(dataset);
  const double middle = spread > 0 && std::isfinite(spread) ? std::round(-std::log2(2 * spread)) : 0;
  for (const double step : {-8, -4, 0, 4}) region.gammas.push_back(middle + step);
  region.low.gamma = middle - 16;
  region.high.gamma = middle + 12;
  return region;
}

template Region region_of(const Dataset<float>&, const SvmSearchOptions&);
template Region region_of(const Dataset<double>&, const SvmSearchOptions&);

}  // namespace sheaf::search
