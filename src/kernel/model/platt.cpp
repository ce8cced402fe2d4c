#include "kernel/model/platt.hpp"

#include <algorithm>
#include <cmath>

namespace sheaf::kernel {
namespace {

// LIBSVM's limits, so that its models and ours have the same digits.
constexpr double least_coupling_steps = 100;
constexpr double coupling_tolerance = 0.005;  // divided by the classes

}  // namespace

std::vector<double> couple(std::span<const double> pairs, std::size_t classes) {
  const auto r = [&](std::size_t i, std::size_t j) { return pairs[i * classes + j]; };
  std::vector<double> q(classes * classes, 0.0);
  for (std::size_t t = 0; t < classes; ++t)
    for (std::size_t j = 0; j < classes; ++j) {
      if (j == t) continue;
      q[t * classes + t] += r(j, t) * r(j, t);
      q[t * classes + j] = -r(j, t) * r(t, j);
    }
  std::vector<double> p(classes, 1 / static_cast<double>(classes));
  std::vector<double> qp(classes);
  const double tolerance = coupling_tolerance / static_cast<double>(classes);
  const double most = std::max(least_coupling_steps, static_cast<double>(classes));
  for (int step = 0; step < most; ++step) {
    double pqp = 0;
    for (std::size_t t = 0; t < classes; ++t) {
      qp[t] = 0;
      for (std::size_t j = 0; j < classes; ++j) qp[t] += q[t * classes + j] * p[j];
      pqp += p[t] * qp[t];
    }
    double error = 0;
    for (const double value : qp) error = std::max(error, std::abs(value - pqp));
    if (error < tolerance) break;
    for (std::size_t t = 0; t < classes; ++t) {
      const double change = (pqp - qp[t]) / q[t * classes + t];
      p[t] += change;
      pqp = (pqp + change * (change * q[t * classes + t] + 2 * qp[t])) / (1 + change) / (1 + change);
      for (std::size_t j = 0; j < classes; ++j) {
        qp[j] = (qp[j] + change * q[t * classes + j]) / (1 + change);
        p[j] /= 1 + change;
      }
    }
  }
  return p;
}

double laplace_width(std::span<const double> errors) {
  if (errors.empty()) return 0;
  double mean = 0;
  for (const double error : errors) mean += std::abs(error);
  mean /= static_cast<double>(errors.size());
  const double limit = 5 * std::sqrt(2 * mean * mean);
  double sum = 0;
  double count = 0;
  for (const double error : errors) {
    if (std::abs(error) > limit) continue;
    sum += std::abs(error);
    ++count;
  }
  return sum / count;
}

namespace {
constexpr std::size_t marks = 10;
}

std::vector<double> density_marks(std::vector<double> decisions) {
  std::sort(decisions.begin(), decisions.end());
  const auto below =
      static_cast<std::size_t>(std::lower_bound(decisions.begin(), decisions.end(), 0.0) - decisions.begin());
  const std::size_t above = decisions.size() - below;
  constexpr std::size_t half = marks / 2;
  if (below < half || above < half) return {};
  std::vector<double> edges;
  for (std::size_t i = 0; i < half; ++i) edges.push_back(decisions[i * below / half]);
  edges.push_back(0);
  for (std::size_t i = 1; i <= half; ++i) edges.push_back(decisions[below - 1 + i * above / half]);
  std::vector<double> result;
  for (std::size_t i = 0; i < marks; ++i) result.push_back((edges[i] + edges[i + 1]) / 2);
  return result;
}

double density_probability(std::span<const double> between, double decision) {
  constexpr double almost_none = 0.001;
  constexpr double almost_all = 0.999;
  if (decision < between.front()) return almost_none;
  if (decision > between.back()) return almost_all;
  for (std::size_t i = 1; i < between.size(); ++i)
    if (decision < between[i]) return static_cast<double>(i) / static_cast<double>(between.size());
  return almost_all;
}

}  // namespace sheaf::kernel
