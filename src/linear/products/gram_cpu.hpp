// X'X on CPU cores. Threads share the rows of the result, so that its bits do not depend on their number; rows of X go
// by in chunks, and it checks for a stop between them.
#pragma once

#include <algorithm>
#include <vector>

#include <sheaf/context.hpp>

#include "linear/products/blas_cpu.hpp"
#include "linear/products/products_cpu.hpp"

namespace sheaf::linear::cpu {

/// The lower triangle of X'X over some rows of a sparse matrix is added to these rows of `out`, which are `pitch`
/// apart.
template <class T>
void add_sparse_gram(const SparseMatrix<T>& x, Range rows, Range of_out, double* out, std::int64_t pitch) {
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    const std::int32_t* begin = x.indices.data() + x.offsets[i];
    const std::int32_t* end = x.indices.data() + x.offsets[i + 1];
    const T* values = x.values.data() + x.offsets[i];
    for (const auto* j = std::lower_bound(begin, end, of_out.begin); j != end && *j < of_out.end; ++j) {
      const auto value = static_cast<double>(values[j - begin]);
      double* to = out + *j * pitch;
      for (const auto* k = begin; k <= j; ++k) to[*k] += value * static_cast<double>(values[k - begin]);
    }
  }
}

/// The lower triangle of X'X of the features, in rows that are `pitch` apart.
template <class T>
void add_gram(const Context& context, const SparseMatrix<T>& x, std::vector<double>& out, std::int64_t pitch) {
  constexpr std::int64_t rows_at_once = 8192;
  const std::int64_t parts = std::clamp<std::int64_t>(x.columns / 16, 1, 64);
  const int team = team_for(context.threads(), x.nonzeros());
  for (std::int64_t first = 0; first < x.rows; first += rows_at_once) {
    context.check_stop();
    const Range rows{first, std::min(first + rows_at_once, x.rows)};
    parallel_for(team, parts, [&](std::int64_t part) {
      add_sparse_gram(x, rows, part_of(x.columns, parts, part), out.data(), pitch);
    });
  }
}

template <class T>
void add_gram(const Context& context, const DenseMatrix<T>& x, std::vector<double>& out, std::int64_t pitch) {
  constexpr std::int64_t rows_at_once = 4096;
  for (std::int64_t first = 0; first < x.rows; first += rows_at_once) {
    context.check_stop();
    add_blas_gram(x, {first, std::min(first + rows_at_once, x.rows)}, out.data(), pitch, context.threads());
  }
}

}  // namespace sheaf::linear::cpu
