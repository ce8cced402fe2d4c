// The multi-class SVM of Crammer and Singer: the update of one row's dual variables, one for each class. Written once
// for both devices.
//
// min over w_1 ... w_K of sum of w_c'w_c / 2 + sum over rows of cost * (largest of e_c + z_c - z_y), with z_c = x'w_c,
// y the class of the row, e_y = 0 and other e_c = 1. Its dual: min over a of sum of w_c'w_c / 2 + sum over rows and
// classes of e_c a_c, with w_c = sum of a_c x; a_y is at most the cost, other a_c at most 0, and the a_c of a row sum
// up to 0. With the gradients g_c = z_c + e_c a row is optimal if no variable that may grow has a smaller gradient than
// another one. The duality gap is a sum over rows: cost * (largest g_c - g_y) + sum of a_c g_c, which is never
// negative.
//
// Keerthi, Sundararajan, Chang, Hsieh, Lin 2008, with LIBLINEAR's shrinking: a class at its bound whose gradient is
// below all of those that may grow is left out for this row. Differences: the level b below is found by repeated means
// (as Michelot 1986 projects onto a simplex) and not by sorting, so that the classes of a row can be shared by a warp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/host_device.hpp"
#include "linear/dual/ops.hpp"

namespace sheaf::linear::dual {

/// A violation of optimality up to this is left alone, and so are smaller differences of a variable, as in LIBLINEAR.
constexpr double least_violation = 1e-12;

/// One row of one model. The best variables for fixed others are a_c + min(bound - a_c, (b - g_c) / q), for the level b
/// at which they sum up to 0.
template <class T>
struct MultiClassRow {
  T cost;
  T q;  // x'x

  /// Rows without entries move no weights; some curvature lets their variables come to their bounds.
  SHEAF_HOST_DEVICE static T curvature(T squares, T cost) { return squares > 0 ? squares : T(1e-3) / cost; }

  SHEAF_HOST_DEVICE static T gradient(T z, bool own) { return own ? z : z + T(1); }
  SHEAF_HOST_DEVICE T bound(bool own) const { return own ? cost : T(0); }
  SHEAF_HOST_DEVICE bool at_bound(T a, bool own) const { return a >= bound(own); }
  /// The level from which on the variable is at its bound.
  SHEAF_HOST_DEVICE T level(T g, T a, bool own) const { return g + q * (bound(own) - a); }
  /// From the sum and the number of the levels above b.
  SHEAF_HOST_DEVICE T next_level(T sum, int count) const { return (sum - q * cost) / static_cast<T>(count); }
  SHEAF_HOST_DEVICE T best(T g, T a, bool own, T b) const {
    return b >= level(g, a, own) ? bound(own) : a + (b - g) / q;
  }
};

/// Layout of a block's variables in memory: for each row those of all models side by side, each model's classes in a
/// row; the weights of a feature alike. One bit for each class of a row tells whether a model still visits it, in words
/// of its own.
struct MultiClassLayout {
  std::int32_t models = 1;
  std::int32_t classes = 1;
  std::int32_t stride = 1;  // columns, with padding

  SHEAF_HOST_DEVICE std::int32_t words() const { return (classes + 31) / 32; }
  SHEAF_HOST_DEVICE std::int32_t column(std::int32_t model, std::int32_t c) const { return model * classes + c; }
  SHEAF_HOST_DEVICE std::int64_t word(std::int64_t row, std::int32_t model) const {
    return (row * models + model) * words();
  }
  /// The bits of all classes in a word.
  SHEAF_HOST_DEVICE std::uint32_t all(std::int32_t word) const {
    const std::int32_t rest = classes - 32 * word;
    return rest >= 32 ? ~0U : (1U << rest) - 1;
  }
};

/// The layout with as many models as fill `most_columns` columns; `padding` divides the stride.
inline MultiClassLayout multiclass_layout(std::int32_t classes, std::int32_t models, std::int32_t most_columns,
                                          std::int32_t padding) {
  MultiClassLayout layout;
  layout.classes = classes;
  layout.models = std::clamp(most_columns / classes, 1, std::max(models, 1));
  layout.stride = (layout.models * classes + padding - 1) / padding * padding;
  return layout;
}

/// The class of each row; -1: of none, so that it is not trained on.
std::vector<std::int32_t> classes_of(const Sheaf& sheaf);

/// rows x models: the cost of each row, 0 if the model does not train on it. `tasks`: those of the models' classes.
template <class T>
std::vector<T> multiclass_costs(const Sheaf& sheaf, std::span<const std::int32_t> classes,
                                const MultiClassLayout& layout, std::span<const Task> tasks, std::span<Start> starts);

template <class Set, class T>
std::unique_ptr<DualOps<T>> make_cpu_multiclass_ops(const Context& context, const Dataset<T>& dataset,
                                                    const Sheaf& sheaf, T bias);
template <class T>
std::unique_ptr<DualOps<T>> make_cuda_multiclass_ops(const Context& context, const Dataset<T>& dataset,
                                                     const Sheaf& sheaf, T bias);

}  // namespace sheaf::linear::dual
