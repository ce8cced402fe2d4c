#include "linear/model/glm_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/fail.hpp"
#include "data/checks/row_weights.hpp"
#include "linear/glm/lbfgs.hpp"
#include "linear/losses.hpp"

namespace sheaf {
namespace linear {
namespace {

constexpr bool classes = true;
constexpr bool numbers = false;
constexpr bool dispersed = true;
constexpr bool fixed = false;

// Of each family the default link first.
constexpr std::array kinds{
    GlmKind{GlmFamily::gaussian, GlmLink::identity, Loss::squared, numbers, dispersed},
    GlmKind{GlmFamily::binomial, GlmLink::logit, Loss::logistic, classes, fixed},
    GlmKind{GlmFamily::binomial, GlmLink::probit, Loss::probit, classes, fixed},
    GlmKind{GlmFamily::binomial, GlmLink::cloglog, Loss::cloglog, classes, fixed},
    GlmKind{GlmFamily::multinomial, GlmLink::logit, Loss::logistic, classes, fixed},
    GlmKind{GlmFamily::poisson, GlmLink::log, Loss::poisson, numbers, fixed},
    GlmKind{GlmFamily::gamma, GlmLink::log, Loss::gamma_log, numbers, dispersed},
    GlmKind{GlmFamily::gamma, GlmLink::inverse, Loss::gamma_inverse, numbers, dispersed},
    GlmKind{GlmFamily::inverse_gaussian, GlmLink::inverse_square, Loss::inverse_gaussian, numbers, dispersed},
    GlmKind{GlmFamily::tweedie, GlmLink::log, Loss::tweedie, numbers, dispersed},
    GlmKind{GlmFamily::negative_binomial, GlmLink::log, Loss::negative_binomial, numbers, fixed},
    GlmKind{GlmFamily::cox, GlmLink::log, Loss::cox, numbers, fixed},
    GlmKind{GlmFamily::quasi_binomial, GlmLink::logit, Loss::logistic, classes, dispersed},
    GlmKind{GlmFamily::quasi_binomial, GlmLink::probit, Loss::probit, classes, dispersed},
    GlmKind{GlmFamily::quasi_binomial, GlmLink::cloglog, Loss::cloglog, classes, dispersed},
    GlmKind{GlmFamily::quasi_poisson, GlmLink::log, Loss::poisson, numbers, dispersed},
};

void check_parameters(const GlmOptions& options, const GlmKind& kind) {
  if (kind.family == GlmFamily::tweedie && !(options.power > 1 && options.power < 2))
    fail_usage(
        "the power of a tweedie family is above 1 and below 2, not {}; 1 is --family poisson, 2 gamma, 3 "
        "inverse-gaussian",
        options.power);
  const bool positive = kind.link == GlmLink::inverse || kind.link == GlmLink::inverse_square;
  if (positive && !options.intercept)
    fail_usage("the link {} needs an intercept: without features it would have no value", to_string(kind.link));
  if (positive && !options.offsets.empty())
    fail_usage("offsets are not for the link {}, under which decision values stay above 0", to_string(kind.link));
}

/// L-BFGS and conjugate gradients have an intercept, which does not matter to the likelihood, so that their coordinates
/// are those of centred features.
void set_survival_targets(std::int64_t features, GlmProblem& problem) {
  problem.sheaf.times = problem.labels.values;
  problem.sheaf.targets.assign(problem.labels.events.begin(), problem.labels.events.end());
  problem.params.solver = chosen_solver(problem.params, problem.sheaf, features);
  problem.params.intercept = problem.params.solver != GlmSolver::newton;
}

void set_class_targets(GlmProblem& problem) {
  auto& targets = problem.sheaf.targets;
  for (const auto c : problem.labels.classes)
    targets.push_back(problem.params.columns > 1 ? static_cast<double>(c) : c == 0 ? 1.0 : -1.0);
}

}  // namespace

const GlmKind& glm_kind(GlmFamily family, GlmLink link) {
  std::string known;
  for (const auto& kind : kinds) {
    if (kind.family == family && kind.link == link) return kind;
    if (kind.family == family) known += fmt::format("{}{}", known.empty() ? "" : " or ", to_string(kind.link));
  }
  fail_usage("the family {} has the link {}, not {}", to_string(family), known, to_string(link));
}

void weigh_rows(const Labels& labels, std::span<const double> class_weights, std::size_t column, std::size_t columns,
                std::vector<float>& row_weights) {
  if (class_weights.empty() || all_one(class_weights)) return;
  for (std::size_t i = 0; i < labels.classes.size(); ++i)
    row_weights[i * columns + column] *= static_cast<float>(class_weights[static_cast<std::size_t>(labels.classes[i])]);
}

template <class T>
std::int64_t glm_bytes(std::int64_t examples, std::int64_t weights) {
  return Lbfgs<T>::bytes(examples, weights);
}

template <class T>
void for_glm_predictions(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                         const Block<T>& weights, std::int64_t reserved, const UseDecisions<T>& use) {
  const auto respond = [&](LinearOps<T>& ops, Block<T>& z) {
    if (!problem.sheaf.offsets.empty()) add_offsets(ops, problem.sheaf.offsets, z);
    ops.predict(problem.params.loss, static_cast<T>(problem.params.parameter), problem.params.columns, z.view());
  };
  for_device_decisions<T>(context, dataset, weights, problem.params.intercept ? T(1) : T(0), problem.params.columns,
                          reserved, use, respond);
}

/// The dispersion of such targets is 0, and the logarithm of the likelihood infinite.
void check_varies(const Target& target, const std::string& source, GlmFamily family,
                  std::span<const float> row_weights) {
  if (family != GlmFamily::gaussian && family != GlmFamily::gamma && family != GlmFamily::inverse_gaussian) return;
  const auto& values = target.values;
  std::size_t first = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!row_weights.empty() && row_weights[i] == 0) continue;
    first = std::min(first, i);
    if (values[i] != values[first]) return;
  }
  if (first < values.size())
    fail("{}: the label{} is {} in all rows, so that there is nothing to learn", source,
         target.name.empty() ? "" : fmt::format(" '{}'", target.name), values[first]);
}

GlmProblem make_glm_problem(const Target& target, const std::string& source, std::int64_t rows,
                            const GlmOptions& options, std::span<const float> row_weights, std::int64_t features) {
  GlmProblem problem{{}, {}, glm_kind(options.family, options.link), {}, {}};
  const auto& kind = problem.kind;
  const bool survival = kind.family == GlmFamily::cox;
  problem.labels = survival
                       ? make_survival_labels(target, source, rows)
                       : make_labels(target, source, rows, !kind.classes, kind.classes ? "gaussian" : "multinomial");
  check_row_weights(row_weights, rows);
  problem.params.loss = kind.loss;
  problem.params.columns = problem.labels.columns();
  problem.params.parameter = kind.family == GlmFamily::tweedie             ? options.power
                             : kind.family == GlmFamily::negative_binomial ? options.theta
                                                                           : 0.0;
  problem.params.ties = options.ties;
  problem.params.intercept = options.intercept;
  problem.params.solver = options.solver;
  problem.params.tolerance = options.tolerance;
  problem.params.max_iterations = options.max_iterations;
  check_parameters(options, kind);
  const bool several = problem.params.columns > 1;
  check_offsets(options.offsets, rows, several ? problem.labels.class_names : std::vector<std::string>());
  auto& sheaf = problem.sheaf;
  sheaf.examples = rows;
  sheaf.tasks = {{0, 0, options.alpha}};
  sheaf.row_weights.assign(row_weights.begin(), row_weights.end());
  sheaf.offsets = options.offsets;
  if (!kind.classes) {
    if (!options.class_weights.empty() || options.balanced)
      fail_usage("class weights are for classes, and the family {} is for numbers", to_string(kind.family));
    sheaf.targets = problem.labels.values;
    if (survival) set_survival_targets(features, problem);
    with_glm_loss(kind.loss, [&](auto functor) {
      check_targets(functor.targets, sheaf.targets, 1, source, fmt::format("the family {}", to_string(kind.family)));
    });
    check_varies(target, source, kind.family, row_weights);
    return problem;
  }
  check_two_classes(problem.labels, source);
  problem.class_weights = weigh_classes({options.class_weights, options.balanced}, problem.labels.class_names,
                                        count_classes(problem.labels));
  if (!all_one(problem.class_weights) && sheaf.row_weights.empty())
    sheaf.row_weights.assign(static_cast<std::size_t>(rows), 1.0F);
  weigh_rows(problem.labels, problem.class_weights, 0, 1, sheaf.row_weights);
  set_class_targets(problem);
  return problem;
}

template std::int64_t glm_bytes<float>(std::int64_t, std::int64_t);
template std::int64_t glm_bytes<double>(std::int64_t, std::int64_t);
template void for_glm_predictions(const Context&, const Dataset<float>&, const GlmProblem&, const Block<float>&,
                                  std::int64_t, const UseDecisions<float>&);
template void for_glm_predictions(const Context&, const Dataset<double>&, const GlmProblem&, const Block<double>&,
                                  std::int64_t, const UseDecisions<double>&);

}  // namespace linear

bool has_likelihood(GlmFamily family) {
  return family != GlmFamily::tweedie && family != GlmFamily::quasi_binomial && family != GlmFamily::quasi_poisson;
}

std::vector<GlmLink> glm_links(GlmFamily family) {
  std::vector<GlmLink> links;
  for (const auto& kind : linear::kinds)
    if (kind.family == family) links.push_back(kind.link);
  return links;
}

GlmOptions decide_glm(const GlmOptions& options, const Target& target, const std::string& source) {
  if (target.empty()) fail("{}: has no labels to learn from", source);
  refuse_several(target, source);
  auto decided = options;
  const auto count = target.class_names.size();
  const bool of_two = options.family == GlmFamily::binomial || options.family == GlmFamily::quasi_binomial;
  const bool of_classes = of_two || options.family == GlmFamily::multinomial;
  if (options.family == GlmFamily::automatic && target.survival())
    decided.family = GlmFamily::cox;
  else if (options.family == GlmFamily::automatic)
    decided.family = !target.looks_like_classes() ? GlmFamily::gaussian
                     : count > 2                  ? GlmFamily::multinomial
                                                  : GlmFamily::binomial;
  else if (of_classes && target.classes.empty())
    fail("{}: the labels have over {} distinct values, too many for classes; use --family gaussian", source,
         Target::max_classes);
  else if (of_two && count > 2)
    fail("{}: the family {} is for two classes, and there are {}; use --family multinomial", source,
         to_string(options.family), count);
  if (decided.family == GlmFamily::multinomial && count == 2) decided.family = GlmFamily::binomial;
  if (decided.link == GlmLink::automatic) decided.link = glm_links(decided.family).front();
  linear::glm_kind(decided.family, decided.link);
  return decided;
}

}  // namespace sheaf
