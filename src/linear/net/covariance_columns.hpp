// Products of columns of X, dense or sparse, with vectors over rows and with each other: X_A w, X_A'u, and the weighted
// products H_ab = sum_i s_i (x_ia - c_a)(x_ib - c_b) of some features.
//
// Dense columns are copied by parts of rows, centred, once plain and once weighted, so that squares of 4 x 4 products
// are found with every number that is read used four times. Sparse columns are laid out by rows, whose entries are
// multiplied with each other; a few are spread over the rows instead, and others multiplied with them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "linear/net/columns_cpu.hpp"
#include "linear/net/covariance_rows.hpp"
#include "linear/net/lanes.hpp"
#include "linear/net/model/task.hpp"

namespace sheaf::linear::covariance {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

/// Products of columns, dense or sparse, with vectors over rows.
template <class T>
class ColumnProducts {
 public:
  ColumnProducts(const Dataset<T>& dataset, int threads) : columns_(dataset, threads) {
    columns_.with([&](const auto& x) {
      if constexpr (requires { x.offsets; }) {
        offsets_ = x.offsets;
        rows_of_ = x.rows;
      }
      values_ = x.values;
    });
  }
  std::int64_t rows() const { return columns_.rows(); }
  std::int64_t features() const { return columns_.features(); }
  std::int64_t entries() const { return columns_.entries(); }
  bool sparse() const { return columns_.sparse(); }

  /// z += the sum over k of steps[k] times column list[k].
  void add(std::span<const std::int32_t> list, std::span<const double> steps, double* z) const {
    if (sparse()) {
      for (std::size_t k = 0; k < list.size(); ++k)
        for (std::int64_t e = offsets_[list[k]]; e < offsets_[list[k] + 1]; ++e)
          z[rows_of_[e]] += steps[k] * double(values_[e]);
      return;
    }
    for (std::int64_t first = 0; first < rows(); first += rows_together)
      add_part(list, steps, z, first, std::min(rows_together, rows() - first));
  }
  /// The same for a part of the rows, dense columns only.
  void add_part(std::span<const std::int32_t> list, std::span<const double> steps, double* z, std::int64_t first,
                std::int64_t count) const {
    double* to = z + first;
    std::size_t k = 0;
    for (; k + 4 <= list.size(); k += 4) {
      const T *x0 = column(list[k]) + first, *x1 = column(list[k + 1]) + first, *x2 = column(list[k + 2]) + first,
              *x3 = column(list[k + 3]) + first;
      const double s0 = steps[k], s1 = steps[k + 1], s2 = steps[k + 2], s3 = steps[k + 3];
      for (std::int64_t i = 0; i < count; ++i)
        to[i] += (s0 * double(x0[i]) + s1 * double(x1[i])) + (s2 * double(x2[i]) + s3 * double(x3[i]));
    }
    for (; k < list.size(); ++k) {
      const T* x = column(list[k]) + first;
      for (std::int64_t i = 0; i < count; ++i) to[i] += steps[k] * double(x[i]);
    }
  }
  /// Adds the products of a part of dense columns with u and v to those in `with_u` and `with_v`.
  void multiply_part(std::span<const std::int32_t> list, const double* u, const double* v, std::int64_t first,
                     std::int64_t count, double* with_u, double* with_v) const {
    const auto pairs = list.size() / 2 * 2;
    for (std::size_t k = 0; k < pairs; k += 2)
      multiply_columns<2>(list.data() + k, u + first, v + first, first, count, with_u + k, with_v + k);
    if (pairs < list.size())
      multiply_columns<1>(list.data() + pairs, u + first, v + first, first, count, with_u + pairs, with_v + pairs);
  }
  /// Rows of so many dense columns that stay in a cache.
  static std::int64_t rows_in_cache(std::size_t columns) {
    constexpr std::int64_t numbers = 1 << 16;
    const std::int64_t rows = numbers / std::max<std::int64_t>(static_cast<std::int64_t>(columns), 1);
    return std::clamp<std::int64_t>(rows / 64 * 64, 128, rows_together);
  }

  /// out[k] = the product of column list[k] with u.
  void multiply(std::span<const std::int32_t> list, const double* u, double* out) const {
    std::fill_n(out, list.size(), 0.0);
    if (sparse()) {
      for (std::size_t k = 0; k < list.size(); ++k) out[k] = sparse_dot(list[k], u);
      return;
    }
    for (std::int64_t first = 0; first < rows(); first += rows_together) {
      const std::int64_t count = std::min(rows_together, rows() - first);
      for (std::size_t k = 0; k < list.size(); ++k) out[k] += dense_dot(column(list[k]) + first, u + first, count);
    }
  }

  /// Products of columns from `first` of the list on with those up to themselves, less `centers`, under the weights s:
  /// out[a * stride + b]. Sparse columns are not centred. `rows`, if given: these alone, s is theirs.
  /// `factors`, if given: numbers over the rows, with which columns are multiplied first; neighbours in the
  /// list may have the same. `scratch` is memory that callers keep.
  void weigh(std::span<const std::int32_t> list, std::size_t first, std::span<const double> centers,
             std::span<const std::int32_t> rows, std::span<const double> s, double* out, std::size_t stride,
             std::vector<double>& scratch, std::span<const double* const> factors = {}) const {
    sparse() ? weigh_sparse(list, first, s, out, stride, scratch, factors)
             : weigh_dense(list, first, centers, rows, s, out, stride, scratch, factors);
  }

 private:
  const T* column(std::int32_t j) const { return values_ + std::int64_t{j} * rows(); }

  static Lanes load_column(const T* x) {
    if constexpr (std::is_same_v<T, double>) return load(x);
    Lanes value;
    for (std::int64_t l = 0; l < lanes; ++l) value[l] = double(x[l]);
    return value;
  }
  template <int Count>
  void multiply_columns(const std::int32_t* list, const double* u, const double* v, std::int64_t first,
                        std::int64_t count, double* with_u, double* with_v) const {
    Lanes of_u[Count] = {}, of_v[Count] = {};
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes) {
      const Lanes own_u = load(u + i), own_v = load(v + i);
      for (int c = 0; c < Count; ++c) {
        const Lanes x = load_column(column(list[c]) + first + i);
        of_u[c] += x * own_u;
        of_v[c] += x * own_v;
      }
    }
    for (int c = 0; c < Count; ++c) {
      double sum_u = sum_of(of_u[c]), sum_v = sum_of(of_v[c]);
      const T* x = column(list[c]) + first;
      for (std::int64_t rest = i; rest < count; ++rest) {
        sum_u += double(x[rest]) * u[rest];
        sum_v += double(x[rest]) * v[rest];
      }
      with_u[c] += sum_u;
      with_v[c] += sum_v;
    }
  }

  static double dense_dot(const T* x, const double* u, std::int64_t count) {
    constexpr int chains = 16;
    double sums[chains] = {};
    std::int64_t i = 0;
    for (; i + chains <= count; i += chains)
      for (int c = 0; c < chains; ++c) sums[c] += double(x[i + c]) * u[i + c];
    for (; i < count; ++i) sums[0] += double(x[i]) * u[i];
    for (int half = chains / 2; half > 0; half /= 2)
      for (int c = 0; c < half; ++c) sums[c] += sums[c + half];
    return sums[0];
  }
  double sparse_dot(std::int32_t j, const double* u) const {
    double sums[4] = {};
    std::int64_t e = offsets_[j];
    const std::int64_t end = offsets_[j + 1];
    for (; e + 4 <= end; e += 4)
      for (int c = 0; c < 4; ++c) sums[c] += double(values_[e + c]) * u[rows_of_[e + c]];
    for (; e < end; ++e) sums[0] += double(values_[e]) * u[rows_of_[e]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
  }

  /// Few columns are spread over the rows, and all others multiplied with them.
  void weigh_sparse(std::span<const std::int32_t> list, std::size_t first, std::span<const double> s, double* out,
                    std::size_t stride, std::vector<double>& weighted, std::span<const double* const> factors) const {
    constexpr std::size_t few = 8;
    if (list.size() - first > few) return weigh_by_rows(list, first, s, out, stride, factors);
    weighted.assign(at(rows()), 0.0);
    for (std::size_t a = first; a < list.size(); ++a) {
      const std::int64_t begin = offsets_[list[a]], end = offsets_[list[a] + 1];
      const double* other = nullptr;  // the factors that are in the weights
      const auto weigh_by = [&](std::size_t b) {
        for (std::int64_t e = begin; e < end; ++e) {
          const auto i = at(rows_of_[e]);
          weighted[i] = s[i] * double(values_[e]) * (factors.empty() ? 1.0 : factors[a][i] * factors[b][i]);
        }
        other = factors.empty() ? nullptr : factors[b];
      };
      weigh_by(0);
      for (std::size_t b = 0; b <= a; ++b) {
        if (!factors.empty() && factors[b] != other) weigh_by(b);
        out[a * stride + b] = sparse_dot(list[b], weighted.data());
      }
      for (std::int64_t e = begin; e < end; ++e) weighted[at(rows_of_[e])] = 0;
    }
  }
  /// Row after row: only entries that stand in one row meet, in text some hundredth of the products of whole columns.
  void weigh_by_rows(std::span<const std::int32_t> list, std::size_t first, std::span<const double> s, double* out,
                     std::size_t stride, std::span<const double* const> factors) const {
    for (std::size_t a = first; a < list.size(); ++a) std::fill_n(out + a * stride, a + 1, 0.0);
    const auto entries = entries_by_row(list, factors);
    for (std::size_t i = 0; i < at(rows()); ++i) {
      const auto row = std::span(entries.all).subspan(entries.begin[i], entries.begin[i + 1] - entries.begin[i]);
      const auto from = std::partition_point(row.begin(), row.end(), [&](const Entry& e) { return e.place < first; });
      for (auto a = from; a != row.end(); ++a) {
        const double weighted = s[i] * a->value;
        double* to = out + a->place * stride;
        for (auto b = row.begin(); b <= a; ++b) to[b->place] += weighted * b->value;
      }
    }
  }
  struct Entry {
    std::size_t place;  // in the list
    double value;
  };
  struct EntriesByRow {
    std::vector<std::size_t> begin;
    std::vector<Entry> all;
  };
  EntriesByRow entries_by_row(std::span<const std::int32_t> list, std::span<const double* const> factors) const {
    EntriesByRow result;
    result.begin.assign(at(rows()) + 2, 0);  // counted one place further on, which filling moves back
    for (const auto j : list)
      for (std::int64_t e = offsets_[j]; e < offsets_[j + 1]; ++e) ++result.begin[at(rows_of_[e]) + 2];
    std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
    result.all.resize(result.begin.back());
    for (std::size_t k = 0; k < list.size(); ++k)
      for (std::int64_t e = offsets_[list[k]]; e < offsets_[list[k] + 1]; ++e) {
        const auto i = at(rows_of_[e]);
        const double factor = factors.empty() ? 1.0 : factors[k][i];
        result.all[result.begin[i + 1]++] = {k, double(values_[e]) * factor};
      }
    return result;
  }

  /// Rows of a part, and columns of a square of products that are computed at once.
  static constexpr std::int64_t part_rows = 256;
  static constexpr std::size_t side = 4;

  void weigh_dense(std::span<const std::int32_t> list, std::size_t first, std::span<const double> centers,
                   std::span<const std::int32_t> rows_wanted, std::span<const double> s, double* out,
                   std::size_t stride, std::vector<double>& scratch, std::span<const double* const> factors) const {
    const std::size_t padded = (list.size() + side - 1) / side * side;
    const std::size_t begin = first / side * side;
    scratch.resize(2 * padded * part_rows);
    double* const plain = scratch.data();
    double* const weighted = plain + padded * part_rows;
    for (std::size_t k = list.size(); k < padded; ++k) {
      std::fill_n(plain + k * part_rows, part_rows, 0.0);
      std::fill_n(weighted + k * part_rows, part_rows, 0.0);
    }
    for (std::size_t a = first; a < list.size(); ++a) std::fill_n(out + a * stride, a + 1, 0.0);
    const std::int64_t all = rows_wanted.empty() ? rows() : static_cast<std::int64_t>(rows_wanted.size());
    for (std::int64_t from = 0; from < all; from += part_rows) {
      const std::int64_t count = std::min(part_rows, all - from);
      const double* weights = s.data() + from;
      for (std::size_t k = 0; k < list.size(); ++k) {
        double* to = plain + k * part_rows;
        double* times = weighted + k * part_rows;
        const T* x = column(list[k]);
        const double center = centers[k];
        if (rows_wanted.empty())
          for (std::int64_t i = 0; i < count; ++i) to[i] = double(x[from + i]) - center;
        else
          for (std::int64_t i = 0; i < count; ++i) to[i] = double(x[rows_wanted[at(from + i)]]) - center;
        if (!factors.empty())
          for (std::int64_t i = 0; i < count; ++i) to[i] *= factors[k][from + i];
        for (std::int64_t i = 0; i < count; ++i) times[i] = weights[i] * to[i];
        for (std::int64_t i = count; i < part_rows; ++i) to[i] = times[i] = 0;
      }
      for (std::size_t a = begin; a < padded; a += side)
        for (std::size_t b = 0; b <= a; b += side)
          add_square(weighted + a * part_rows, plain + b * part_rows, a, b, first, list.size(), out, stride);
    }
  }

  /// The products of `side` columns of x with as many of y go to the lower triangle of out.
  static void add_square(const double* x, const double* y, std::size_t a, std::size_t b, std::size_t first,
                         std::size_t size, double* out, std::size_t stride) {
    Lanes sums[side][side] = {};
    for (std::int64_t i = 0; i < part_rows; i += lanes) {
      const Lanes x0 = load(x + i), x1 = load(x + part_rows + i), x2 = load(x + 2 * part_rows + i),
                  x3 = load(x + 3 * part_rows + i);
      for (std::size_t c = 0; c < side; ++c) {
        const Lanes other = load(y + static_cast<std::int64_t>(c) * part_rows + i);
        sums[0][c] += x0 * other;
        sums[1][c] += x1 * other;
        sums[2][c] += x2 * other;
        sums[3][c] += x3 * other;
      }
    }
    for (std::size_t r = 0; r < side; ++r)
      for (std::size_t c = 0; c < side; ++c)
        if (a + r >= first && a + r < size && b + c <= a + r) out[(a + r) * stride + b + c] += sum_of(sums[r][c]);
  }

  CpuColumns<T> columns_;
  const std::int64_t* offsets_ = nullptr;
  const std::int32_t* rows_of_ = nullptr;
  const T* values_ = nullptr;
};

/// Cost of the products of so many features with each other, in multiplications that find their numbers in a cache.
/// `risks`: those of Cox models, gathered by time.
template <class T>
double product_cost(const ColumnProducts<T>& x, std::size_t features, bool risks) {
  constexpr double laid_out = 10;
  const auto size = static_cast<double>(features);
  if (risks) return static_cast<double>(x.rows()) * size * (8 + size);
  const double entries = static_cast<double>(x.entries()) / static_cast<double>(x.features());
  const auto rows = static_cast<double>(x.rows());
  return x.sparse() ? size * entries * (laid_out + size * entries / rows) : rows * size * size / 2;
}
/// Cost of a visit of the rows with so many columns, which come from further away; losses have exponentials.
template <class T>
double visit_cost(const ColumnProducts<T>& x, std::size_t columns, std::size_t classes, bool risks) {
  constexpr double far = 3;
  const double losses = (risks ? 400 : 150) * static_cast<double>(classes);
  const double entries = static_cast<double>(x.entries()) / static_cast<double>(x.features());
  return far * entries * static_cast<double>(columns) + losses * static_cast<double>(x.rows());
}

/// Products of all features under row weights that paths have in common.
struct SharedProducts {
  std::vector<double> weights;   // of the rows
  std::vector<double> centers;   // of the features
  std::vector<double> products;  // features x features, the lower triangle
};

/// A row has the largest of its weights in all tasks: most folds have it, and take off the others.
template <class T>
SharedProducts share_products(const ColumnProducts<T>& x, std::span<const ModelTask<T>> tasks, int threads) {
  const auto rows = at(x.rows());
  const auto features = at(x.features());
  SharedProducts shared;
  shared.weights.assign(rows, 0.0);
  for (const auto& task : tasks)
    for (std::size_t i = 0; i < rows; ++i)
      shared.weights[i] = std::max(shared.weights[i], double(task.weight(static_cast<std::int64_t>(i))));
  shared.centers.assign(features, 0.0);
  std::vector<std::int32_t> list;
  for (std::size_t j = 0; j < features; ++j) {
    list.push_back(static_cast<std::int32_t>(j));
    if (tasks[0].intercept && !x.sparse()) shared.centers[j] = double(tasks[0].mean(static_cast<std::int64_t>(j)));
  }
  shared.products.assign(features * features, 0.0);
  // Rows of products are those of some features with all before them: later ones are longer.
  constexpr std::size_t together = 64;
  const std::size_t parts = (features + together - 1) / together;
  parallel_for(threads, static_cast<std::int64_t>(parts), [&](std::int64_t part) {
    const std::size_t first = at(part) * together;
    std::vector<double> scratch;
    x.weigh(std::span(list).first(std::min(first + together, features)), first, shared.centers, {}, shared.weights,
            shared.products.data(), features, scratch);
  });
  return shared;
}

}  // namespace sheaf::linear::covariance
