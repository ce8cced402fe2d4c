#include "data/prepare/precision.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <sheaf/solvers/profile.hpp>

#include "data/read/columns.hpp"

namespace sheaf {
namespace {

constexpr double steps = 1000;         // that a standard deviation should have
constexpr double suspicious = 0x1p20;  // a constant that large may have been numbers that differ

bool loses_digits(const FeatureSummary& feature) {
  const double size = std::max(std::abs(feature.minimum), std::abs(feature.maximum));
  const double step = size * static_cast<double>(std::numeric_limits<float>::epsilon());
  if (feature.standard_deviation > 0) return step * steps > feature.standard_deviation;
  return size >= suspicious;
}

}  // namespace

std::string why_double(const Context& context, const Dataset<float>& dataset) {
  const auto summary = summarize(context, dataset);
  std::vector<std::string> names;
  for (std::size_t j = 0; j < summary.per_feature.size(); ++j)
    if (loses_digits(summary.per_feature[j]))
      names.push_back(fmt::format("'{}'", dataset.feature_name(static_cast<std::int64_t>(j))));
  if (names.empty()) return {};
  return fmt::format("{}: {} feature{} values that differ by less than float holds ({})", dataset.source, names.size(),
                     names.size() == 1 ? " has" : "s have", some_names(names));
}

}  // namespace sheaf
