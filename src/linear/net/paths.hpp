// Paths of elastic nets on their way, many lanes abreast; see net.cpp for the method.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/elastic_net.hpp>

#include "linear/fit_progress.hpp"
#include "linear/net/ops.hpp"

namespace sheaf::linear {

/// Sum of weights, mean and deviance of a target under a column of row weights.
struct NetNull {
  double total = 0;
  double center = 0;     ///< the mean; 0 without an intercept
  double deviance = 0;   ///< of the model without features, divided by the total: twice its loss
  double intercept = 0;  ///< of that model
};

/// Checks the sheaf; the totals of all columns of row weights.
std::vector<double> check_nets(const NetSheaf& sheaf, const NetParams& params, std::int64_t rows,
                               std::int64_t features);
/// What the model without features is for each path.
std::vector<NetNull> null_models(const NetSheaf& sheaf, const NetParams& params, std::span<const double> totals);

/// Features that may be updated at once, for the row weights of a sheaf whose tables are loaded; see net_parallel.cpp.
template <class T>
std::int32_t estimate_parallel(const Context& context, LinearOps<T>& linear, NetOps<T>& ops, const NetSheaf& sheaf,
                               std::span<const double> totals);

/// Part of a path: its alphas, and where it begins.
struct NetStretch {
  std::int32_t path = 0;
  std::vector<std::int32_t> alphas;  // positions in the path
  std::int32_t from = -1;            // the held model to begin with; -1: no weights
  std::int32_t hold = -1;            // where models are held for others to begin with, one an alpha; -1: nowhere
};

/// One model in work.
struct NetCourse {
  std::int64_t id = 0;
  std::int32_t stretch = 0;
  std::size_t at = 0;  // which of the stretch's alphas
  double alpha = 0;    // that one, or one on the way to it
  RowSums rows;        // of the present weights
  double intercept = 0;
  double gap = 0;
  double last_gap = 0;  // a round before
  double objective = 0;
  double inner_tolerance = 0;
  std::int32_t wanted = 0;  // size of the working set
  std::int32_t rounds = 0;  // at this alpha
  std::int32_t epochs = 0;  // at this alpha
  std::int32_t parallel = 0;
  bool fresh = false;  // without weights, and not judged yet
  bool finished = false;
  FitProgress progress;  // of the model at this alpha
};

template <class T>
class NetRun {
 public:
  NetRun(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
         bool keep_weights, const UseNets<T>& use);

  /// Trains some paths of the sheaf.
  void run(std::span<const std::int32_t> paths);
  /// For each path: the smallest alpha at which no feature has a weight.
  std::vector<double> largest_alphas();

 private:
  /// Lanes of the same sheaf for a thread by itself.
  NetRun(const NetRun& whole, const Context& context, std::unique_ptr<LinearOps<T>> linear,
         std::unique_ptr<NetOps<T>> ops, const UseNets<T>& use);
  bool run_apart(std::span<const std::int32_t> paths);
  std::int32_t count() const { return static_cast<std::int32_t>(courses_.size()); }
  const NetStretch& stretch_of(const NetCourse& course) const {
    return stretches_[static_cast<std::size_t>(course.stretch)];
  }
  double goal_of(const NetCourse& course) const;
  bool on_the_way(const NetCourse& course) const { return course.alpha > goal_of(course); }
  double tolerance_of(const NetCourse& course) const;
  std::int32_t most_lanes() const;
  void plan_stretches(std::span<const std::int32_t> paths);
  void run_stretches(std::int32_t first, std::int32_t last);
  void begin(std::int32_t first, std::int32_t last);
  void begin_fresh();
  void begin_from_held();
  void take_gradients();
  void choose_lanes();
  void judge();
  double longest_step() const;
  bool step_in(NetCourse& course, const FeatureSums& sums) const;
  bool hand_out_finished();
  void hand_out(std::span<const std::int32_t> lanes);
  void advance(NetCourse& course);
  void compact();
  void choose_features();
  void solve();
  NetBlocks<T> blocks() { return {w_.view(), g_.view(), z_.view(), u_.view()}; }
  void keep(Block<T>& block, std::span<const std::int32_t> columns);

  const Context& context_;
  const Dataset<T>& dataset_;
  const NetSheaf& sheaf_;
  const NetParams& params_;
  bool keep_weights_;
  const UseNets<T>& use_;
  std::int64_t features_;
  std::vector<double> totals_;
  std::vector<NetNull> nulls_;  // of paths
  std::unique_ptr<LinearOps<T>> linear_;
  std::unique_ptr<NetOps<T>> ops_;
  std::vector<NetStretch> stretches_;
  std::int32_t parallel_ = 1;
  std::int32_t heads_ = 0;  // the first stretches, whose models others begin with
  std::int64_t begun_ = 0;  // courses so far
  std::vector<NetCourse> courses_;
  std::vector<FeatureSums> sums_;
  std::vector<std::uint8_t> moved_;  // lanes whose alpha or weights changed since they were judged
  Block<T> w_, g_, z_, u_;
  Block<T> held_w_, held_z_, held_u_;
  std::vector<NetCourse> held_;
};

}  // namespace sheaf::linear
