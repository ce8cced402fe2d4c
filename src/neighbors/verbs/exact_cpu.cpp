#include "neighbors/verbs/exact_cpu.hpp"

#include <algorithm>

#include "core/instruction_sets.hpp"
#include "neighbors/verbs/doubles_cpu.hpp"

namespace sheaf::neighbors {
namespace {

using cpu::Doubles;
using cpu::load;
using cpu::width;
constexpr int units = parts / width;
/// Rows that are compared with a query side by side, so that one's additions do not wait for their results.
constexpr int together = 4;

/// The first values of a vector, fewer than it holds; the others are 0. Without such an instruction the values go
/// through memory, which is slow.
#if defined(__AVX512F__) && defined(__AVX512VL__)
constexpr bool loads_some = true;
Doubles load_some(const float* from, std::int64_t count) {
  const auto there = static_cast<__mmask8>((1U << static_cast<unsigned>(count)) - 1);
  return reinterpret_cast<Doubles>(_mm512_maskz_cvtps_pd(there, _mm256_maskz_loadu_ps(there, from)));
}
Doubles load_some(const double* from, std::int64_t count) {
  const auto there = static_cast<__mmask8>((1U << static_cast<unsigned>(count)) - 1);
  return reinterpret_cast<Doubles>(_mm512_maskz_loadu_pd(there, from));
}
#else
constexpr bool loads_some = false;
#endif

template <class Metric>
Doubles term_of(const Metric& metric, const Doubles& x, const Doubles& y) {
  if constexpr (requires { metric.term(x, y); }) {
    return metric.term(x, y);
  } else {
    Doubles result = {};
    for (int l = 0; l < width; ++l) result[l] = metric.term(x[l], y[l]);
    return result;
  }
}

const RowTerms no_terms;

template <class Metric, class S>
const RowTerms& terms_at(const Rows<S>& rows, std::int64_t i) {
  return rows.terms.empty() ? no_terms : rows.terms[static_cast<std::size_t>(i)];
}

template <class Metric, class S>
class DenseExact final : public ExactDistances {
 public:
  explicit DenseExact(const RowPair<S>& pair)
      : pair_(pair),
        metric_(pair.distance, pair.columns()),
        columns_(pair.columns()),
        whole_(columns_ / parts * parts),
        data_(std::get<DenseMatrix<S>>(pair.data.x).values.data()),
        queries_(std::get<DenseMatrix<S>>(pair.from().x).values.data()),
        weights_(pair.distance.weights) {
    if (!weights_.empty()) weights_.resize(static_cast<std::size_t>(padded()), 0.0);
  }

  void to_rows(std::int64_t query, std::span<const std::int32_t> rows, double* out, Scratch& scratch) const override {
    run(
        query, std::ssize(rows), [&](std::int64_t k) { return std::int64_t{rows[static_cast<std::size_t>(k)]}; }, out,
        scratch);
  }
  void to_range(std::int64_t query, Range rows, double* out, Scratch& scratch) const override {
    run(
        query, rows.end - rows.begin, [&](std::int64_t k) { return rows.begin + k; }, out, scratch);
  }

 private:
  std::int64_t padded() const { return (columns_ + parts - 1) / parts * parts; }

  template <class Row>
  void run(std::int64_t query, std::int64_t count, const Row& row, double* out, Scratch& scratch) const {
    scratch.assign(static_cast<std::size_t>(padded()), 0.0);
    put(queries_ + query * columns_, columns_, terms_at<Metric>(pair_.from(), query), scratch.data());
    const auto& own = terms_at<Metric>(pair_.from(), query);
    if constexpr (Metric::function.has_weights)
      if (!weights_.empty()) return run_all<true>(own, scratch.data(), count, row, out);
    run_all<false>(own, scratch.data(), count, row, out);
  }

  template <bool Weighted, class Row>
  void run_all(const RowTerms& own, const double* x, std::int64_t count, const Row& row, double* out) const {
    std::int64_t k = 0;
    for (; k + together <= count; k += together) some<Weighted, together>(own, x, row, k, out);
    for (; k < count; ++k) some<Weighted, 1>(own, x, row, k, out);
  }

  /// Values as the metric compares them.
  static void put(const S* from, std::int64_t count, const RowTerms& terms, double* to) {
    for (std::int64_t j = 0; j < count; ++j) {
      to[j] = static_cast<double>(from[j]);
      if constexpr (Metric::has_row_terms) to[j] = (to[j] - terms.shift) * terms.factor;
    }
  }

  template <bool Weighted, int Count, class Row>
  void some(const RowTerms& own, const double* x, const Row& row, std::int64_t first, double* out) const {
    const S* y[Count];
    const RowTerms* terms[Count];
    for (int r = 0; r < Count; ++r) {
      const auto i = row(first + r);
      y[r] = data_ + i * columns_;
      terms[r] = &terms_at<Metric>(pair_.data, i);
    }
    Doubles sums[Count][units] = {};
    for (std::int64_t j = 0; j < whole_; j += parts)
#pragma GCC unroll 4
      for (int r = 0; r < Count; ++r) add<Weighted, Metric::has_row_terms>(x, y[r] + j, *terms[r], j, sums[r]);
    if (whole_ < columns_)
      for (int r = 0; r < Count; ++r) add_rest<Weighted>(x, y[r] + whole_, *terms[r], sums[r]);
    for (int r = 0; r < Count; ++r) {
      double part[parts];
      std::memcpy(part, sums[r], sizeof part);
      out[first + r] = metric_.finish(join_parts<Metric>(part), own, *terms[r]);
    }
  }

  /// `Shifted`: the values are not yet as the metric compares them.
  template <bool Weighted, bool Shifted, class Y>
  void add(const double* x, const Y* y, [[maybe_unused]] const RowTerms& terms, std::int64_t j, Doubles* sums) const {
#pragma GCC unroll 4
    for (int u = 0; u < units; ++u) {
      Doubles value = load(y + u * width);
      if constexpr (Shifted) value = (value - terms.shift) * terms.factor;
      join<Weighted>(x, value, j + u * width, sums[u]);
    }
  }
  /// The columns behind the whole groups.
  template <bool Weighted>
  void add_rest(const double* x, const S* y, const RowTerms& terms, Doubles* sums) const {
    if constexpr (loads_some && !Metric::has_row_terms) {
      join<Weighted>(x, load_some(y, columns_ - whole_), whole_, sums[0]);
    } else {
      double rest[parts] = {};
      put(y, columns_ - whole_, terms, rest);
      add<Weighted, false>(x, rest, terms, whole_, sums);
    }
  }
  template <bool Weighted>
  void join(const double* x, const Doubles& value, std::int64_t j, Doubles& sum) const {
    Doubles term = term_of(metric_, load(x + j), value);
    if constexpr (Weighted) term = load(weights_.data() + j) * term;
    sum = Metric::join(sum, term);
  }

  const RowPair<S>& pair_;
  Metric metric_;
  std::int64_t columns_;
  std::int64_t whole_;  // columns in whole groups of parts
  const S* data_;
  const S* queries_;
  std::vector<double> weights_;  // padded; empty: none
};

/// Features that neither row stores add nothing.
template <class Metric, class S>
class SparseExact final : public ExactDistances {
 public:
  explicit SparseExact(const RowPair<S>& pair)
      : pair_(pair),
        metric_(pair.distance, pair.columns()),
        data_(std::get<SparseMatrix<S>>(pair.data.x)),
        queries_(std::get<SparseMatrix<S>>(pair.from().x)),
        weights_(pair.distance.weights) {}

  void to_rows(std::int64_t query, std::span<const std::int32_t> rows, double* out, Scratch&) const override {
    for (std::size_t k = 0; k < rows.size(); ++k) out[k] = one(query, rows[k]);
  }
  void to_range(std::int64_t query, Range rows, double* out, Scratch&) const override {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) out[i - rows.begin] = one(query, i);
  }

 private:
  static double value(S stored, const RowTerms& terms) {
    const auto wide = static_cast<double>(stored);
    if constexpr (Metric::has_row_terms) return (wide - terms.shift) * terms.factor;
    return wide;
  }

  double one(std::int64_t query, std::int64_t row) const {
    const auto& own = terms_at<Metric>(pair_.from(), query);
    const auto& other = terms_at<Metric>(pair_.data, row);
    double part[parts] = {};
    const auto add = [&](std::int32_t j, double x, double y) {
      double term = metric_.term(x, y);
      if constexpr (Metric::function.has_weights)
        if (!weights_.empty()) term = weights_[static_cast<std::size_t>(j)] * term;
      part[j % parts] = Metric::join(part[j % parts], term);
    };
    auto a = queries_.offsets[query];
    auto b = data_.offsets[row];
    const auto a_end = queries_.offsets[query + 1];
    const auto b_end = data_.offsets[row + 1];
    // The next row cannot be predicted: factors of 0 and 1 replace jumps.
    while (a < a_end && b < b_end) {
      const auto in_a = queries_.indices[a];
      const auto in_b = data_.indices[b];
      const bool from_a = in_a <= in_b;
      const bool from_b = in_b <= in_a;
      add(std::min(in_a, in_b), value(queries_.values[a], own) * static_cast<double>(from_a),
          value(data_.values[b], other) * static_cast<double>(from_b));
      a += static_cast<std::int64_t>(from_a);
      b += static_cast<std::int64_t>(from_b);
    }
    for (; a < a_end; ++a) add(queries_.indices[a], value(queries_.values[a], own), 0.0);
    for (; b < b_end; ++b) add(data_.indices[b], 0.0, value(data_.values[b], other));
    return metric_.finish(join_parts<Metric>(part), own, other);
  }

  const RowPair<S>& pair_;
  Metric metric_;
  const SparseMatrix<S>& data_;
  const SparseMatrix<S>& queries_;
  std::span<const double> weights_;
};

}  // namespace

template <class Set, class S>
std::unique_ptr<ExactDistances> make_exact_for(const RowPair<S>& pair) {
  std::unique_ptr<ExactDistances> result;
  with_metric(pair.distance, pair.columns(), [&]<class Metric>(const Metric&) {
    if (is_sparse(pair.data.x))
      result = std::make_unique<SparseExact<Metric, S>>(pair);
    else
      result = std::make_unique<DenseExact<Metric, S>>(pair);
  });
  return result;
}

template std::unique_ptr<ExactDistances> make_exact_for<sets::Compiled>(const RowPair<float>&);
template std::unique_ptr<ExactDistances> make_exact_for<sets::Compiled>(const RowPair<double>&);

}  // namespace sheaf::neighbors
