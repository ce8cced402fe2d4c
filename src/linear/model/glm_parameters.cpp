#include <array>

#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/losses.hpp>

#include "data/parameter_rows.hpp"
#include "linear/model/glm_problem.hpp"
#include "linear/model/offset_rows.hpp"

namespace sheaf {
namespace {

Choices<GlmFamily> families() {
  Choices<GlmFamily> choices{{"auto", GlmFamily::automatic}};
  for (const auto& one : distributions()) choices.emplace_back(one.name, one.family);
  return choices;
}

const Choices<GlmLink>& links() {
  static const Choices<GlmLink> choices{{"auto", GlmLink::automatic},  {"identity", GlmLink::identity},
                                        {"logit", GlmLink::logit},     {"probit", GlmLink::probit},
                                        {"cloglog", GlmLink::cloglog}, {"log", GlmLink::log},
                                        {"inverse", GlmLink::inverse}, {"inverse-square", GlmLink::inverse_square},
                                        {"cauchit", GlmLink::cauchit}, {"sqrt", GlmLink::sqrt}};
  return choices;
}

const Choices<GlmSolver>& solvers() {
  static const Choices<GlmSolver> choices{{"auto", GlmSolver::automatic},
                                          {"newton", GlmSolver::newton},
                                          {"newton-cg", GlmSolver::newton_cg},
                                          {"lbfgs", GlmSolver::lbfgs},
                                          {"saga", GlmSolver::saga},
                                          {"gradient", GlmSolver::gradient},
                                          {"accelerated", GlmSolver::accelerated}};
  return choices;
}

const Choices<StandardErrors>& sources_of_errors() {
  static const Choices<StandardErrors> choices{
      {"expected", StandardErrors::expected}, {"observed", StandardErrors::observed},
      {"hc0", StandardErrors::hc0},           {"hc1", StandardErrors::hc1},
      {"cluster", StandardErrors::cluster},   {"auto", StandardErrors::automatic}};
  return choices;
}

/// Numbers of 0 or more, or a range of numbers above 0.
std::vector<double> read_alphas(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_numbers(text, "alpha");
  return list_reader<double>("alpha", {0, std::numeric_limits<double>::max()})(text);
}

Parameter<GlmOptions> start_row() {
  return vector_row<GlmOptions>(
      "start",
      "weights at which training begins: one number to a line, those of the features in their order, then the "
      "intercept; multinomial: one for each class in the order in which sheaf info lists them",
      {false, [](const std::string& path, std::int64_t) { return read_start(path); },
       [](GlmOptions& options, std::vector<double> numbers) { options.start = std::move(numbers); },
       [](const GlmOptions& options) { return options.start; }});
}

template <class Value>
std::string_view text_of(const Choices<Value>& choices, Value value) {
  for (const auto& [name, known] : choices)
    if (known == value) return name;
  return {};
}

}  // namespace

namespace linear {

double distribution_parameter(const GlmOptions& options) {
  constexpr std::array<std::pair<std::string_view, double GlmOptions::*>, 2> members{
      {{"power", &GlmOptions::power}, {"theta", &GlmOptions::theta}}};
  const auto name = info(options.family).parameter.name;
  for (const auto& [known, member] : members)
    if (known == name) return options.*member;
  return 0;
}

}  // namespace linear

std::string_view to_string(GlmLink link) { return text_of(links(), link); }
std::string_view to_string(GlmSolver solver) { return text_of(solvers(), solver); }
std::string_view to_string(StandardErrors errors) { return text_of(sources_of_errors(), errors); }

template <>
const std::vector<Parameter<GlmOptions>>& parameters() {
  using O = GlmOptions;
  constexpr double most = std::numeric_limits<double>::max();
  static const std::vector<Parameter<O>> rows{
      only_for({"glm"},
               choice_row<O, GlmFamily>("family", &O::family, families(),
                                        "distribution of the target; auto: binomial or multinomial for classes, "
                                        "gaussian for numbers, cox for survival (--event)")),
      choice_row<O, GlmLink>("link", &O::link, links(),
                             "function of the mean that is linear in the features; auto: the usual one of the family"),
      searched_range(
          number_row("alpha", &O::alpha, {0, most}, "how much the L2 penalty weighs against the mean loss; 0: none"),
          "alphas", "1e-6:10:8", read_alphas),
      number_row("power", &O::power, {1, 2}, "tweedie: the variance is mean^power"),
      number_row("theta", &O::theta, {0, most}, "negative-binomial: the variance is mean + mean^2 / theta",
                 "estimated"),
      choice_row<O, Ties>("ties", &O::ties, {{"breslow", Ties::breslow}, {"efron", Ties::efron}},
                          "cox: how events at the same time are treated"),
      yes_no_row("intercept", &O::intercept, "models have an intercept, which is not penalised (cox: never)"),
      text_row("reference", "NAME", &O::reference, "the class that standard errors compare the others with",
               "the last one"),
      choice_row<O, StandardErrors>("standard-errors", &O::standard_errors, sources_of_errors(),
                                    "basis: the expected or the observed information, or the "
                                    "sandwich estimator, right if the variance is not the family's (hc1: for few "
                                    "rows) or if rows of a group belong together (cluster); auto: cluster if rows "
                                    "have groups, else expected"),
      choice_row<O, GlmSolver>("solver", &O::solver, solvers(),
                               "Newton's method with the whole Hessian or by conjugate gradients, L-BFGS, SAGA on "
                               "batches of rows, gradient descent, or Nesterov's accelerated gradient; auto: newton "
                               "or lbfgs, by the number of weights"),
      positive_row("tolerance", &O::tolerance, "stop when the gradient is this small a share of the one at the start",
                   "newton: 1e-8, others: 1e-5"),
      number_row("max-iterations", &O::max_iterations, {1, std::numeric_limits<int>::max()}, "most steps"),
      class_weight_row<O>("factor of one class's rows (may be given several times), or balanced"),
      linear::exposure_row<O>(),
      linear::offset_row<O>(),
      start_row(),
  };
  return rows;
}

}  // namespace sheaf
