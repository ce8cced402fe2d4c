// Vectors of doubles, as wide as the registers.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__AVX__)
#include <immintrin.h>
#endif

#include "core/simd.hpp"

namespace sheaf::neighbors::cpu {

// NOLINTNEXTLINE(modernize-use-using): the attribute of an alias is not honoured by every compiler
typedef double Doubles __attribute__((vector_size(native_vector_bytes)));
inline constexpr int width = native_vector_bytes / static_cast<int>(sizeof(double));

inline Doubles load(const double* from) {
  Doubles result;
  std::memcpy(&result, from, sizeof result);
  return result;
}
/// Compilers make several instructions of a conversion that is one.
inline Doubles load(const float* from) {
#if defined(__AVX512F__)
  return reinterpret_cast<Doubles>(_mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from)));
#elif defined(__AVX__)
  return reinterpret_cast<Doubles>(_mm256_cvtps_pd(_mm_loadu_ps(from)));
#else
  typedef float Floats __attribute__((vector_size(native_vector_bytes / 2)));  // NOLINT(modernize-use-using)
  Floats narrow;
  std::memcpy(&narrow, from, sizeof narrow);
  return __builtin_convertvector(narrow, Doubles);
#endif
}

}  // namespace sheaf::neighbors::cpu
