// BLAS for the R package that is compiled from its sources: R's own, which has the Fortran interface and double precision
// alone. Single precision is computed here. Stands in for cblas.h of OpenBLAS; only what the library calls is here.
#pragma once

#include <algorithm>
#include <cstddef>

enum CBLAS_LAYOUT { CblasRowMajor = 101, CblasColMajor = 102 };
enum CBLAS_TRANSPOSE { CblasNoTrans = 111, CblasTrans = 112 };
enum CBLAS_UPLO { CblasUpper = 121, CblasLower = 122 };
enum CBLAS_DIAG { CblasNonUnit = 131, CblasUnit = 132 };
enum CBLAS_SIDE { CblasLeft = 141, CblasRight = 142 };

extern "C" {
void dgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc);
void dgemv_(const char* trans, const int* m, const int* n, const double* alpha, const double* a, const int* lda,
            const double* x, const int* incx, const double* beta, double* y, const int* incy);
void dtrsm_(const char* side, const char* uplo, const char* trans, const char* diag, const int* m, const int* n,
            const double* alpha, const double* a, const int* lda, double* b, const int* ldb);
void dtrmv_(const char* uplo, const char* trans, const char* diag, const int* n, const double* a, const int* lda,
            double* x, const int* incx);
}

// R's BLAS works in the thread that calls it.
inline int openblas_get_parallel() { return 0; }
inline int openblas_get_num_threads() { return 1; }
inline void openblas_set_num_threads(int /*threads*/) {}

namespace sheaf_blas {

inline const char* letter(CBLAS_TRANSPOSE transpose) { return transpose == CblasTrans ? "T" : "N"; }
inline const char* turned(CBLAS_TRANSPOSE transpose) { return transpose == CblasTrans ? "N" : "T"; }

/// c (m x n, rows) = alpha op(a) op(b) + beta c, by blocks of k so that rows of b stay in the cache.
inline void multiply(bool turn_a, bool turn_b, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                     int ldb, float beta, float* c, int ldc) {
  constexpr int block = 128;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) c[std::ptrdiff_t{i} * ldc + j] *= beta == 0 ? 0 : beta;
  for (int first = 0; first < k; first += block)
    for (int i = 0; i < m; ++i) {
      float* to = c + std::ptrdiff_t{i} * ldc;
      for (int p = first; p < std::min(first + block, k); ++p) {
        const float factor = alpha * (turn_a ? a[std::ptrdiff_t{p} * lda + i] : a[std::ptrdiff_t{i} * lda + p]);
        if (turn_b) {
          for (int j = 0; j < n; ++j) to[j] += factor * b[std::ptrdiff_t{j} * ldb + p];
        } else {
          const float* from = b + std::ptrdiff_t{p} * ldb;
#pragma omp simd
          for (int j = 0; j < n; ++j) to[j] += factor * from[j];
        }
      }
    }
}

}  // namespace sheaf_blas

inline void cblas_dgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
                        const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  using sheaf_blas::letter;
  if (layout == CblasColMajor)
    dgemm_(letter(ta), letter(tb), &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
  else  // rows of c are columns of its transpose
    dgemm_(letter(tb), letter(ta), &n, &m, &k, &alpha, b, &ldb, a, &lda, &beta, c, &ldc);
}

inline void cblas_sgemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha,
                        const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  if (layout == CblasRowMajor)
    sheaf_blas::multiply(ta == CblasTrans, tb == CblasTrans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  else
    sheaf_blas::multiply(tb == CblasTrans, ta == CblasTrans, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
}

/// Row-major alone.
inline void cblas_dgemv(CBLAS_LAYOUT /*layout*/, CBLAS_TRANSPOSE transpose, int m, int n, double alpha, const double* a,
                        int lda, const double* x, int incx, double beta, double* y, int incy) {
  dgemv_(sheaf_blas::turned(transpose), &n, &m, &alpha, a, &lda, x, &incx, &beta, y, &incy);
}

inline void cblas_sgemv(CBLAS_LAYOUT /*layout*/, CBLAS_TRANSPOSE transpose, int m, int n, float alpha, const float* a,
                        int lda, const float* x, int incx, float beta, float* y, int incy) {
  const int count = transpose == CblasTrans ? n : m;
  for (int i = 0; i < count; ++i) y[std::ptrdiff_t{i} * incy] *= beta == 0 ? 0 : beta;
  for (int i = 0; i < m; ++i) {
    const float* row = a + std::ptrdiff_t{i} * lda;
    if (transpose == CblasTrans) {
      const float factor = alpha * x[std::ptrdiff_t{i} * incx];
      for (int j = 0; j < n; ++j) y[std::ptrdiff_t{j} * incy] += factor * row[j];
    } else {
      float sum = 0;
#pragma omp simd reduction(+ : sum)
      for (int j = 0; j < n; ++j) sum += row[j] * x[std::ptrdiff_t{j} * incx];
      y[std::ptrdiff_t{i} * incy] += alpha * sum;
    }
  }
}

/// Row-major alone.
inline void cblas_dtrsm(CBLAS_LAYOUT /*layout*/, CBLAS_SIDE side, CBLAS_UPLO part, CBLAS_TRANSPOSE transpose,
                        CBLAS_DIAG diagonal, int m, int n, double alpha, const double* a, int lda, double* b, int ldb) {
  dtrsm_(side == CblasLeft ? "R" : "L", part == CblasLower ? "U" : "L", sheaf_blas::letter(transpose),
         diagonal == CblasUnit ? "U" : "N", &n, &m, &alpha, a, &lda, b, &ldb);
}

/// Row-major alone.
inline void cblas_dtrmv(CBLAS_LAYOUT /*layout*/, CBLAS_UPLO part, CBLAS_TRANSPOSE transpose, CBLAS_DIAG diagonal, int n,
                        const double* a, int lda, double* x, int incx) {
  dtrmv_(part == CblasLower ? "U" : "L", sheaf_blas::turned(transpose), diagonal == CblasUnit ? "U" : "N", &n, a, &lda,
         x, &incx);
}

/// x = op(a) x for a lower triangle, row-major, as the library calls it.
inline void cblas_strmv(CBLAS_LAYOUT /*layout*/, CBLAS_UPLO /*part*/, CBLAS_TRANSPOSE transpose, CBLAS_DIAG /*diagonal*/,
                        int n, const float* a, int lda, float* x, int /*incx*/) {
  const auto at = [&](int i, int j) { return a[std::ptrdiff_t{i} * lda + j]; };
  if (transpose == CblasTrans) {
    for (int i = 0; i < n; ++i) {
      float sum = 0;
      for (int j = i; j < n; ++j) sum += at(j, i) * x[j];
      x[i] = sum;
    }
    return;
  }
  for (int i = n - 1; i >= 0; --i) {
    float sum = 0;
    for (int j = 0; j <= i; ++j) sum += at(i, j) * x[j];
    x[i] = sum;
  }
}
