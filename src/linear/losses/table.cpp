// The rows of losses and distributions, read from their functors.
#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/fail.hpp"
#include "linear/losses/losses.hpp"

namespace sheaf {
namespace {

std::vector<LossInfo> make_losses() {
  std::vector<LossInfo> rows;
  linear::for_each(linear::AllLosses{}, [&](auto functor) {
    LossInfo row = functor.row;
    row.loss = functor.loss;
    row.regression = functor.regression;
    row.probabilities = linear::has_probabilities<decltype(functor)>;
    row.targets = functor.targets;
    rows.push_back(row);
  });
  return rows;
}

std::vector<DistributionInfo> make_distributions() {
  std::vector<DistributionInfo> rows;
  linear::for_each(linear::AllDistributions{}, [&](auto distribution) { rows.push_back(distribution.row); });
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.family < b.family; });
  return rows;
}

}  // namespace

std::span<const LossInfo> losses() {
  static const auto rows = make_losses();
  return rows;
}

const LossInfo& info(Loss loss) {
  for (const auto& row : losses())
    if (row.loss == loss) return row;
  throw InternalError("a loss that has no row");
}

std::string_view to_string(Loss loss) { return info(loss).name; }

std::span<const DistributionInfo> distributions() {
  static const auto rows = make_distributions();
  return rows;
}

const DistributionInfo& info(GlmFamily family) {
  for (const auto& row : distributions())
    if (row.family == family) return row;
  throw InternalError("a distribution that has no row");
}

std::string_view to_string(GlmFamily family) {
  return family == GlmFamily::automatic ? std::string_view("auto") : info(family).name;
}

bool has_likelihood(GlmFamily family) { return info(family).likelihood; }

std::string range_text(const LossParameterInfo& parameter) {
  auto text = fmt::format("above {}", parameter.above);
  if (parameter.below < std::numeric_limits<double>::infinity()) text += fmt::format(" and below {}", parameter.below);
  return text;
}

}  // namespace sheaf
