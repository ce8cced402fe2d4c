// What a table holds, as `sheaf info` tells it.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

/// Over all rows, the zeros that sparse data leave out included; all 0 for a table without rows.
struct FeatureSummary {
  std::int64_t nonzeros = 0;  ///< values that differ from 0; stored zeros do not count
  double minimum = 0;
  double maximum = 0;
  double mean = 0;
  double deviation = 0;  ///< standard deviation, divided by n
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
  std::vector<std::int64_t> row_nonzeros_histogram;  ///< log2 buckets: [0], [1], [2,3], [4,7] ...; as many as needed
  std::vector<FeatureSummary> per_feature;
  std::vector<std::int64_t> class_counts;  ///< one per class name; empty where labels do not look like classes
  double target_minimum = 0, target_maximum = 0, target_mean = 0, target_deviation = 0;  ///< of labels that are numbers
  std::int64_t groups = 0;
};

/// Bytes to hold a table on a device and to train linear models on it there.
struct MemoryNeed {
  std::int64_t matrix_cpu = 0;    ///< as read: all values, or the values, 32-bit indices and 64-bit offsets of CSR
  std::int64_t resident_cpu = 0;  ///< sparse data: with their transpose (CSC), which the other product needs
  std::int64_t resident_gpu = 0;  ///< the same there
  std::int64_t per_task = 0;      ///< one model of a block: 6 vectors of length `features`, 4 of length `rows`
};

/// One pass over the matrix. The same bits for any number of threads.
template <class T>
Summary summarize(const Context& context, const Dataset<T>& dataset);

/// For elements of `element_bytes` bytes (4 or 8).
MemoryNeed memory_need(const Summary& summary, int element_bytes);

}  // namespace sheaf
