// What elastic nets are asked for: checks, models without features, and ranges of alpha.
#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "linear/net/paths.hpp"

namespace sheaf {
namespace linear {
namespace {

void check_path(const NetPath& path, const NetSheaf& sheaf) {
  require(path.rows >= 0 && path.rows < sheaf.weight_columns, "a path names row weights that are not there");
  require(path.target >= 0 && path.target < sheaf.target_columns, "a path names a target that is not there");
  if (!(path.l1_ratio >= 0 && path.l1_ratio <= 1)) fail_usage("the l1-ratio {} is not between 0 and 1", path.l1_ratio);
  for (std::size_t a = 0; a < path.alphas.size(); ++a) {
    if (!(path.alphas[a] >= 0) || std::isinf(path.alphas[a])) fail_usage("alpha {} is not 0 or more", path.alphas[a]);
    require(a == 0 || path.alphas[a] <= path.alphas[a - 1], "the alphas of a path must descend");
  }
}

double weight_of(const NetSheaf& sheaf, std::int64_t row, std::int32_t column) {
  if (sheaf.row_weights.empty()) return 1;
  return sheaf.row_weights[static_cast<std::size_t>(row * sheaf.weight_columns + column)];
}

NetNull null_of(const NetSheaf& sheaf, const NetParams& params, const NetPath& path, double total) {
  NetNull null;
  null.total = total;
  double sum = 0;
  double positive = 0;
  const auto target = [&](std::int64_t i) {
    return sheaf.targets[static_cast<std::size_t>(i * sheaf.target_columns + path.target)];
  };
  for (std::int64_t i = 0; i < sheaf.examples; ++i) {
    const double s = weight_of(sheaf, i, path.rows);
    sum += s * target(i);
    positive += target(i) > 0 ? s : 0;
  }
  if (params.loss == Loss::logistic) {
    const double share = positive / total;
    if (share <= 0 || share >= 1)
      fail("rows to train on are all of one class (row weights {}); logistic regression needs both", path.rows + 1);
    if (params.intercept) null.intercept = std::log(share / (1 - share));
    null.deviance = params.intercept ? 2 * entropy_of(share) : 2 * std::log(2.0);
    return null;
  }
  if (params.intercept) null.intercept = null.center = sum / total;
  for (std::int64_t i = 0; i < sheaf.examples; ++i) {
    const double away = target(i) - null.center;
    null.deviance += weight_of(sheaf, i, path.rows) * away * away / total;
  }
  return null;
}

}  // namespace

std::vector<double> check_nets(const NetSheaf& sheaf, const NetParams& params, std::int64_t rows,
                               std::int64_t features) {
  require(sheaf.examples == rows, "a sheaf was made for another dataset");
  require(static_cast<std::int64_t>(sheaf.targets.size()) == rows * sheaf.target_columns,
          "the target table is not full");
  require(
      sheaf.row_weights.empty() || static_cast<std::int64_t>(sheaf.row_weights.size()) == rows * sheaf.weight_columns,
      "the row-weight table is not full");
  require(params.loss == Loss::squared || params.loss == Loss::logistic, "elastic nets know two losses");
  if (!(params.tolerance > 0)) fail_usage("the tolerance must be above 0");
  if (!sheaf.penalty_factors.empty() && static_cast<std::int64_t>(sheaf.penalty_factors.size()) != features)
    fail("{} penalty factors for {} features", sheaf.penalty_factors.size(), features);
  for (const double factor : sheaf.penalty_factors)
    if (!(factor >= 0) || std::isinf(factor)) fail("a penalty factor is {}, not 0 or more", factor);
  for (const auto& path : sheaf.paths) check_path(path, sheaf);
  std::vector<double> totals(static_cast<std::size_t>(sheaf.weight_columns), 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int32_t c = 0; c < sheaf.weight_columns; ++c)
      totals[static_cast<std::size_t>(c)] += weight_of(sheaf, i, c);
  for (std::size_t c = 0; c < totals.size(); ++c)
    if (!(totals[c] > 0)) fail("there are no rows to train on (row weights {})", c + 1);
  return totals;
}

std::vector<NetNull> null_models(const NetSheaf& sheaf, const NetParams& params, std::span<const double> totals) {
  std::vector<NetNull> nulls;
  nulls.reserve(sheaf.paths.size());
  for (const auto& path : sheaf.paths)
    nulls.push_back(null_of(sheaf, params, path, totals[static_cast<std::size_t>(path.rows)]));
  return nulls;
}

}  // namespace linear

std::string_view to_string(NetSolver solver) {
  switch (solver) {
    case NetSolver::automatic:
      return "auto";
    case NetSolver::cyclic:
      return "cyclic";
    case NetSolver::shooting:
      return "shooting";
    case NetSolver::shotgun:
      break;
  }
  return "shotgun";
}

template <class T>
std::vector<double> largest_alphas(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params) {
  return linear::NetRun<T>(context, dataset, sheaf, params, false, {}).largest_alphas();
}

std::vector<double> alpha_path(double largest, double smallest_share, std::int32_t count) {
  std::vector<double> alphas;
  for (std::int32_t a = 0; a < count; ++a) {
    const double share = count > 1 ? static_cast<double>(a) / (count - 1) : 0;
    alphas.push_back(largest * std::pow(smallest_share, share));
  }
  return alphas;
}

template std::vector<double> largest_alphas(const Context&, const Dataset<float>&, const NetSheaf&, const NetParams&);
template std::vector<double> largest_alphas(const Context&, const Dataset<double>&, const NetSheaf&, const NetParams&);

}  // namespace sheaf
