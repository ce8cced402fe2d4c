// Columns of X as solvers of elastic nets visit them, sparse and dense, by any team.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace sheaf::linear {

/// a'b, several sums at once: a chain of additions waits for each.
template <class T>
T dot_of(const T* a, const T* b, std::int64_t count) {
  constexpr int chains = 8;
  T sums[chains] = {};
  std::int64_t k = 0;
  for (; k + chains <= count; k += chains)
    for (int c = 0; c < chains; ++c) sums[c] += a[k + c] * b[k + c];
  for (; k < count; ++k) sums[0] += a[k] * b[k];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

/// Weighted sums of a column's entries and of their squares.
template <class T>
struct ColumnMoments {
  T first = 0;
  T second = 0;
};

/// The sums of s a and of s a^2, several at once.
template <class T>
ColumnMoments<T> moments_of(const T* a, const T* s, std::int64_t count) {
  constexpr int chains = 8;
  T first[chains] = {};
  T second[chains] = {};
  std::int64_t k = 0;
  for (; k + chains <= count; k += chains)
    for (int c = 0; c < chains; ++c) {
      const T weighted = s[k + c] * a[k + c];
      first[c] += weighted;
      second[c] += weighted * a[k + c];
    }
  for (; k < count; ++k) {
    first[0] += s[k] * a[k];
    second[0] += s[k] * a[k] * a[k];
  }
  for (int half = chains / 2; half > 0; half /= 2)
    for (int c = 0; c < half; ++c) {
      first[c] += first[c + half];
      second[c] += second[c + half];
    }
  return {first[0], second[0]};
}

/// Position of a column's entries.
struct ColumnPlace {
  std::int64_t begin = 0;
  std::int64_t length = 0;
};

/// A member's first entries of a column, fetched before they are needed. Teams that fetch nothing ahead leave it empty.
template <class T>
struct ColumnAhead {
  static constexpr int count = 2;
  std::int32_t rows[count];
  T values[count];
};

/// Operations of both kinds of columns: entry(e) is {row, value} of the e-th entry after all columns before.
template <class Columns, class T>
struct ColumnWork {
  template <class Team>
  SHEAF_HOST_DEVICE ColumnAhead<T> ahead(const Team& team, const ColumnPlace& place) const {
    ColumnAhead<T> ahead{};
    if constexpr (Team::fetches_ahead)
      for (int a = 0; a < ColumnAhead<T>::count; ++a)
        if (const std::int64_t e = team.rank() + a * team.size(); e < place.length) {
          ahead.rows[a] = self().row(place, e);
          ahead.values[a] = self().value(place, e);
        }
    return ahead;
  }

  /// f(row, value) for each entry.
  template <class Team, class F>
  SHEAF_HOST_DEVICE void each(const Team& team, const ColumnPlace& place, const ColumnAhead<T>& ahead, F&& f) const {
    std::int64_t e = team.rank();
    if constexpr (Team::fetches_ahead)
      for (int a = 0; a < ColumnAhead<T>::count; ++a, e += team.size())
        if (e < place.length) f(ahead.rows[a], ahead.values[a]);
    for (; e < place.length; e += team.size()) f(self().row(place, e), self().value(place, e));
  }
  template <class Team, class F>
  SHEAF_HOST_DEVICE void each(const Team& team, std::int32_t j, F&& f) const {
    const ColumnPlace place = self().place(j);
    each(team, place, ahead(team, place), f);
  }

  template <class Team>
  SHEAF_HOST_DEVICE T dot(const Team& team, const ColumnPlace& place, const ColumnAhead<T>& ahead, const T* q) const {
    constexpr int chains = 4;
    T sums[chains] = {};
    std::int64_t e = team.rank();
    if constexpr (Team::fetches_ahead)
      for (int a = 0; a < ColumnAhead<T>::count; ++a, e += team.size())
        if (e < place.length) sums[a] += ahead.values[a] * q[ahead.rows[a]];
    for (; e + (chains - 1) * team.size() < place.length; e += chains * team.size())
      for (int c = 0; c < chains; ++c)
        sums[c] += self().value(place, e + c * team.size()) * q[self().row(place, e + c * team.size())];
    for (; e < place.length; e += team.size()) sums[0] += self().value(place, e) * q[self().row(place, e)];
    return team.sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  }

  /// The sums of s value and of s value^2.
  template <class Team>
  SHEAF_HOST_DEVICE ColumnMoments<T> moments(const Team& team, const ColumnPlace& place, const T* s) const {
    ColumnMoments<T> sums;
    for (std::int64_t e = team.rank(); e < place.length; e += team.size()) {
      const T value = self().value(place, e);
      const T weighted = s[self().row(place, e)] * value;
      sums.first += weighted;
      sums.second += weighted * value;
    }
    return {team.sum(sums.first), team.sum(sums.second)};
  }

 private:
  SHEAF_HOST_DEVICE const Columns& self() const { return static_cast<const Columns&>(*this); }
};

/// Columns whose values are taken for doubles.
template <class Columns>
struct WideColumns : ColumnWork<WideColumns<Columns>, double> {
  const Columns& narrow;

  SHEAF_HOST_DEVICE explicit WideColumns(const Columns& columns) : narrow(columns) {}
  SHEAF_HOST_DEVICE ColumnPlace place(std::int32_t j) const { return narrow.place(j); }
  SHEAF_HOST_DEVICE std::int32_t row(const ColumnPlace& place, std::int64_t e) const { return narrow.row(place, e); }
  SHEAF_HOST_DEVICE double value(const ColumnPlace& place, std::int64_t e) const {
    return double(narrow.value(place, e));
  }
};

template <class T>
struct SparseColumns : ColumnWork<SparseColumns<T>, T> {
  const std::int64_t* offsets;
  const std::int32_t* rows;
  const T* values;

  SHEAF_HOST_DEVICE SparseColumns(const std::int64_t* offsets_, const std::int32_t* rows_, const T* values_)
      : offsets(offsets_), rows(rows_), values(values_) {}
  SHEAF_HOST_DEVICE ColumnPlace place(std::int32_t j) const { return {offsets[j], offsets[j + 1] - offsets[j]}; }
  SHEAF_HOST_DEVICE std::int32_t row(const ColumnPlace& place, std::int64_t e) const { return rows[place.begin + e]; }
  SHEAF_HOST_DEVICE T value(const ColumnPlace& place, std::int64_t e) const { return values[place.begin + e]; }
};

/// Column-major.
template <class T>
struct DenseColumns : ColumnWork<DenseColumns<T>, T> {
  const T* values;
  std::int64_t length;

  SHEAF_HOST_DEVICE DenseColumns(const T* values_, std::int64_t length_) : values(values_), length(length_) {}
  SHEAF_HOST_DEVICE ColumnPlace place(std::int32_t j) const { return {j * length, length}; }
  SHEAF_HOST_DEVICE std::int32_t row(const ColumnPlace&, std::int64_t e) const { return static_cast<std::int32_t>(e); }
  SHEAF_HOST_DEVICE T value(const ColumnPlace& place, std::int64_t e) const { return values[place.begin + e]; }
};

}  // namespace sheaf::linear
