#include <cmath>

#include <sheaf/elastic_net.hpp>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

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

}  // namespace

template <>
const std::vector<Parameter<NetOptions>>& parameters() {
  using O = NetOptions;
  Choices<NetSolver> solvers;
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting, NetSolver::shotgun})
    solvers.emplace_back(to_string(solver), solver);
  static const std::vector<Row> rows{
      open_number_row("alpha", &O::alpha, {0, std::numeric_limits<double>::max()},
                      "how much the penalty weighs against the mean loss", ""),
      number_row("l1-ratio", &O::l1_ratio, {0, 1},
                 "the L1 penalty's share: 1 is the lasso, 0 ridge regression, which selects nothing"),
      number_row("relax", &O::relax, {0, 1},
                 "the share of the penalised model beside one without a penalty of the same features; 1: not relaxed"),
      choice_row<O, LabelKind>(
          "labels", &O::labels,
          {{"auto", LabelKind::automatic}, {"classes", LabelKind::classes}, {"numbers", LabelKind::numbers}},
          "whether labels are classes or numbers; two classes become +1 and -1, three or more one model each"),
      choice_row<O, Ties>("ties", &O::ties, {{"breslow", Ties::breslow}, {"efron", Ties::efron}},
                          "survival: how events at the same time are treated"),
      positive_row("quantile", &O::quantile, "elastic-net-quantile: the quantile that is predicted, below 1"),
      positive_row("huber-threshold", &O::huber_threshold,
                   "elastic-net-huber: errors up to it count by their squares, larger ones by their size",
                   "a tenth of the interquartile range of the target"),
      choice_row<O, NetSolver>("solver", &O::solver, solvers,
                               "working sets, or one of: all features in turn, one at random, several at random"),
      parallel_row(),
      positive_row("tolerance", &O::tolerance,
                   "stop where the duality gap is this small a share of the deviance without features"),
      number_row("max-epochs", &O::max_epochs, {1, std::numeric_limits<int>::max()},
                 "most passes over the active features"),
      open_number_row("lower-limit", &O::lower_limit, {std::numeric_limits<double>::lowest(), 0},
                      "what no weight is below, 0 or less", "none"),
      open_number_row("upper-limit", &O::upper_limit, {0, std::numeric_limits<double>::max()},
                      "what no weight is above, 0 or more", "none"),
      class_weight_row<O>("factor of one class's rows (may be given several times), or balanced"),
      yes_no_row("grouped", &O::grouped,
                 "elastic-net-multinomial: penalise a feature's weights in all classes together; those for several "
                 "targets always are"),
      yes_no_row("intercept", &O::intercept, "models have an intercept, which is not penalised"),
      yes_no_row("standardise", &O::standardise,
                 "penalise features as if their standard deviation was 1 in the rows that are trained on"),
  };
  return rows;
}

}  // namespace sheaf
