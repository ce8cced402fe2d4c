// Values that the tests of studies compute again by plain loops: held-out rows, single fits, and their scores.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include <sheaf/search.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "linear_tables.hpp"
#include "search/plan/make_search.hpp"

namespace sheaf::test {

struct Study {
  SearchSpace family{NetOptions{}};
  SearchOptions options;
};

inline Study small_study() {
  Study study;
  study.options.full = false;
  study.options.outer = 4;
  study.options.folds = 3;
  study.options.outer_fraction = 0.3;
  study.family["alpha"] = {0.5, 0.2, 0.1, 0.05, 0.02};
  study.family["l1-ratio"] = {0.3, 1};
  study.family.get<NetOptions>().tolerance = 1e-12;
  study.family.get<NetOptions>().relative_l2 = false;  // as in the references
  return study;
}

inline SearchResult run_study(const Context& context, const Dataset<double>& dataset, const Study& study,
                              SearchLog* log = nullptr) {
  return search(context, dataset, study.family, study.options, log);
}

/// The labels and the plan of a study, with everything decided.
struct StudyPlan {
  StudyPlan(const Dataset<double>& dataset, const Study& study, std::uint64_t seed = 0)
      : options(study.options),
        labels(make_labels(dataset.target, "rows", dataset.rows(),
                           !takes_classes(study.family.get<NetOptions>(), dataset.target, "rows"), "")) {
    SearchSpace family = study.family;
    decide(dataset, family, options);
    plan.emplace(labels, engine::PlanRows{dataset.groups, {}}, options, seed, 1);
  }
  SearchOptions options;
  Labels labels;
  std::optional<engine::Plan> plan;
};

/// The test rows of each resample's folds, and behind them those of the resample itself.
inline std::vector<std::vector<std::int32_t>> held_out_rows(const Dataset<double>& dataset, const Study& study,
                                                            std::uint64_t seed = 0) {
  const StudyPlan made(dataset, study, seed);
  std::vector<std::vector<std::int32_t>> lists;
  for (std::int32_t k = 0; k < made.plan->outer_folds(); ++k) {
    for (std::int32_t f = 0; f < made.plan->splits(); ++f)
      lists.push_back(made.plan->test_rows(made.plan->inner_split(made.plan->level_of(k), f)));
    lists.push_back(made.plan->test_rows(made.plan->outer_split(k)));
  }
  return lists;
}

/// The rows of a table that are not in any of `lists`.
inline PlainTable without(const PlainTable& table, const std::vector<std::vector<std::int32_t>>& lists) {
  std::set<std::int32_t> out;
  for (const auto& list : lists) out.insert(list.begin(), list.end());
  PlainTable result;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (!out.contains(static_cast<std::int32_t>(i))) {
      result.rows.push_back(table.rows[i]);
      result.labels.push_back(table.labels[i]);
    }
  return result;
}

/// `Net`: anything with an intercept, features and weights.
template <class Net>
double decision(const PlainTable& table, std::int32_t row, const Net& net) {
  double z = net.intercept;
  for (const auto& [j, value] : table.rows[static_cast<std::size_t>(row)])
    for (std::size_t k = 0; k < net.features.size(); ++k)
      if (static_cast<std::size_t>(net.features[k]) == j) z += value * net.weights[k];
  return z;
}

template <class Net>
double plain_auc(const PlainTable& table, const std::vector<std::int32_t>& rows, const Net& net) {
  double won = 0;
  double pairs = 0;
  for (const auto a : rows)
    for (const auto b : rows) {
      if (table.labels[static_cast<std::size_t>(a)] < 0 || table.labels[static_cast<std::size_t>(b)] > 0) continue;
      const double difference = decision(table, a, net) - decision(table, b, net);
      won += difference > 0 ? 1 : difference == 0 ? 0.5 : 0;
      pairs += 1;
    }
  return won / pairs;
}

/// One model on rows of its own: no path, no sheaf.
inline NetModel fit_alone(const PlainTable& table, std::size_t features, double alpha, double l1_ratio, Loss loss,
                          const std::vector<float>& row_weights = {}) {
  const auto dataset = dataset_of<double>(table, features);
  NetSheaf sheaf;
  sheaf.examples = dataset.rows();
  sheaf.targets = table.labels;
  sheaf.row_weights = row_weights;
  sheaf.paths.push_back({0, 0, l1_ratio, {alpha}});
  NetParams params;
  params.loss = loss;
  params.tolerance = 1e-13;
  return elastic_nets(Context(), dataset, sheaf, params).front();
}

}  // namespace sheaf::test
