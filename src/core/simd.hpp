// Vectors of a width fixed at compile time, held in registers: Lanes<float, 16> is one AVX-512, two AVX or four NEON
// registers. A loop bound known only at run time would keep the sums in memory and gain nothing.
#pragma once

#include <cstdint>
#include <cstring>

namespace sheaf {

#if defined(__AVX512F__)
inline constexpr int native_vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr int native_vector_bytes = 32;
#else
inline constexpr int native_vector_bytes = 16;
#endif

template <class T, int Width>
struct Lanes {
  static constexpr int bytes = Width * static_cast<int>(sizeof(T));
  static constexpr int unit_bytes = bytes < native_vector_bytes ? bytes : native_vector_bytes;
  static constexpr int units = bytes / unit_bytes;
  static constexpr int unit_width = Width / units;
  // NOLINTNEXTLINE(modernize-use-using): the attribute of an alias is not honoured by every compiler
  typedef T Unit __attribute__((vector_size(unit_bytes)));

  Unit unit[units];

  static Lanes zero() { return Lanes{}; }
  static Lanes load(const T* from) {
    Lanes result;
    for (int u = 0; u < units; ++u) std::memcpy(&result.unit[u], from + u * unit_width, unit_bytes);
    return result;
  }
  void store(T* to) const {
    for (int u = 0; u < units; ++u) std::memcpy(to + u * unit_width, &unit[u], unit_bytes);
  }
  /// *this += factor * from[0 .. Width-1]
  void add_scaled(T factor, const T* from) {
    for (int u = 0; u < units; ++u) {
      Unit other;
      std::memcpy(&other, from + u * unit_width, unit_bytes);
      unit[u] += factor * other;
    }
  }
  void add_scaled(T factor, const Lanes& other) {
    for (int u = 0; u < units; ++u) unit[u] += factor * other.unit[u];
  }
  /// *this += factor * from o from
  void add_scaled_square(T factor, const T* from) {
    const Lanes other = load(from);
    for (int u = 0; u < units; ++u) unit[u] += factor * other.unit[u] * other.unit[u];
  }
  /// *this += a o b
  void add_product(const T* a, const T* b) {
    const Lanes left = load(a);
    const Lanes right = load(b);
    for (int u = 0; u < units; ++u) unit[u] += left.unit[u] * right.unit[u];
  }
};

/// One lane is a plain number.
template <class T>
struct Lanes<T, 1> {
  T value;

  static Lanes zero() { return {T(0)}; }
  static Lanes load(const T* from) { return {*from}; }
  void store(T* to) const { *to = value; }
  void add_scaled(T factor, const T* from) { value += factor * *from; }
  void add_scaled(T factor, const Lanes& other) { value += factor * other.value; }
  void add_scaled_square(T factor, const T* from) { value += factor * *from * *from; }
};

}  // namespace sheaf
