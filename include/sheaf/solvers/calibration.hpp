// Probabilities from decision values, learnt on rows that the models which made the values had not seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf {

enum class CalibrationMethod : std::uint8_t {
  platt,     ///< 1 / (1 + exp(slope * decision + offset)), by maximum likelihood (Platt 1999; Lin, Lin, Weng 2007)
  isotonic,  ///< the non-decreasing steps of least squares, straight in between
};
std::string_view to_string(CalibrationMethod method);

/// Two classes have one curve, for class 0; more have one for each class, whose values are divided by their sum.
struct Calibration {
  struct Curve {
    double slope = 0, offset = 0;    ///< platt
    std::vector<double> at, values;  ///< isotonic: corners, ascending
  };
  CalibrationMethod method = CalibrationMethod::platt;
  std::vector<Curve> curves;

  /// rows x classes. `decisions`: rows x curves.
  std::vector<double> probabilities(std::span<const double> decisions) const;
};

/// `decisions`: rows x columns, one column for two classes and one a class for more; `classes`: that of each row.
Calibration learn_calibration(CalibrationMethod method, std::span<const double> decisions, std::int32_t columns,
                              std::span<const std::int32_t> classes);

/// Predictions of similar probability, and how often they came true.
struct ReliabilityBin {
  double low = 0, high = 1;  ///< of the probabilities; low belongs to the first bin alone
  std::int64_t rows = 0;
  double probability = 0;  ///< mean; NaN without rows
  double share = 0;        ///< of the rows that are positive; NaN without rows
};
/// Bins of equal width, also those without rows.
std::vector<ReliabilityBin> reliability(std::span<const double> probabilities, std::span<const std::uint8_t> positive,
                                        std::int32_t bins = 10);
/// The mean distance of the probabilities of bins from their shares, weighted by their rows.
double expected_calibration_error(std::span<const ReliabilityBin> bins);

}  // namespace sheaf
