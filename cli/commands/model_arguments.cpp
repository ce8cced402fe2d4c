#include "commands/model_arguments.hpp"

#include <algorithm>
#include <tuple>

#include <sheaf/io.hpp>
#include <sheaf/selection.hpp>
#include "core/names.hpp"

#include "core/fail.hpp"

namespace sheaf::cli {
namespace {

const std::string linear_family = "linear";
const std::string svm_family = "svm";
const std::string net_family = "elastic-net";
const std::string knn_family = "knn";  // of neighbors: what users can type
const std::string glm_family = "glm";

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const auto& name : list) text += (text.empty() ? "" : "|") + name;
  return text;
}

}  // namespace

std::vector<std::string> ModelArguments::names() const {
  std::vector<std::string> list;
  for (const auto& kind : model_kinds()) {
    const auto* net = std::get_if<NetOptions>(&kind.options);
    if (!nets_only_ || (net != nullptr && net->l1_ratio != 0)) list.emplace_back(kind.name);
  }
  return list;
}

void ModelArguments::declare_kind(Arguments& arguments) {
  if (!nets_only_) name_ = linear_family;
  const auto known = names();
  arguments.add({"--model", joined(known),
                 nets_only_ ? "select by a study of models on rows held out again and again" : "the kind of model",
                 nets_only_ ? "none: by a criterion" : name_, [this, known](const std::string& text) {
                   if (nets_only_ && text == "ridge")
                     fail_usage("ridge regression gives every feature a weight and selects none");
                   if (std::find(known.begin(), known.end(), text) == known.end()) fail_unknown("model", text, known);
                   name_ = text;
                 }});
}

void ModelArguments::declare_options(Arguments& arguments) {
  if (!nets_only_) {
    arguments.section("Linear models (--model linear)");
    if (searching_) arguments.family_parameters(linear_family, linear_);
    arguments.family_parameters(linear_family, linear_.options, {"loss", "solver"});
    if (!searching_) arguments.family_parameters(linear_family, linear_.options, {"cost"});
    arguments.family_parameters(
        linear_family, linear_.options,
        {"epsilon", "tolerance", "stop", "max-iterations", "bias", "penalise-bias", "class-weight", "rule"});
    arguments.section("SVMs with a kernel (--model svm)");
    if (searching_) arguments.family_parameters(svm_family, svm_);
    arguments.family_parameters(svm_family, svm_.options, {"type", "kernel", "coef0", "nu", "epsilon", "tolerance"});
    if (!searching_) arguments.family_parameters(svm_family, svm_.options, {"cost", "gamma", "degree"});
    arguments.family_parameters(svm_family, svm_.options, {"multi-class", "decide", "probability", "class-weight"});
  }
  arguments.section(nets_only_ ? "Elastic nets (--model)" : "Elastic nets (--model elastic-net and its kinds)");
  if (searching_) arguments.family_parameters(net_family, net_);
  if (!searching_) arguments.family_parameters(net_family, net_.options, {"alpha", "l1-ratio", "relax"});
  arguments.family_parameters(
      net_family, net_.options,
      {"labels", "ties", "quantile", "huber-threshold", "standardise", "grouped", "intercept", "lower-limit",
       "upper-limit", "tolerance", "class-weight", "solver", "parallel", "max-epochs"});
  arguments.add_for_family(
      net_family, {"--penalty-factors", "FILE", "how much each feature is penalised: one number of 0 or more to a line",
                   "", [this](const std::string& text) { factors_path_ = text; }});
  arguments.add_for_family(
      net_family, {"--unpenalised", "NAMES", "features without a penalty, which stay in: by name or position from 1",
                   "", [this](const std::string& text) { unpenalised_.push_back(text); }});
  arguments.add_for_family(
      net_family, {"--limits", "FILE",
                   "between which limits each feature's weight stays: a lower one of 0 or less and an upper one of 0 "
                   "or more to a line, -inf and inf for none",
                   "", [this](const std::string& text) { limits_path_ = text; }});
  const auto add_offsets = [&](const std::string& family) {
    arguments.add_for_family(
        family, {"--exposure", "FILE", "over how much each row's target was counted: one number above 0 to a line", "",
                 [this](const std::string& text) { exposure_path_ = text; }});
    arguments.add_for_family(
        family, {"--offset", "FILE",
                 "what is added to each row's decision value, one number to a line; multinomial: to those of all "
                 "classes, one number each, in the order in which sheaf info lists them",
                 "", [this](const std::string& text) { offset_path_ = text; }});
  };
  add_offsets(net_family);
  if (!nets_only_) {
    arguments.section("Generalised linear models (--model glm, multinomial)");
    if (searching_) arguments.family_parameters(glm_family, glm_);
    arguments.family_parameters(glm_family, glm_.options, {"family", "link"});
    if (!searching_) arguments.family_parameters(glm_family, glm_.options, {"alpha"});
    arguments.family_parameters(glm_family, glm_.options,
                                {"power", "theta", "ties", "intercept", "reference", "standard-errors", "solver",
                                 "tolerance", "max-iterations", "class-weight"});
    add_offsets(glm_family);
    arguments.section("Nearest neighbours and local models (--model knn, hknn, alh, cknn, local-svm, falk-svm)");
    if (searching_) arguments.family_parameters(knn_family, knn_);
    if (!searching_)
      arguments.family_parameters(knn_family, knn_.options,
                                  {"k", "vote", "metric", "weighting", "temperature", "lambda", "cost", "gamma"});
    arguments.family_parameters(knn_family, knn_.options, {"power", "kernel", "tolerance", "labels"});
    arguments.add_for_family(knn_family,
                             {"--feature-weights", "FILE", "weights of features: one number of 0 or more to a line", "",
                              [this](const std::string& text) { feature_weights_path_ = text; }});
  }
  arguments.section(pipeline_section);
  arguments.parameters(pipeline_);
  arguments.section("Rows");
  arguments.text("row-weights", "FILE", row_weights_path_,
                 "how much each row counts: one number of 0 or more to a line");
  arguments.reads({"--penalty-factors", "--limits", "--exposure", "--offset", "--row-weights"});
  if (!nets_only_) arguments.reads({"--feature-weights"});
}

void ModelArguments::check_nets(const Arguments& arguments) {
  const auto& kind = find_model_kind(name_);
  const auto* defaults = std::get_if<NetOptions>(&kind.options);
  if (defaults == nullptr) return;
  const bool fixed = name_ == "lasso" || name_ == "ridge";
  for (const char* flag : {"--l1-ratio", "--l1-ratios"})
    if (fixed && arguments.given(flag)) fail_usage("{} is {} for {}", flag, defaults->l1_ratio, name_);
  if (net_.options.solver != NetSolver::shotgun && arguments.given("--parallel"))
    fail_usage("--parallel is for --solver shotgun");
  if (defaults->loss != Loss::quantile && arguments.given("--quantile"))
    fail_usage("--quantile is for --model elastic-net-quantile");
  if (defaults->loss != Loss::huber && arguments.given("--huber-threshold"))
    fail_usage("--huber-threshold is for --model elastic-net-huber");
  if (!net_.alphas.empty() && (arguments.given("--alpha-count") || arguments.given("--smallest-share")))
    fail_usage("--alphas says which to try; leave out --alpha-count and --smallest-share");
  if (arguments.given("--limits") && (arguments.given("--lower-limit") || arguments.given("--upper-limit")))
    fail_usage("--limits says the limits of each feature; leave out --lower-limit and --upper-limit");
  net_.options.loss = defaults->loss;
  if (!fixed) return;
  net_.options.l1_ratio = defaults->l1_ratio;
  net_.l1_ratios = {defaults->l1_ratio};
}

void ModelArguments::apply(const Arguments& arguments) {
  if (!wanted()) {
    arguments.apply_family({}, "a criterion");
    return;
  }
  family_ = find_model_kind(name_).family;
  if (family_ == "neighbors") family_ = knn_family;
  arguments.apply_family(family_, name_);
  check_nets(arguments);
  set_rule(arguments);
}

/// What the name of the model says of its rule or family.
void ModelArguments::set_rule(const Arguments& arguments) {
  if (name_ == "multinomial") {
    if (arguments.given("--family")) fail_usage("--family is multinomial for --model multinomial");
    glm_.options.family = GlmFamily::multinomial;
  }
  const auto* defaults = std::get_if<KnnOptions>(&find_model_kind(name_).options);
  if (defaults == nullptr) return;
  knn_.options.rule = defaults->rule;
  const bool svms = trains_svms(defaults->rule);
  for (const char* flag : {"--cost", "--gamma", "--kernel", "--tolerance"})
    if (!svms && arguments.given(flag)) fail_usage("{} is for the models local-svm and falk-svm, not {}", flag, name_);
  for (const char* flag : {"--vote", "--lambda"})
    if (svms && arguments.given(flag)) fail_usage("{} is not for the model {}", flag, name_);
  if (!arguments.given("--k")) knn_.options.k = defaults->k;
  if (!arguments.given("--weighting")) knn_.options.weighting = defaults->weighting;
  if (!feature_weights_path_.empty() && !arguments.given("--weighting"))
    knn_.options.weighting = FeatureWeighting::given;
}

ModelOptions ModelArguments::options() const {
  if (family_ == svm_family) return svm_.options;
  if (family_ == net_family) return net_.options;
  if (family_ == knn_family) return knn_.options;
  if (family_ == glm_family) return glm_.options;
  return linear_.options;
}

FamilySearch ModelArguments::search() const {
  if (family_ == svm_family) return svm_;
  if (family_ == net_family) return net_;
  if (family_ == knn_family) return knn_;
  if (family_ == glm_family) return glm_;
  return linear_;
}

PipelineOptions ModelArguments::pipeline(ReadOptions& reading) const {
  if (pipeline_.impute != Imputation::none) reading.missing = Missing::keep;
  return pipeline_;
}

template <class T>
void ModelArguments::read_files(const Dataset<T>& dataset) {
  if (!row_weights_path_.empty()) row_weights_ = read_row_weights(row_weights_path_, dataset.rows());
  if (!exposure_path_.empty() && !offset_path_.empty())
    fail_usage("--exposure is the same as an --offset of its logarithm; give one of them");
  auto& offsets = family_ == net_family ? net_.options.offsets : glm_.options.offsets;
  if (!exposure_path_.empty()) offsets = read_exposures(exposure_path_, dataset.rows());
  if (!offset_path_.empty()) offsets = read_offsets(offset_path_, dataset.rows());
  auto& factors = net_.options.penalty_factors;
  if (!factors_path_.empty()) factors = read_penalty_factors(factors_path_, dataset.features());
  if (!limits_path_.empty())
    std::tie(net_.options.lower_limits, net_.options.upper_limits) =
        read_weight_limits(limits_path_, dataset.features());
  if (!feature_weights_path_.empty())
    knn_.options.distance.weights = read_feature_weights(feature_weights_path_, dataset.features());
  std::vector<std::string> free;
  for (const auto& text : unpenalised_)
    for (std::size_t at = 0; at <= text.size();) {
      const auto comma = std::min(text.find(',', at), text.size());
      if (comma > at) free.push_back(text.substr(at, comma - at));
      at = comma + 1;
    }
  if (free.empty()) return;
  factors.resize(static_cast<std::size_t>(dataset.features()), 1.0);
  for (const auto j : find_features(free, dataset.feature_names, dataset.features()))
    factors[static_cast<std::size_t>(j)] = 0;
}

template void ModelArguments::read_files(const Dataset<float>&);
template void ModelArguments::read_files(const Dataset<double>&);

}  // namespace sheaf::cli
