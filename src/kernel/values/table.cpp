#include "kernel/values/table.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <type_traits>

#include "core/parallel.hpp"
#include "data/row_subset.hpp"
#include "kernel/values/kernels.hpp"

namespace sheaf::kernel {
namespace {

template <class A, class T>
Array<A> norms_of(const Matrix<T>& x, std::span<const std::int32_t> order, int threads) {
  Array<A> norms(static_cast<std::int64_t>(order.size()));
  parallel_ranges(threads, norms.size(), 256, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      double sum = 0;
      for_row_entries(x, order[static_cast<std::size_t>(i)],
                      [&](std::int64_t, T value) { sum += static_cast<double>(value) * static_cast<double>(value); });
      norms[i] = static_cast<A>(sum);
    }
  });
  return norms;
}

template <class A, class T>
DenseMatrix<A> dense_rows(const Matrix<T>& x, std::span<const std::int32_t> order, int threads) {
  const std::int64_t columns = sheaf::columns(x);
  const auto rows = static_cast<std::int64_t>(order.size());
  DenseMatrix<A> result{rows, columns, Array<A>::zeros(rows * columns)};
  parallel_ranges(threads, rows, 64, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for_row_entries(x, order[static_cast<std::size_t>(i)],
                      [&](std::int64_t j, T value) { result.values[i * columns + j] = static_cast<A>(value); });
  });
  return result;
}

template <class A, class T>
SparseMatrix<A> sparse_rows(const Matrix<T>& x, std::span<const std::int32_t> order, int threads) {
  const auto rows = static_cast<std::int64_t>(order.size());
  SparseMatrix<A> result{rows, sheaf::columns(x), Array<std::int64_t>(rows + 1), {}, {}};
  result.offsets[0] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t count = 0;
    for_row_entries(x, order[static_cast<std::size_t>(i)], [&](std::int64_t, T value) { count += value != 0 ? 1 : 0; });
    result.offsets[i + 1] = result.offsets[i] + count;
  }
  result.indices = Array<std::int32_t>(result.offsets[rows]);
  result.values = Array<A>(result.offsets[rows]);
  parallel_ranges(threads, rows, 64, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      std::int64_t at = result.offsets[i];
      for_row_entries(x, order[static_cast<std::size_t>(i)], [&](std::int64_t j, T value) {
        if (value == 0) return;
        result.indices[at] = static_cast<std::int32_t>(j);
        result.values[at++] = static_cast<A>(value);
      });
    }
  });
  return result;
}

template <class A>
void keep_columns(DenseMatrix<A>& x, const std::vector<std::int32_t>& kept) {
  const auto width = std::ssize(kept);
  Array<A> values = Array<A>::zeros(x.rows * width);
  for (std::int64_t i = 0; i < x.rows; ++i)
    for (std::int64_t j = 0; j < width; ++j)
      if (kept[static_cast<std::size_t>(j)] < x.columns)
        values[i * width + j] = x.values[i * x.columns + kept[static_cast<std::size_t>(j)]];
  x = {x.rows, width, std::move(values)};
}

template <class A>
void keep_columns(SparseMatrix<A>& x, const std::vector<std::int32_t>& kept) {
  std::int64_t to = 0;
  for (std::int64_t i = 0, from = 0; i < x.rows; ++i) {
    const auto end = x.offsets[i + 1];
    for (; from < end; ++from) {
      const auto place = std::lower_bound(kept.begin(), kept.end(), x.indices[from]);
      if (place == kept.end() || *place != x.indices[from]) continue;
      x.indices[to] = static_cast<std::int32_t>(place - kept.begin());
      x.values[to++] = x.values[from];
    }
    x.offsets[i + 1] = to;
  }
  x.columns = std::ssize(kept);
}

}  // namespace

template <class A>
void drop_empty_columns(Table<A>& rows, Table<A>* beside) {
  constexpr std::int64_t nearly_all = 16;
  constexpr std::int64_t few = 1 << 14;
  auto* sparse = std::get_if<SparseMatrix<A>>(&rows.x);
  if (sparse == nullptr || sparse->columns < few || sparse->columns / nearly_all < sparse->nonzeros()) return;
  std::vector<std::int32_t> kept(sparse->indices.begin(), sparse->indices.end());
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  keep_columns(*sparse, kept);
  if (beside != nullptr) std::visit([&](auto& x) { keep_columns(x, kept); }, beside->x);
}

template void drop_empty_columns(Table<float>&, Table<float>*);
template void drop_empty_columns(Table<double>&, Table<double>*);

bool depends_on_distance(const KernelParams& kernel) {
  bool result = false;
  with_kernel<float>(kernel, [&]<class Kernel>(const Kernel&) { result = OfDistance<Kernel>; });
  return result;
}

template <class A, class T>
Table<A> take_rows(const Matrix<T>& x, std::span<const std::int32_t> order, const KernelParams& kernel,
                   double dense_from, int threads) {
  const double cells = static_cast<double>(rows(x)) * static_cast<double>(columns(x));
  Table<A> table;
  table.terms = depends_on_distance(kernel) ? norms_of<A>(x, order, threads)
                                            : Array<A>::zeros(static_cast<std::int64_t>(order.size()));
  if (static_cast<double>(stored(x)) >= dense_from * cells)
    table.x = dense_rows<A>(x, order, threads);
  else
    table.x = sparse_rows<A>(x, order, threads);
  return table;
}

namespace {

struct Size {
  double largest = 0;    ///< squared norm of a row
  bool integers = true;  ///< all entries are integers
};

template <class T>
Size size_of(const Matrix<T>& x, int threads) {
  Size size;
  std::mutex mutex;
  parallel_ranges(threads, rows(x), 1024, [&](Range range) {
    Size here;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      double norm = 0;
      for_row_entries(x, i, [&](std::int64_t, T value) {
        norm += static_cast<double>(value) * static_cast<double>(value);
        here.integers = here.integers && value == std::trunc(value);
      });
      here.largest = std::max(here.largest, norm);
    }
    const std::lock_guard lock(mutex);
    size.largest = std::max(size.largest, here.largest);
    size.integers = size.integers && here.integers;
  });
  return size;
}

template <class T>
std::vector<double> mean_row(const Matrix<T>& x, std::span<const std::int32_t> order) {
  std::vector<double> mean(static_cast<std::size_t>(columns(x)), 0.0);
  for (const std::int32_t row : order)
    for_row_entries(x, row,
                    [&](std::int64_t j, T value) { mean[static_cast<std::size_t>(j)] += static_cast<double>(value); });
  for (double& value : mean) value /= static_cast<double>(order.size());
  return mean;
}

}  // namespace

template <class T>
std::vector<double> kernel_offsets(const Matrix<T>& x, std::span<const std::int32_t> order, const KernelParams& kernel,
                                   int threads) {
  constexpr double much_larger = 16;  // float then loses 1e-6 of the differences
  if (kernel.type == KernelType::precomputed || depends_on_distance(kernel) || order.empty()) return {};
  const auto mean = mean_row(x, order);
  std::vector<double> offsets(order.size());
  std::vector<double> own(order.size());
  with_kernel<double>(kernel, [&](const auto& value) {
    double squares = 0;
    for (const double entry : mean) squares += entry * entry;
    const double of_mean = value(squares, 0.0, 0.0);
    parallel_ranges(threads, static_cast<std::int64_t>(order.size()), 256, [&](Range range) {
      for (auto i = static_cast<std::size_t>(range.begin); i < static_cast<std::size_t>(range.end); ++i) {
        double norm = 0;
        double dot = 0;
        for_row_entries(x, order[i], [&](std::int64_t j, T entry) {
          norm += static_cast<double>(entry) * static_cast<double>(entry);
          dot += static_cast<double>(entry) * mean[static_cast<std::size_t>(j)];
        });
        own[i] = value(norm, 0.0, 0.0);
        offsets[i] = value(dot, 0.0, 0.0) - of_mean / 2;
      }
    });
  });
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, std::abs(own[i]));
    difference = std::max(difference, std::abs(own[i] - 2 * offsets[i]));
  }
  const bool worthwhile = std::isfinite(largest) && largest > much_larger * difference;
  return worthwhile ? offsets : std::vector<double>();
}

template <class T>
bool float_suffices(const Matrix<T>& x, const KernelParams& kernel, int threads) {
  if (kernel.type == KernelType::precomputed) return true;
  if (!depends_on_distance(kernel)) return false;
  const Size size = size_of(x, threads);
  constexpr double harmless = 16;  // gamma |x|^2 of which float loses about 1e-6
  return kernel.gamma * size.largest <= harmless || (size.integers && size.largest < (1 << 22));
}

template <class T>
bool float_distances_suffice(const Matrix<T>& x, const KernelParams& kernel, int threads) {
  if (!depends_on_distance(kernel)) return false;
  // Rounding x to float moves t = gamma |x - y|^2 by 1.2e-7 sqrt(t gamma) |x|: about 1e-6, as above.
  constexpr double harmless = 256;
  return std::is_same_v<T, float> || kernel.gamma * size_of(x, threads).largest <= harmless;
}

template <class T>
Table<float> precomputed_table(const Matrix<T>& x, std::span<const std::int32_t> order, int threads) {
  const auto from = dense_rows<float>(x, order, threads);
  const auto n = static_cast<std::int64_t>(order.size());
  DenseMatrix<float> to{n, n, Array<float>(n * n)};
  parallel_ranges(threads, n, 16, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        to.values[i * n + j] = from.values[i * from.columns + order[static_cast<std::size_t>(j)]];
  });
  return {std::move(to), {}, false};
}

#define SHEAF_TABLE(A, T) \
  template Table<A> take_rows<A, T>(const Matrix<T>&, std::span<const std::int32_t>, const KernelParams&, double, int);
SHEAF_TABLE(float, float)
SHEAF_TABLE(float, double)
SHEAF_TABLE(double, float)
SHEAF_TABLE(double, double)
#undef SHEAF_TABLE
template std::vector<double> kernel_offsets(const Matrix<float>&, std::span<const std::int32_t>, const KernelParams&,
                                            int);
template std::vector<double> kernel_offsets(const Matrix<double>&, std::span<const std::int32_t>, const KernelParams&,
                                            int);
template bool float_suffices(const Matrix<float>&, const KernelParams&, int);
template bool float_suffices(const Matrix<double>&, const KernelParams&, int);
template bool float_distances_suffice(const Matrix<float>&, const KernelParams&, int);
template bool float_distances_suffice(const Matrix<double>&, const KernelParams&, int);
template Table<float> precomputed_table(const Matrix<float>&, std::span<const std::int32_t>, int);
template Table<float> precomputed_table(const Matrix<double>&, std::span<const std::int32_t>, int);

}  // namespace sheaf::kernel
