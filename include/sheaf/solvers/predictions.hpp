// The predictions of a model of any kind for a dataset, and how they compare with its labels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf {

struct Predictions {
  std::int64_t rows = 0;
  std::int32_t columns = 1;
  std::vector<double> decisions;      ///< rows x columns; regression: the predictions themselves
  std::vector<std::int32_t> classes;  ///< one a row; regression: none
  std::vector<double> probabilities;  ///< rows x classes, if requested
  std::vector<std::string> warnings;  ///< differences of the dataset from that of training
};

/// How predictions compare with labels.
struct Score {
  std::int64_t rows = 0;
  std::int64_t correct = 0;        ///< classification
  double squared_error = 0;        ///< regression: its mean
  double squared_correlation = 0;  ///< regression
  double accuracy() const { return rows > 0 ? static_cast<double>(correct) / static_cast<double>(rows) : 0; }
};
Score score_values(std::span<const double> predicted, std::span<const double> truth);

/// Labels that are numbers are the same if their values are ("+1" and "1.0"), others where their letters are. Returns a
/// spelling that is the same for labels that are the same.
std::string canonical_label(std::string_view label);

}  // namespace sheaf
