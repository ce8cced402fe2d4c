#include "data/sheaf_file/check.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/parallel.hpp"
#include "data/matrices/matrix_file.hpp"
#include "data/nominal.hpp"
#include "data/sheaf_file/file.hpp"

namespace sheaf::sheaf_file {
namespace {

constexpr std::int64_t entries_at_once = 1 << 18;

/// Whether one of the values is NaN or infinite: all bits of its exponent are set.
template <class T>
bool has_odd_value(const T* values, std::int64_t count) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  constexpr Bits exponent = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
  Bits odd = 0;
  for (std::int64_t k = 0; k < count; ++k) {
    const auto bits = std::bit_cast<Bits>(values[k]) & exponent;
    odd |= bits == exponent ? Bits{1} : Bits{0};
  }
  return odd != 0;
}

template <class T>
class MatrixCheck {
 public:
  MatrixCheck(const Reading& reading, const Dataset<T>& dataset)
      : reading_(reading),
        dataset_(dataset),
        gives_back_(reading.mapped && matrix_bytes(dataset.x) > reading.context.memory() / 2) {
    for (std::int64_t j = 0; j < dataset.features(); ++j)
      if (is_nominal(dataset, j)) nominal_.push_back(j);
  }

  bool run() {
    std::visit([&](const auto& x) { check(x); }, dataset_.x);
    return missing_;
  }

 private:
  void check(const DenseMatrix<T>& x) {
    const auto chunk = std::max<std::int64_t>(1, entries_at_once / std::max<std::int64_t>(x.columns, 1));
    parallel_for(reading_.context, (x.rows + chunk - 1) / chunk, [&](std::int64_t k) {
      const auto begin = k * chunk;
      const auto end = std::min(begin + chunk, x.rows);
      const T* values = x.values.data() + begin * x.columns;
      if (has_odd_value(values, (end - begin) * x.columns))
        for (std::int64_t i = begin; i < end; ++i)
          for (std::int64_t j = 0; j < x.columns; ++j) check_value(i, j, x.values[i * x.columns + j]);
      for (std::int64_t i = begin; i < end; ++i)
        for (const auto j : nominal_) check_level(i, j, x.values[i * x.columns + j]);
      give_back(values, (end - begin) * x.columns);
    });
  }

  void check(const SparseMatrix<T>& x) {
    if (x.offsets[0] != 0 || x.offsets[x.rows] != x.nonzeros())
      fail_damaged(reading_.name, "its rows do not hold its {} values", x.nonzeros());
    constexpr std::int64_t chunk = 1024;
    parallel_for(reading_.context, (x.rows + chunk - 1) / chunk, [&](std::int64_t k) {
      const auto begin = k * chunk;
      const auto end = std::min(begin + chunk, x.rows);
      for (std::int64_t i = begin; i < end; ++i) check_row(x, i);
      give_back(x.indices.data() + x.offsets[begin], x.offsets[end] - x.offsets[begin]);
      give_back(x.values.data() + x.offsets[begin], x.offsets[end] - x.offsets[begin]);
    });
  }

  void check_row(const SparseMatrix<T>& x, std::int64_t i) {
    const auto begin = x.offsets[i];
    const auto end = x.offsets[i + 1];
    if (begin < 0 || begin > end || end > x.nonzeros())
      fail_damaged(reading_.name, "row {} goes from value {} to {} of {}", i + 1, begin, end, x.nonzeros());
    std::int32_t before = -1;
    for (auto k = begin; k < end; ++k) {
      const auto column = x.indices[k];
      if (column <= before || column >= x.columns)
        fail_damaged(reading_.name, "row {} has an entry in column {} behind column {} of {}", i + 1,
                     std::int64_t{column} + 1, std::int64_t{before} + 1, x.columns);
      before = column;
      if (!std::isfinite(x.values[k])) [[unlikely]]
        check_value(i, column, x.values[k]);
      if (!nominal_.empty() && is_nominal(dataset_, column)) check_level(i, column, x.values[k]);
    }
  }

  void check_value(std::int64_t row, std::int64_t feature, T value) {
    if (std::isfinite(value)) [[likely]]
      return;
    if (!std::isnan(value) || reading_.options.missing == Missing::error)
      fail_not_finite(reading_, dataset_, row, feature, value);
    missing_ = true;
  }

  void check_level(std::int64_t row, std::int64_t feature, T value) const {
    const auto levels = static_cast<T>(dataset_.levels[static_cast<std::size_t>(feature)].size());
    if (std::isnan(value) || (value >= 0 && value < levels && value == std::floor(value))) return;
    fail_damaged(reading_.name, "row {} has level {} of feature '{}', which has {}", row + 1, value,
                 dataset_.feature_name(feature), levels);
  }

  template <class Element>
  void give_back(const Element* begin, std::int64_t count) const {
    if (!gives_back_) return;
    const auto* bytes = reinterpret_cast<const char*>(begin);
    release_pages(reading_, {bytes, bytes + count * static_cast<std::int64_t>(sizeof(Element))});
  }

  const Reading& reading_;
  const Dataset<T>& dataset_;
  const bool gives_back_;
  std::vector<std::int64_t> nominal_;
  std::atomic<bool> missing_ = false;
};

}  // namespace

template <class T>
bool check_matrix(const Reading& reading, const Dataset<T>& dataset) {
  return MatrixCheck<T>(reading, dataset).run();
}

template bool check_matrix(const Reading&, const Dataset<float>&);
template bool check_matrix(const Reading&, const Dataset<double>&);

}  // namespace sheaf::sheaf_file
