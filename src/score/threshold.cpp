#include <sheaf/solvers/threshold.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Candidate {
  double value = 0;
  double found = 0;  // positive rows with at least that value
  double wrong = 0;  // other rows with at least that value
};

/// Larger is better; what is not allowed is -infinity.
double quality(const ThresholdOptions& options, const Candidate& candidate, double positives, double others) {
  const double sensitivity = candidate.found / positives;
  const double specificity = (others - candidate.wrong) / others;
  switch (options.rule) {
    case ThresholdRule::youden:
      return sensitivity + specificity;
    case ThresholdRule::cost:
      return -(options.false_positive * candidate.wrong + options.false_negative * (positives - candidate.found));
    case ThresholdRule::sensitivity:
      return sensitivity >= options.sensitivity ? specificity : -infinity;
  }
  throw InternalError("an unknown rule for thresholds");
}

/// From the largest to the smallest. The first is above all values: no row is positive.
std::vector<Candidate> candidates_of(std::span<const double> values, std::span<const std::uint8_t> positive) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return values[a] > values[b]; });
  std::vector<Candidate> list{{std::nextafter(values[order.front()], infinity), 0, 0}};
  for (std::size_t k = 0; k < order.size(); ++k) {
    const double value = values[order[k]];
    if (k == 0 || values[order[k - 1]] != value) list.push_back({value, list.back().found, list.back().wrong});
    (positive[order[k]] != 0 ? list.back().found : list.back().wrong) += 1;
  }
  for (std::size_t k = 1; k + 1 < list.size(); ++k) {
    const double middle = std::midpoint(list[k].value, list[k + 1].value);
    if (middle > list[k + 1].value) list[k].value = middle;  // else they are neighbours among all doubles
  }
  return list;
}

}  // namespace

ThresholdOptions parse_threshold(std::string_view text) {
  constexpr double most = std::numeric_limits<double>::max();
  const auto parts = split_text(text, ':');
  ThresholdOptions options;
  if (parts[0] == "youden" && parts.size() == 1) return options;
  if (parts[0] == "cost" && parts.size() == 3) {
    options.rule = ThresholdRule::cost;
    options.false_positive = parse_number<double>("the cost of a false positive", parts[1], {0, most});
    options.false_negative = parse_number<double>("the cost of a false negative", parts[2], {0, most});
    if (options.false_positive + options.false_negative == 0) fail_usage("one of the two costs must be more than 0");
    return options;
  }
  if (parts[0] == "sensitivity" && parts.size() == 2) {
    options.rule = ThresholdRule::sensitivity;
    options.sensitivity = parse_positive("the wanted sensitivity", parts[1]);
    if (options.sensitivity > 1) fail_usage("a sensitivity is a share of at most 1, not {}", parts[1]);
    return options;
  }
  fail_usage(
      "threshold takes youden, cost:FP:FN (the costs of a false positive and of a false negative) or sensitivity:S (a "
      "share), not '{}'",
      text);
}

std::string to_string(const ThresholdOptions& options) {
  if (options.rule == ThresholdRule::cost)
    return fmt::format("cost:{}:{}", options.false_positive, options.false_negative);
  return options.rule == ThresholdRule::youden ? "youden" : fmt::format("sensitivity:{}", options.sensitivity);
}

Threshold choose_threshold(const ThresholdOptions& options, std::span<const double> values,
                           std::span<const std::uint8_t> positive) {
  require(values.size() == positive.size(), "decision values and labels of a threshold are not of the same rows");
  const auto positives = static_cast<double>(std::count_if(positive.begin(), positive.end(), [](auto p) { return p; }));
  const double others = static_cast<double>(positive.size()) - positives;
  if (positives == 0 || others == 0) fail("a threshold is chosen on rows of two classes, and these are of one");
  const auto list = candidates_of(values, positive);
  const auto* best = &list.front();
  for (const auto& candidate : list)
    if (quality(options, candidate, positives, others) > quality(options, *best, positives, others)) best = &candidate;
  return {options, best->value, best->found / positives, (others - best->wrong) / others};
}

}  // namespace sheaf
