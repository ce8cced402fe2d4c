// Deviances of elastic nets, of models without features, and residuals of survival models.
#include "linear/scores/net_deviance.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "linear/losses/losses.hpp"
#include "linear/softmax_intercepts.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf {
namespace linear {
namespace {

/// The weighted mean of a column of targets; of two classes the share of the positive one.
double mean_target(const NetResponse& response, std::size_t column) {
  const auto weights = row_weights(response);
  const auto targets = std::span(response.targets).subspan(column * response.rows(), response.rows());
  const double mean = std::inner_product(targets.begin(), targets.end(), weights.begin(), 0.0) /
                      std::accumulate(weights.begin(), weights.end(), 0.0);
  return response.loss == Loss::logistic ? (1 + mean) / 2 : mean;
}

/// The sum over the rows of a class or target of weight * slope where all have the decision value `at`, with offsets.
double slope_at(const NetResponse& response, std::size_t column, double at) {
  const std::size_t rows = response.rows();
  const auto weights = row_weights(response);
  double sum = 0;
  with_net_loss(response.loss, [&](auto functor) {
    if constexpr (!is_cox<decltype(functor)>) {
      for (std::size_t i = 0; i < rows; ++i) {
        const double z = at + (response.offsets.empty() ? 0.0 : response.offsets[i]);
        sum += weights[i] * functor.terms(z, response.targets[column * rows + i], response.loss_parameter).slope;
      }
    }
  });
  return sum;
}

/// The decision value of least loss: losses are convex, so that their slope changes its sign once.
double best_constant(const NetResponse& response, std::size_t column) {
  std::optional<double> known;
  if (response.offsets.empty())
    with_glm_loss(response.loss, [&](auto functor) { known = functor.link(mean_target(response, column), 0.0); });
  if (known) return *known;
  double low = -1, high = 1;
  while (slope_at(response, column, low) > 0 && std::isfinite(low)) low *= 2;
  while (slope_at(response, column, high) < 0 && std::isfinite(high)) high *= 2;
  for (double middle = (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2)
    (slope_at(response, column, middle) < 0 ? low : high) = middle;
  return high;
}

/// Decision values of the best model without features.
std::vector<double> null_decisions(const NetResponse& response, bool intercept) {
  const std::size_t rows = response.rows();
  const auto weights = row_weights(response);
  std::vector<double> z;
  if (response.loss == Loss::softmax && !response.offsets.empty()) {
    const auto at = [&](std::int64_t i, std::int32_t k) {
      return static_cast<std::size_t>(k) * rows + static_cast<std::size_t>(i);
    };
    const SoftmaxRows all{static_cast<std::int64_t>(rows), response.classes,
                          [&](std::int64_t i) { return weights[static_cast<std::size_t>(i)]; },
                          [&](std::int64_t i, std::int32_t k) { return response.targets[at(i, k)]; },
                          [&](std::int64_t i, std::int32_t k) { return response.offsets[at(i, k)]; }};
    std::vector<double> constants(static_cast<std::size_t>(response.classes), 0.0);
    if (intercept) constants = softmax_intercepts(all, constants);
    for (std::size_t e = 0; e < response.offsets.size(); ++e) z.push_back(constants[e / rows] + response.offsets[e]);
    return z;
  }
  for (std::size_t k = 0; k < static_cast<std::size_t>(response.classes); ++k) {
    const auto column = std::span(response.targets).subspan(k * rows, rows);
    double constant = 0;
    if (intercept && response.loss == Loss::softmax)
      constant = std::log(std::inner_product(column.begin(), column.end(), weights.begin(), 0.0));
    else if (intercept && response.loss != Loss::cox)
      constant = best_constant(response, k);
    for (std::size_t i = 0; i < rows; ++i)
      z.push_back(constant + (response.offsets.empty() ? 0.0 : response.offsets[i]));
  }
  return z;
}

/// Logarithms of 1 + least chance of another class.
constexpr double certain = 11.512925464970229;  // log(1e5)

}  // namespace

void check_sizes(const NetResponse& response, std::span<const double> decisions) {
  need(response.classes > 0 && !response.targets.empty(), "there are no targets to compare decision values with");
  const std::size_t rows = response.rows();
  need(rows * static_cast<std::size_t>(response.classes) == response.targets.size() &&
           decisions.size() % response.targets.size() == 0,
       "there must be a target, and a decision value of each model, for each row and class");
  for (const auto* list : {&response.weights, &response.saturated})
    need(list->empty() || list->size() == rows, "weights must be one a row");
  const std::size_t offsets = response.loss == Loss::softmax ? response.targets.size() : rows;
  need(response.offsets.empty() || response.offsets.size() == offsets,
       "offsets must be one a row, of classes one for each");
  need(response.loss != Loss::cox || response.risk.times.size() == rows, "survival needs a time for each row");
}

std::vector<double> row_weights(const NetResponse& response) {
  return response.weights.empty() ? std::vector<double>(response.rows(), 1.0) : response.weights;
}

void to_shares(std::span<double> z) {
  const double most = *std::max_element(z.begin(), z.end());
  double sum = 0;
  for (double& value : z) sum += value = std::exp(value - most);
  for (double& value : z) value /= sum;
}

std::vector<double> row_deviances(const NetResponse& response, const double* z) {
  const std::size_t rows = response.rows();
  std::vector<double> deviances(rows, 0.0);
  if (response.loss == Loss::softmax) {
    std::vector<double> shares(static_cast<std::size_t>(response.classes));
    for (std::size_t i = 0; i < rows; ++i) {
      for (std::size_t k = 0; k < shares.size(); ++k) shares[k] = z[k * rows + i];
      to_shares(shares);
      for (std::size_t k = 0; k < shares.size(); ++k)
        if (const double y = response.targets[k * rows + i]; y > 0) deviances[i] -= 2 * y * std::log(shares[k]);
    }
    return deviances;
  }
  const double factor = response.loss == Loss::huber || response.loss == Loss::quantile ? 1 : 2;
  with_net_loss(response.loss, [&](auto functor) {
    if constexpr (!is_cox<decltype(functor)>) {
      for (std::size_t k = 0; k < response.targets.size(); ++k) {
        const double y = response.targets[k];
        deviances[k % rows] += factor * (functor.terms(z[k], y, response.loss_parameter).value - functor.least(y));
      }
    }
  });
  for (std::size_t i = 0; i < response.saturated.size(); ++i) deviances[i] += response.saturated[i];
  return deviances;
}

CoxDeviance::CoxDeviance(const NetResponse& response, std::span<const double> weights)
    : CoxDeviance(response, std::vector<float>(weights.begin(), weights.end())) {}

CoxDeviance::CoxDeviance(const NetResponse& response, const std::vector<float>& weights)
    : risk_(make_risk_tables(response.risk, response.targets, weights, 1, false), 1, Device::cpu()),
      rows_(risk_.sets(), std::vector<double>(weights.begin(), weights.end())),
      residuals_(weights.size()),
      curvatures_(weights.size()) {
  rows_.load([](std::size_t) { return 0.0; }, residuals_.data(), curvatures_.data());
  least_ = rows_.dual_at(0);
}

double CoxDeviance::operator()(const double* z) {
  return 2 * (rows_.load([z](std::size_t i) { return z[i]; }, residuals_.data(), curvatures_.data()).loss - least_);
}

}  // namespace linear

std::vector<double> net_deviances(const NetResponse& response, std::span<const double> decisions) {
  linear::check_sizes(response, decisions);
  const auto weights = linear::row_weights(response);
  std::vector<double> deviances;
  std::optional<linear::CoxDeviance> of_survival;
  if (response.loss == Loss::cox) of_survival.emplace(response, weights);
  for (std::size_t at = 0; at < decisions.size(); at += response.targets.size()) {
    const double* z = decisions.data() + at;
    if (of_survival) {
      deviances.push_back((*of_survival)(z));
      continue;
    }
    const auto of_rows = linear::row_deviances(response, z);
    deviances.push_back(std::inner_product(of_rows.begin(), of_rows.end(), weights.begin(), 0.0));
  }
  return deviances;
}

double null_deviance(const NetResponse& response, bool intercept) {
  linear::check_sizes(response, {});
  return net_deviances(response, linear::null_decisions(response, intercept)).front();
}

bool is_certain(const NetResponse& response, std::span<const double> decisions) {
  linear::check_sizes(response, decisions);
  const auto weights = linear::row_weights(response);
  const std::size_t rows = response.rows();
  if (response.loss != Loss::logistic && response.loss != Loss::softmax && response.loss != Loss::poisson) return false;
  const double constant = response.loss == Loss::poisson ? linear::best_constant(response, 0) : 0;
  std::vector<double> z(static_cast<std::size_t>(response.classes));
  for (std::size_t i = 0; i < rows; ++i) {
    if (!(weights[i] > 0)) continue;
    for (std::size_t k = 0; k < z.size(); ++k) z[k] = decisions[k * rows + i];
    if (response.loss == Loss::logistic && response.targets[i] * z[0] > linear::certain) return true;
    const double offset = response.offsets.empty() ? 0.0 : response.offsets[i];
    if (response.loss == Loss::poisson && z[0] - offset < constant - linear::certain) return true;
    if (response.loss != Loss::softmax) continue;
    linear::to_shares(z);
    if (*std::max_element(z.begin(), z.end()) > 1 / (1 + std::exp(-linear::certain))) return true;
  }
  return false;
}

std::vector<double> martingale_residuals(const RiskTimes& risk, std::span<const double> events,
                                         std::span<const float> weights, std::span<const double> values, Ties ties) {
  const auto tables = make_risk_tables(risk, events, weights, 1, ties == Ties::efron);
  const auto sets = risk_sets_of(tables, 1, 0);
  std::vector<double> memory(values.size() * PartialLikelihood<OneThread, double>::vectors);
  const OneThread team;
  PartialLikelihood<OneThread, double> likelihood(team, sets, memory.data());
  // Rows of weight 0 too have a hazard, which their own weight does not show.
  const auto at = [&](std::int64_t place) { return static_cast<std::size_t>(sets.order[place]); };
  double top = -HUGE_VAL;
  for (std::int64_t k = 0; k < sets.rows; ++k)
    if (weights.empty() || weights[at(k)] > 0) top = std::max(top, values[at(k)]);
  likelihood.load([&](std::int64_t i) { return values[static_cast<std::size_t>(i)]; },
                  [&](std::int64_t i) { return weights.empty() ? 1.0F : weights[static_cast<std::size_t>(i)]; });
  std::vector<double> residuals(events.begin(), events.end());
  for (std::int64_t k = 0; k < sets.rows; ++k) residuals[at(k)] -= std::exp(values[at(k)] - top) * likelihood.hazard(k);
  return residuals;
}

}  // namespace sheaf
