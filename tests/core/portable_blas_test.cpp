// BLAS of the R package that is compiled from its sources, compared with sums as they are written.
#include "../../packaging/portable_blas.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"

namespace sheaf::test {
namespace portable_blas_test {

template <class T>
std::vector<T> numbers(Random& random, int count) {
  std::vector<T> values;
  for (int k = 0; k < count; ++k) values.push_back(static_cast<T>(static_cast<double>(random.below(2001)) / 1000 - 1));
  return values;
}

void gemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, float alpha, const float* a,
          int lda, const float* b, int ldb, float beta, float* c, int ldc) {
  cblas_sgemm(layout, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_LAYOUT layout, CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int m, int n, int k, double alpha,
          const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  cblas_dgemm(layout, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
void gemv(CBLAS_TRANSPOSE t, int m, int n, float alpha, const float* a, int lda, const float* x, float beta, float* y) {
  cblas_sgemv(CblasRowMajor, t, m, n, alpha, a, lda, x, 1, beta, y, 1);
}
void gemv(CBLAS_TRANSPOSE t, int m, int n, double alpha, const double* a, int lda, const double* x, double beta,
          double* y) {
  cblas_dgemv(CblasRowMajor, t, m, n, alpha, a, lda, x, 1, beta, y, 1);
}
void trmv(CBLAS_TRANSPOSE t, int n, const float* a, float* x) {
  cblas_strmv(CblasRowMajor, CblasLower, t, CblasNonUnit, n, a, n, x, 1);
}
void trmv(CBLAS_TRANSPOSE t, int n, const double* a, double* x) {
  cblas_dtrmv(CblasRowMajor, CblasLower, t, CblasNonUnit, n, a, n, x, 1);
}

template <class T>
class PortableBlas : public testing::Test {
 protected:
  static constexpr double tolerance = std::is_same_v<T, float> ? 1e-4 : 1e-12;
  Random random{7};
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(PortableBlas, Numbers);

TYPED_TEST(PortableBlas, MultipliesMatricesInEveryLayout) {
  using T = TypeParam;
  for (const int m : {1, 3, 33})
    for (const int n : {1, 5, 32})
      for (const int k : {1, 4, 200})
        for (const auto layout : {CblasRowMajor, CblasColMajor})
          for (const auto ta : {CblasNoTrans, CblasTrans})
            for (const auto tb : {CblasNoTrans, CblasTrans}) {
              const auto a = numbers<T>(this->random, m * k);
              const auto b = numbers<T>(this->random, k * n);
              const auto before = numbers<T>(this->random, m * n);
              auto c = before;
              const bool rows = layout == CblasRowMajor;
              // Element (i, j) of a matrix of `high` x `wide`, as it is stored.
              const auto at = [&](int i, int j, int high, int wide) { return rows ? i * wide + j : j * high + i; };
              const int lda = (ta == CblasNoTrans) == rows ? k : m;
              const int ldb = (tb == CblasNoTrans) == rows ? n : k;
              gemm(layout, ta, tb, m, n, k, T(0.5), a.data(), lda, b.data(), ldb, T(2), c.data(), rows ? n : m);
              for (int i = 0; i < m; ++i)
                for (int j = 0; j < n; ++j) {
                  double sum = 0;
                  for (int p = 0; p < k; ++p)
                    sum += static_cast<double>(
                               a[static_cast<std::size_t>(ta == CblasNoTrans ? at(i, p, m, k) : at(p, i, k, m))]) *
                           static_cast<double>(
                               b[static_cast<std::size_t>(tb == CblasNoTrans ? at(p, j, k, n) : at(j, p, n, k))]);
                  const auto place = static_cast<std::size_t>(at(i, j, m, n));
                  ASSERT_NEAR(c[place], 0.5 * sum + 2 * static_cast<double>(before[place]), this->tolerance);
                }
            }
}

TYPED_TEST(PortableBlas, MultipliesVectors) {
  using T = TypeParam;
  for (const int m : {1, 7, 40})
    for (const int n : {1, 6, 33})
      for (const auto transpose : {CblasNoTrans, CblasTrans}) {
        const auto a = numbers<T>(this->random, m * n);
        const bool turned = transpose == CblasTrans;
        const auto x = numbers<T>(this->random, turned ? m : n);
        std::vector<T> y(static_cast<std::size_t>(turned ? n : m), T(3));
        gemv(transpose, m, n, T(1), a.data(), n, x.data(), T(0), y.data());
        for (std::size_t r = 0; r < y.size(); ++r) {
          double sum = 0;
          for (std::size_t s = 0; s < x.size(); ++s)
            sum += static_cast<double>(
                       a[turned ? s * static_cast<std::size_t>(n) + r : r * static_cast<std::size_t>(n) + s]) *
                   static_cast<double>(x[s]);
          ASSERT_NEAR(y[r], sum, this->tolerance);
        }
      }
}

TYPED_TEST(PortableBlas, MultipliesByTriangles) {
  using T = TypeParam;
  for (const int n : {1, 2, 9, 40})
    for (const auto transpose : {CblasNoTrans, CblasTrans}) {
      const auto a = numbers<T>(this->random, n * n);
      const auto before = numbers<T>(this->random, n);
      auto x = before;
      trmv(transpose, n, a.data(), x.data());
      for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) {
          const int row = transpose == CblasTrans ? j : i;
          const int column = transpose == CblasTrans ? i : j;
          if (column <= row)
            sum += static_cast<double>(a[static_cast<std::size_t>(row * n + column)]) *
                   static_cast<double>(before[static_cast<std::size_t>(j)]);
        }
        ASSERT_NEAR(x[static_cast<std::size_t>(i)], sum, this->tolerance);
      }
    }
}

/// As the library calls it: X L' = B from the right, L X = B from the left.
TEST(PortableBlas, SolvesTriangles) {
  Random random(8);
  for (const int n : {1, 5, 20})
    for (const int others : {1, 4}) {
      auto a = numbers<double>(random, n * n);
      for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i * n + i)] = 2 + i;
      const auto lower = [&](int i, int j) { return j <= i ? a[static_cast<std::size_t>(i * n + j)] : 0; };
      const auto right = numbers<double>(random, others * n);
      auto x = right;
      cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, others, n, 1, a.data(), n, x.data(),
                  n);
      for (int r = 0; r < others; ++r)
        for (int j = 0; j < n; ++j) {
          double sum = 0;
          for (int p = 0; p < n; ++p) sum += x[static_cast<std::size_t>(r * n + p)] * lower(j, p);
          ASSERT_NEAR(sum, right[static_cast<std::size_t>(r * n + j)], 1e-9);
        }
      const auto left = numbers<double>(random, n * others);
      auto z = left;
      cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, n, others, 1, a.data(), n, z.data(),
                  others);
      for (int i = 0; i < n; ++i)
        for (int c = 0; c < others; ++c) {
          double sum = 0;
          for (int p = 0; p < n; ++p) sum += lower(i, p) * z[static_cast<std::size_t>(p * others + c)];
          ASSERT_NEAR(sum, left[static_cast<std::size_t>(i * others + c)], 1e-9);
        }
    }
}

}  // namespace portable_blas_test
}  // namespace sheaf::test
