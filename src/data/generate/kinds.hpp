// Shared by the kinds of generated datasets. Included by src/data/generate/*.cpp only.
//
// Every row and every table of feature parameters draws from a random stream of its own, named by purpose and index, so
// rows can be made in any order by any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/generate.hpp>

#include "core/parallel.hpp"
#include "core/random.hpp"

namespace sheaf::generating {

/// The options with every default filled in and checked.
struct Plan {
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t informative = 0;
  std::int64_t redundant = 0;
  double row_nonzeros = 0;  ///< expected, sparse kinds only
  std::int32_t classes = 2;
  double noise = 0;
  double effect = 1;
  std::uint64_t seed = 0;
  const Context* context = nullptr;
};

enum class Purpose : std::uint8_t { labels, flips, choice, features, clusters, rows };

inline Random stream(const Plan& plan, Purpose purpose, std::int64_t index = 0) {
  return Random(plan.seed, (static_cast<std::uint64_t>(purpose) << 40) + static_cast<std::uint64_t>(index));
}

/// 0 .. count-1 in random order.
std::vector<std::int32_t> permutation(Random random, std::int64_t count);

/// `count` different numbers of 0 .. from-1, ascending.
std::vector<std::int64_t> choose(Random random, std::int64_t from, std::int64_t count);

/// The class of each row, as equally many of each as can be, in random order.
std::vector<std::int32_t> balanced_classes(const Plan& plan);

/// Labels from classes: a fraction `plan.noise` is moved to another class, then spelled by `names`. Names that are
/// numbers give values too.
Target label(const Plan& plan, std::vector<std::int32_t> classes, const std::vector<std::string>& names);

/// The two names for two classes, else prefix1, prefix2, ...
std::vector<std::string> spell_classes(const Plan& plan, std::string_view first, std::string_view second,
                                       std::string_view prefix);

/// prefix00017: positions from 1, padded to equal length and to at least five digits.
std::vector<std::string> numbered_names(std::string_view prefix, std::int64_t count);

/// Planted feature number m marks class m % classes: it rises there and falls a little elsewhere, by `strength` in all.
struct Marker {
  std::int32_t marked = 0;
  double rise = 0;
  double fall = 0;

  Marker(const Plan& plan, std::int64_t m, double strength)
      : marked(static_cast<std::int32_t>(m % plan.classes)),
        rise(strength * (plan.classes - 1) / plan.classes),
        fall(-strength / plan.classes) {}
  double shift(std::int32_t row_class) const { return row_class == marked ? rise : fall; }
  double weight(const Plan& plan) const { return plan.classes == 2 && marked == 0 ? fall - rise : rise - fall; }
};

std::vector<Marker> make_markers(const Plan& plan, double strength);
std::vector<double> marker_weights(const Plan& plan, const std::vector<Marker>& markers);

/// For each feature its number among `informative`, or -1.
std::vector<std::int32_t> informative_numbers(const Plan& plan, const std::vector<std::int64_t>& informative);

/// A dense matrix whose row i is written by fill(i, row).
template <class T, class Fill>
DenseMatrix<T> dense_rows(const Plan& plan, Fill&& fill) {
  DenseMatrix<T> x{plan.rows, plan.features, Array<T>(plan.rows * plan.features)};
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 14) / std::max<std::int64_t>(plan.features, 1));
  const std::int64_t parts = (plan.rows + grain - 1) / grain;
  Stage stage(plan.context->progress(), "generating", plan.rows);
  parallel_for(*plan.context, parts, [&](std::int64_t part) {
    const Range range = part_of(plan.rows, parts, part);
    for (std::int64_t i = range.begin; i < range.end; ++i) fill(i, x.values.data() + i * plan.features);
    stage.advance(range.end - range.begin);
  });
  return x;
}

template <class T>
Generated<T> make_microbes(const Plan& plan);
template <class T>
Generated<T> make_classification(const Plan& plan);
template <class T>
Generated<T> make_text(const Plan& plan);
template <class T>
Generated<T> make_regression(const Plan& plan);
template <class T>
Generated<T> make_genes(const Plan& plan);

}  // namespace sheaf::generating
