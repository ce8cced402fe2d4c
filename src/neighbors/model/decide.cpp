#include "neighbors/model/decide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/row_subset.hpp"
#include "neighbors/local/ops.hpp"

namespace sheaf::neighbors {
namespace {

/// Dense rows times the square roots of the weights.
template <class T>
DenseMatrix<double> weighted_rows(const Context& context, const Matrix<T>& x, std::span<const std::int32_t> places,
                                  std::span<const double> weights) {
  auto some = some_rows<double>(x, places);
  DenseMatrix<double> dense;
  if (auto* there = std::get_if<DenseMatrix<double>>(&some))
    dense = std::move(*there);
  else
    dense = to_dense(std::get<SparseMatrix<double>>(some), context.threads());
  if (weights.empty()) return dense;
  std::vector<double> roots;
  for (const double weight : weights) roots.push_back(std::sqrt(weight));
  parallel_ranges(context.threads(), dense.rows, 64, [&](Range range) {
    for (auto k = range.begin * dense.columns; k < range.end * dense.columns; ++k)
      dense.values[k] *= roots[static_cast<std::size_t>(k % dense.columns)];
  });
  return dense;
}

template <class Value, class Setting>
std::vector<Value> distinct(std::span<const Setting> settings, Value Setting::*member) {
  std::vector<Value> values;
  for (const auto& setting : settings) values.push_back(setting.*member);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

template <class Value>
std::size_t place_in(const std::vector<Value>& values, Value value) {
  return static_cast<std::size_t>(std::lower_bound(values.begin(), values.end(), value) - values.begin());
}

}  // namespace

void check_options(const KnnOptions& options, bool regression) {
  if (options.rule == LocalRule::votes) return;
  if (regression) fail_usage("{} know only classes; the labels are numbers", to_string(options.rule));
  if (options.distance.metric != DistanceType::euclidean)
    fail_usage("{} are those of Euclid's distance, not of {}", to_string(options.rule),
               to_string(options.distance.metric));
}

Decisions decide_by_votes(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                          const NeighborLists& lists) {
  Decisions result{lists.queries, rules.size(), voters.columns(), {}};
  const auto each = result.settings * result.columns;
  result.values.resize(static_cast<std::size_t>(result.queries) * each);
  parallel_ranges(context, result.queries, 16, [&](Range range) {
    for (auto i = range.begin; i < range.end; ++i) {
      const auto at = static_cast<std::size_t>(i * lists.k);
      const auto length = static_cast<std::size_t>(lists.k);
      count_votes(voters, rules, std::span(lists.indices).subspan(at, length),
                  std::span(lists.distances).subspan(at, length),
                  std::span(result.values).subspan(static_cast<std::size_t>(i) * each, each));
    }
  });
  return result;
}

template <class T, class Q>
Decisions decide_by_costs(const Context& context, const KnnOptions& options, std::span<const double> weights,
                          std::span<const LocalSetting> settings, const Dataset<T>& dataset, const Labels& labels,
                          std::span<const std::int32_t> rows, const Matrix<Q>& queries) {
  const auto classes = labels.class_names.size();
  Decisions result{sheaf::rows(queries), settings.size(), classes, {}};
  result.values.assign(static_cast<std::size_t>(result.queries) * settings.size() * classes,
                       -std::numeric_limits<double>::max());
  const auto ks = distinct(settings, &LocalSetting::k);
  const auto lambdas = distinct(settings, &LocalSetting::lambda);
  Dataset<double> asked;
  asked.source = dataset.source;
  std::vector<std::int32_t> all(static_cast<std::size_t>(result.queries));
  std::iota(all.begin(), all.end(), 0);
  asked.x = weighted_rows(context, queries, all, weights);
  for (std::size_t c = 0; c < classes; ++c) {
    std::vector<std::int32_t> members;
    for (const auto row : rows)
      if (labels.classes[static_cast<std::size_t>(row)] == static_cast<std::int32_t>(c)) members.push_back(row);
    if (members.empty() || result.queries == 0) continue;
    Dataset<double> own;
    own.source = dataset.source;
    own.x = weighted_rows(context, dataset.x, members, weights);
    NeighborOptions near;
    near.distance.metric = DistanceType::squared_euclidean;
    near.k = std::min<std::int64_t>(ks.back(), std::ssize(members));
    const auto lists = find_neighbors(context, own, near, &asked);
    std::vector<std::int64_t> possible;
    for (const auto k : ks) possible.push_back(std::min(k, near.k));
    possible.erase(std::unique(possible.begin(), possible.end()), possible.end());
    std::vector<double> costs(static_cast<std::size_t>(result.queries) * possible.size() * lambdas.size());
    local_costs(context,
                {std::get<DenseMatrix<double>>(own.x), std::get<DenseMatrix<double>>(asked.x), lists.indices, lists.k,
                 possible, lambdas, options.rule},
                costs);
    for (std::int64_t i = 0; i < result.queries; ++i)
      for (std::size_t s = 0; s < settings.size(); ++s) {
        const auto k = std::min(settings[s].k, near.k);
        const auto at = (static_cast<std::size_t>(i) * possible.size() + place_in(possible, k)) * lambdas.size() +
                        place_in(lambdas, settings[s].lambda);
        // HKNN measures from the hyperplane through the mean, whose coefficients cost lambda / K less.
        const bool from_mean = options.rule == LocalRule::hyperplane && weights.empty();
        result.of(i, s)[c] = -(costs[at] - (from_mean ? settings[s].lambda / static_cast<double>(k) : 0));
      }
  }
  return result;
}

#define SHEAF_COSTS(T, Q)                                                                             \
  template Decisions decide_by_costs(const Context&, const KnnOptions&, std::span<const double>,      \
                                     std::span<const LocalSetting>, const Dataset<T>&, const Labels&, \
                                     std::span<const std::int32_t>, const Matrix<Q>&);
SHEAF_COSTS(float, float)
SHEAF_COSTS(double, float)
SHEAF_COSTS(double, double)
#undef SHEAF_COSTS

}  // namespace sheaf::neighbors
