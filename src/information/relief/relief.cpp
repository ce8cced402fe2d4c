// relief (Kira and Rendell 1992, as in FEAST): for every row the nearest of its class, the hit, and the nearest of
// another, the miss, by Euclidean distance; a feature's weight is the mean over rows of the squared difference to
// the miss less that to the hit, differences divided by the feature's range.
//
// relieff (Kononenko 1994): k nearest hits, and k nearest misses of each other class weighted by how frequent that
// class is among the others; absolute differences over the range, in distances and weights alike.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <sheaf/selection.hpp>
#include <sheaf/solvers/matrix.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "information/relief/relief.hpp"
#include "information/relief/relief_ops.hpp"

namespace sheaf {
namespace information {
namespace {

/// Feature-major numbers, and the data that belong to them.
struct Numbers {
  std::int64_t examples = 0;
  std::int64_t features = 0;
  std::vector<double> values;
  std::vector<double> ranges;  ///< 0 for a constant feature
  std::vector<std::int32_t> classes;
  std::vector<std::int64_t> class_counts;

  double at(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(j * examples + i)]; }
  std::int32_t class_of(std::int64_t i) const { return classes[static_cast<std::size_t>(i)]; }
};

Numbers read_numbers(const Context& context, const Matrix<double>& x, const BinnedTarget& target) {
  Numbers numbers;
  numbers.examples = rows(x);
  numbers.features = columns(x);
  numbers.values.resize(static_cast<std::size_t>(numbers.examples * numbers.features));
  numbers.ranges.resize(static_cast<std::size_t>(numbers.features), 0.0);
  const auto fill = [&](const DenseMatrix<double>& dense) {
    parallel_ranges(context, dense.columns, 1, [&](Range range) {
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        double* column = numbers.values.data() + j * dense.rows;
        for (std::int64_t i = 0; i < dense.rows; ++i) column[i] = dense.values[i * dense.columns + j];
        const auto [low, high] = std::minmax_element(column, column + dense.rows);
        if (dense.rows > 0) numbers.ranges[static_cast<std::size_t>(j)] = *high - *low;
      }
    });
  };
  if (const auto* sparse = std::get_if<SparseMatrix<double>>(&x))
    fill(to_dense(*sparse, context.threads()));
  else
    fill(std::get<DenseMatrix<double>>(x));
  numbers.classes = target.classes;
  numbers.class_counts.assign(target.names.size(), 0);
  for (const std::int32_t y : numbers.classes) ++numbers.class_counts[static_cast<std::size_t>(y)];
  return numbers;
}

/// A neighbour of a row, and the factor with which it adds to the weights.
struct Neighbour {
  std::int64_t example = 0;
  double weight = 0;
};

/// The `most` nearest of class y to row i, the first of equals first.
std::vector<std::int64_t> nearest(const Numbers& numbers, std::span<const double> distances, std::int64_t i,
                                  std::int32_t y, bool of_class, std::int64_t most) {
  std::vector<std::int64_t> found;
  for (std::int64_t k = 0; k < numbers.examples; ++k)
    if (k != i && (numbers.class_of(k) == y) == of_class) found.push_back(k);
  const auto end = found.begin() + std::min<std::ptrdiff_t>(most, std::ssize(found));
  std::partial_sort(found.begin(), end, found.end(), [&](std::int64_t a, std::int64_t b) {
    const double to_a = distances[static_cast<std::size_t>(a)];
    const double to_b = distances[static_cast<std::size_t>(b)];
    return to_a < to_b || (to_a == to_b && a < b);
  });
  found.erase(end, found.end());
  return found;
}

/// FEAST walks away from row i until it has found a hit and a miss, and keeps the last of each: if several hits lie
/// nearer than the first miss it is the farthest of them, and the other way round.
std::vector<Neighbour> relief_neighbours(const Numbers& numbers, std::span<const double> distances, std::int64_t i) {
  std::vector<std::pair<double, std::int64_t>> others;
  for (std::int64_t k = 0; k < numbers.examples; ++k)
    if (k != i) others.emplace_back(distances[static_cast<std::size_t>(k)], k);
  std::sort(others.begin(), others.end());
  std::optional<std::int64_t> hit, miss;
  for (const auto& [distance, k] : others) {
    (numbers.class_of(k) == numbers.class_of(i) ? hit : miss) = k;
    if (hit && miss) break;
  }
  std::vector<Neighbour> result;
  if (hit) result.push_back({*hit, -1});
  if (miss) result.push_back({*miss, 1});
  return result;
}

std::vector<Neighbour> relieff_neighbours(const Numbers& numbers, std::span<const double> distances, std::int64_t i,
                                          std::int64_t most) {
  const std::int32_t own = numbers.class_of(i);
  const auto others = static_cast<double>(numbers.examples - numbers.class_counts[static_cast<std::size_t>(own)]);
  std::vector<Neighbour> result;
  for (std::size_t y = 0; y < numbers.class_counts.size(); ++y) {
    const auto class_number = static_cast<std::int32_t>(y);
    const auto found = nearest(numbers, distances, i, class_number, true, most);
    const double share = class_number == own ? -1 : static_cast<double>(numbers.class_counts[y]) / others;
    for (const std::int64_t k : found) result.push_back({k, share / static_cast<double>(found.size())});
  }
  return result;
}

/// Neighbours of every row, a few hundred rows of distances at a time.
template <class Find>
std::vector<std::vector<Neighbour>> all_neighbours(const Context& context, const Numbers& numbers,
                                                   std::span<const double> values, Distance distance, Find&& find) {
  const auto ops = make_distance_ops(context, values, numbers.examples, numbers.features);
  std::vector<std::vector<Neighbour>> result(static_cast<std::size_t>(numbers.examples));
  const std::int64_t at_once =
      std::clamp<std::int64_t>((1 << 24) / std::max<std::int64_t>(numbers.examples, 1), 1, 4096);
  std::vector<double> distances;
  Stage stage(context.progress(), "finding neighbours", numbers.examples, context.stop());
  for (std::int64_t first = 0; first < numbers.examples; first += at_once) {
    const Range rows{first, std::min(numbers.examples, first + at_once)};
    distances.resize(static_cast<std::size_t>((rows.end - rows.begin) * numbers.examples));
    ops->distances(distance, rows, distances);
    parallel_for(context, rows.end - rows.begin, [&](std::int64_t r) {
      const auto begin = static_cast<std::size_t>(r * numbers.examples);
      const std::span own(distances.data() + begin, static_cast<std::size_t>(numbers.examples));
      result[static_cast<std::size_t>(first + r)] = find(own, first + r);
    });
    stage.advance(rows.end - rows.begin);
  }
  return result;
}

/// Each feature's mean over rows of weight times difference, rows in order: the same bits with any threads.
std::vector<double> feature_weights(const Context& context, const Numbers& numbers,
                                    const std::vector<std::vector<Neighbour>>& neighbours, bool squared) {
  std::vector<double> weights(static_cast<std::size_t>(numbers.features), 0.0);
  const double share = 1 / static_cast<double>(numbers.examples);  // in each term, as FEAST has it: ties follow
  parallel_ranges(context, numbers.features, 1, [&](Range range) {
    for (std::int64_t j = range.begin; j < range.end; ++j) {
      const double scale = numbers.ranges[static_cast<std::size_t>(j)];
      if (!(scale > 0)) continue;
      double sum = 0;
      for (std::int64_t i = 0; i < numbers.examples; ++i)
        for (const Neighbour& neighbour : neighbours[static_cast<std::size_t>(i)]) {
          const double difference = std::abs(numbers.at(i, j) - numbers.at(neighbour.example, j)) / scale;
          sum += squared ? neighbour.weight * share * difference * difference : neighbour.weight * share * difference;
        }
      weights[static_cast<std::size_t>(j)] = sum;
    }
  });
  return weights;
}

void check_numbers(const Numbers& numbers, const SelectionOptions& options) {
  if (!find_criterion(options.criterion).numeric)
    fail_usage("{} works on states: bin the data first", options.criterion);
  if (options.count < 1) fail_usage("{} features are asked for; at least 1 is expected", options.count);
  if (options.count > numbers.features)
    fail_usage("{} features are asked for, and there are {}", options.count, numbers.features);
  if (options.neighbours < 1) fail_usage("{} neighbours are asked for; at least 1 is expected", options.neighbours);
  if (std::ssize(numbers.classes) != numbers.examples) fail("{} needs a class for every row", options.criterion);
  const auto present =
      std::count_if(numbers.class_counts.begin(), numbers.class_counts.end(), [](auto c) { return c > 0; });
  if (present < 2) fail("all {} rows have one class; selection needs at least two classes", numbers.examples);
}

}  // namespace

Selection select_by_relief(const Context& context, const Matrix<double>& x, const BinnedTarget& target,
                           const SelectionOptions& options) {
  const Numbers numbers = read_numbers(context, x, target);
  check_numbers(numbers, options);
  const bool classic = options.criterion == "relief";
  std::vector<double> scaled;
  if (!classic) {
    scaled = numbers.values;
    for (std::size_t e = 0; e < scaled.size(); ++e) {
      const double range = numbers.ranges[e / static_cast<std::size_t>(numbers.examples)];
      scaled[e] = range > 0 ? scaled[e] / range : 0;
    }
  }
  const auto neighbours = all_neighbours(
      context, numbers, classic ? numbers.values : scaled, classic ? Distance::squared : Distance::absolute,
      [&](std::span<const double> distances, std::int64_t i) {
        return classic ? relief_neighbours(numbers, distances, i)
                       : relieff_neighbours(numbers, distances, i, options.neighbours);
      });
  const auto weights = feature_weights(context, numbers, neighbours, classic);
  std::vector<std::int64_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return weights[static_cast<std::size_t>(a)] > weights[static_cast<std::size_t>(b)];
  });
  Selection result;
  result.criterion = options.criterion;
  result.counting = "distances";
  for (std::int64_t k = 0; k < options.count; ++k) {
    SelectedFeature feature;
    feature.index = order[static_cast<std::size_t>(k)];
    feature.score = feature.gain = weights[static_cast<std::size_t>(feature.index)];
    if (feature.score < options.min_gain) {
      result.notes.push_back(fmt::format("stopped after {} of {}: the next feature weighs {:.6g}, less than {:.6g}", k,
                                         options.count, feature.score, options.min_gain));
      break;
    }
    result.selected.push_back(feature);
  }
  return result;
}

}  // namespace information

Selection select_numeric(const Context& context, const Dataset<double>& dataset, const SelectionOptions& options) {
  return information::select_by_relief(context, dataset.x, {dataset.target.classes, dataset.target.class_names},
                                       options);
}

}  // namespace sheaf
