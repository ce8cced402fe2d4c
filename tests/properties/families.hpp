// Every kind of model on generated data that suits it, for tests of what all families promise alike.
#pragma once

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <sheaf/memory.hpp>
#include <sheaf/model.hpp>

#include "core/random.hpp"
#include "tables.hpp"

namespace sheaf::test {

enum class TargetType : std::uint8_t { two_classes, three_classes, number, count, survival };

/// One kind of model on one type of target.
struct FamilyCase {
  std::string kind;
  TargetType target = TargetType::two_classes;
  std::vector<std::pair<std::string, std::string>> settings = {};  ///< rows of the parameter table
  /// Decision values of two correct trainings differ by at most this share of their range.
  double accuracy = 1e-5;
  bool row_weights = true;
  /// A constant feature leaves predictions alone: the intercept is not penalised, or only distances count.
  bool ignores_constants = true;
};

inline std::string name_of(TargetType target) {
  switch (target) {
    case TargetType::two_classes:
      return "two_classes";
    case TargetType::three_classes:
      return "three_classes";
    case TargetType::number:
      return "number";
    case TargetType::count:
      return "count";
    default:
      return "survival";
  }
}

/// All kinds; a test checks that none is missing.
inline std::vector<FamilyCase> family_cases() {
  using enum TargetType;
  const std::vector<std::pair<std::string, std::string>> tight{{"tolerance", "1e-12"}};
  const std::vector<std::pair<std::string, std::string>> net{{"tolerance", "1e-11"}, {"alpha", "0.02"}};
  const auto with = [](auto settings, const std::string& name, const std::string& value) {
    settings.emplace_back(name, value);
    return settings;
  };
  std::vector<FamilyCase> cases;
  for (const auto target : {two_classes, three_classes}) {
    cases.push_back({"linear", target, tight, 1e-5, true, false});
    cases.push_back({"linear", target, with(tight, "loss", "svm"), 1e-5, true, false});
    cases.push_back({"svm", target, {{"tolerance", "1e-9"}, {"gamma", "0.1"}}});
    cases.push_back({"elastic-net", target, net});
    cases.push_back({"elastic-net-logistic", target, net});
    cases.push_back({"glm", target, {{"alpha", "0.01"}, {"tolerance", "1e-10"}}});
    cases.push_back({"multinomial", target, {{"alpha", "0.01"}, {"tolerance", "1e-10"}}, 1e-4});
    // Votes of equal neighbours tie, and a tie falls to the class that comes first.
    cases.push_back({"knn", target, {{"k", "9"}, {"vote", "inverse-distance"}}, 1e-4, false});
    for (const char* kind : {"cknn", "hknn", "alh"}) cases.push_back({kind, target, {{"k", "9"}}, 1e-4, false});
    for (const char* kind : {"local-svm", "falk-svm"})
      cases.push_back({kind, target, {{"k", "15"}, {"tolerance", "1e-8"}}, 1e-4, false});
  }
  cases.push_back({"elastic-net-multinomial", three_classes, net, 1e-4});
  cases.push_back({"linear", number, with(with(tight, "loss", "svr"), "epsilon", "0"), 1e-5, true, false});
  cases.push_back({"svm", number, {{"type", "epsilon-svr"}, {"tolerance", "1e-9"}, {"gamma", "0.1"}}});
  for (const char* kind : {"elastic-net", "lasso", "ridge", "elastic-net-huber"}) cases.push_back({kind, number, net});
  cases.push_back({"elastic-net-quantile", number, {{"alpha", "0.02"}, {"tolerance", "1e-7"}}, 1e-2});
  cases.push_back({"glm", number, {{"alpha", "0.01"}, {"tolerance", "1e-10"}}});
  cases.push_back({"knn", number, {{"k", "9"}}, 1e-4, false});
  cases.push_back({"elastic-net-poisson", count, net});
  cases.push_back({"glm", count, {{"family", "poisson"}, {"alpha", "0.01"}, {"tolerance", "1e-10"}}});
  cases.push_back({"elastic-net-cox", survival, net});
  // Efron's ties are not invariant: the weights of tied events are averaged, as in R's survival.
  cases.push_back({"glm", survival, {{"alpha", "0.01"}, {"tolerance", "1e-10"}, {"ties", "breslow"}}});
  return cases;
}

inline std::string name_of(const FamilyCase& one) {
  auto name = one.kind + "_" + name_of(one.target);
  for (const auto& [setting, value] : one.settings)
    if (setting == "loss") name += "_" + value;
  return name;
}

/// A table and its labels as a user would give them.
struct Sample {
  Rows x;
  std::vector<std::string> classes;  ///< empty: numbers
  std::vector<double> numbers;
  std::vector<double> events;
  std::vector<float> weights;  ///< of the rows; empty: 1

  std::int64_t features() const { return static_cast<std::int64_t>(x.front().size()); }
};

/// Features around 0 with values that float holds; a linear signal in three of them, and noise.
inline Sample draw_sample(TargetType target, std::int64_t rows, std::int64_t features, std::uint64_t seed) {
  Random random(seed);
  Sample sample;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::vector<double> row;
    for (std::int64_t j = 0; j < features; ++j) row.push_back(std::round(random.normal() * 4096) / 4096);
    const double signal = row[0] - 0.75 * row[1] + 0.5 * row[2] + 0.5 * random.normal();
    sample.x.push_back(std::move(row));
    const std::vector<std::string> names{"low", "middle", "top"};
    switch (target) {
      case TargetType::two_classes:
        sample.classes.push_back(signal > 0 ? "case" : "control");
        break;
      case TargetType::three_classes:
        sample.classes.push_back(names[signal < -0.5 ? 0 : signal < 0.6 ? 1 : 2]);
        break;
      case TargetType::number:
        sample.numbers.push_back(signal + 0.37);
        break;
      case TargetType::count:
        sample.numbers.push_back(std::floor(std::exp(0.6 * signal + 0.4 * random.uniform())));
        break;
      default:
        sample.numbers.push_back(std::exp(-0.5 * signal) * (0.1 + random.uniform()));
        sample.events.push_back(random.uniform() < 0.7 ? 1 : 0);
    }
  }
  return sample;
}

template <class T>
Dataset<T> dataset_of(const Sample& sample, bool sparse = false) {
  Dataset<T> dataset;
  DatasetOptions options;
  options.events = sample.events;
  LabelSpan labels = std::span<const double>(sample.numbers);
  if (!sample.classes.empty()) labels = std::span<const std::string>(sample.classes);
  dataset.target = make_target(labels, options);
  if (!sample.classes.empty()) dataset.target.kind = LabelKind::classes;
  if (!sample.numbers.empty()) dataset.target.kind = LabelKind::numbers;
  if (dataset.target.kind == LabelKind::classes) dataset.target.order_classes();
  if (sparse)
    dataset.x = sparse_of<T>(sample.x, sample.features());
  else
    dataset.x = dense_of<T>(sample.x, sample.features());
  dataset.source = "sample";
  return dataset;
}

inline ModelOptions options_of(const FamilyCase& one) {
  auto options = find_model_kind(one.kind).options;
  for (const auto& [name, value] : one.settings) set_parameter(options, name, value);
  return options;
}

}  // namespace sheaf::test
