// The verbs of elastic nets, beside those of linear models (ops.hpp): what a solver of paths asks of a device. A lane
// is one model in work: a column of every block.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <sheaf/elastic_net.hpp>

#include "linear/net/lane.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear {

/// The largest second derivative of a loss by the decision value.
inline double largest_bend(Loss loss) { return loss == Loss::logistic ? 0.25 : 1; }

/// What a lane trains, apart from its vectors.
struct NetLane {
  std::int32_t rows = 0;
  std::int32_t target = 0;
  double alpha1 = 0;    ///< of the L1 part
  double alpha2 = 0;    ///< of the L2 part
  double total = 0;     ///< sum of the row weights
  double center = 0;    ///< weighted mean of the targets; 0 without an intercept
  std::int64_t id = 0;  ///< the same for all models of a lane, different from that of any other lane
};

/// The blocks of all lanes: weights and X'u over features; x'w and u = row weight * residual over examples.
template <class T>
struct NetBlocks {
  BlockView<T> w;
  BlockView<T> g;
  BlockView<T> z;
  BlockView<T> u;
};

/// What a lane is asked to do in solve().
struct NetOrder {
  std::int32_t lane = 0;
  double intercept = 0;
  double tolerance = 0;
  LaneRules rules;
};

/// How features are chosen for a lane: all with a weight, and those whose |g - p2 w| / p1 is largest, up to `count` of
/// them in all; none that `scale` times it, plus `radius` times the length of the feature, shows to be out of play.
struct NetChoice {
  std::int32_t lane = 0;
  std::int32_t count = 0;
  double scale = 1;
  double radius = 0;  ///< infinite: no feature is out of play
};

template <class T>
class NetOps {
 public:
  NetOps() = default;
  NetOps(const NetOps&) = delete;
  NetOps& operator=(const NetOps&) = delete;
  virtual ~NetOps() = default;

  /// Row weights, targets, penalty factors, and the moments of all features under each column of row weights.
  virtual void load_tables(const NetSheaf& sheaf, const NetParams& params, std::span<const double> totals) = 0;
  /// The same tables for other lanes, which one thread works on beside these, with its own `linear`. Nothing: lanes are
  /// better off together.
  virtual std::unique_ptr<NetOps> apart(LinearOps<T>& /*linear*/) const { return nullptr; }
  /// Means of the features (0 without an intercept) and 1 / the square roots of their curvatures (0 where that is 0),
  /// for the first columns of row weights.
  virtual void normalisers(BlockView<T> means, BlockView<T> scales) = 0;
  /// From now on, column t of every block belongs to lanes[t].
  virtual void choose_lanes(std::span<const NetLane> lanes) = 0;
  /// The residuals u have changed. Block g becomes X'u, or whatever serves the backend in its stead in what follows.
  virtual void take_gradients(LinearOps<T>& linear, const NetBlocks<T>& blocks) {
    linear.multiply_transposed(blocks.u, blocks.g);
    linear.synchronize();
  }
  /// What the features of each wanted lane say about its gap, from blocks w, u and g. Others may be told again.
  virtual void judge(const NetBlocks<T>& blocks, Wanted wanted, std::span<FeatureSums> out) = 0;
  /// Logistic loss: the entropy of scales[t] * u, for each lane.
  virtual void entropies(BlockView<const T> u, std::span<const double> scales, std::span<double> out) = 0;
  /// Makes the working sets of some lanes, and tells their sizes.
  virtual void choose_features(const NetBlocks<T>& blocks, std::span<const NetChoice> choices,
                               std::span<std::int32_t> sizes) = 0;
  /// Trains the lanes of the last choose_features() on their working sets: their columns of w, z and u. Once the
  /// context's work is to end it returns early, and what it leaves is of no use.
  virtual void solve(Loss loss, const NetBlocks<T>& blocks, std::span<const NetOrder> orders,
                     std::span<LaneReport> out) = 0;
  /// The features that have a weight in column `lane`, ascending, and their weights, in CPU memory.
  virtual void fetch_weights(BlockView<const T> w, std::int32_t lane, std::vector<std::int32_t>& features,
                             std::vector<double>& weights) = 0;
  /// Column t of `out` becomes column lanes[t] of z plus intercepts[t].
  virtual void decisions(BlockView<const T> z, std::span<const std::int32_t> lanes, std::span<const double> intercepts,
                         BlockView<T> out) = 0;
};

/// `linear` is the backend of the same device for the same dataset, without a bias; both must outlive the result.
template <class T>
std::unique_ptr<NetOps<T>> make_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear);

// The backends, for make_net_ops alone.
template <class T>
std::unique_ptr<NetOps<T>> make_cpu_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear);
template <class Set, class T>
std::unique_ptr<NetOps<T>> make_cpu_net_ops_for(const Context& context, const Dataset<T>& dataset,
                                                LinearOps<T>& linear);
template <class T>
std::unique_ptr<NetOps<T>> make_cuda_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear);

}  // namespace sheaf::linear
