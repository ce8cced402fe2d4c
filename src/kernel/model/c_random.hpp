// The random numbers of rand() in the C library of Linux: an additive feedback generator over the last 31 numbers.
// LIBSVM draws its folds with them; the same numbers give the same folds.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace sheaf::kernel {

class CRandom {
 public:
  explicit CRandom(std::uint64_t seed) {
    constexpr std::int64_t modulus = 2147483647;  // the beginning is a Lehmer sequence of multiplier 16807
    auto value = static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(seed)));
    if (value == 0) value = 1;
    for (auto& last : last_) {
      last = static_cast<std::uint32_t>(value);
      value = 16807 * value % modulus;
      if (value < 0) value += modulus;
    }
    for (int warm_up = 0; warm_up < 310; ++warm_up) next();
  }

  /// 0 to 2^31 - 1.
  std::int32_t next() {
    last_[at_] += last_[(at_ + size - separation) % size];
    const auto value = static_cast<std::int32_t>(last_[at_] >> 1U);
    at_ = (at_ + 1) % size;
    return value;
  }

  /// Swaps each element with itself or a later one.
  void shuffle(std::span<std::int32_t> values) {
    for (std::size_t i = 0; i < values.size(); ++i)
      std::swap(values[i], values[i + static_cast<std::size_t>(next()) % (values.size() - i)]);
  }

 private:
  static constexpr std::size_t size = 31;
  static constexpr std::size_t separation = 3;
  std::array<std::uint32_t, size> last_{};
  std::size_t at_ = separation;
};

}  // namespace sheaf::kernel
