#include "linear/products/blas_cpu.hpp"

#include <algorithm>
#include <mutex>

#include <cblas.h>
#include <omp.h>

#include "core/parallel.hpp"

namespace sheaf::linear::cpu {
namespace {

/// While one lives, OpenBLAS works in the thread that calls it. Its number of threads belongs to the whole process:
/// the first to come notes it, the last to go puts it back. Builds of OpenBLAS with OpenMP also change OpenMP's number
/// for the calling thread.
class OneBlasThread {
 public:
  OneBlasThread() : omp_threads_(omp_get_max_threads()) {
    const std::lock_guard lock(shared().mutex);
    if (shared().users++ > 0) return;
    shared().before = openblas_get_num_threads();
    openblas_set_num_threads(1);
  }
  OneBlasThread(const OneBlasThread&) = delete;
  OneBlasThread& operator=(const OneBlasThread&) = delete;
  ~OneBlasThread() {
    const std::lock_guard lock(shared().mutex);
    if (--shared().users == 0) openblas_set_num_threads(shared().before);
    omp_set_num_threads(omp_threads_);
  }

 private:
  struct Shared {
    std::mutex mutex;
    int users = 0;
    int before = 1;
  };
  static Shared& shared() {
    static Shared one;
    return one;
  }
  int omp_threads_;
};

/// c (m x n) = op(a) b, all row-major.
template <class T>
struct Product {
  CBLAS_TRANSPOSE transpose;
  std::int64_t m, n, k;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;

  /// Some rows and columns of c.
  Product part(Range rows, Range columns) const {
    Product result = *this;
    result.m = rows.end - rows.begin;
    result.n = columns.end - columns.begin;
    result.a += rows.begin * (transpose == CblasTrans ? 1 : lda);
    result.b += columns.begin;
    result.c += rows.begin * ldc + columns.begin;
    return result;
  }
};

// One column is a matrix-vector product, which OpenBLAS's gemm does badly.
void multiply(const Product<float>& p) {
  const bool turned = p.transpose == CblasTrans;
  if (p.ldb == 1)
    cblas_sgemv(CblasRowMajor, p.transpose, static_cast<int>(turned ? p.k : p.m), static_cast<int>(turned ? p.m : p.k),
                1, p.a, static_cast<int>(p.lda), p.b, 1, 0, p.c, 1);
  else
    cblas_sgemm(CblasRowMajor, p.transpose, CblasNoTrans, static_cast<int>(p.m), static_cast<int>(p.n),
                static_cast<int>(p.k), 1, p.a, static_cast<int>(p.lda), p.b, static_cast<int>(p.ldb), 0, p.c,
                static_cast<int>(p.ldc));
}
void multiply(const Product<double>& p) {
  const bool turned = p.transpose == CblasTrans;
  if (p.ldb == 1)
    cblas_dgemv(CblasRowMajor, p.transpose, static_cast<int>(turned ? p.k : p.m), static_cast<int>(turned ? p.m : p.k),
                1, p.a, static_cast<int>(p.lda), p.b, 1, 0, p.c, 1);
  else
    cblas_dgemm(CblasRowMajor, p.transpose, CblasNoTrans, static_cast<int>(p.m), static_cast<int>(p.n),
                static_cast<int>(p.k), 1, p.a, static_cast<int>(p.lda), p.b, static_cast<int>(p.ldb), 0, p.c,
                static_cast<int>(p.ldc));
}

/// Parts of c: rows first, since each part packs all of b that it needs; columns where the rows are too few for all.
constexpr std::int64_t least_rows = 32;
constexpr std::int64_t least_columns = 16;

}  // namespace

template <class T>
void blas_product(const DenseMatrix<T>& x, bool transposed, BlockView<const T> b, BlockView<T> out, int threads) {
  const std::int64_t m = transposed ? x.columns : x.rows;
  const std::int64_t k = transposed ? x.rows : x.columns;
  const Product<T> whole{transposed ? CblasTrans : CblasNoTrans,
                         m,
                         out.stride,
                         k,
                         x.values.data(),
                         x.columns,
                         b.data,
                         b.stride,
                         out.data,
                         out.stride};
  const int team = team_for(threads, m * k * out.stride);
  const std::int64_t down = std::clamp<std::int64_t>(m / least_rows, 1, team);
  const std::int64_t across = std::clamp<std::int64_t>(out.stride / least_columns, 1, team / down);
  const OneBlasThread one;
#pragma omp parallel for num_threads(team) schedule(static)
  for (std::int64_t p = 0; p < down * across; ++p)
    multiply(whole.part(part_of(m, down, p / across), part_of(out.stride, across, p % across)));
}

template void blas_product(const DenseMatrix<float>&, bool, BlockView<const float>, BlockView<float>, int);
template void blas_product(const DenseMatrix<double>&, bool, BlockView<const double>, BlockView<double>, int);

}  // namespace sheaf::linear::cpu
