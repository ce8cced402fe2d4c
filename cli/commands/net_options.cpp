#include "commands/net_options.hpp"

#include <sheaf/io.hpp>
#include <sheaf/selection.hpp>

#include "core/fail.hpp"

namespace sheaf::cli {

void NetFlags::declare(Arguments& arguments, NetOptions& options, std::initializer_list<std::string_view> names) {
  arguments.flag("standardise", options.standardise,
                 "penalise features as if their standard deviation was 1 in the rows that are trained on");
  arguments.add({"--no-intercept", "", "no constant beside the features", "",
                 [&options](const std::string&) { options.intercept = false; }});
  arguments.text("penalty-factors", "FILE", factors_,
                 "how much each feature is penalised: one number of 0 or more to a line");
  arguments.list("unpenalised", "NAMES", free_,
                 "features without a penalty, which stay in: by name or position from 1");
  arguments.parameters(options, names);
}

void NetFlags::check(const Arguments& arguments, const NetOptions& options) {
  if (options.solver != NetSolver::shotgun && arguments.given("--parallel"))
    fail_usage("--parallel is for --solver shotgun");
}

void NetFlags::find_factors(const std::vector<std::string>& feature_names, std::int64_t features,
                            NetOptions& options) const {
  if (!factors_.empty()) options.penalty_factors = read_penalty_factors(factors_, features);
  if (free_.empty()) return;
  options.penalty_factors.resize(static_cast<std::size_t>(features), 1.0);
  for (const auto j : find_features(free_, feature_names, features))
    options.penalty_factors[static_cast<std::size_t>(j)] = 0;
}

}  // namespace sheaf::cli
