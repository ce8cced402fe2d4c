// Problems of elastic nets: checks, models without features, and ranges of alpha.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <string_view>

#include "core/fail.hpp"
#include "linear/losses/losses.hpp"
#include "linear/losses/target_range.hpp"
#include "linear/net/paths.hpp"
#include "linear/softmax_intercepts.hpp"

namespace sheaf {
namespace linear {
namespace {

void check_path(const NetPath& path, const NetSheaf& sheaf) {
  require(path.rows >= 0 && path.rows < sheaf.weight_columns, "a path names row weights that are not there");
  require(path.target >= 0 && path.target + sheaf.classes <= sheaf.target_columns,
          "a path names a target that is not there");
  if (!(path.l1_ratio >= 0 && path.l1_ratio <= 1)) fail_usage("the l1-ratio {} is not between 0 and 1", path.l1_ratio);
  for (std::size_t a = 0; a < path.alphas.size(); ++a) {
    if (!(path.alphas[a] >= 0) || std::isinf(path.alphas[a])) fail_usage("alpha {} is not 0 or more", path.alphas[a]);
    require(a == 0 || path.alphas[a] <= path.alphas[a - 1], "the alphas of a path must descend");
  }
}

/// `all` are those of all features; a limit is at least `low` and at most `high`.
void check_limits(const std::vector<double>& all, std::string_view which, double low, double high,
                  std::int64_t features) {
  if (all.empty()) return;
  if (static_cast<std::int64_t>(all.size()) != features)
    fail("{} {} limits of weights for {} features", all.size(), which, features);
  for (std::size_t j = 0; j < all.size(); ++j)
    if (!(all[j] >= low && all[j] <= high))
      fail("the {} limit of the weight of feature {} is {}, not 0 or {}", which, j + 1, all[j],
           high > 0 ? "more" : "less");
}

[[noreturn]] void fail_one_class(const NetPath& path) {
  fail("rows to train on are all of one class (row weights {}); a classifier needs two", path.rows + 1);
}

/// The smallest target up to which the targets have at least this share of the weight.
double weighted_quantile(const NetSheaf& sheaf, const NetPath& path, double total, double share) {
  std::vector<std::pair<double, double>> targets;  // and their weights
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    targets.emplace_back(target_of(sheaf, i, path.target), row_weight(sheaf, i, path.rows));
  std::sort(targets.begin(), targets.end());
  double sum = 0;
  for (const auto& [target, weight] : targets)
    if ((sum += weight) >= share * total && weight > 0) return target;
  return targets.back().first;
}

/// The start of the search for the model without features, and the width of a smooth loss that costs half of the
/// tolerance. (Its mean second derivative is that of a loss as wide as the targets: few rows, if any, are within a
/// narrow one.)
void begin_quantile(const NetSheaf& sheaf, const NetParams& params, const NetPath& path, double& start, NetNull& null) {
  if (params.intercept) start = weighted_quantile(sheaf, path, null.total, params.loss_parameter);
  double loss = 0;
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    loss += row_weight(sheaf, i, path.rows) *
            Quantile::terms(start, target_of(sheaf, i, path.target), params.loss_parameter).value / null.total;
  null.deviance = 2 * loss;
  null.width = loss > 0 ? params.tolerance * null.deviance / (2 * Quantile::least_below) : 1.0;
}

/// The model without features, for one decision value.
template <class Functor>
NetNull null_model(const NetSheaf& sheaf, const NetParams& params, const NetPath& path, double total) {
  NetNull null;
  null.total = total;
  double sum = 0;
  double positive = 0;
  double least = 0;
  for (std::int64_t i = 0; i < sheaf.examples; ++i) {
    const double s = row_weight(sheaf, i, path.rows);
    const double y = target_of(sheaf, i, path.target);
    sum += s * y;
    positive += y > 0 ? s : 0;
    least += s * Functor::least(y) / total;
  }
  if (!Functor::regression && params.intercept && !(positive > 0 && positive < total)) fail_one_class(path);
  LossParameters parameters{params.loss_parameter, 0};
  const auto evaluate = [&](double intercept) {
    null.loss = 0;
    InterceptTerms sums;
    double step_curvature = 0;
    for (std::int64_t i = 0; i < sheaf.examples; ++i) {
      const double s = row_weight(sheaf, i, path.rows);
      const double z = intercept + offset_of(sheaf, i);
      const double y = target_of(sheaf, i, path.target);
      const auto terms = terms_of<Functor>(z, y, parameters);
      null.loss += s * terms.value / total;
      sums.residual -= s * terms.slope;
      sums.curvature += s * terms.curvature;
      if constexpr (has_width<Functor>)
        step_curvature += s * Functor::step_curvature(z, y, parameters.first, std::max(null.deviance, null.width));
    }
    if constexpr (has_width<Functor>)
      if (!(sums.curvature > 0)) sums.curvature = step_curvature;
    null.curvature = (has_width<Functor> ? step_curvature : sums.curvature) / total;
    return params.intercept ? sums : InterceptTerms{};
  };
  double start = 0;
  if (params.intercept) {
    null.center = sum / total;
    start = Functor::regression ? null.center : 0.0;
    if constexpr (has_link<Functor>) start = Functor::link(Functor::regression ? null.center : positive / total, 0.0);
    if (!std::isfinite(start))
      fail("the targets of the rows to train on are all 0 (row weights {}); {} models need some above 0", path.rows + 1,
           Functor::row.name);
  }
  if constexpr (has_width<Functor>) {
    begin_quantile(sheaf, params, path, start, null);
    parameters.width = null.width;
  }
  // The mean is the best intercept of the squared loss.
  null.intercepts = {best_intercept(start, total,
                                    Functor::quadratic ? HUGE_VAL : 1e-12 * slope_unit<Functor>(parameters), evaluate,
                                    least_intercept_curvature<Functor>)};
  if constexpr (!has_width<Functor>) null.deviance = 2 * (null.loss - least);
  return null;
}

/// The standard deviation of the targets of a path; without an intercept, the root of their mean square. For several
/// targets, whose penalties are shared, the root of the mean of their variances. 1 if they are all the same.
double target_unit(const NetSheaf& sheaf, const NetParams& params, const NetPath& path, double total) {
  double variance = 0;
  for (std::int32_t c = path.target; c < path.target + sheaf.classes; ++c) {
    double mean = 0;
    for (std::int64_t i = 0; i < sheaf.examples && params.intercept; ++i)
      mean += row_weight(sheaf, i, path.rows) * target_of(sheaf, i, c) / total;
    for (std::int64_t i = 0; i < sheaf.examples; ++i) {
      const double away = target_of(sheaf, i, c) - mean;
      variance += row_weight(sheaf, i, path.rows) * away * away / total / sheaf.classes;
    }
  }
  return variance > 0 ? std::sqrt(variance) : 1;
}

/// Several targets: the sum of one null model for each.
template <class Functor>
NetNull null_targets(const NetSheaf& sheaf, const NetParams& params, NetPath path, double total) {
  NetNull all = null_model<Functor>(sheaf, params, path, total);
  for (std::int32_t c = 1; c < sheaf.classes; ++c) {
    ++path.target;
    const NetNull one = null_model<Functor>(sheaf, params, path, total);
    all.loss += one.loss;
    all.deviance += one.deviance;
    all.intercepts.push_back(one.intercepts.front());
  }
  return all;
}

/// Several classes: without offsets, intercepts are the logarithms of the classes' shares, centred to sum 0.
NetNull null_softmax(const NetSheaf& sheaf, const NetParams& params, const NetPath& path, double total) {
  constexpr double least_share = 1e-15;  // for a class that has no rows
  NetNull null;
  std::vector<double> shares(static_cast<std::size_t>(sheaf.classes), 0.0);
  double least = 0;
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    for (std::int32_t c = 0; c < sheaf.classes; ++c) {
      const double s = row_weight(sheaf, i, path.rows) / total;
      const double y = target_of(sheaf, i, path.target + c);
      shares[static_cast<std::size_t>(c)] += s * y;
      least += s * Softmax::least(y);
    }
  if (std::count_if(shares.begin(), shares.end(), [](double share) { return share > 0; }) < 2) fail_one_class(path);
  double center = 0;
  for (const double share : shares) {
    null.intercepts.push_back(params.intercept ? std::log(std::max(share, least_share)) : 0.0);
    center += null.intercepts.back() / sheaf.classes;
  }
  for (double& intercept : null.intercepts) intercept -= center;
  if (sheaf.offsets.empty()) {
    double sum = 0;
    for (const double intercept : null.intercepts) sum += std::exp(intercept);
    for (std::size_t c = 0; c < shares.size(); ++c) null.loss += shares[c] * (std::log(sum) - null.intercepts[c]);
  } else {
    const SoftmaxRows rows{sheaf.examples, sheaf.classes,
                           [&](std::int64_t i) { return row_weight(sheaf, i, path.rows) / total; },
                           [&](std::int64_t i, std::int32_t k) { return target_of(sheaf, i, path.target + k); },
                           [&](std::int64_t i, std::int32_t k) { return offset_of(sheaf, i, k); }};
    if (params.intercept) null.intercepts = softmax_intercepts(rows, null.intercepts);
    null.loss = softmax_loss(rows, null.intercepts);
  }
  null.deviance = 2 * (null.loss - least);
  return null;
}

bool takes_offsets(Loss loss) {
  bool result = false;
  with_net_loss(loss, [&](auto functor) { result = has_offsets<decltype(functor)>; });
  return result;
}

/// Times, events and nothing but them.
void check_survival(const NetSheaf& sheaf) {
  const auto rows = static_cast<std::size_t>(sheaf.examples);
  require(sheaf.risk.times.size() == rows && sheaf.target_columns == 1,
          "Cox models have a time and an event for each row");
  require((sheaf.risk.entries.empty() || sheaf.risk.entries.size() == rows) &&
              (sheaf.risk.strata.empty() || sheaf.risk.strata.size() == rows),
          "entries and strata of Cox models are one a row");
}

}  // namespace

RiskTables risk_tables(const NetSheaf& sheaf, const NetParams& params) {
  if (params.loss != Loss::cox) return {};
  return make_risk_tables(sheaf.risk, sheaf.targets, sheaf.row_weights, sheaf.weight_columns,
                          params.ties == Ties::efron);
}

NetNull null_cox(const NetSheaf& sheaf, const RiskTables& risk, const NetPath& path, double total,
                 std::vector<double>* residuals) {
  const auto sets = risk_sets_of(risk, sheaf.weight_columns, path.rows);
  const OneThread team;
  using Likelihood = PartialLikelihood<OneThread, double>;
  std::vector<double> memory(static_cast<std::size_t>(sheaf.examples) * Likelihood::vectors);
  Likelihood likelihood(team, sets, memory.data());
  const auto z = [&](std::int64_t i) { return offset_of(sheaf, i); };
  const auto weight = [&](std::int64_t i) { return row_weight(sheaf, i, path.rows); };
  NetNull null;
  null.intercepts = {0};
  null.loss = likelihood.load(z, weight) / total;
  if (residuals != nullptr) residuals->assign(static_cast<std::size_t>(sheaf.examples), 0.0);
  for (std::int64_t k = 0; k < sheaf.examples; ++k) {
    const std::int64_t i = risk.order[static_cast<std::size_t>(k)];
    null.curvature += sets.share(k) / total;
    if (residuals != nullptr)
      (*residuals)[static_cast<std::size_t>(i)] = (sets.share(k) > 0 ? weight(i) : 0.0) - likelihood.expected(k);
  }
  if (!(null.curvature > 0))
    fail("there are no events among the rows to train on (row weights {}); a Cox model needs some", path.rows + 1);
  null.deviance = 2 * (null.loss - likelihood.dual_value(0, z, weight) / total);
  return null;
}

std::vector<double> check_nets(const NetSheaf& sheaf, const NetParams& params, std::int64_t rows,
                               std::int64_t features) {
  require(sheaf.examples == rows, "a sheaf was made for another dataset");
  require(static_cast<std::int64_t>(sheaf.targets.size()) == rows * sheaf.target_columns,
          "the target table is not full");
  require(
      sheaf.row_weights.empty() || static_cast<std::int64_t>(sheaf.row_weights.size()) == rows * sheaf.weight_columns,
      "the row-weight table is not full");
  require(with_net_loss(params.loss, [](auto) {}), "elastic nets are not trained for this loss");
  const bool grouped_squares = params.grouped && params.loss == Loss::squared;
  require(params.loss == Loss::softmax ? sheaf.classes > 1 : sheaf.classes == 1 || grouped_squares,
          "several classes in one model are for the softmax loss, several targets for squares with grouped penalties");
  require(!params.grouped || sheaf.classes > 1, "grouped penalties are for models of several classes or targets");
  if (params.grouped && params.solver == NetSolver::shotgun)
    fail_usage("the solver shotgun updates single weights; grouped penalties take auto, cyclic or shooting");
  require(sheaf.offsets.empty() || static_cast<std::int64_t>(sheaf.offsets.size()) == rows * sheaf.classes,
          "offsets are one a row, or one for each class");
  require(sheaf.offsets.empty() || takes_offsets(params.loss),
          "models of this loss have no offsets; take them off targets that are numbers");
  const auto& loss = info(params.loss);
  if (!loss.parameter.name.empty() && !loss.parameter.holds(params.loss_parameter))
    fail_usage("{} is {}, not {}", loss.parameter.about, range_text(loss.parameter), params.loss_parameter);
  require(!params.relative_l2 || has_target_unit(params.loss), "the targets of this loss have no unit");
  if (params.loss == Loss::cox) check_survival(sheaf);
  check_targets(loss.targets, sheaf.targets, sheaf.target_columns, "elastic net", loss.net.title);
  if (!(params.tolerance > 0)) fail_usage("the tolerance must be above 0");
  if (!sheaf.penalty_factors.empty() && static_cast<std::int64_t>(sheaf.penalty_factors.size()) != features)
    fail("{} penalty factors for {} features", sheaf.penalty_factors.size(), features);
  for (const double factor : sheaf.penalty_factors)
    if (!(factor >= 0) || std::isinf(factor)) fail("a penalty factor is {}, not 0 or more", factor);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  check_limits(sheaf.lower_limits, "lower", -infinity, 0, features);
  check_limits(sheaf.upper_limits, "upper", 0, infinity, features);
  if (!sheaf.column_factors.empty()) {
    require(static_cast<std::int64_t>(sheaf.column_factors.size()) == features * sheaf.weight_columns,
            "the table of column factors is not full");
    require(!params.standardise, "features are standardised or scaled by given factors, not both");
    for (const double factor : sheaf.column_factors)
      require(factor >= 0 && std::isfinite(factor), "a column factor is not a number of 0 or more");
  }
  require(sheaf.decision_rows.empty() || std::ssize(sheaf.decision_rows) == sheaf.weight_columns,
          "the rows whose decision values are wanted are one list for each column of row weights");
  for (const auto& path : sheaf.paths) check_path(path, sheaf);
  std::vector<double> totals(static_cast<std::size_t>(sheaf.weight_columns), 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int32_t c = 0; c < sheaf.weight_columns; ++c)
      totals[static_cast<std::size_t>(c)] += row_weight(sheaf, i, c);
  for (std::size_t c = 0; c < totals.size(); ++c)
    if (!(totals[c] > 0)) fail("there are no rows to train on (row weights {})", c + 1);
  return totals;
}

std::vector<NetNull> null_models(const NetSheaf& sheaf, const NetParams& params, const RiskTables& risk,
                                 std::span<const double> totals) {
  std::map<std::pair<std::int32_t, std::int32_t>, NetNull> known;  // of rows and target
  std::vector<NetNull> nulls;
  for (const auto& path : sheaf.paths) {
    const auto found = known.try_emplace({path.rows, path.target});
    NetNull& null = found.first->second;
    if (found.second) {
      const double total = totals[static_cast<std::size_t>(path.rows)];
      with_net_loss(params.loss, [&](auto functor) {
        using Functor = decltype(functor);
        if constexpr (is_softmax<Functor>)
          null = null_softmax(sheaf, params, path, total);
        else if constexpr (is_cox<Functor>)
          null = null_cox(sheaf, risk, path, total);
        else
          null = null_targets<Functor>(sheaf, params, path, total);
        null.total = total;
        if (params.relative_l2) null.target_unit = target_unit(sheaf, params, path, total);
        if (std::isfinite(Functor::largest_curvature)) null.curvature = Functor::largest_curvature;
      });
    }
    nulls.push_back(null);
  }
  return nulls;
}

}  // namespace linear

bool has_target_unit(Loss loss) {
  const auto& row = info(loss);
  return row.regression && row.targets == TargetRange::any && !row.net.solver.empty();
}

std::string_view to_string(NetSolver solver) {
  constexpr std::array<std::string_view, 4> names{"auto", "cyclic", "shooting", "shotgun"};
  return names.at(static_cast<std::size_t>(solver));
}

template <class T>
std::vector<double> largest_alphas(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params) {
  return linear::NetRun<T>(context, dataset, sheaf, params, false, false, {}).largest_alphas();
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
