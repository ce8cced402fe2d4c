#include <sheaf/solvers/calibration.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <sheaf/error.hpp>

#include "statistics/sigmoid.hpp"

namespace sheaf {
namespace {

using Curve = Calibration::Curve;

Curve learn_platt(std::span<const double> decisions, std::span<const std::uint8_t> positive) {
  constexpr double tolerance = 1e-10;
  std::vector<std::int8_t> sides;
  for (const auto flag : positive) sides.push_back(flag != 0 ? 1 : -1);
  const auto sigmoid = fit_sigmoid(decisions, sides, tolerance);
  return {sigmoid.a, sigmoid.b, {}, {}};
}

/// Pools neighbours that are out of order until none is: Ayer and others 1955.
Curve learn_isotonic(std::span<const double> decisions, std::span<const std::uint8_t> positive) {
  struct Pool {
    double low, high, sum, count;
    double mean() const { return sum / count; }
  };
  std::vector<std::size_t> order(decisions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return decisions[a] < decisions[b]; });
  std::vector<Pool> pools;
  for (const auto i : order) {
    const double value = positive[i] != 0 ? 1 : 0;
    if (!pools.empty() && pools.back().high == decisions[i]) {  // equal decisions have one probability
      pools.back().sum += value;
      pools.back().count += 1;
    } else {
      pools.push_back({decisions[i], decisions[i], value, 1});
    }
  }
  std::vector<Pool> merged;
  for (auto pool : pools) {
    while (!merged.empty() && merged.back().mean() >= pool.mean()) {
      pool = {merged.back().low, pool.high, merged.back().sum + pool.sum, merged.back().count + pool.count};
      merged.pop_back();
    }
    merged.push_back(pool);
  }
  Curve curve;
  for (const auto& pool : merged) {
    curve.at.push_back(pool.low);
    curve.values.push_back(pool.mean());
    if (pool.high == pool.low) continue;
    curve.at.push_back(pool.high);
    curve.values.push_back(pool.mean());
  }
  return curve;
}

double isotonic_value(const Curve& curve, double decision) {
  const auto above = std::lower_bound(curve.at.begin(), curve.at.end(), decision);
  if (above == curve.at.begin()) return curve.values.front();
  if (above == curve.at.end()) return curve.values.back();
  const auto k = static_cast<std::size_t>(above - curve.at.begin());
  const double share = (decision - curve.at[k - 1]) / (curve.at[k] - curve.at[k - 1]);
  return curve.values[k - 1] + share * (curve.values[k] - curve.values[k - 1]);
}

}  // namespace

std::string_view to_string(CalibrationMethod method) {
  return method == CalibrationMethod::platt ? "platt" : "isotonic";
}

Calibration learn_calibration(CalibrationMethod method, std::span<const double> decisions, std::int32_t columns,
                              std::span<const std::int32_t> classes) {
  require(decisions.size() == classes.size() * static_cast<std::size_t>(columns) && columns > 0,
          "decision values and classes of a calibration are not of the same rows");
  Calibration result{method, {}};
  for (std::int32_t c = 0; c < columns; ++c) {
    std::vector<double> of_column;
    std::vector<std::uint8_t> positive;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      of_column.push_back(decisions[i * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)]);
      positive.push_back(classes[i] == c ? 1 : 0);
    }
    result.curves.push_back(method == CalibrationMethod::platt ? learn_platt(of_column, positive)
                                                               : learn_isotonic(of_column, positive));
  }
  return result;
}

std::vector<double> Calibration::probabilities(std::span<const double> decisions) const {
  const auto value = [&](const Curve& curve, double decision) {
    return method == CalibrationMethod::platt ? PlattSigmoid{curve.slope, curve.offset}(decision)
                                              : isotonic_value(curve, decision);
  };
  const auto columns = curves.size();
  std::vector<double> result;
  for (std::size_t i = 0; i + columns <= decisions.size(); i += columns) {
    if (columns == 1) {
      result.push_back(value(curves[0], decisions[i]));
      result.push_back(1 - result.back());
      continue;
    }
    double sum = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      result.push_back(value(curves[c], decisions[i + c]));
      sum += result.back();
    }
    for (std::size_t c = 0; c < columns; ++c) {
      double& one = result[result.size() - columns + c];
      one = sum > 0 ? one / sum : 1 / static_cast<double>(columns);
    }
  }
  return result;
}

std::vector<ReliabilityBin> reliability(std::span<const double> probabilities, std::span<const std::uint8_t> positive,
                                        std::int32_t bins) {
  require(probabilities.size() == positive.size() && bins > 0, "a reliability diagram of other rows, or without bins");
  std::vector<ReliabilityBin> result(static_cast<std::size_t>(bins));
  for (std::size_t b = 0; b < result.size(); ++b) {
    result[b].low = static_cast<double>(b) / bins;
    result[b].high = static_cast<double>(b + 1) / bins;
  }
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    const auto above = std::lower_bound(result.begin() + 1, result.end(), probabilities[i],
                                        [](const auto& bin, double value) { return bin.low < value; });
    auto& bin = *(above - 1);
    ++bin.rows;
    bin.probability += probabilities[i];
    bin.share += positive[i] != 0 ? 1 : 0;
  }
  for (auto& bin : result) {
    bin.probability /= static_cast<double>(bin.rows);
    bin.share /= static_cast<double>(bin.rows);
  }
  return result;
}

double expected_calibration_error(std::span<const ReliabilityBin> bins) {
  double sum = 0;
  double rows = 0;
  for (const auto& bin : bins) {
    if (bin.rows > 0) sum += static_cast<double>(bin.rows) * std::abs(bin.probability - bin.share);
    rows += static_cast<double>(bin.rows);
  }
  return sum / rows;
}

}  // namespace sheaf
