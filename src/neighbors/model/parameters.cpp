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

/// Whole numbers, and ranges LOW:HIGH of them.
std::vector<double> read_ks(std::string_view text) {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  std::vector<double> list;
  for (const auto part : split_text(text, ',')) {
    const auto ends = split_text(part, ':');
    if (ends.size() > 2) fail_usage("k takes whole numbers A,B,C or ranges LOW:HIGH, not '{}'", text);
    const auto low = parse_number<std::int64_t>("k", ends.front(), {1, most});
    const auto high = parse_number<std::int64_t>("k", ends.back(), {1, most});
    for (auto k = low; k <= high; ++k) list.push_back(static_cast<double>(k));
  }
  return list;
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

/// Weights that are given are the ones that count, in place of those that a kind of model learns.
void set_feature_weights(KnnOptions& options, std::vector<double> weights) {
  if (options.weighting == FeatureWeighting::mutual_information || options.weighting == FeatureWeighting::relief)
    fail_usage("the weighting {} learns weights of features; leave it out, or the weights",
               to_string(options.weighting));
  options.weighting = FeatureWeighting::given;
  options.distance.weights = std::move(weights);
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
  const std::vector<std::string> local_svms{"local-svm", "falk-svm"};
  const std::vector<std::string> without_svms{"knn", "cknn", "hknn", "alh"};
  static const std::vector<Parameter<O>> rows{
      used_in(ParameterUse::kind,
              choice_row<O, LocalRule>("rule", &O::rule, neighbors::rule_names(), "what is made of the neighbours")),
      searched(number_row("k", &O::k, {1, std::numeric_limits<std::int32_t>::max()},
                          "number of neighbours; hyperplanes and hulls: of each class; local SVMs: 40 unless "
                          "given"),
               "numbers of neighbours to try: A,B,C, or LOW:HIGH for all between",
               fmt::format("{}; local SVMs: {}", neighbors::default_ks, neighbors::default_local_ks),
               neighbors::read_ks),
      only_for(without_svms,
               searched(choice_row<O, Vote>(
                            "vote", &O::vote, neighbors::vote_names(),
                            "how much each neighbour counts: all the same, 1 / distance, or exp(-(d / d_k)^2 / 2)"),
                        "votes to try: uniform, inverse-distance, gaussian")),
      searched(distance_row("metric"), "distances to try, by their names in sheaf neighbors"),
      distance_row("power"),
      searched(choice_row<O, FeatureWeighting>(
                   "weighting", &O::weighting, neighbors::weighting_names(),
                   "weights of features: none; those of a file; or learnt on the training rows, by between-class over "
                   "within-class squares, by mutual information with the class, or by ReliefF"),
               "weights of features to try: none, given, class-ratio, mutual-information, relief"),
      vector_row<O>("feature-weights", "weights of features: one number of 0 or more to a line",
                    {false, read_feature_weights, set_feature_weights,
                     [](const O& options) { return options.distance.weights; }}),
      searched(
          number_row("temperature", &O::temperature, {0, 1000}, "class-ratio: weights are exp(temperature * ratio)"),
          "class-ratio: temperatures to try", "1", list_reader<double>("temperature", {0, most})),
      only_for(without_svms,
               searched(number_row("lambda", &O::lambda, {0, most},
                                   "hyperplanes and hulls: the penalty of their coefficients"),
                        "hyperplanes and hulls: penalties to try", "1", list_reader<double>("lambda", {0, most}))),
      only_for(local_svms,
               choice_row<O, LocalKernel>("kernel", &O::kernel, neighbors::kernel_names(), "local SVMs: their kernel")),
      only_for(local_svms,
               searched_range(positive_row("cost", &O::cost, "local SVMs: C, the cost of margin violations"),
                              "local SVMs: costs C", "0.01:100:5")),
      only_for(local_svms,
               searched_range(number_row("gamma", &O::gamma, {0, most},
                                         "local SVMs: gamma of the RBF kernel exp(-gamma |x-y|^2)", "1 / features"),
                              "local SVMs: gammas of the RBF kernel", "1 / features")),
      only_for(
          local_svms,
          positive_row("tolerance", &O::tolerance,
                       "local SVMs: stop when no pair violates the optimality conditions by more, as LIBSVM's -e")),
      choice_row<O, LabelKind>(
          "labels", &O::labels,
          {{"auto", LabelKind::automatic}, {"classes", LabelKind::classes}, {"numbers", LabelKind::numbers}},
          "what the labels are"),
  };
  return rows;
}

}  // namespace sheaf
