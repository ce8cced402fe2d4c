// Percolator's random numbers, so that one seed gives the same folds and bootstraps in both programs: Park and Miller's
// generator x <- 279470273 x mod 4294967291.
#pragma once

#include <cstdint>

namespace sheaf::rescore {

class ParkMiller {
 public:
  explicit ParkMiller(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return state_ = state_ * 279470273U % 4294967291U; }
  double uniform() { return static_cast<double>(next()) / 4294967292.0; }  ///< (0, 1)
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }

 private:
  std::uint64_t state_;
};

}  // namespace sheaf::rescore
