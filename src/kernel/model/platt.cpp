#include "kernel/model/platt.hpp"

#include <algorithm>
#include <cmath>

namespace sheaf::kernel {
namespace {

// LIBSVM's limits, so that its models and ours have the same digits.
constexpr int most_newton_steps = 100;
constexpr double least_step = 1e-10;
constexpr double ridge = 1e-12;  // keeps the Hessian positive definite
constexpr double gradient_tolerance = 1e-5;
constexpr double sufficient_decrease = 1e-4;
constexpr double least_coupling_steps = 100;
constexpr double coupling_tolerance = 0.005;  // divided by the classes

/// -log likelihood; both branches avoid the exponential of a large number.
double loss_of(const Sigmoid& sigmoid, std::span<const double> decisions, std::span<const double> targets) {
  double sum = 0;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const double u = decisions[i] * sigmoid.a + sigmoid.b;
    sum += u >= 0 ? targets[i] * u + std::log1p(std::exp(-u)) : (targets[i] - 1) * u + std::log1p(std::exp(u));
  }
  return sum;
}

struct Derivatives {
  double h11 = ridge, h22 = ridge, h21 = 0, g1 = 0, g2 = 0;
};

Derivatives derive(const Sigmoid& sigmoid, std::span<const double> decisions, std::span<const double> targets) {
  Derivatives d;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const double p = sigmoid(decisions[i]);
    const double weight = p * (1 - p);
    const double slope = targets[i] - p;
    d.h11 += decisions[i] * decisions[i] * weight;
    d.h22 += weight;
    d.h21 += decisions[i] * weight;
    d.g1 += decisions[i] * slope;
    d.g2 += slope;
  }
  return d;
}

/// Halves the Newton step until it gains enough; false: no step does.
bool advance(Sigmoid& sigmoid, double& loss, const Derivatives& d, std::span<const double> decisions,
             std::span<const double> targets) {
  const double determinant = d.h11 * d.h22 - d.h21 * d.h21;
  const double step_a = -(d.h22 * d.g1 - d.h21 * d.g2) / determinant;
  const double step_b = -(d.h11 * d.g2 - d.h21 * d.g1) / determinant;
  const double slope = d.g1 * step_a + d.g2 * step_b;
  double step = 1;
  while (step >= least_step) {
    const Sigmoid trial{sigmoid.a + step * step_a, sigmoid.b + step * step_b};
    const double trial_loss = loss_of(trial, decisions, targets);
    if (trial_loss < loss + sufficient_decrease * step * slope) {
      sigmoid = trial;
      loss = trial_loss;
      return true;
    }
    step /= 2;
  }
  return false;
}

}  // namespace

double Sigmoid::operator()(double z) const {
  const double u = a * z + b;
  return u >= 0 ? std::exp(-u) / (1 + std::exp(-u)) : 1 / (1 + std::exp(u));
}

Sigmoid fit_sigmoid(std::span<const double> decisions, std::span<const std::int8_t> sides) {
  const auto first = static_cast<double>(std::count_if(sides.begin(), sides.end(), [](auto side) { return side > 0; }));
  const double second = static_cast<double>(sides.size()) - first;
  // Platt's targets: not 1 and 0, but the expected probabilities of unseen rows, from the class counts.
  std::vector<double> targets;
  targets.reserve(sides.size());
  for (const auto side : sides) targets.push_back(side > 0 ? (first + 1) / (first + 2) : 1 / (second + 2));
  Sigmoid sigmoid{0, std::log((second + 1) / (first + 1))};
  double loss = loss_of(sigmoid, decisions, targets);
  for (int k = 0; k < most_newton_steps; ++k) {
    const auto d = derive(sigmoid, decisions, targets);
    if (std::abs(d.g1) < gradient_tolerance && std::abs(d.g2) < gradient_tolerance) break;
    if (!advance(sigmoid, loss, d, decisions, targets)) break;
  }
  return sigmoid;
}

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
