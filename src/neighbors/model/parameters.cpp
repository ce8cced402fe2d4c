#include <sheaf/neighbors.hpp>

#include "data/parameter_rows.hpp"
#include "neighbors/model/names.hpp"

namespace sheaf {
namespace neighbors {

const Choices<Vote>& vote_names() {
  static const Choices<Vote> rows{
      {"uniform", Vote::uniform}, {"inverse-distance", Vote::inverse_distance}, {"gaussian", Vote::gaussian}};
  return rows;
}

const Choices<LocalRule>& rule_names() {
  static const Choices<LocalRule> rows{{"votes", LocalRule::votes},
                                       {"hyperplanes", LocalRule::hyperplane},
                                       {"convex-hulls", LocalRule::convex_hull},
                                       {"local-svm", LocalRule::local_svm},
                                       {"falk-svm", LocalRule::falk_svm}};
  return rows;
}

const Choices<LocalKernel>& kernel_names() {
  static const Choices<LocalKernel> rows{{"linear", LocalKernel::linear}, {"rbf", LocalKernel::rbf}};
  return rows;
}

const Choices<FeatureWeighting>& weighting_names() {
  static const Choices<FeatureWeighting> rows{{"none", FeatureWeighting::none},
                                              {"given", FeatureWeighting::given},
                                              {"class-ratio", FeatureWeighting::class_ratio},
                                              {"mutual-information", FeatureWeighting::mutual_information},
                                              {"relief", FeatureWeighting::relief}};
  return rows;
}

const Choices<DistanceType>& metric_names() {
  static const auto rows = [] {
    Choices<DistanceType> all;
    for (const auto& function : distance_functions()) all.emplace_back(function.name, function.type);
    return all;
  }();
  return rows;
}

}  // namespace neighbors

namespace {

template <class Value>
std::string_view view_of(const Choices<Value>& choices, Value value) {
  for (const auto& [name, known] : choices)
    if (known == value) return name;
  throw InternalError("a value without a name");
}

/// A row of the distance's options as one of the model's.
Parameter<KnnOptions> distance_row(std::string_view name) {
  for (const auto& row : parameters<DistanceOptions>()) {
    if (row.name != name) continue;
    return {row.name,
            row.value,
            row.help,
            row.default_text,
            row.choices,
            [set = row.set](KnnOptions& options, std::string_view text) { set(options.distance, text); },
            [get = row.get](const KnnOptions& options) { return get(options.distance); },
            row.type,
            row.low,
            row.high};
  }
  throw InternalError("an unknown parameter of distances");
}

}  // namespace

std::string_view to_string(Vote vote) { return view_of(neighbors::vote_names(), vote); }
std::string_view to_string(LocalRule rule) { return view_of(neighbors::rule_names(), rule); }
std::string_view to_string(LocalKernel kernel) { return view_of(neighbors::kernel_names(), kernel); }
bool trains_svms(LocalRule rule) { return rule == LocalRule::local_svm || rule == LocalRule::falk_svm; }
std::string_view to_string(FeatureWeighting weighting) { return view_of(neighbors::weighting_names(), weighting); }

template <>
const std::vector<Parameter<KnnOptions>>& parameters() {
  using O = KnnOptions;
  constexpr double most = std::numeric_limits<double>::max();
  static const std::vector<Parameter<O>> rows{
      choice_row<O, LocalRule>("rule", &O::rule, neighbors::rule_names(), "what is made of the neighbours"),
      number_row("k", &O::k, {1, std::numeric_limits<std::int32_t>::max()},
                 "how many neighbours decide; hyperplanes and hulls: of each class; local SVMs: 40 unless given"),
      choice_row<O, Vote>("vote", &O::vote, neighbors::vote_names(),
                          "how much each neighbour counts: all the same, 1 / distance, or exp(-(d / d_k)^2 / 2)"),
      distance_row("metric"),
      distance_row("power"),
      choice_row<O, FeatureWeighting>(
          "weighting", &O::weighting, neighbors::weighting_names(),
          "weights of features: none; those of a file; or learnt on the training rows, by between-class over "
          "within-class squares, by mutual information with the class, or by ReliefF"),
      number_row("temperature", &O::temperature, {0, 1000}, "class-ratio: weights are exp(temperature * ratio)"),
      number_row("lambda", &O::lambda, {0, most}, "hyperplanes and hulls: the penalty of their coefficients"),
      choice_row<O, LocalKernel>("kernel", &O::kernel, neighbors::kernel_names(), "local SVMs: their kernel"),
      positive_row("cost", &O::cost, "local SVMs: C, the cost of margin violations"),
      number_row("gamma", &O::gamma, {0, most}, "local SVMs: gamma of the RBF kernel exp(-gamma |x-y|^2)",
                 "1 / features"),
      positive_row("tolerance", &O::tolerance,
                   "local SVMs: stop when no pair violates the optimality conditions by more, as LIBSVM's -e"),
      choice_row<O, LabelKind>(
          "labels", &O::labels,
          {{"auto", LabelKind::automatic}, {"classes", LabelKind::classes}, {"numbers", LabelKind::numbers}},
          "what the labels are"),
  };
  return rows;
}

}  // namespace sheaf
