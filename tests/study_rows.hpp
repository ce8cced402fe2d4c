// What the tests of studies compute again by plain loops: rows left out, single fits, and their scores.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include <sheaf/study.hpp>

#include "linear/model/net_problem.hpp"
#include "linear_tables.hpp"
#include "search/study_plan.hpp"

namespace sheaf::test {

inline StudyOptions small_study() {
  StudyOptions options;
  options.splits = 4;
  options.folds = 3;
  options.test_fraction = 0.3;
  options.alphas = {0.5, 0.2, 0.1, 0.05, 0.02};
  options.l1_ratios = {0.3, 1};
  options.net.tolerance = 1e-12;
  return options;
}

/// The rows that splits and folds leave out, as the plan of a study tells them.
inline std::vector<std::vector<std::int32_t>> left_out_rows(const Dataset<double>& dataset, const StudyOptions& options,
                                                            std::uint64_t seed = 0) {
  const auto ready = decided(options, dataset.target, !dataset.groups.empty(), "rows");
  const auto made = linear::make_net_problem(Context(), dataset.target, "rows", dataset.rows(), ready.net, {});
  const search::StudyPlan plan(made.problem, dataset.groups, ready, seed, 1);
  const auto tests = plan.tests(0, ready.splits);
  std::vector<std::vector<std::int32_t>> lists;
  for (std::int32_t k = 0; k < tests.count(); ++k)
    lists.emplace_back(tests.rows.begin() + tests.begin(k), tests.rows.begin() + tests.begin(k + 1));
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

inline double decision(const PlainTable& table, std::int32_t row, const NetModel& net) {
  double z = net.intercept;
  for (const auto& [j, value] : table.rows[static_cast<std::size_t>(row)])
    for (std::size_t k = 0; k < net.features.size(); ++k)
      if (static_cast<std::size_t>(net.features[k]) == j) z += value * net.weights[k];
  return z;
}

inline double plain_auc(const PlainTable& table, const std::vector<std::int32_t>& rows, const NetModel& net) {
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
