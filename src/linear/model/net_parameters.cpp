#include <array>
#include <cmath>

#include <sheaf/io.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/losses.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"
#include "linear/model/net_problem.hpp"
#include "linear/model/offset_rows.hpp"

namespace sheaf {
namespace {

using Row = Parameter<NetOptions>;

Row parallel_row() {
  auto set = [](NetOptions& options, std::string_view text) {
    options.parallel =
        text == "auto" ? 0
                       : parse_number<std::int32_t>("parallel", text, {1, std::numeric_limits<std::int32_t>::max()});
  };
  auto get = [](const NetOptions& options) {
    return options.parallel == 0 ? std::string("auto") : fmt::format("{}", options.parallel);
  };
  return {"parallel", "N|auto", "shotgun: features that are updated at once", "auto", {}, set, get};
}

/// All kinds but those whose name fixes their l1-ratio.
std::vector<std::string> kinds_with_ratio() {
  std::vector<std::string> names;
  for (const auto& kind : net_kinds())
    if (!kind.l1_ratio) names.emplace_back(kind.name);
  return names;
}

Row loss_row() {
  Choices<Loss> losses;
  for (const auto& kind : net_kinds())
    if (!kind.l1_ratio) losses.emplace_back(to_string(kind.loss), kind.loss);
  return used_in(ParameterUse::kind,
                 choice_row<NetOptions, Loss>("loss", &NetOptions::loss, losses, "what errors cost"));
}

Row factors_row() {
  return vector_row<NetOptions>(
      "penalty-factors", "factor of each feature's penalty: one number of 0 or more to a line",
      {false, read_penalty_factors,
       [](NetOptions& options, std::vector<double> numbers) { options.penalty_factors = std::move(numbers); },
       [](const NetOptions& options) { return options.penalty_factors; }});
}

/// A lower and an upper limit of each feature, one after the other.
Row limits_row() {
  const auto read = [](const std::string& path, std::int64_t features) {
    const auto [lower, upper] = read_weight_limits(path, features);
    std::vector<double> both;
    for (std::size_t j = 0; j < lower.size(); ++j) {
      both.push_back(lower[j]);
      both.push_back(upper[j]);
    }
    return both;
  };
  const auto set = [](NetOptions& options, const std::vector<double>& both) {
    if (options.lower_limit || options.upper_limit)
      fail_usage("limits says the limits of each feature; leave out lower-limit and upper-limit");
    if (both.size() % 2 != 0) fail_usage("limits takes a lower and an upper limit for each feature");
    for (std::size_t j = 0; j < both.size(); j += 2) {
      options.lower_limits.push_back(both[j]);
      options.upper_limits.push_back(both[j + 1]);
    }
  };
  const auto get = [](const NetOptions& options) {
    std::vector<double> both;
    for (std::size_t j = 0; j < options.lower_limits.size(); ++j) {
      both.push_back(options.lower_limits[j]);
      both.push_back(options.upper_limits[j]);
    }
    return both;
  };
  return vector_row<NetOptions>(
      "limits",
      "between which limits each feature's weight stays: a lower one of 0 or less and an upper one of 0 or more to a "
      "line, -inf and inf for none",
      {false, read, set, get});
}

}  // namespace

double linear::loss_parameter(const NetOptions& options) {
  constexpr std::array<std::pair<std::string_view, double NetOptions::*>, 2> members{
      {{"quantile", &NetOptions::quantile}, {"huber-threshold", &NetOptions::huber_threshold}}};
  const auto name = info(options.loss).parameter.name;
  for (const auto& [known, member] : members)
    if (known == name) return options.*member;
  return 0;
}

template <>
const std::vector<Parameter<NetOptions>>& parameters() {
  using O = NetOptions;
  constexpr double most = std::numeric_limits<double>::max();
  Choices<NetSolver> solvers;
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting, NetSolver::shotgun})
    solvers.emplace_back(to_string(solver), solver);
  static const std::vector<Row> rows{
      loss_row(),
      searched_range(open_number_row("alpha", &O::alpha, {0, most}, "weight of the penalty against the mean loss", ""),
                     "alphas", "found from the data"),
      used_in(ParameterUse::search,
              number_row("alpha-count", &O::alpha_count, {1, 100000}, "number of alphas, if they are not given")),
      used_in(ParameterUse::search,
              positive_row("smallest-share", &O::smallest_share,
                           "the smallest alpha as a share of the largest, if alphas are not given",
                           "0.0001, with more features than rows 0.01; at l1-ratio 0 its square",
                           std::nextafter(1.0, 0.0))),
      only_for(kinds_with_ratio(),
               searched(number_row("l1-ratio", &O::l1_ratio, {0, 1},
                                   "the L1 penalty's share: 1 is the lasso, 0 ridge regression, which selects nothing"),
                        "shares of the L1 penalty to try: numbers from 0 to 1", "0.2,0.5,0.9",
                        list_reader<double>("l1-ratio", {0, 1}))),
      searched(number_row("relax", &O::relax, {0, 1},
                          "the share of the penalised model beside one without a penalty of the same features; 1: not "
                          "relaxed"),
               "shares to try of the penalised model beside one without a penalty of the same features: numbers from "
               "0 to 1",
               "1", list_reader<double>("relax", {0, 1})),
      choice_row<O, LabelKind>(
          "labels", &O::labels,
          {{"auto", LabelKind::automatic}, {"classes", LabelKind::classes}, {"numbers", LabelKind::numbers}},
          "whether labels are classes or numbers; two classes become +1 and -1, three or more one model each"),
      choice_row<O, Ties>("ties", &O::ties, {{"breslow", Ties::breslow}, {"efron", Ties::efron}},
                          "survival: how events at the same time are treated"),
      only_for({"elastic-net-quantile"},
               positive_row("quantile", &O::quantile, "elastic-net-quantile: the quantile that is predicted, below 1")),
      only_for({"elastic-net-huber"},
               positive_row("huber-threshold", &O::huber_threshold,
                            "elastic-net-huber: errors up to it count by their squares, larger ones by their size",
                            "a tenth of the interquartile range of the target")),
      yes_no_row("standardise", &O::standardise,
                 "penalise features as if their standard deviation was 1 in the rows that are trained on"),
      yes_no_row("relative-l2", &O::relative_l2,
                 "numeric targets: divide the L2 penalty by the standard deviation of the target, as glmnet does, so "
                 "that no result depends on its unit; no: scikit-learn's objective"),
      yes_no_row("grouped", &O::grouped,
                 "elastic-net-multinomial: penalise a feature's weights in all classes together; those for several "
                 "targets always are"),
      yes_no_row("intercept", &O::intercept, "models have an intercept, which is not penalised"),
      open_number_row("lower-limit", &O::lower_limit, {std::numeric_limits<double>::lowest(), 0},
                      "lower bound on every weight (<= 0)", "none"),
      open_number_row("upper-limit", &O::upper_limit, {0, most}, "upper bound on every weight (>= 0)", "none"),
      positive_row("tolerance", &O::tolerance,
                   "stop when the duality gap is this small a share of the deviance without features"),
      class_weight_row<O>("factor of one class's rows (may be given several times), or balanced"),
      choice_row<O, NetSolver>("solver", &O::solver, solvers,
                               "working sets, or one of: all features in turn, one at random, several at random"),
      parallel_row(),
      number_row("max-epochs", &O::max_epochs, {1, std::numeric_limits<int>::max()},
                 "most passes over the active features"),
      factors_row(),
      list_row("unpenalised", "NAMES", &O::unpenalised,
               "features without a penalty, which stay in: by name or position from 1"),
      limits_row(),
      linear::exposure_row<O>(),
      linear::offset_row<O>(),
  };
  return rows;
}

}  // namespace sheaf
