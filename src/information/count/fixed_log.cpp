#include "information/count/fixed_log.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sheaf::information {
namespace {

/// Bits behind the point such that total log2 total, the largest sum, still has three bits to spare.
int fraction_bits(std::int64_t total) {
  const double largest = static_cast<double>(total) * std::log2(static_cast<double>(std::max<std::int64_t>(total, 2)));
  return 60 - static_cast<int>(std::ceil(std::log2(largest + 1)));
}

}  // namespace

FixedLog::FixedLog(std::int64_t total) : total_(total), values_(static_cast<std::size_t>(total) + 1, 0) {
  const int bits = fraction_bits(total);
  unit_ = std::ldexp(1.0, -bits) / static_cast<double>(std::max<std::int64_t>(total, 1));
  for (std::int64_t c = 2; c <= total; ++c) {
    const auto count = static_cast<double>(c);
    values_[static_cast<std::size_t>(c)] = std::llround(std::ldexp(count * std::log2(count), bits));
  }
}

double FixedLog::error(double cells) const {
  constexpr double rounding = std::numeric_limits<double>::epsilon() / 2;
  const double terms = std::min(cells, static_cast<double>(total_)) + 8;
  // An integer term is off by one unit and two roundings of itself; at most four sums of them make an information, each
  // at most log2 total.
  const double of_ours = 4 * terms * unit_ + 16 * rounding * std::log2(static_cast<double>(total_) + 2);
  // A sum of m terms of total magnitude at most H + 3 bits is off by m roundings of it; conditional ones have two sums.
  const double of_theirs = 2 * terms * rounding * (std::log2(terms) + 3);
  return of_ours + of_theirs;
}

}  // namespace sheaf::information
