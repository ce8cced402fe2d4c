#include "linear/model/glm_problem.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "core/fail.hpp"
#include "data/checks/row_weights.hpp"
#include "linear/glm/lbfgs.hpp"
#include "linear/losses/losses.hpp"
#include "linear/losses/target_range.hpp"

namespace sheaf {
namespace linear {
namespace {

/// The default link of each family comes first.
std::vector<GlmKind> make_kinds() {
  std::vector<GlmKind> kinds;
  for_each(AllDistributions{}, [&](auto distribution) {
    for_each(typename decltype(distribution)::Losses{}, [&](auto functor) {
      kinds.push_back({distribution.row.family, functor.glm_link, functor.loss, distribution.row.classes,
                       distribution.row.dispersed});
    });
  });
  return kinds;
}

const std::vector<GlmKind>& all_kinds() {
  static const auto kinds = make_kinds();
  return kinds;
}

void check_parameters(const GlmOptions& options, const GlmKind& kind, double value) {
  const auto& parameter = info(kind.family).parameter;
  const bool open = parameter.name.empty() || (parameter.estimated && value == 0);
  if (!open && !parameter.holds(value))
    fail_usage("{} is {}, not {}{}", parameter.about, range_text(parameter), value, parameter.hint);
  const int side = info(kind.loss).decision_sign;
  if (side != 0 && !options.intercept)
    fail_usage("the link {} needs an intercept: without features it would have no value", to_string(kind.link));
  if (side != 0 && !options.offsets.empty())
    fail_usage("offsets are not for the link {} of the family {}, under which decision values stay {} 0",
               to_string(kind.link), to_string(kind.family), side > 0 ? "above" : "below");
}

/// L-BFGS and conjugate gradients have an intercept, which does not matter to the likelihood, so that their coordinates
/// are those of centred features.
void set_survival_targets(std::int64_t features, GlmProblem& problem) {
  problem.sheaf.risk = problem.labels.risk_times();
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
  for (const auto& kind : all_kinds()) {
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

/// Links that have no value at the mean of the target.
void check_mean(const GlmProblem& problem, const std::string& source) {
  if (problem.kind.loss != Loss::gaussian_log && problem.kind.loss != Loss::gaussian_inverse) return;
  double sum = 0;
  for (std::size_t i = 0; i < problem.sheaf.targets.size(); ++i)
    sum += problem.sheaf.targets[i] * (problem.sheaf.row_weights.empty() ? 1.0 : problem.sheaf.row_weights[i]);
  if (!(sum > 0))
    fail("{}: the mean of the target is not above 0, and the link {} needs that; use the link identity", source,
         to_string(problem.kind.link));
}

/// Whether all targets that count are the same. A single sample is an Error.
bool is_constant(const Target& target, const std::string& source, std::span<const float> row_weights) {
  const auto& values = target.values;
  if (values.size() == 1) fail("{}: there is 1 sample, so that there is nothing to learn", source);
  std::size_t first = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!row_weights.empty() && row_weights[i] == 0) continue;
    first = std::min(first, i);
    if (values[i] != values[first]) return false;
  }
  return true;
}

void set_start(const GlmOptions& options, std::int64_t features, GlmProblem& problem) {
  const bool intercept = options.intercept && problem.kind.family != GlmFamily::cox;
  const auto weights = (features + (intercept ? 1 : 0)) * problem.params.columns;
  if (options.start.empty()) return;
  if (std::ssize(options.start) != weights)
    fail_usage("start has {} numbers, and the model has {} weights{}", options.start.size(), weights,
               intercept ? ", those of the intercept included" : "");
  if (!std::ranges::all_of(options.start, [](double weight) { return std::isfinite(weight); }))
    fail_usage("start has a number that is not finite");
  auto& start = problem.params.start;
  start = options.start;
  // A number that all classes share changes no probability; solvers keep to weights that sum to 0 over the classes.
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  for (std::size_t first = 0; first < start.size() && columns > 1; first += columns) {
    const auto row = std::span(start).subspan(first, columns);
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(columns);
    for (double& weight : row) weight -= mean;
  }
  // A Cox model has no use for it.
  if (problem.params.intercept && !intercept) start.push_back(0);
}

GlmProblem make_glm_problem(const Target& target, const std::string& source, std::int64_t rows,
                            const GlmOptions& options, std::span<const float> row_weights, std::int64_t features) {
  GlmProblem problem{{}, {}, glm_kind(options.family, options.link), {}, {}, false};
  const auto& kind = problem.kind;
  const bool survival = kind.family == GlmFamily::cox;
  problem.labels = survival
                       ? make_survival_labels(target, source, rows)
                       : make_labels(target, source, rows, !kind.classes, kind.classes ? "gaussian" : "multinomial");
  check_row_weights(row_weights, rows);
  problem.params.loss = kind.loss;
  problem.params.columns = problem.labels.columns();
  problem.params.parameter = distribution_parameter(options);
  problem.params.ties = options.ties;
  problem.params.intercept = options.intercept;
  problem.params.solver = options.solver;
  problem.params.tolerance = options.tolerance;
  problem.params.max_iterations = options.max_iterations;
  check_parameters(options, kind, problem.params.parameter);
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
    set_start(options, features, problem);
    check_targets(info(kind.loss).targets, sheaf.targets, 1, source,
                  fmt::format("the family {}", to_string(kind.family)));
    problem.constant_target =
        kind.dispersed && is_constant(target, source, row_weights) && options.intercept && options.offsets.empty();
    check_mean(problem, source);
    return problem;
  }
  check_two_classes(problem.labels, source);
  problem.class_weights = weigh_classes({options.class_weights, options.balanced}, problem.labels.class_names,
                                        count_classes(problem.labels));
  if (!all_one(problem.class_weights) && sheaf.row_weights.empty())
    sheaf.row_weights.assign(static_cast<std::size_t>(rows), 1.0F);
  weigh_rows(problem.labels, problem.class_weights, 0, 1, sheaf.row_weights);
  set_class_targets(problem);
  set_start(options, features, problem);
  return problem;
}

template std::int64_t glm_bytes<float>(std::int64_t, std::int64_t);
template std::int64_t glm_bytes<double>(std::int64_t, std::int64_t);
template void for_glm_predictions(const Context&, const Dataset<float>&, const GlmProblem&, const Block<float>&,
                                  std::int64_t, const UseDecisions<float>&);
template void for_glm_predictions(const Context&, const Dataset<double>&, const GlmProblem&, const Block<double>&,
                                  std::int64_t, const UseDecisions<double>&);

}  // namespace linear

std::vector<GlmLink> glm_links(GlmFamily family) {
  std::vector<GlmLink> links;
  for (const auto& kind : linear::all_kinds())
    if (kind.family == family) links.push_back(kind.link);
  return links;
}

GlmOptions decide_glm(const GlmOptions& options, const Target& target, const std::string& source) {
  if (target.empty()) fail("{}: has no labels to learn from", source);
  refuse_several(target, source);
  auto decided = options;
  const auto count = target.class_names.size();
  const bool of_classes = options.family != GlmFamily::automatic && info(options.family).classes;
  const bool of_two = of_classes && !info(options.family).several;
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
