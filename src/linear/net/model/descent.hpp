// Coordinate descent on a quadratic model: passes over the working set, and methods that shorten them.
#pragma once

#include <sheaf/solvers/elastic_net.hpp>

#include "linear/net/model/extrapolation.hpp"
#include "linear/net/model/gram.hpp"
#include "linear/net/model/parallel_pass.hpp"

namespace sheaf::linear {

struct DescentRules {
  NetSolver solver = NetSolver::automatic;
  std::int32_t max_epochs = 1000;
  std::int32_t parallel = 1;
  std::uint64_t seed = 0;
};

/// Teams that have room for products of features solve for many weights at once (gram.hpp).
template <class Team>
inline constexpr bool solves_systems = requires(const Team& team) {
  team.gram();
};

template <class Model>
class Descent {
  using T = typename Model::Value;
  using Coordinate = typename Model::Coordinate;
  static constexpr bool systems = solves_systems<typename Model::TeamType>;

 public:
  SHEAF_HOST_DEVICE Descent(Model& model, const DescentRules& rules)
      : model_(model), rules_(rules), parallel_(rules.parallel) {}

  SHEAF_HOST_DEVICE std::int32_t parallel() const { return parallel_; }

  /// One pass over the working set; returns its gain.
  SHEAF_HOST_DEVICE double pass() { return visit_features(model_.features.count, InOrder{}); }

  /// Passes over the working set until they gain little relative to the gap or the tolerance; returns all they gained.
  /// Passes over the features that have a weight end when one gains less than `enough` times that little.
  SHEAF_HOST_DEVICE double run(double gap, double tolerance, double enough) {
    double all = 0;
    const double little = gap * 0.01 > tolerance * 0.1 ? gap * 0.01 : tolerance * 0.1;
    for (int cycle = 0; cycle < 50 && model_.epochs < rules_.max_epochs && !model_.stopped(); ++cycle) {
      double gained = 0;
      if (rules_.solver == NetSolver::shooting) {
        gained = visit_random();
      } else if (rules_.solver == NetSolver::shotgun) {
        gained = visit_parallel(model_, rules_.seed, parallel_);
        if (!(gained >= 0)) continue;  // taken back
      } else {
        // The features of a warm start are solved first: then the others see how far they are from their bounds.
        if (systems && rules_.solver == NetSolver::automatic) gained += refine(enough * little);
        gained += pass();
        if (!systems && rules_.solver == NetSolver::automatic) gained += refine(enough * little);
      }
      all += gained;
      if (gained <= little) break;
    }
    return all;
  }

 private:
  template <class Feature>
  SHEAF_HOST_DEVICE double visit_features(std::int32_t count, const Feature& feature) {
    double gained = 0;
    model_.in_turn(count, feature,
                   [&](const Coordinate& at, const ColumnAhead<T>& ahead) { gained += model_.visit(at, ahead); });
    model_.epochs += 1;
    return gained;
  }

  SHEAF_HOST_DEVICE double visit_random() {
    double gained = 0;
    const auto count = static_cast<std::uint64_t>(model_.features.count);
    for (std::uint64_t turn = 0; turn < count; ++turn) {
      const std::uint64_t draw = static_cast<std::uint64_t>(model_.epochs) * count + turn;
      const Coordinate at = model_.coordinate(static_cast<std::int32_t>(mixed(rules_.seed ^ mixed(draw)) % count));
      gained += model_.visit(at, model_.x.ahead(model_.team, at.place));
    }
    model_.epochs += 1;
    return gained;
  }

  /// Passes over the features that have a weight, and an extrapolation of them.
  SHEAF_HOST_DEVICE double refine(double little) {
    double gained = 0;
    model_.remember(0);
    std::int32_t count = model_.list_active();
    if constexpr (systems) {
      count = leave_out_held(model_, count);
      if (worth_solving(model_, count)) return solve_active(model_, count);
    }
    for (int turn = 1; turn < history_length; ++turn) {
      const double more = visit_features(count, [&](std::int32_t at) { return model_.features.active[at]; });
      gained += more;
      if (more <= little) return gained;
      model_.remember(turn);
    }
    return gained + extrapolate(model_);
  }

  Model& model_;
  const DescentRules& rules_;
  std::int32_t parallel_;
};

}  // namespace sheaf::linear
