// Elastic nets as users meet them: one model trained on a table. It is kept and applied as every linear model is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/elastic_net.hpp>
#include <sheaf/label_kind.hpp>
#include <sheaf/linear_model.hpp>
#include <sheaf/parameters.hpp>

namespace sheaf {

/// The elastic net and its corners, by the names people know them by.
struct NetKind {
  std::string_view name;
  std::string_view about;
  Loss loss = Loss::squared;
  std::optional<double> l1_ratio = {};  ///< where the name says it
};
std::span<const NetKind> net_kinds();
/// nullptr: no such kind.
const NetKind* find_net_kind(std::string_view name);

struct NetOptions {
  Loss loss = Loss::squared;    ///< squared or logistic
  std::optional<double> alpha;  ///< how much the penalty weighs; must be given to train one model
  double l1_ratio = NetPath{}.l1_ratio;
  /// Two classes are +1 and -1; of three or more each one is set against the rest. The logistic loss is for classes.
  LabelKind labels = LabelKind::automatic;
  bool intercept = NetParams{}.intercept;
  bool standardise = NetParams{}.standardise;
  NetSolver solver = NetParams{}.solver;
  std::int32_t parallel = NetParams{}.parallel;
  double tolerance = NetParams{}.tolerance;
  int max_epochs = NetParams{}.max_epochs;
  std::vector<double> penalty_factors;                        ///< one a feature; empty: all 1
  std::vector<std::pair<std::string, double>> class_weights;  ///< of the rows of a class; classes not named: 1
  bool balanced = false;  ///< class weights rows / (classes * rows of the class), before class_weights
};

/// Whether the labels are classes for these options. Labels that do not suit the loss are an Error.
bool takes_classes(const NetOptions& options, const Target& target, const std::string& source);

/// All classes as one sheaf; the order of classes, and what a decision value speaks for, as train_linear(). Without an
/// alpha a UsageError says from which one on all weights are 0. That training did not converge is no error: see
/// warnings_of().
template <class T>
LinearModel train_net(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
                      std::span<const float> row_weights = {});

template <>
const std::vector<Parameter<NetOptions>>& parameters();

}  // namespace sheaf
