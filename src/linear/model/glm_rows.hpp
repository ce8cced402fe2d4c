// Loops over the training rows of a generalised linear model, for its statistics.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <sheaf/solvers/glm.hpp>

namespace sheaf::linear {

/// In a sheaf of one task.
inline double weight_of(const GlmSheaf& sheaf, std::size_t row) {
  return sheaf.row_weights.empty() ? 1.0 : static_cast<double>(sheaf.row_weights[row]);
}

/// Calls term(row, weight) for the rows of weight above 0.
template <class Term>
void over_rows(const GlmSheaf& sheaf, Term&& term) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(sheaf.examples); ++i)
    if (const double weight = weight_of(sheaf, i); weight > 0) term(i, weight);
}

inline double total_weight(const GlmSheaf& sheaf) {
  double sum = 0;
  over_rows(sheaf, [&](std::size_t, double weight) { sum += weight; });
  return sum;
}

inline double log_sum_exp(std::span<const double> z) {
  const double most = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (const double value : z) sum += std::exp(value - most);
  return most + std::log(sum);
}

}  // namespace sheaf::linear
