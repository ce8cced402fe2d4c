#include "neighbors/model/decide.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "data/row_subset.hpp"
#include "neighbors/local/ops.hpp"
#include "neighbors/local/svm.hpp"
#include "neighbors/model/cover.hpp"

namespace sheaf::neighbors {
namespace {

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

/// Ascending values, cut at `most`.
std::vector<std::int64_t> at_most(const std::vector<std::int64_t>& values, std::int64_t most) {
  std::vector<std::int64_t> result;
  for (const auto value : values) result.push_back(std::min(value, most));
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<std::int32_t> all_places(std::int64_t rows) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(rows));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

Decisions no_decisions(std::int64_t queries, std::size_t settings, std::size_t columns, double value) {
  Decisions result{queries, settings, columns, Array<double>(queries * static_cast<std::int64_t>(settings * columns))};
  std::fill(result.values.begin(), result.values.end(), value);
  return result;
}

const DenseMatrix<double>& dense(const Dataset<double>& rows) { return std::get<DenseMatrix<double>>(rows.x); }

}  // namespace

void check_options(const KnnOptions& options, bool regression) {
  if (options.rule == LocalRule::votes) return;
  if (regression) fail_usage("the rule {} is for classes; the labels are numbers", to_string(options.rule));
  if (options.distance.metric != DistanceType::euclidean)
    fail_usage("the rule {} takes Euclid's distance, not {}", to_string(options.rule),
               to_string(options.distance.metric));
}

double gamma_of(const KnnOptions& options, std::int64_t features) {
  return options.gamma > 0 ? options.gamma : 1 / static_cast<double>(std::max<std::int64_t>(features, 1));
}

template <class T>
Dataset<double> weighted_rows(const Context& context, const Matrix<T>& x, std::span<const std::int32_t> places,
                              std::span<const double> weights, const std::string& source) {
  auto some = some_rows<double>(x, places);
  if (auto* sparse = std::get_if<SparseMatrix<double>>(&some)) some = to_dense(*sparse, context.threads());
  auto& values = std::get<DenseMatrix<double>>(some);
  std::vector<double> roots;
  for (const double weight : weights) roots.push_back(std::sqrt(weight));
  parallel_ranges(context.threads(), roots.empty() ? 0 : values.rows, 64, [&](Range range) {
    for (auto k = range.begin * values.columns; k < range.end * values.columns; ++k)
      values.values[k] *= roots[static_cast<std::size_t>(k % values.columns)];
  });
  Dataset<double> result;
  result.source = source;
  result.x = std::move(some);
  return result;
}
template <class T>
Dataset<double> weighted_rows(const Context& context, const Matrix<T>& x, std::span<const double> weights,
                              const std::string& source) {
  return weighted_rows(context, x, all_places(sheaf::rows(x)), weights, source);
}

namespace {

template <class Q>
Dataset<double> weighted_queries(const Context& context, const Asked<Q>& queries, std::span<const double> weights,
                                 const std::string& source) {
  if (queries.rows.empty()) return weighted_rows(context, queries.x, weights, source);
  return weighted_rows(context, queries.x, queries.rows, weights, source);
}

}  // namespace

NeighborLists nearest_rows(const Context& context, const Dataset<double>& rows, const Dataset<double>* queries,
                           std::int64_t k) {
  NeighborOptions near;
  near.distance.metric = DistanceType::squared_euclidean;
  near.include_self = true;
  near.k = k;
  return find_neighbors(context, rows, near, queries);
}

Decisions decide_by_votes(const Context& context, const Voters& voters, std::span<const VoteRule> rules,
                          const NeighborLists& lists) {
  auto values = count_votes(context, voters, rules, lists);
  if (!values.device().is_cpu()) values = values.to(Device::cpu());
  return {lists.queries, rules.size(), voters.columns(), std::move(values)};
}

template <class T, class Q>
Decisions decide_by_costs(const Context& context, const KnnOptions& options, std::span<const double> weights,
                          std::span<const LocalSetting> settings, const Dataset<T>& dataset, const Labels& labels,
                          std::span<const std::int32_t> rows, const Asked<Q>& queries) {
  const auto classes = labels.class_names.size();
  auto result = no_decisions(queries.count(), settings.size(), classes, -std::numeric_limits<double>::max());
  const auto ks = distinct(settings, &LocalSetting::k);
  const auto lambdas = distinct(settings, &LocalSetting::lambda);
  const auto asked = weighted_queries(context, queries, weights, dataset.source);
  for (std::size_t c = 0; c < classes; ++c) {
    std::vector<std::int32_t> members;
    for (const auto row : rows)
      if (labels.classes[static_cast<std::size_t>(row)] == static_cast<std::int32_t>(c)) members.push_back(row);
    if (members.empty() || result.queries == 0) continue;
    const auto own = weighted_rows(context, dataset.x, members, weights, dataset.source);
    const auto lists = nearest_rows(context, own, &asked, std::min<std::int64_t>(ks.back(), std::ssize(members)));
    const auto possible = at_most(ks, lists.k);
    std::vector<double> costs(static_cast<std::size_t>(result.queries) * possible.size() * lambdas.size());
    local_costs(context, {dense(own), dense(asked), lists.indices, lists.k, possible, lambdas, options.rule}, costs);
    for (std::int64_t i = 0; i < result.queries; ++i)
      for (std::size_t s = 0; s < settings.size(); ++s) {
        const auto k = std::min(settings[s].k, lists.k);
        const auto at = (static_cast<std::size_t>(i) * possible.size() + place_in(possible, k)) * lambdas.size() +
                        place_in(lambdas, settings[s].lambda);
        // HKNN measures from the hyperplane through the mean, whose coefficients cost lambda / K less.
        const bool from_mean = options.rule == LocalRule::hyperplane && weights.empty();
        result.of(i, s)[c] = -(costs[at] - (from_mean ? settings[s].lambda / static_cast<double>(k) : 0));
      }
  }
  return result;
}

namespace {

/// SVMs around centres, for settings that are some or all of ks x gammas x costs.
class LocalSvms {
 public:
  LocalSvms(const Context& context, const KnnOptions& options, std::span<const LocalSetting> settings,
            const Dataset<double>& rows, const Labels& labels, const SvmRows& training)
      : context_(context),
        options_(options),
        settings_(settings),
        rows_(rows),
        class_count_(static_cast<std::int32_t>(labels.class_names.size())),
        ks_(at_most(distinct(settings, &LocalSetting::k), rows.rows())),
        gammas_(distinct(settings, &LocalSetting::gamma)),
        costs_(distinct(settings, &LocalSetting::cost)) {
    for (const auto row : training.rows) {
      classes_.push_back(labels.classes[static_cast<std::size_t>(row)]);
      if (!training.row_weights.empty()) weights_.push_back(training.row_weights[static_cast<std::size_t>(row)]);
    }
  }

  const std::vector<std::int64_t>& ks() const { return ks_; }

  /// One neighbourhood for each query.
  void decide_around_queries(const Dataset<double>& queries, Decisions& result) {
    const auto lists = nearest_rows(context_, rows_, &queries, ks_.back());
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(result.queries) + 1);
    std::iota(offsets.begin(), offsets.end(), 0);
    solve({dense(rows_), dense(queries), dense(queries), offsets, lists.indices, lists.k}, ks_,
          all_places(result.queries), result);
  }

  /// Neighbourhoods of k rows of the centres that the rows nearest to queries belong to.
  void decide_around_centres(const Dataset<double>& queries, std::span<const std::int32_t> nearest,
                             std::span<const std::int32_t> centres, std::int64_t k, Decisions& result) {
    const auto centre_of = [&](std::int32_t q) {
      return centres[static_cast<std::size_t>(nearest[static_cast<std::size_t>(q)])];
    };
    auto order = all_places(result.queries);
    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return centre_of(a) < centre_of(b); });
    std::vector<std::int32_t> needed;
    std::vector<std::int64_t> offsets;
    for (std::size_t n = 0; n < order.size(); ++n) {
      if (n > 0 && centre_of(order[n]) == centre_of(order[n - 1])) continue;
      needed.push_back(centre_of(order[n]));
      offsets.push_back(static_cast<std::int64_t>(n));
    }
    offsets.push_back(result.queries);
    const auto middle = weighted_rows(context_, rows_.x, needed, {}, rows_.source);
    const auto points = weighted_rows(context_, queries.x, order, {}, queries.source);
    const auto lists = nearest_rows(context_, rows_, &middle, k);
    solve({dense(rows_), dense(middle), dense(points), offsets, lists.indices, lists.k}, {&k, 1}, order, result);
  }

 private:
  /// `order`: the query of each point. Settings of other ks are left as they are.
  void solve(LocalSvmProblem problem, std::span<const std::int64_t> ks, std::span<const std::int32_t> order,
             Decisions& result) {
    problem.classes = classes_;
    problem.weights = weights_;
    problem.class_count = class_count_;
    problem.ks = ks;
    problem.costs = costs_;
    problem.gammas = gammas_;
    problem.kernel = options_.kernel;
    problem.tolerance = options_.tolerance;
    std::vector<double> values(order.size() * problem.settings() * result.columns);
    result.unconverged += local_svm_values(context_, problem, values);
    for (std::size_t s = 0; s < settings_.size(); ++s) {
      const auto k = std::find(ks.begin(), ks.end(), std::min(settings_[s].k, rows_.rows()));
      if (k == ks.end()) continue;
      const auto setting =
          (static_cast<std::size_t>(k - ks.begin()) * gammas_.size() + place_in(gammas_, settings_[s].gamma)) *
              costs_.size() +
          place_in(costs_, settings_[s].cost);
      for (std::size_t n = 0; n < order.size(); ++n)
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>((n * problem.settings() + setting) * result.columns),
                    result.columns, result.of(order[n], s).begin());
    }
  }

  const Context& context_;
  const KnnOptions& options_;
  std::span<const LocalSetting> settings_;
  const Dataset<double>& rows_;
  std::int32_t class_count_;
  std::vector<std::int32_t> classes_;
  std::vector<float> weights_;
  std::vector<std::int64_t> ks_;
  std::vector<double> gammas_, costs_;
};

}  // namespace

template <class T, class Q>
Decisions decide_by_svms(const Context& context, const KnnOptions& options, std::span<const double> weights,
                         std::span<const LocalSetting> settings, const Dataset<T>& dataset, const Labels& labels,
                         const SvmRows& training, const Asked<Q>& queries) {
  auto result = no_decisions(queries.count(), settings.size(), labels.class_names.size(), 0);
  if (result.queries == 0) return result;
  const auto rows = weighted_rows(context, dataset.x, training.rows, weights, dataset.source);
  const auto asked = weighted_queries(context, queries, weights, dataset.source);
  LocalSvms svms(context, options, settings, rows, labels, training);
  if (options.rule == LocalRule::local_svm) {
    svms.decide_around_queries(asked, result);
    return result;
  }
  const auto nearest = nearest_rows(context, rows, &asked, 1);
  NeighborLists among;  // of the rows, if centres are to be chosen
  if (training.centres.empty()) among = nearest_rows(context, rows, nullptr, covered_by(svms.ks().back()));
  for (const auto k : svms.ks()) {
    const auto chosen = training.centres.empty() ? choose_centres(among, covered_by(k)) : std::vector<std::int32_t>();
    svms.decide_around_centres(asked, nearest.indices, training.centres.empty() ? chosen : training.centres, k, result);
  }
  return result;
}

template <class T>
std::vector<std::int32_t> learn_centres(const Context& context, const KnnOptions& options,
                                        std::span<const double> weights, const Dataset<T>& dataset,
                                        std::span<const std::int32_t> rows) {
  if (rows.empty()) return {};
  const auto own = weighted_rows(context, dataset.x, rows, weights, dataset.source);
  const auto covered = covered_by(std::min<std::int64_t>(options.k, std::ssize(rows)));
  return choose_centres(nearest_rows(context, own, nullptr, covered), covered);
}

#define SHEAF_ROWS(T)                                                                                          \
  template Dataset<double> weighted_rows(const Context&, const Matrix<T>&, std::span<const std::int32_t>,      \
                                         std::span<const double>, const std::string&);                         \
  template Dataset<double> weighted_rows(const Context&, const Matrix<T>&, std::span<const double>,            \
                                         const std::string&);                                                  \
  template std::vector<std::int32_t> learn_centres(const Context&, const KnnOptions&, std::span<const double>, \
                                                   const Dataset<T>&, std::span<const std::int32_t>);
SHEAF_ROWS(float)
SHEAF_ROWS(double)
#undef SHEAF_ROWS

#define SHEAF_LOCAL(T, Q)                                                                                            \
  template Decisions decide_by_costs(const Context&, const KnnOptions&, std::span<const double>,                     \
                                     std::span<const LocalSetting>, const Dataset<T>&, const Labels&,                \
                                     std::span<const std::int32_t>, const Asked<Q>&);                                \
  template Decisions decide_by_svms(const Context&, const KnnOptions&, std::span<const double>,                      \
                                    std::span<const LocalSetting>, const Dataset<T>&, const Labels&, const SvmRows&, \
                                    const Asked<Q>&);
SHEAF_LOCAL(float, float)
SHEAF_LOCAL(double, float)
SHEAF_LOCAL(double, double)
#undef SHEAF_LOCAL

}  // namespace sheaf::neighbors
