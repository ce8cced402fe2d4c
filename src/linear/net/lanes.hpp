// Several numbers at once, as the vector units of the compiled instruction set have them.
#pragma once

#include <cstdint>
#include <cstring>

namespace sheaf::linear::covariance {

#ifdef __AVX512F__
using Lanes [[gnu::vector_size(64)]] = double;
#else
using Lanes [[gnu::vector_size(32)]] = double;
#endif
constexpr std::int64_t lanes = sizeof(Lanes) / sizeof(double);
inline Lanes load(const double* from) {
  Lanes value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline double sum_of(Lanes value) {
  double sum = 0;
  for (std::int64_t l = 0; l < lanes; ++l) sum += value[l];
  return sum;
}

}  // namespace sheaf::linear::covariance
