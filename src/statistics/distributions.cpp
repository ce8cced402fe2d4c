#include "statistics/distributions.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace sheaf {
namespace {

/// Lentz's method for the continued fraction of the incomplete beta function (Abramowitz, Stegun 26.5.8).
double beta_fraction(double a, double b, double x) {
  constexpr double tiny = 1e-300;
  constexpr int most = 10000;
  double c = 1;
  double d = 1 - (a + b) * x / (a + 1);
  d = 1 / (std::abs(d) < tiny ? tiny : d);
  double result = d;
  for (int m = 1; m < most; ++m) {
    for (const bool odd : {false, true}) {
      const double term = odd ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                              : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      d = 1 + term * d;
      d = 1 / (std::abs(d) < tiny ? tiny : d);
      c = 1 + term / c;
      if (std::abs(c) < tiny) c = tiny;
      result *= d * c;
    }
    if (std::abs(d * c - 1) < std::numeric_limits<double>::epsilon()) break;
  }
  return result;
}

/// The regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double two_tails(double t, double freedom) {
  if (freedom <= 0) return std::erfc(std::abs(t) / std::sqrt(2.0));
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double two_tails_quantile(double share, double freedom) {
  double low = 0;
  double high = 1;
  while (two_tails(high, freedom) > share && high < 1e12) high *= 2;
  for (int k = 0; k < 200 && high - low > 1e-15 * high; ++k) {
    const double middle = (low + high) / 2;
    (two_tails(middle, freedom) > share ? low : high) = middle;
  }
  return (low + high) / 2;
}

// By recurrence up to 10, then the asymptotic series (Abramowitz, Stegun 6.3.18, 6.4.12).
/// The regularised incomplete gamma function Q(a, y), by its series or its continued fraction (Abramowitz,
/// Stegun 6.5.29 and 6.5.31).
double chi_squared_tail(double x, double freedom) {
  constexpr int most_terms = 10000;
  constexpr double precision = 1e-16;
  if (!(freedom > 0)) return std::nan("");
  if (!(x > 0)) return 1;
  const double a = freedom / 2;
  const double y = x / 2;
  const double front = std::exp(a * std::log(y) - y - std::lgamma(a));
  if (y < a + 1) {
    double term = 1 / a;
    double sum = term;
    for (int n = 1; n < most_terms && term > precision * sum; ++n) sum += term *= y / (a + n);
    return 1 - front * sum;
  }
  // Lentz's method.
  double b = y + 1 - a;
  double c = HUGE_VAL;
  double d = 1 / b;
  double fraction = d;
  for (int n = 1; n < most_terms; ++n) {
    const double numerator = -n * (n - a);
    b += 2;
    d = 1 / (numerator * d + b);
    c = b + numerator / c;
    fraction *= c * d;
    if (std::abs(c * d - 1) < precision) break;
  }
  return front * fraction;
}

double digamma(double x) {
  double result = 0;
  for (; x < 10; ++x) result -= 1 / x;
  const double r = 1 / (x * x);
  return result + std::log(x) - 0.5 / x -
         r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r / 132))));
}

double trigamma(double x) {
  double result = 0;
  for (; x < 10; ++x) result += 1 / (x * x);
  const double r = 1 / (x * x);
  return result + 1 / x + r / 2 + r / x * (1.0 / 6 - r * (1.0 / 30 - r * (1.0 / 42 - r * (1.0 / 30 - r * 5 / 66))));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace sheaf
