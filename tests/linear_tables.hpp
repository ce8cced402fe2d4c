// Tables with a linear truth for the tests of linear models.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include <fmt/format.h>

#include <sheaf/solvers/linear.hpp>

#include "core/random.hpp"
#include "linear_objective.hpp"
#include "tables.hpp"

namespace sheaf::test {

inline Context on(Device device, std::uint64_t seed = 0) {
  Context::Options options;
  options.device = device;
  options.threads = 2;
  options.seed = seed;
  return Context(options);
}

/// Rows of noise whose label follows the first features; labels -1 / +1, 1 .. classes, or numbers (classes 0).
inline PlainTable make_table(std::size_t rows, std::size_t features, int classes, std::uint64_t seed) {
  Random random(seed);
  PlainTable table;
  for (std::size_t i = 0; i < rows; ++i) {
    auto& row = table.rows.emplace_back();
    for (std::size_t j = 0; j < features; ++j)
      if (random.uniform() < 0.6) row.emplace_back(j, std::round(random.normal() * 64) / 64);
    double score = 0.5 * random.normal();
    for (const auto& [j, value] : row) score += j < 4 ? value : 0;
    if (classes == 0)
      table.labels.push_back(score);
    else if (classes == 2)
      table.labels.push_back(score > 0.4 ? 1 : -1);
    else
      table.labels.push_back(1 +
                             static_cast<double>((static_cast<int>(std::floor(score)) % classes + classes) % classes));
  }
  return table;
}

inline Target target_of(const std::vector<double>& labels) {
  Target target;
  target.values = labels;
  std::map<double, std::int32_t> known;
  for (const double label : labels) {
    const auto [at, added] = known.try_emplace(label, static_cast<std::int32_t>(known.size()));
    if (added) target.class_names.push_back(fmt::format("{}", label));
    target.classes.push_back(at->second);
  }
  return target;
}

template <class T>
Dataset<T> dataset_of(const PlainTable& table, std::size_t features, bool sparse = true) {
  Rows rows(table.rows.size(), std::vector<double>(features, 0.0));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const auto& [j, value] : table.rows[i]) rows[i][j] = value;
  Dataset<T> dataset;
  if (sparse)
    dataset.x = sparse_of<T>(rows, static_cast<std::int64_t>(features));
  else
    dataset.x = dense_of<T>(rows, static_cast<std::int64_t>(features));
  dataset.target = target_of(table.labels);
  dataset.source = "rows";
  return dataset;
}

struct Kind {
  Loss loss;
  int classes;
};
inline const std::vector<Kind> kinds{{Loss::logistic, 2},
                                     {Loss::logistic, 4},
                                     {Loss::squared_hinge, 2},
                                     {Loss::squared_hinge, 3},
                                     {Loss::squared_tube, 0}};

}  // namespace sheaf::test
