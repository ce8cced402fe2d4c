// The class that the decision values of a row choose, and a value for each class: once for both devices.
#pragma once

#include <cmath>
#include <cstdint>

#include <sheaf/solvers/svm.hpp>

#include "core/host_device.hpp"

namespace sheaf::kernel {

/// How the binary SVMs of a model choose among its classes. `z` are their decision values of one row, `present` says
/// which classes have rows (nullptr: all); SVMs that lack a side take no part.
struct ClassChoice {
  std::int32_t classes = 0;  ///< 0: a regression or one class, which choose none
  bool rest = false;  ///< SVM c: class c against the others; else one for each pair: (0, 1), (0, 2) ... (1, 2) ...
  bool votes = true;  ///< the class of most votes is chosen; else that of the largest sum

  static ClassChoice of(SvmKind kind, std::size_t class_count, MultiClass multi_class, ClassRule rule) {
    if (!is_classification(kind)) return {};
    const bool against_rest = multi_class == MultiClass::one_vs_rest && class_count > 2;
    const bool by_votes = rule == ClassRule::votes || (rule == ClassRule::automatic && !against_rest);
    return {static_cast<std::int32_t>(class_count), against_rest, by_votes};
  }

  SHEAF_HOST_DEVICE std::int32_t svms() const {
    if (classes == 0) return 1;
    return rest ? classes : classes * (classes - 1) / 2;
  }
  /// Values of a row: one for each of three classes or more.
  SHEAF_HOST_DEVICE std::int32_t columns() const { return classes > 2 ? classes : 1; }

  /// The values and the choice of model m for one row, whose decision values, values and choices are those of all
  /// models.
  SHEAF_HOST_DEVICE void decide(std::int32_t m, const double* decisions, const std::uint8_t* present, double* values,
                                std::int32_t* predicted) const {
    const double* z = decisions + static_cast<std::int64_t>(m) * svms();
    const auto* own = present == nullptr ? nullptr : present + static_cast<std::int64_t>(m) * classes;
    predicted[m] = choose(z, own);
    for (std::int32_t c = 0; c < columns() && values != nullptr; ++c)
      values[static_cast<std::int64_t>(m) * columns() + c] = value(c, z, own);
  }

  SHEAF_HOST_DEVICE std::int32_t choose(const double* z, const std::uint8_t* present) const {
    std::int32_t best = -1;
    double most = 0;
    for (std::int32_t c = 0; c < classes; ++c) {
      if (!has(c, present)) continue;
      const double own = votes ? votes_for(c, z, present) : sum_for(c, z, present);
      if (best >= 0 && !(own > most)) continue;
      best = c;
      most = own;
    }
    return best < 0 ? 0 : best;
  }

  /// The largest is that of the chosen class except in ties: the decision value of an SVM against the rest, or the
  /// votes of pairs and their decision values as fractions. Two classes: above 0 for the first.
  SHEAF_HOST_DEVICE double value(std::int32_t c, const double* z, const std::uint8_t* present) const {
    if (columns() == 1) return z[0];
    const double sum = sum_for(c, z, present);
    return rest ? sum : votes_for(c, z, present) + sum / (3 * (std::abs(sum) + 1));
  }

 private:
  SHEAF_HOST_DEVICE static bool has(std::int32_t c, const std::uint8_t* present) {
    return present == nullptr || present[c] != 0;
  }
  /// The SVM of classes i < j.
  SHEAF_HOST_DEVICE std::int32_t pair(std::int32_t i, std::int32_t j) const {
    return i * (2 * classes - i - 1) / 2 + j - i - 1;
  }
  SHEAF_HOST_DEVICE double votes_for(std::int32_t c, const double* z, const std::uint8_t* present) const {
    double sum = 0;
    for (std::int32_t k = 0; k < classes; ++k) {
      if (rest) {
        if (has(k, present) && (k == c) == (z[k] > 0)) sum += 1;
      } else if (k != c && has(k, present) && has(c, present)) {
        sum += (c < k ? z[pair(c, k)] > 0 : !(z[pair(k, c)] > 0)) ? 1 : 0;
      }
    }
    return sum;
  }
  SHEAF_HOST_DEVICE double sum_for(std::int32_t c, const double* z, const std::uint8_t* present) const {
    if (rest) return has(c, present) ? z[c] : 0;
    double sum = 0;
    for (std::int32_t k = 0; k < classes; ++k)
      if (k != c && has(k, present) && has(c, present)) sum += c < k ? z[pair(c, k)] : -z[pair(k, c)];
    return sum;
  }
};

}  // namespace sheaf::kernel
