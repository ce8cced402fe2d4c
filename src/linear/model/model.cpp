#include <algorithm>
#include <array>
#include <cmath>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/parameter_rows.hpp"
#include "linear/losses/losses.hpp"

namespace sheaf {
namespace {

constexpr std::array liblinear_solvers{
    LinearSolver{0, "L2R_LR", "logistic regression", false, true, Loss::logistic},
    LinearSolver{1, "L2R_L2LOSS_SVC_DUAL", "L2-loss support vector classification (dual)", false, false,
                 Loss::squared_hinge, "", LinearMethod::dual},
    LinearSolver{2, "L2R_L2LOSS_SVC", "L2-loss support vector classification", false, false, Loss::squared_hinge},
    LinearSolver{3, "L2R_L1LOSS_SVC_DUAL", "L1-loss support vector classification (dual)", false, false, Loss::hinge,
                 "", LinearMethod::dual},
    LinearSolver{4, "MCSVM_CS", "support vector classification by Crammer and Singer", false, false,
                 Loss::crammer_singer, "", LinearMethod::dual},
    LinearSolver{5, "L1R_L2LOSS_SVC", "L1-regularized L2-loss support vector classification", false, false,
                 Loss::squared_hinge, "", LinearMethod::newton, LinearPenalty::l1},
    LinearSolver{6, "L1R_LR", "L1-regularized logistic regression", false, true, Loss::logistic, "",
                 LinearMethod::newton, LinearPenalty::l1},
    LinearSolver{7, "L2R_LR_DUAL", "logistic regression (dual)", false, true, Loss::logistic, "", LinearMethod::dual},
    LinearSolver{11, "L2R_L2LOSS_SVR", "L2-loss support vector regression", true, false, Loss::squared_tube},
    LinearSolver{12, "L2R_L2LOSS_SVR_DUAL", "L2-loss support vector regression (dual)", true, false, Loss::squared_tube,
                 "", LinearMethod::dual},
    LinearSolver{13, "L2R_L1LOSS_SVR_DUAL", "L1-loss support vector regression (dual)", true, false, Loss::tube, "",
                 LinearMethod::dual},
    LinearSolver{21, "ONECLASS_SVM", "one-class support vector machine"},
};

std::vector<LinearSolver> make_solvers() {
  std::vector<LinearSolver> solvers(liblinear_solvers.begin(), liblinear_solvers.end());
  solvers.push_back({-1, "ELASTIC_NET", "elastic net", false, false, Loss::squared, "L2R_L2LOSS_SVC"});
  for (const auto& loss : losses())
    if (const auto& net = loss.net; !net.solver.empty())
      solvers.push_back({-1, net.solver, net.title, loss.regression, loss.probabilities, loss.loss, net.applied_as});
  solvers.push_back({-2, "GLM", "generalised linear model", true});
  solvers.push_back({-2, "GLM_CLASSES", "generalised linear model", false, true});
  for (const auto& loss : losses())
    if (const auto& own = loss.linear; !own.solver.empty())
      solvers.push_back({-3, own.solver, own.title, loss.regression, loss.probabilities, loss.loss});
  return solvers;
}

std::vector<NetKind> make_kinds() {
  std::vector<NetKind> kinds;
  for (const auto& loss : losses()) {
    if (!loss.net.kind.empty()) kinds.push_back({loss.net.kind, loss.net.about, loss.loss});
    if (loss.loss != Loss::squared) continue;
    kinds.push_back({"lasso", "lasso: the elastic net of l1-ratio 1", Loss::squared, 1.0});
    kinds.push_back({"ridge", "ridge regression: the elastic net of l1-ratio 0", Loss::squared, 0.0});
  }
  return kinds;
}

/// nullptr: there is none.
const LinearSolver* find_solver(Loss loss, bool net, bool regression, LinearMethod method,
                                LinearPenalty penalty = LinearPenalty::l2) {
  for (const auto& solver : linear_solvers())
    if (solver.loss == loss && !solver.glm() && solver.net() == net && solver.regression == regression &&
        solver.method == method && solver.penalty == penalty)
      return &solver;
  return nullptr;
}

const LinearSolver& known(const LinearSolver* solver) {
  if (solver == nullptr) throw InternalError("no linear model is trained with this loss");
  return *solver;
}

const LinearSolver& solver_named(std::string_view name) {
  for (const auto& solver : linear_solvers())
    if (solver.name == name) return solver;
  throw InternalError("a model of an unknown solver");
}

void warn_of_nets(const LinearModel& model, std::vector<std::string>& warnings) {
  for (std::size_t c = 0; c < model.net->fits.size(); ++c) {
    const auto& fit = model.net->fits[c];
    if (fit.converged) continue;
    const bool whole = model.is_regression() || net_loss(model) == Loss::softmax;
    if (whole && c > 0) break;  // the fit of all classes
    const auto what = whole ? std::string("the net") : "class " + model.class_names[c];
    warnings.push_back(fmt::format(
        "{} at alpha = {} did not converge: the duality gap is {:.3g} after {}, {:.3g} was wanted; scale the "
        "features (--standardise), use double precision, or take more epochs, a larger alpha or a larger tolerance",
        what, model.net->alpha, fit.gap, counted(fit.epochs, "epoch"), fit.tolerance));
  }
}

void warn_of_glm(const LinearModel& model, std::vector<std::string>& warnings) {
  const auto& glm = *model.glm;
  if (!glm.fit.converged)
    warnings.push_back(fmt::format(
        "the model did not converge: the gradient is {:.3g} of the one at the start after {}, {:.3g} was wanted; "
        "scale the features, use double precision, or give a penalty (--alpha) or a larger tolerance",
        glm.fit.gradient_norm, counted(glm.fit.iterations, "step"), glm.fit.tolerance));
  if (glm.separated && glm.family == GlmFamily::cox)
    warnings.emplace_back(
        "the likelihood rises without end as some weights grow, for their features put events in order without a "
        "mistake: those weights and their standard errors say nothing; give a penalty (--alpha), or leave out the "
        "features that have none");
  else if (glm.separated)
    warnings.emplace_back(
        "the classes of some rows are separated by the features: weights would grow without end, and their standard "
        "errors say nothing; give a penalty (--alpha), or leave out the features that have none");
  if (info(glm.family).dispersed && glm.statistics.null_deviance == 0) {
    warnings.emplace_back(
        "the label is the same in all rows: the model predicts it, and its likelihood, AIC and standard errors say "
        "nothing");
    return;
  }
  if (withholds_errors(model)) warnings.push_back(no_errors_reason(model));
  std::string names;
  int undetermined = 0;
  for (const auto& row : coefficient_table(model))
    if (row.error == 0 && !glm.separated && ++undetermined <= 5)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", row.label);
  if (undetermined > 0)
    warnings.push_back(
        fmt::format("{} weights are not determined, for their features are linear combinations of others or constant: "
                    "{}{}; leave those features out, or give a penalty (--alpha)",
                    undetermined, names, undetermined > 5 ? ", ..." : ""));
}

/// The losses that linear models are trained with, losses of classes first.
std::vector<LossInfo> linear_losses() {
  std::vector<LossInfo> rows;
  for (const bool regression : {false, true})
    for (const auto& loss : losses())
      if (loss.regression == regression && !loss.linear.name.empty()) rows.push_back(loss);
  return rows;
}

Choices<Loss> named_losses() {
  Choices<Loss> choices;
  for (const auto& loss : linear_losses()) choices.emplace_back(loss.linear.name, loss.loss);
  return choices;
}

std::string losses_in_words() {
  std::string text;
  for (const auto& loss : linear_losses())
    text += fmt::format("{}{} ({})", text.empty() ? "" : "; ", loss.linear.about, loss.linear.name);
  return text;
}

using Row = Parameter<LinearOptions>;

}  // namespace

std::span<const LinearSolver> linear_solvers() {
  static const auto solvers = make_solvers();
  return solvers;
}

const LinearSolver& linear_solver(Loss loss, LinearMethod method) {
  const bool regression = linear::is_regression(loss);
  const auto* newton = find_solver(loss, false, regression, LinearMethod::newton);
  const auto* dual = find_solver(loss, false, regression, LinearMethod::dual);
  if (method != LinearMethod::automatic) return known(method == LinearMethod::dual ? dual : newton);
  return known(newton != nullptr ? newton : dual);
}
const LinearSolver& l1_solver(Loss loss) {
  return known(find_solver(loss, false, false, LinearMethod::newton, LinearPenalty::l1));
}
const LinearSolver& net_solver(Loss loss, bool classes) {
  return known(find_solver(loss, true, !classes, LinearMethod::newton));
}
Loss net_loss(const LinearModel& model) { return solver_named(model.solver).loss.value(); }

std::span<const NetKind> net_kinds() {
  static const auto kinds = make_kinds();
  return kinds;
}

const NetKind* find_net_kind(std::string_view name) {
  const auto kinds = net_kinds();
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const NetKind& k) { return k.name == name; });
  return kind != kinds.end() ? &*kind : nullptr;
}

std::string_view to_string(Ties ties) { return ties == Ties::efron ? "efron" : "breslow"; }

std::string_view to_string(LinearMethod method) {
  constexpr std::array<std::string_view, 3> names{"auto", "newton", "dual"};
  return names.at(static_cast<std::size_t>(method));
}

bool LinearModel::is_dual() const { return solver_named(solver).method == LinearMethod::dual; }
bool LinearModel::is_survival() const {
  return glm ? glm->family == GlmFamily::cox : solver_named(solver).loss == Loss::cox;
}
bool LinearModel::is_coupled() const { return solver_named(solver).loss == Loss::crammer_singer; }
bool LinearModel::is_regression() const { return solver_named(solver).regression; }
bool LinearModel::has_probabilities() const { return solver_named(solver).probabilities; }

std::vector<std::int64_t> largest_weights(const LinearModel& model, std::int32_t column, std::size_t most,
                                          bool with_bias) {
  std::vector<std::int64_t> order;
  for (std::int64_t j = 0; j < (with_bias ? model.rows() : model.features); ++j)
    if (model.weight(j, column) != 0) order.push_back(j);
  const auto size = [&](std::int64_t j) { return std::abs(model.weight(j, column)); };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(most, order.size()));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](std::int64_t a, std::int64_t b) { return size(a) > size(b) || (size(a) == size(b) && a < b); });
  order.erase(end, order.end());
  return order;
}

std::vector<std::string> warnings_of(const LinearModel& model) {
  std::vector<std::string> warnings;
  if (model.net) warn_of_nets(model, warnings);
  if (model.glm) warn_of_glm(model, warnings);
  for (std::size_t c = 0; c < model.fits.size(); ++c) {
    const auto& fit = model.fits[c];
    if (fit.converged || (c > 0 && model.is_coupled())) continue;
    const auto what = model.is_regression() ? std::string("the regression")
                      : model.is_coupled()  ? std::string("the model of all classes")
                                            : "class " + model.class_names[c];
    if (model.solver == "ONECLASS_SVM") {
      warnings.push_back(
          fmt::format("the one-class model did not converge: the duality gap is {:.3g}, {:.3g} was "
                      "wanted; scale the features, or take a larger tolerance",
                      fit.gradient_norm, fit.tolerance));
      continue;
    }
    if (solver_named(model.solver).penalty == LinearPenalty::l1) {
      warnings.push_back(
          fmt::format("{} at C = {} did not converge: the duality gap is {:.3g} after {}, {:.3g} was wanted; "
                      "scale the features, or take a smaller C or a larger tolerance",
                      what, model.cost, fit.gradient_norm, counted(fit.iterations, "epoch"), fit.tolerance));
      continue;
    }
    if (model.is_dual()) {
      const bool only = linear_solver(*solver_named(model.solver).loss).method == LinearMethod::dual;
      warnings.push_back(
          fmt::format("{} at C = {} did not converge: {:.3g} is left after {} passes, {:.3g} was wanted; scale the "
                      "features, or take a smaller C, a larger tolerance or {}",
                      what, model.cost, fit.gradient_norm, fit.iterations, fit.tolerance,
                      only ? "more passes" : "--solver newton"));
      continue;
    }
    warnings.push_back(
        fmt::format("{} at C = {} did not converge: |gradient| is {:.3g} after {}, {:.3g} was wanted; scale the "
                    "features, use double precision, or take a smaller C or a larger tolerance",
                    what, model.cost, fit.gradient_norm, counted(fit.iterations, "step"), fit.tolerance));
  }
  return warnings;
}

template <>
const std::vector<Parameter<LinearOptions>>& parameters() {
  using O = LinearOptions;
  constexpr double most = std::numeric_limits<double>::max();
  static const std::vector<Row> rows{
      open_choice_row<O, Loss>("loss", &O::loss, named_losses(), "loss: " + losses_in_words(),
                               "logistic, for a numeric target least squares"),
      choice_row<O, LinearMethod>(
          "solver", &O::method,
          {{"auto", LinearMethod::automatic}, {"newton", LinearMethod::newton}, {"dual", LinearMethod::dual}},
          "Newton's method, or coordinate descent on the dual (hinge, crammer-singer and epsilon-insensitive: "
          "always); auto: by the shape of the data"),
      searched_range(open_positive_row("cost", &O::cost, "C: how much errors weigh against the size of the weights",
                                       "1, of epsilon-insensitive the target's standard deviation"),
                     "costs C", "0.001:1000:7"),
      open_number_row("epsilon", &O::epsilon, {0, most}, "svr, epsilon-insensitive: errors up to it cost nothing",
                      "a tenth of the target's standard deviation"),
      positive_row(
          "tolerance", &O::tolerance,
          "stop when at most this share of what training gains is left, by a bound; with --stop gradient, when the "
          "gradient is this share of the one at the start, times that of the rarer class; with --stop objective, when "
          "also at most this share of the objective is left, by that bound",
          "0.0001; --stop gradient: 0.01, svr: 0.0001, dual: 0.1"),
      choice_row<O, StopRule>("stop", &O::stop,
                              {{"suboptimality", StopRule::suboptimality},
                               {"gradient", StopRule::gradient},
                               {"objective", StopRule::objective}},
                              "when training ends: by a bound on what is left to gain, as LIBLINEAR, or as LIBLINEAR "
                              "and by that bound beside the objective"),
      number_row("max-iterations", &O::max_iterations, {1, std::numeric_limits<int>::max()},
                 "most Newton steps, or passes over the rows"),
      number_row("bias", &O::bias, {0, most}, "value of a constant feature that is added to all rows; 0: none"),
      open_choice_row<O, bool>("penalise-bias", &O::penalise_bias, {{"yes", true}, {"no", false}},
                               "penalise the bias too, as LIBLINEAR does; hinge, crammer-singer, "
                               "epsilon-insensitive and the solver dual: always",
                               "no; --loss svm: yes"),
      used_in(
          ParameterUse::fit,
          choice_row<O, LinearPenalty>(
              "penalty", &O::penalty, {{"l2", LinearPenalty::l2}, {"l1", LinearPenalty::l1}},
              "the sum of squares of the weights, halved, or the sum of their sizes (logistic and svm; solver, stop "
              "and rule do not count); to search with the latter, see --model elastic-net-logistic")),
      class_weight_row<O>("factor of one class's cost (may be given several times), or balanced"),
      choice_row<O, StepRule>("rule", &O::rule,
                              {{"trust-region", StepRule::trust_region}, {"line-search", StepRule::line_search}},
                              "how long steps are: as LIBLINEAR up to 2.30, or from 2.40 on"),
      used_in(ParameterUse::search,
              yes_no_row("warm-starts", &O::warm_starts,
                         "Newton's method: begin each model at the weights of the next smaller cost; faster on CPU "
                         "cores, and the same within the tolerance")),
  };
  return rows;
}

}  // namespace sheaf
