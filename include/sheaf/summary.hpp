// What a table holds, as `sheaf info` tells it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

struct FeatureSummary {
  std::int64_t nonzeros = 0;
  double minimum = 0, maximum = 0, mean = 0, deviation = 0;  ///< over all rows, zeros included
};

struct Summary {
  std::int64_t rows = 0, features = 0, stored = 0, nonzeros = 0;
  bool sparse = false;
  bool integers_only = false;  ///< every value is an integer
  double minimum = 0, maximum = 0;
  std::int64_t constant_features = 0;  ///< all-zero ones included
  std::int64_t zero_features = 0;
  std::int64_t empty_rows = 0;
  std::int64_t shortest_row = 0, longest_row = 0;    ///< in non-zeros
  std::vector<std::int64_t> row_nonzeros_histogram;  ///< log2 buckets: [0], [1], [2,3], [4,7] ...
  std::vector<FeatureSummary> per_feature;
  std::vector<std::int64_t> class_counts;  ///< one per class name; empty for regression
  double target_minimum = 0, target_maximum = 0, target_mean = 0, target_deviation = 0;
  std::int64_t groups = 0;
};

/// Bytes to hold the table and one block of `tasks` linear models on a device.
struct MemoryNeed {
  std::int64_t matrix_cpu = 0;        ///< as read
  std::int64_t resident_cpu = 0;      ///< with the second order that sparse products need
  std::int64_t resident_gpu = 0;
  std::int64_t per_task = 0;          ///< working blocks of one linear model
};

template <class T>
Summary summarize(const Context& context, const Dataset<T>& dataset);

/// For elements of `element_bytes` bytes (4 or 8).
MemoryNeed memory_need(const Summary& summary, int element_bytes);

}  // namespace sheaf
