#include "statistics/sigmoid.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace sheaf {
namespace {

// LIBSVM's limits, so that its models and ours have the same digits.
constexpr int most_newton_steps = 100;
constexpr double least_step = 1e-10;
constexpr double ridge = 1e-12;  // keeps the Hessian positive definite
constexpr double sufficient_decrease = 1e-4;

/// -log likelihood; both branches avoid the exponential of a large number.
double loss_of(const PlattSigmoid& sigmoid, std::span<const double> decisions, std::span<const double> targets) {
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

Derivatives derive(const PlattSigmoid& sigmoid, std::span<const double> decisions, std::span<const double> targets) {
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
bool advance(PlattSigmoid& sigmoid, double& loss, const Derivatives& d, std::span<const double> decisions,
             std::span<const double> targets) {
  const double determinant = d.h11 * d.h22 - d.h21 * d.h21;
  const double step_a = -(d.h22 * d.g1 - d.h21 * d.g2) / determinant;
  const double step_b = -(d.h11 * d.g2 - d.h21 * d.g1) / determinant;
  const double slope = d.g1 * step_a + d.g2 * step_b;
  double step = 1;
  while (step >= least_step) {
    const PlattSigmoid trial{sigmoid.a + step * step_a, sigmoid.b + step * step_b};
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

double PlattSigmoid::operator()(double z) const {
  const double u = a * z + b;
  return u >= 0 ? std::exp(-u) / (1 + std::exp(-u)) : 1 / (1 + std::exp(u));
}

PlattSigmoid fit_sigmoid(std::span<const double> decisions, std::span<const std::int8_t> sides, double tolerance) {
  const auto first = static_cast<double>(std::count_if(sides.begin(), sides.end(), [](auto side) { return side > 0; }));
  const double second = static_cast<double>(sides.size()) - first;
  // Platt's targets: not 1 and 0, but the expected probabilities of unseen rows, from the class counts.
  std::vector<double> targets;
  targets.reserve(sides.size());
  for (const auto side : sides) targets.push_back(side > 0 ? (first + 1) / (first + 2) : 1 / (second + 2));
  PlattSigmoid sigmoid{0, std::log((second + 1) / (first + 1))};
  double loss = loss_of(sigmoid, decisions, targets);
  for (int k = 0; k < most_newton_steps; ++k) {
    const auto d = derive(sigmoid, decisions, targets);
    if (std::abs(d.g1) < tolerance && std::abs(d.g2) < tolerance) break;
    if (!advance(sigmoid, loss, d, decisions, targets)) break;
  }
  return sigmoid;
}

}  // namespace sheaf
