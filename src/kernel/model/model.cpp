#include <cmath>

#include <sheaf/solvers/svm.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/labels.hpp"
#include "data/parameter_rows.hpp"
#include "kernel/model/plan.hpp"

namespace sheaf {
namespace {

using Row = Parameter<SvmOptions>;

Row kernel_row() {
  Choices<KernelType> choices;
  std::string help;
  for (const auto& function : kernel_functions()) {
    choices.emplace_back(function.name, function.type);
    if (!help.empty()) help += function.type == KernelType::precomputed ? "; or " : "; ";
    help += function.formula;
  }
  return choice_row<SvmOptions, KernelType>("kernel", &SvmOptions::kernel, choices, help);
}

/// "of the polynomial and sigmoid kernels": those that take a parameter.
std::string of_kernels(bool KernelFunction::*takes) {
  std::vector<std::string> names;
  for (const auto& function : kernel_functions())
    if (function.*takes) names.emplace_back(function.name);
  return fmt::format("of the {} {}", join_names(names), names.size() == 1 ? "kernel" : "kernels");
}

std::string svm_name(const SvmModel& model, std::size_t svm) {
  if (!model.has_classes()) return "the SVM";
  const auto sides = kernel::sides_of(model.kind, model.class_names.size(), model.multi_class)[svm];
  const auto& first = model.class_names[static_cast<std::size_t>(sides.positive)];
  if (sides.negative == SvmTask::rest) return fmt::format("class {} against the rest", first);
  return fmt::format("class {} against {}", first, model.class_names[static_cast<std::size_t>(sides.negative)]);
}

constexpr double harmless_size = 1e4;  // larger values dominate all others in a kernel

}  // namespace

SvmOptions with_defaults(SvmOptions options, const Target& target, std::span<const float> row_weights) {
  constexpr double tube = 0.1;  // of a standard deviation
  const bool numbers = !target.empty() && !target.looks_like_classes();
  if (!options.kind) options.kind = numbers ? SvmKind::epsilon_svr : SvmKind::c_svc;
  if (options.kind != SvmKind::one_class) check_label_kind(target, is_regression(*options.kind), "type");
  const double deviation = standard_deviation(target.values, row_weights);
  // Coefficients, and so their bound, are of the target's unit; one row, or equal targets, have no deviation.
  if (!options.cost) options.cost = is_regression(*options.kind) && deviation > 0 ? deviation : 1;
  if (!options.epsilon) {
    options.epsilon = tube * deviation;
    // Violations are of the target's unit, as epsilon is, which users give in this unit.
    if (is_regression(*options.kind) && deviation > 0 && options.tolerance == SvmOptions{}.tolerance)
      options.tolerance *= deviation;
  }
  return options;
}

std::string_view to_string(SvmKind kind) {
  constexpr std::string_view names[] = {"c_svc", "nu_svc", "one_class", "epsilon_svr", "nu_svr"};
  return names[static_cast<std::size_t>(kind)];
}

bool is_classification(SvmKind kind) { return kind == SvmKind::c_svc || kind == SvmKind::nu_svc; }
bool is_regression(SvmKind kind) { return kind == SvmKind::epsilon_svr || kind == SvmKind::nu_svr; }

std::vector<std::string> warnings_of(const SvmModel& model) {
  std::vector<std::string> warnings;
  for (std::size_t m = 0; m < model.fits.size(); ++m)
    if (!model.fits[m].converged)
      warnings.push_back(
          fmt::format("{} did not converge: after {} the optimality conditions are violated by {:.3g}; scale the "
                      "features (sheaf scale), or take a smaller C or a larger tolerance",
                      svm_name(model, m), counted(model.fits[m].iterations, "step"), model.fits[m].violation));
  return warnings;
}

template <class T>
std::vector<std::string> warnings_before(const Dataset<T>& dataset, const SvmOptions& options) {
  if (options.kernel == KernelType::precomputed) return {};
  double largest = 0;
  std::visit(
      [&](const auto& x) {
        for (const T value : x.values) largest = std::max(largest, std::abs(static_cast<double>(value)));
      },
      dataset.x);
  if (largest < harmless_size) return {};
  return {
      fmt::format("{}: values are as large as {:.3g}; such features dominate the others and make training slow: "
                  "scale them first (sheaf scale, or sheaf svm-scale)",
                  dataset.source, largest)};
}

template std::vector<std::string> warnings_before(const Dataset<float>&, const SvmOptions&);
template std::vector<std::string> warnings_before(const Dataset<double>&, const SvmOptions&);

template <>
const std::vector<Parameter<SvmOptions>>& parameters() {
  using O = SvmOptions;
  constexpr double most = std::numeric_limits<double>::max();
  static const std::vector<Row> rows{
      open_choice_row<O, SvmKind>("type", &O::kind,
                                  {{"c-svc", SvmKind::c_svc},
                                   {"nu-svc", SvmKind::nu_svc},
                                   {"one-class", SvmKind::one_class},
                                   {"epsilon-svr", SvmKind::epsilon_svr},
                                   {"nu-svr", SvmKind::nu_svr}},
                                  "which SVM: for classes, for one class, or for a numeric target",
                                  "c-svc, for a numeric target epsilon-svr"),
      kernel_row(),
      searched_range(open_positive_row("cost", &O::cost, "C: how much errors weigh against smoothness",
                                       "1, of a regression the target's standard deviation"),
                     "costs C", "found from the data"),
      searched_range(number_row("gamma", &O::gamma, {0, most}, "gamma of the kernel", "1 / features"), "gammas",
                     "found from the data"),
      searched(number_row("degree", &O::degree, {0, 1000}, "degree " + of_kernels(&KernelFunction::has_degree)),
               "degrees to try of a polynomial kernel: A,B,C", "3", list_reader<int>("degree", {0, 1000})),
      used_in(ParameterUse::search, number_row("refine", &O::refine, {0, 20},
                                               "how often the strategy refine narrows its steps around the best")),
      used_in(ParameterUse::search,
              yes_no_row("easy", &O::easy, "LIBSVM's grid: log2 C -5 to 15, log2 gamma -15 to 3, in steps of 2")),
      number_row("coef0", &O::coef0, {}, "constant term " + of_kernels(&KernelFunction::has_coef0)),
      positive_row("nu", &O::nu, "nu-svc, one-class, nu-svr: share of the rows that become support vectors at least",
                   {}, 1),
      open_number_row("epsilon", &O::epsilon, {0, most}, "epsilon-svr: errors up to it cost nothing",
                      "a tenth of the target's standard deviation"),
      positive_row("tolerance", &O::tolerance,
                   "stop when the optimality conditions are violated by less; of a regression without --epsilon the "
                   "default is multiplied by the target's standard deviation"),
      number_row("max-iterations", &O::max_iterations, {1, std::numeric_limits<std::int64_t>::max()},
                 "most steps of one SVM", "10000000, or 100 a row"),
      choice_row<O, MultiClass>("multi-class", &O::multi_class,
                                {{"one-vs-one", MultiClass::one_vs_one}, {"one-vs-rest", MultiClass::one_vs_rest}},
                                "three classes or more: an SVM for each pair, or for each class"),
      choice_row<O, ClassRule>(
          "decide", &O::rule,
          {{"automatic", ClassRule::automatic}, {"votes", ClassRule::votes}, {"winner", ClassRule::winner}},
          "by the votes of all SVMs or by the largest decision value; automatic: votes for one-vs-one, else the "
          "winner"),
      choice_row<O, bool>("probability", &O::probabilities, {{"no", false}, {"yes", true}},
                          "train for probabilities too: five folds within the training rows (Platt)"),
      class_weight_row<O>("factor of one class's cost (may be given several times), or balanced"),
  };
  return rows;
}

}  // namespace sheaf
