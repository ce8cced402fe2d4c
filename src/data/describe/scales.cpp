#include "data/describe/scales.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace sheaf {

double scale_ratio(std::span<const FeatureSummary> features) {
  std::vector<double> spreads;
  for (const auto& feature : features)
    if (feature.standard_deviation > 0) spreads.push_back(feature.standard_deviation);
  if (spreads.size() < 2) return 1;
  std::sort(spreads.begin(), spreads.end());
  return spreads[spreads.size() * 19 / 20] / spreads[spreads.size() / 20];
}

template <class T>
std::vector<std::string> unscaled_distances(const Context& context, const Dataset<T>& dataset) {
  if (is_sparse(dataset.x)) return {};
  const double ratio = scale_ratio(summarize(context, dataset).per_feature);
  if (ratio < different_scales) return {};
  return {fmt::format(
      "{}: the features' standard deviations differ by a factor of {:.0f} (5th to 95th percentile), so that "
      "the large ones decide about distances between rows; scale inside the model (--scale standard; "
      "counts: --transform log1p)",
      dataset.source, ratio)};
}

template std::vector<std::string> unscaled_distances(const Context&, const Dataset<float>&);
template std::vector<std::string> unscaled_distances(const Context&, const Dataset<double>&);

}  // namespace sheaf
