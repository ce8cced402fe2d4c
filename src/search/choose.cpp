#include <cmath>
#include <limits>

#include <sheaf/error.hpp>
#include <sheaf/search.hpp>

namespace sheaf {

ScoreSummary summarise(std::span<const double> scores) {
  ScoreSummary result;
  double sum = 0;
  for (const double score : scores) {
    if (std::isnan(score)) continue;
    sum += score;
    ++result.splits;
  }
  const double count = result.splits;
  result.mean = count > 0 ? sum / count : std::numeric_limits<double>::quiet_NaN();
  double squares = 0;
  for (const double score : scores)
    if (!std::isnan(score)) squares += (score - result.mean) * (score - result.mean);
  if (count < 2) return result;
  result.standard_deviation = std::sqrt(squares / (count - 1));
  result.standard_error = result.standard_deviation / std::sqrt(count);
  return result;
}

Chosen choose(std::span<const ScoreSummary> table, bool larger_is_better, Choice choice,
              std::span<const double> second) {
  require(!table.empty(), "there is nothing to choose from");
  const double sign = larger_is_better ? 1 : -1;
  Chosen result;
  const auto is_better = [&](std::size_t a, std::size_t b) {
    if (table[a].mean != table[b].mean) return sign * table[a].mean > sign * table[b].mean;
    return !second.empty() && second[a] > second[b];
  };
  for (std::size_t c = 1; c < table.size(); ++c)
    if (is_better(c, result.best)) result.best = c;
  result.chosen = result.best;
  if (choice == Choice::best) return result;
  const double bar = sign * table[result.best].mean - table[result.best].standard_error;
  result.chosen = 0;
  while (!(sign * table[result.chosen].mean >= bar)) ++result.chosen;
  return result;
}

}  // namespace sheaf
