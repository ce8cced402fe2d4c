// Random numbers that depend on the seed alone: not on the standard library or the thread count. bits, uniform, below
// and shuffle are the same on every platform; the others to the rounding of its logarithm.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace sheaf {

/// xoshiro256** seeded through splitmix64. Different streams of one seed are independent: give each row, fold or
/// feature its own and draw in parallel.
class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  std::uint64_t bits();
  double uniform();  ///< [0, 1)
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  std::uint64_t below(std::uint64_t bound);  ///< 0 .. bound-1, unbiased; bound > 0
  double normal();                           ///< mean 0, sd 1
  double exponential();                      ///< mean 1
  double gamma(double shape);                ///< scale 1, shape > 0
  std::int64_t poisson(double mean);         ///< mean >= 0

  template <class T>
  void shuffle(std::span<T> values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::uint64_t state_[4] = {};
  double spare_normal_ = 0;
  bool has_spare_ = false;
};

}  // namespace sheaf
