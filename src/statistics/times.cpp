#include <algorithm>
#include <cmath>
#include <limits>

#include <sheaf/solvers/survival.hpp>

namespace sheaf {

std::vector<double> tie_times(std::span<const double> times) {
  static const double tolerance = std::sqrt(std::numeric_limits<double>::epsilon());
  std::vector<double> different(times.begin(), times.end());
  std::ranges::sort(different);
  different.erase(std::unique(different.begin(), different.end()), different.end());
  double mean = 0;
  for (const double time : different) mean += std::abs(time) / static_cast<double>(different.size());
  std::vector<double> firsts;
  for (std::size_t i = 0; i < different.size(); ++i) {
    const double apart = i == 0 ? HUGE_VAL : different[i] - different[i - 1];
    if (apart > tolerance && apart > tolerance * mean) firsts.push_back(different[i]);
  }
  std::vector<double> result(times.begin(), times.end());
  if (firsts.size() == different.size()) return result;
  for (double& time : result) time = *(std::ranges::upper_bound(firsts, time) - 1);
  return result;
}

}  // namespace sheaf
