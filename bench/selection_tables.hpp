// Tables of states in the shapes of the CUDA-JMI paper: made, not read, so that anyone can run the benchmark.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/io.hpp>
#include <sheaf/solvers/binning.hpp>

#include "core/parallel.hpp"
#include "core/random.hpp"

namespace sheaf::bench {

struct SelectionShape {
  std::string name;
  std::int64_t features = 0;
  std::int64_t rows = 0;
  std::int32_t classes = 2;
  std::int64_t nonzeros = 0;  ///< 0: dense
  std::int32_t bins = 64;
};

struct SelectionData {
  SelectionShape shape;
  BinnedTable table;
  BinnedTarget target;
};

inline BinnedTarget random_classes(std::int64_t rows, std::int32_t classes) {
  BinnedTarget target;
  Random random(3);
  for (std::int64_t i = 0; i < rows; ++i)
    target.classes.push_back(i < classes
                                 ? static_cast<std::int32_t>(i)
                                 : static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
  for (std::int32_t y = 0; y < classes; ++y) target.names.push_back(std::to_string(y));
  return target;
}

/// Nearly normal and cheap: the sum of eight bytes of one draw, mean 0, standard deviation 1.
inline double quick_normal(Random& random) {
  std::uint64_t bits = random.bits();
  int sum = 0;
  for (int k = 0; k < 8; ++k, bits >>= 8) sum += static_cast<int>(bits & 0xff);
  return (sum - 1020) / 209.0;
}

/// A tenth of the features follow the class, each with its own strength; all share a little of the row's own level, as
/// pixels of one picture do. Equal bins over +-3.2 standard deviations.
inline SelectionData dense_data(const SelectionShape& shape, int threads) {
  SelectionData data{shape, {}, random_classes(shape.rows, shape.classes)};
  data.table.rows = shape.rows;
  data.table.features = shape.features;
  data.table.states.assign(static_cast<std::size_t>(shape.features), shape.bins);
  std::vector<double> level(static_cast<std::size_t>(shape.rows));
  Random rows(4);
  for (double& value : level) value = quick_normal(rows);
  Array<std::uint8_t> codes(shape.rows * shape.features);
  parallel_for(threads, shape.features, [&](std::int64_t j) {
    Random random(5, static_cast<std::uint64_t>(j));
    std::vector<double> shift(static_cast<std::size_t>(shape.classes));
    const double strength = random.uniform() < 0.1 ? random.uniform() : 0.1 * random.uniform();
    for (double& value : shift) value = strength * random.normal();
    std::uint8_t* column = codes.data() + j * shape.rows;
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      const auto s = static_cast<std::size_t>(i);
      const double x = 0.3 * level[s] + quick_normal(random) + shift[static_cast<std::size_t>(data.target.classes[s])];
      const double bin = std::floor((x + 3.2) / 6.4 * shape.bins);
      column[i] = static_cast<std::uint8_t>(std::clamp(bin, 0.0, static_cast<double>(shape.bins - 1)));
    }
  });
  data.table.codes = DenseCodes(std::move(codes));
  return data;
}

/// Words: a few are common and most are rare (Zipf), and a twentieth are more frequent in some classes.
inline SelectionData sparse_data(const SelectionShape& shape) {
  SelectionData data{shape, {}, random_classes(shape.rows, shape.classes)};
  Random random(6);
  double harmonic = 0;
  for (std::int64_t j = 0; j < shape.features; ++j) harmonic += 1.0 / static_cast<double>(j + 10);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> examples;
  std::vector<std::uint16_t> states;
  for (std::int64_t j = 0; j < shape.features; ++j) {
    const double share =
        static_cast<double>(shape.nonzeros) / harmonic / static_cast<double>(j + 10) / static_cast<double>(shape.rows);
    const bool informative = random.uniform() < 0.05;
    std::vector<double> factor(static_cast<std::size_t>(shape.classes), 1.0);
    for (double& value : factor)
      if (informative) value = 2 * random.uniform();
    // Steps between occurrences at the highest rate, thinned to each row's own.
    const double rate = std::min(0.9, 2 * share);
    std::int64_t i = -1;
    while (true) {
      i += 1 + static_cast<std::int64_t>(random.exponential() / -std::log1p(-rate));
      if (i >= shape.rows) break;
      if (random.uniform() > factor[static_cast<std::size_t>(data.target.classes[static_cast<std::size_t>(i)])] / 2)
        continue;
      examples.push_back(static_cast<std::int32_t>(i));
      const double weight = std::min(0.999, 0.2 + 0.15 * std::abs(quick_normal(random)));
      states.push_back(static_cast<std::uint16_t>(std::max(1.0, weight * shape.bins)));
    }
    offsets.push_back(static_cast<std::int64_t>(examples.size()));
  }
  data.table.rows = shape.rows;
  data.table.features = shape.features;
  data.table.states.assign(static_cast<std::size_t>(shape.features), shape.bins);
  const std::vector<std::uint16_t> common(static_cast<std::size_t>(shape.features), 0);
  data.table.codes = SparseCodes{Array<std::int64_t>::copy_of(offsets), Array<std::int32_t>::copy_of(examples),
                                 Array<std::uint16_t>::copy_of(states), Array<std::uint16_t>::copy_of(common)};
  return data;
}

inline SelectionData make_data(const SelectionShape& shape, int threads) {
  return shape.nonzeros > 0 ? sparse_data(shape) : dense_data(shape, threads);
}

/// A table from a file, each feature in bins of equal width.
inline SelectionData read_data(const Context& context, const std::string& path, std::int32_t bins) {
  ReadOptions options;
  options.storage = Storage::dense;
  const auto read = read_dataset<double>(context, path, options);
  const auto& x = std::get<DenseMatrix<double>>(read.x);
  SelectionData data;
  data.shape = {"file", x.columns, x.rows, static_cast<std::int32_t>(read.target.class_names.size()), 0, bins};
  data.target.classes.assign(read.target.classes.begin(), read.target.classes.end());
  data.target.names = read.target.class_names;
  data.table.rows = x.rows;
  data.table.features = x.columns;
  data.table.states.assign(static_cast<std::size_t>(x.columns), bins);
  Array<std::uint8_t> codes(x.rows * x.columns);
  for (std::int64_t j = 0; j < x.columns; ++j) {
    double low = x.values[j];
    double high = low;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      low = std::min(low, x.values[i * x.columns + j]);
      high = std::max(high, x.values[i * x.columns + j]);
    }
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const double at = high > low ? (x.values[i * x.columns + j] - low) * (bins / (high - low)) : 0;
      codes[j * x.rows + i] = static_cast<std::uint8_t>(std::min(at, bins - 1.0));
    }
  }
  data.table.codes = DenseCodes(std::move(codes));
  return data;
}

}  // namespace sheaf::bench
