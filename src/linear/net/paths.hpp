// Paths of elastic nets, many models at once; see paths.cpp for the method.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/net_path.hpp>

#include "linear/fit_progress.hpp"
#include "linear/net/covariance_path.hpp"
#include "linear/net/ops.hpp"
#include "statistics/risk_sets.hpp"

namespace sheaf::linear {

/// The model without features, for a target under a column of row weights.
struct NetNull {
  double total = 0;                ///< sum of the weights
  double center = 0;               ///< mean of the target; 0 without an intercept
  double loss = 0;                 ///< mean
  double deviance = 0;             ///< twice the loss above that of a perfect fit
  double curvature = 0;            ///< largest second derivative of the loss, or, if there is no largest, its mean
  double width = 0;                ///< of the smooth quantile loss
  double target_unit = 1;          ///< the divisor of the L2 penalty
  std::vector<double> intercepts;  ///< one, or one a class
};

inline PenaltyShape penalty_shape(const NetPath& path, const NetNull& null) {
  return {path.l1_ratio, (1 - path.l1_ratio) / null.target_unit};
}

inline double row_weight(const NetSheaf& sheaf, std::int64_t row, std::int32_t column) {
  if (sheaf.row_weights.empty()) return 1;
  return sheaf.row_weights[static_cast<std::size_t>(row * sheaf.weight_columns + column)];
}
inline double target_of(const NetSheaf& sheaf, std::int64_t row, std::int32_t column) {
  return sheaf.targets[static_cast<std::size_t>(row * sheaf.target_columns + column)];
}

inline double offset_of(const NetSheaf& sheaf, std::int64_t row, std::int32_t k = 0) {
  return sheaf.offsets.empty() ? 0 : sheaf.offsets[static_cast<std::size_t>(row * sheaf.classes + k)];
}

/// Checks the sheaf; the totals of all columns of row weights.
std::vector<double> check_nets(const NetSheaf& sheaf, const NetParams& params, std::int64_t rows,
                               std::int64_t features);
/// Risk tables of Cox models; empty for others.
RiskTables risk_tables(const NetSheaf& sheaf, const NetParams& params);
/// The model without features for each path.
std::vector<NetNull> null_models(const NetSheaf& sheaf, const NetParams& params, const RiskTables& risk,
                                 std::span<const double> totals);
/// The same for a Cox model. `residuals`, if given, gets the weighted ones.
NetNull null_cox(const NetSheaf& sheaf, const RiskTables& risk, const NetPath& path, double total,
                 std::vector<double>* residuals = nullptr);

/// Features that may be updated at once, for the row weights of a sheaf whose tables are loaded; see
/// parallel_updates.cpp.
template <class T>
std::int32_t estimate_parallel(const Context& context, LinearOps<T>& linear, NetOps<T>& ops, const NetSheaf& sheaf,
                               std::span<const double> totals);

/// Watches over a single path, whose decision values are not needed.
struct PathWatch {
  PathEnd end;
  std::vector<double> explained;  ///< by the models of the alphas

  /// Takes note of the mean loss of a model. True: it is the last, if those before it are recorded.
  bool ends(const NetNull& null, std::size_t alpha, double loss) {
    if (explained.size() <= alpha) explained.resize(alpha + 1, 0.0);
    explained[alpha] = null.deviance > 0 ? 2 * (null.loss - loss) / null.deviance : 0;
    return end.reached(std::span(explained).first(alpha + 1));
  }
};

/// Part of a path: its alphas, and its starting point.
struct PathSegment {
  std::int32_t path = 0;
  std::vector<std::int32_t> alphas;  // positions in the path
  std::int32_t from = -1;            // the held model to begin with; -1: no weights
  std::int32_t hold = -1;            // where models are held for others to begin with, one an alpha; -1: nowhere
};

/// State of an active model, apart from its vectors.
struct ModelState {
  std::int64_t id = 0;
  std::int32_t segment = 0;
  std::size_t at = 0;              // which of the segment's alphas
  double alpha = 0;                // that one, or an intermediate one before it
  RowSums rows;                    // of the present weights
  std::vector<double> intercepts;  // one, or one a class
  double gap = 0;
  double last_gap = 0;  // a round before
  double objective = 0;
  double inner_tolerance = 0;
  std::int32_t wanted = 0;   // size of the working set
  std::int32_t rounds = 0;   // at this alpha
  std::int32_t stalled = 0;  // rounds in a row that did not bring the gap down
  std::int32_t epochs = 0;   // at this alpha
  std::int32_t parallel = 0;
  bool fresh = false;  // without weights, and its gap not computed yet
  bool finished = false;
  FitProgress progress;  // of the model at this alpha
};

template <class T>
class NetRun {
 public:
  /// `wants_decisions`: `use` looks at decision values.
  NetRun(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
         bool keep_weights, bool wants_decisions, const UseNets<T>& use, PathWatch* watch = nullptr);

  /// Trains some paths of the sheaf.
  void run(std::span<const std::int32_t> paths);
  /// For each path: the smallest alpha at which no feature has a weight.
  std::vector<double> largest_alphas();

 private:
  /// Models of the same sheaf for a thread by itself.
  NetRun(const NetRun& whole, const Context& context, std::unique_ptr<LinearOps<T>> linear,
         std::unique_ptr<NetOps<T>> ops, const UseNets<T>& use);
  /// Few features: without working sets. False: many.
  bool run_by_covariance(std::span<const std::int32_t> paths);
  void run_covariance_path(const CovarianceSolver<T>& solver, std::int32_t p, const ModelTask<T>& task,
                           std::mutex& mutex);
  /// The rows of a path whose decision values are wanted.
  std::vector<std::int32_t> decision_rows(const NetPath& path) const;
  bool run_apart(std::span<const std::int32_t> paths);
  std::int32_t count() const { return static_cast<std::int32_t>(states_.size()); }
  /// How many columns of a block a model has: one, or one a class.
  std::int32_t classes() const { return sheaf_.classes; }
  /// How many parts of it have penalties of their own (NetOps::feature_sums).
  std::int32_t parts() const { return params_.grouped ? 1 : classes(); }
  std::vector<std::int32_t> columns_of(std::span<const std::int32_t> models) const;
  FeatureSums sums_of(std::int32_t t) const;
  const PathSegment& segment_of(const ModelState& state) const {
    return segments_[static_cast<std::size_t>(state.segment)];
  }
  const NetPath& path_of(const ModelState& state) const {
    return sheaf_.paths[static_cast<std::size_t>(segment_of(state).path)];
  }
  const NetNull& null_of(const ModelState& state) const {
    return nulls_[static_cast<std::size_t>(segment_of(state).path)];
  }
  /// The alpha of the path that is trained, or that follows an intermediate one.
  double target_alpha(const ModelState& state) const;
  /// Whether the model is trained for the sake of the next alone.
  bool intermediate(const ModelState& state) const { return state.alpha > target_alpha(state); }
  /// The gap that is wanted of the model of an alpha, a position in the path. `rounding`: the rounding of the solver's
  /// arithmetic, as a share of the deviance without features.
  GapGoal goal_of(std::int32_t path, std::size_t alpha, double rounding) const;
  double tolerance_of(const ModelState& state) const;
  void train_unpenalised();
  std::int32_t most_models() const;
  void plan_segments(std::span<const std::int32_t> paths);
  void run_segments(std::int32_t first, std::int32_t last);
  void begin(std::int32_t first, std::int32_t last);
  void start_without_weights();
  void start_from_held();
  void add_active(const ModelState& state, double alpha1, double alpha2, std::vector<ActiveModel>& models) const;
  void choose_models();
  void compute_gaps();
  double longest_alpha_step() const;
  bool start_near_alpha_max(ModelState& state, const FeatureSums& sums) const;
  bool advance_finished();
  void take_weights(std::int32_t column, NetModel& model);
  void return_results(std::span<const std::int32_t> models);
  void advance(ModelState& state);
  void compact();
  void choose_features();
  void solve();
  NetBlocks<T> blocks() { return {w_.view(), g_.view(), z_.view(), u_.view()}; }

  const Context& context_;
  const Dataset<T>& dataset_;
  const NetSheaf& sheaf_;
  const NetParams& params_;
  bool keep_weights_, wants_decisions_;
  const UseNets<T>& use_;
  PathWatch* watch_ = nullptr;
  std::int64_t features_;
  std::vector<double> totals_;
  std::shared_ptr<const RiskTables> risk_;  // Cox
  std::vector<NetNull> nulls_;              // of paths
  std::unique_ptr<LinearOps<T>> linear_;
  std::unique_ptr<NetOps<T>> ops_;
  std::vector<PathSegment> segments_;
  std::int32_t parallel_ = 1;
  std::int32_t first_pass_ = 0;  // the number of the first segments, whose models others begin with
  std::int64_t started_ = 0;     // models so far, for their ids
  std::vector<ModelState> states_;
  std::vector<FeatureSums> sums_;    // of parts of models
  std::vector<std::uint8_t> moved_;  // parts of models whose alpha or weights changed since their gaps were computed
  Block<T> w_, g_, z_, u_;
  Block<T> held_w_, held_z_, held_u_;
  std::vector<ModelState> held_;
};

}  // namespace sheaf::linear
