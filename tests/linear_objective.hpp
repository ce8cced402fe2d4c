// The objective of a linear model once more, by plain loops in double, and readers of LIBLINEAR's files of a few lines
// each: independent of everything they check.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace sheaf::test {

struct PlainTable {
  std::vector<double> labels;
  std::vector<std::vector<std::pair<std::size_t, double>>> rows;  // features from 0
};

inline PlainTable plain_table(const std::string& libsvm) {
  PlainTable table;
  std::istringstream lines(libsvm);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    double label = 0;
    words >> label;
    table.labels.push_back(label);
    table.rows.emplace_back();
    std::size_t index = 0;
    char colon = 0;
    double value = 0;
    while (words >> index >> colon >> value) table.rows.back().emplace_back(index - 1, value);
  }
  return table;
}

struct PlainModel {
  std::string solver;
  std::vector<double> labels;  // regression: none
  std::size_t features = 0;
  std::size_t columns = 1;
  double bias = -1;
  std::vector<double> w;
};

inline PlainModel plain_model(const std::string& text) {
  PlainModel model;
  std::istringstream words(text);
  std::size_t classes = 0;
  for (std::string word; words >> word && word != "w";) {
    if (word == "solver_type") words >> model.solver;
    if (word == "nr_class") words >> classes;
    if (word == "nr_feature") words >> model.features;
    if (word == "bias") words >> model.bias;
    for (std::size_t c = 0; c < classes && word == "label"; ++c) words >> model.labels.emplace_back();
  }
  for (double value = 0; words >> value;) model.w.push_back(value);
  model.columns = model.labels.size() > 2 || model.solver == "MCSVM_CS" ? model.labels.size() : 1;
  return model;
}

struct Costs {
  double c = 1;
  double epsilon = 0.1;
  std::map<double, double> class_weights = {};
  bool penalise_bias = true;
  std::vector<double> row_weights = {};  // none: 1
};

struct Optimality {
  double objective = 0;
  double gradient = 0;  // its norm
};

struct LossTerm {
  double loss, slope;
};

/// At a decision value. `y` is +1 or -1, or a number.
inline LossTerm loss_and_slope(const std::string& solver, double z, double y, double epsilon) {
  if (solver.starts_with("L2R_LR") || solver == "L1R_LR")
    return {std::log1p(std::exp(-std::abs(y * z))) + std::max(0.0, -y * z), -y / (1 + std::exp(y * z))};
  const double slack = std::max(0.0, 1 - y * z);
  if (solver.starts_with("L2R_L2LOSS_SVC") || solver == "L1R_L2LOSS_SVC") return {slack * slack, -2 * y * slack};
  if (solver.starts_with("L2R_L1LOSS_SVC")) return {slack, slack > 0 ? -y : 0};
  const double excess = std::max(0.0, std::abs(z - y) - epsilon);
  if (solver.starts_with("L2R_L1LOSS_SVR")) return {excess, excess <= 0 ? 0.0 : z > y ? 1.0 : -1.0};
  return {excess * excess, z > y ? 2 * excess : -2 * excess};
}

inline double class_weight(const Costs& costs, double label) {
  const auto found = costs.class_weights.find(label);
  return found == costs.class_weights.end() ? 1.0 : found->second;
}

/// w'w / 2 (or sum of |w|) + sum of cost * loss, of one column of the model. The gradient is that with w'w / 2.
inline Optimality measure(const PlainTable& table, const PlainModel& model, const Costs& costs, std::size_t column) {
  const bool bias = model.bias > 0;
  const auto weight = [&](std::size_t j) { return model.w[j * model.columns + column]; };
  const bool absolute = model.solver.starts_with("L1R_");
  std::vector<double> gradient(model.features + (bias ? 1 : 0), 0.0);
  Optimality result;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    double z = bias ? model.bias * weight(model.features) : 0;
    for (const auto& [j, value] : table.rows[i]) z += value * weight(j);
    double y = table.labels[i];
    double cost = costs.c * (costs.row_weights.empty() ? 1 : costs.row_weights[i]);
    if (!model.labels.empty()) {
      const bool positive = y == model.labels[column];
      if (positive || model.labels.size() == 2) cost *= class_weight(costs, y);
      y = positive ? 1 : -1;
    }
    const auto [loss, slope] = loss_and_slope(model.solver, z, y, costs.epsilon);
    result.objective += cost * loss;
    for (const auto& [j, value] : table.rows[i]) gradient[j] += cost * slope * value;
    if (bias) gradient.back() += cost * slope * model.bias;
  }
  for (std::size_t j = 0; j < gradient.size(); ++j) {
    const bool free = bias && j == model.features && !costs.penalise_bias;
    if (!free) gradient[j] += weight(j);
    if (!free) result.objective += absolute ? std::abs(weight(j)) : weight(j) * weight(j) / 2;
    result.gradient += gradient[j] * gradient[j];
  }
  result.gradient = std::sqrt(result.gradient);
  return result;
}

/// Crammer and Singer's model: sum of w'w / 2 + sum of cost * (largest of 1 + z_c - z_y over other classes c, or 0).
inline double coupled_objective(const PlainTable& table, const PlainModel& model, const Costs& costs) {
  double objective = 0;
  for (const double weight : model.w) objective += weight * weight / 2;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<double> z(model.columns, 0.0);
    for (std::size_t c = 0; c < model.columns; ++c) {
      if (model.bias > 0) z[c] = model.bias * model.w[model.features * model.columns + c];
      for (const auto& [j, value] : table.rows[i]) z[c] += value * model.w[j * model.columns + c];
    }
    const auto own = static_cast<std::size_t>(std::find(model.labels.begin(), model.labels.end(), table.labels[i]) -
                                              model.labels.begin());
    double loss = 0;
    for (std::size_t c = 0; c < model.columns; ++c)
      if (c != own) loss = std::max(loss, 1 + z[c] - z[own]);
    const double weight = costs.row_weights.empty() ? 1 : costs.row_weights[i];
    objective += costs.c * weight * class_weight(costs, table.labels[i]) * loss;
  }
  return objective;
}

/// Objective of each problem that the model solves: one a column, or one of all.
inline std::vector<double> objectives(const PlainTable& table, const PlainModel& model, const Costs& costs) {
  if (model.solver == "MCSVM_CS") return {coupled_objective(table, model, costs)};
  std::vector<double> result;
  for (std::size_t c = 0; c < model.columns; ++c) result.push_back(measure(table, model, costs, c).objective);
  return result;
}

}  // namespace sheaf::test
