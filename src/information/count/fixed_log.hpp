// c log2 c for every count that can occur, as integers. Entropies are sums of such terms, and sums of integers do not
// depend on their order: any device, any number of threads, any way of counting gives the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sheaf::information {

class FixedLog {
 public:
  FixedLog() = default;
  /// For counts 0 .. total.
  explicit FixedLog(std::int64_t total);

  std::int64_t total() const { return total_; }
  std::int64_t operator()(std::int64_t count) const { return values_[static_cast<std::size_t>(count)]; }
  std::span<const std::int64_t> values() const { return values_; }
  /// sum / total in bits.
  double bits(std::int64_t sum) const { return static_cast<double>(sum) * unit_; }
  /// How far an information of up to `cells` joint states, in bits, can be from FEAST's rounding of the same.
  double error(double cells) const;

 private:
  std::int64_t total_ = 0;
  double unit_ = 0;
  std::vector<std::int64_t> values_;
};

}  // namespace sheaf::information
