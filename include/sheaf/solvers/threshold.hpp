// From which decision value on the positive one of two classes is predicted, chosen on rows that the models which made
// the values had not seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sheaf {

enum class ThresholdRule : std::uint8_t {
  youden,       ///< the largest sum of sensitivity and specificity (Youden 1950)
  cost,         ///< the smallest total cost of rows that are predicted wrong
  sensitivity,  ///< the largest specificity of those that find at least a given share of the positive rows
};

struct ThresholdOptions {
  ThresholdRule rule = ThresholdRule::youden;
  double false_positive = 1;  ///< cost: of one row that is wrongly predicted positive
  double false_negative = 1;  ///< cost: of one positive row that is missed
  double sensitivity = 0.9;   ///< sensitivity: the least share of the positive rows

  bool operator==(const ThresholdOptions&) const = default;
};
/// "youden", "cost:FP:FN" with two costs of 0 or more, "sensitivity:S" with S above 0 and at most 1. Anything else is a
/// UsageError.
ThresholdOptions parse_threshold(std::string_view text);
/// The text that parse_threshold() reads.
std::string to_string(const ThresholdOptions& options);

struct Threshold {
  ThresholdOptions options;
  double value = 0;  ///< rows with at least this decision value for the positive class are predicted as it
  // On the rows that it was chosen on: a little too good.
  double sensitivity = 0;  ///< share of the positive rows that is found
  double specificity = 0;  ///< share of the other rows that is found
};

/// `values`: decision values for the positive class. The threshold stands in the middle between two neighbouring
/// values; of equally good ones it is the largest. Rows of a single class are an Error.
Threshold choose_threshold(const ThresholdOptions& options, std::span<const double> values,
                           std::span<const std::uint8_t> positive);

}  // namespace sheaf
