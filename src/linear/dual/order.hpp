// The order in which one pass visits the rows: the rows shuffled once, then read from some place on in steps of some
// length that has no divisor in common with their number. Every pass has another length and place, both drawn from the
// seed, so that any device finds the n-th row of a pass without a list of its own.
#pragma once

#include <cstdint>
#include <numeric>

#include "core/host_device.hpp"
#include "core/random.hpp"

namespace sheaf::linear::dual {

struct RowOrder {
  std::uint64_t rows = 0;
  std::uint64_t length = 1;
  std::uint64_t place = 0;

  /// Index, among the shuffled rows, of the n-th row to visit; rows fit 32 bits.
  SHEAF_HOST_DEVICE std::uint64_t at(std::uint64_t n) const { return (place + n * length) % rows; }
};

inline RowOrder draw_order(std::uint64_t seed, std::int64_t pass, std::int64_t rows) {
  RowOrder order;
  order.rows = static_cast<std::uint64_t>(rows);
  if (rows < 2) return order;
  Random random(seed, static_cast<std::uint64_t>(pass) + 1);
  do order.length = 1 + random.below(order.rows - 1);
  while (std::gcd(order.length, order.rows) != 1);
  order.place = random.below(order.rows);
  return order;
}

}  // namespace sheaf::linear::dual
