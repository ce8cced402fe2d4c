// The verbs of elastic nets on CPU cores: a thread solves one lane after another.
#include <algorithm>
#include <vector>

#include "core/parallel.hpp"
#include "linear/net_ops.hpp"

namespace sheaf::linear {
namespace {

/// A team of one.
struct Single {
  static constexpr bool fetches_ahead = false;
  static constexpr std::int32_t rank() { return 0; }
  static constexpr std::int32_t size() { return 1; }
  static constexpr std::int32_t part_rank() { return 0; }
  static constexpr std::int32_t parts() { return 1; }
  static Single part() { return {}; }
  static constexpr bool owns(std::int32_t) { return true; }
  static void sync() {}
  template <class V>
  static V sum(V value) {
    return value;
  }
  /// The places of what is not 0; returns their number.
  template <class T>
  static std::int32_t list_nonzero(const T* w, std::int32_t count, std::int32_t* places) {
    std::int32_t found = 0;
    for (std::int32_t k = 0; k < count; ++k)
      if (w[k] != 0) places[found++] = k;
    return found;
  }
};

/// Lanes whose entries share a cache line are looked at together.
constexpr std::int32_t lanes_together = 8;
/// Features per partial sum; fixed, so that sums do not depend on the number of threads.
constexpr std::int64_t sum_features = 4096;

template <class T>
class CpuNetOps final : public NetOps<T> {
 public:
  CpuNetOps(const Context& context, const Dataset<T>& dataset)
      : rows_(dataset.rows()), features_(dataset.features()), threads_(context.threads()) {
    if (is_sparse(dataset.x)) {
      sparse_ = &dataset.by_columns(Device::cpu(), threads_);
    } else {
      const auto make = [&] {
        return std::make_shared<const Array<T>>(transposed(std::get<DenseMatrix<T>>(dataset.x)));
      };
      dense_ = std::static_pointer_cast<const Array<T>>(dataset.beside(Device::cpu(), "dense columns", make));
    }
  }

  void load_tables(const NetSheaf& sheaf, const NetParams& params, std::span<const double> totals) override {
    weight_columns_ = sheaf.weight_columns;
    target_columns_ = sheaf.target_columns;
    weights_ = sheaf.row_weights.empty() ? nullptr : sheaf.row_weights.data();
    targets_ = converted<T, double>(sheaf.targets, threads_);
    factors_ = converted<T, double>(sheaf.penalty_factors, threads_);
    intercept_ = params.intercept;
    standardise_ = params.standardise;
    bend_ = largest_bend(params.loss);
    with_columns([&](const auto& x) { take_moments(x, totals); });
  }

  void normalisers(BlockView<T> means, BlockView<T> scales) override {
    for (std::int32_t c = 0; c < means.tasks; ++c) {
      const auto task = task_of({c, 0, 0, 0, 1, 0});
      for (std::int64_t j = 0; j < features_; ++j)
        normalise(task, j, means.data[j * means.stride + c], scales.data[j * scales.stride + c]);
    }
  }

  void choose_lanes(std::span<const NetLane> lanes) override {
    tasks_.clear();
    for (const NetLane& lane : lanes) tasks_.push_back(task_of(lane));
    sets_.resize(tasks_.size());
  }

  void judge(const NetBlocks<T>& blocks, Wanted wanted, std::span<FeatureSums> out) override {
    std::vector<std::size_t> lanes;
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (wanted.empty() || wanted[t] != 0) lanes.push_back(t);
    std::vector<double> shares;
    shares.reserve(lanes.size());
    for (const auto t : lanes) shares.push_back(1 / tasks_[t].total);
    const std::int64_t parts = (features_ + sum_features - 1) / sum_features;
    std::vector<FeatureSums> sums(static_cast<std::size_t>(parts) * lanes.size());
    const int team = team_for(threads_, features_ * static_cast<std::int64_t>(lanes.size()));
    parallel_for(team, parts, [&](std::int64_t part) {
      FeatureSums* here = sums.data() + static_cast<std::size_t>(part) * lanes.size();
      const std::int64_t end = std::min(features_, (part + 1) * sum_features);
      for (std::int64_t j = part * sum_features; j < end; ++j)
        for (std::size_t k = 0; k < lanes.size(); ++k) {
          const auto& task = tasks_[lanes[k]];
          const auto at = static_cast<std::int64_t>(lanes[k]);
          const double g = double(blocks.g.data[j * blocks.g.stride + at]) * shares[k];
          const double w = blocks.w.data[j * blocks.w.stride + at];
          const double p1 = task.penalty1(j);
          // Most features have no weight and are far from their bounds: they add nothing.
          if (w == 0 && std::abs(g) <= p1 * std::min(here[k].ratio, 1.0) && p1 > 0) continue;
          here[k].add(g, w, p1, task.penalty2(j), task.curvature(j) * bend_);
        }
    });
    for (std::size_t k = 0; k < lanes.size(); ++k) {
      FeatureSums all;
      for (std::int64_t part = 0; part < parts; ++part)
        all.join(sums[static_cast<std::size_t>(part) * lanes.size() + k]);
      out[lanes[k]] = all;
    }
  }

  void entropies(BlockView<const T> u, std::span<const double> scales, std::span<double> out) override {
    parallel_for(threads_, static_cast<std::int64_t>(out.size()), [&](std::int64_t t) {
      const auto& task = tasks_[static_cast<std::size_t>(t)];
      double sum = 0;
      for (std::int64_t i = 0; i < rows_; ++i) {
        const double s = task.weight(i);
        if (s > 0)
          sum += s * entropy_of(scales[static_cast<std::size_t>(t)] * std::abs(double(u.data[i * u.stride + t])) / s);
      }
      out[static_cast<std::size_t>(t)] = sum / task.total;
    });
  }

  void choose_features(const NetBlocks<T>& blocks, std::span<const NetChoice> choices,
                       std::span<std::int32_t> sizes) override {
    const std::int64_t groups = (static_cast<std::int64_t>(choices.size()) + lanes_together - 1) / lanes_together;
    parallel_for(threads_, groups, [&](std::int64_t group) {
      const auto first = static_cast<std::size_t>(group * lanes_together);
      const auto some = choices.subspan(first, std::min<std::size_t>(lanes_together, choices.size() - first));
      choose_group(blocks, some);
    });
    for (std::size_t c = 0; c < choices.size(); ++c)
      sizes[c] = static_cast<std::int32_t>(sets_[static_cast<std::size_t>(choices[c].lane)].size());
  }

  void solve(Loss loss, const NetBlocks<T>& blocks, std::span<const NetOrder> orders,
             std::span<LaneReport> out) override {
    with_columns([&](const auto& x) {
      parallel_for(threads_, static_cast<std::int64_t>(orders.size()), [&](std::int64_t o) {
        const auto at = static_cast<std::size_t>(o);
        out[at] =
            loss == Loss::logistic ? solve_lane<true>(x, blocks, orders[at]) : solve_lane<false>(x, blocks, orders[at]);
      });
    });
  }

  void fetch_weights(BlockView<const T> w, std::int32_t lane, std::vector<std::int32_t>& features,
                     std::vector<double>& weights) override {
    for (std::int64_t j = 0; j < w.rows; ++j) {
      const T weight = w.data[j * w.stride + lane];
      if (weight == 0) continue;
      features.push_back(static_cast<std::int32_t>(j));
      weights.push_back(weight);
    }
  }

  void decisions(BlockView<const T> z, std::span<const std::int32_t> lanes, std::span<const double> intercepts,
                 BlockView<T> out) override {
    parallel_ranges(threads_, rows_, 1024, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        for (std::size_t t = 0; t < lanes.size(); ++t)
          out.data[i * out.stride + static_cast<std::int64_t>(t)] =
              z.data[i * z.stride + lanes[t]] + static_cast<T>(intercepts[t]);
    });
  }

 private:
  Array<T> transposed(const DenseMatrix<T>& x) const {
    Array<T> result(x.rows * x.columns);
    constexpr std::int64_t tile = 64;
    parallel_for(threads_, (x.columns + tile - 1) / tile, [&](std::int64_t part) {
      const std::int64_t end = std::min(x.columns, (part + 1) * tile);
      for (std::int64_t i = 0; i < x.rows; ++i)
        for (std::int64_t j = part * tile; j < end; ++j) result[j * x.rows + i] = x.values[i * x.columns + j];
    });
    return result;
  }

  LaneTask<T> task_of(const NetLane& lane) const {
    const LaneTables<T> tables{rows_,           targets_.data(), target_columns_,   weights_,   weight_columns_,
                               factors_.data(), means_.data(),   variances_.data(), intercept_, standardise_};
    auto task = lane_task(tables, lane.rows, lane.target, lane.total, lane.center, lane.alpha1, lane.alpha2);
    task.deviations = deviations_.data() + lane.rows;
    return task;
  }

  template <class F>
  void with_columns(F&& f) const {
    if (sparse_ != nullptr)
      f(SparseColumns<T>{sparse_->offsets.data(), sparse_->indices.data(), sparse_->values.data()});
    else
      f(DenseColumns<T>{dense_->data(), rows_});
  }

  float weight(std::int64_t row, std::int32_t column) const {
    return weights_ != nullptr ? weights_[row * weight_columns_ + column] : 1.0F;
  }

  /// Means first, then the squares of what is left, so that a large mean costs no digits.
  template <class Columns>
  void take_moments(const Columns& x, std::span<const double> totals) {
    means_ = Array<T>(features_ * weight_columns_);
    variances_ = Array<T>(features_ * weight_columns_);
    deviations_ = Array<T>(features_ * weight_columns_);
    parallel_ranges(threads_, features_, 64, [&](Range range) {
      const auto columns = static_cast<std::size_t>(weight_columns_);
      std::vector<double> sums(columns), seen(columns), squares(columns);
      for (std::int64_t j = range.begin; j < range.end; ++j) {
        std::fill(sums.begin(), sums.end(), 0.0);
        std::fill(seen.begin(), seen.end(), 0.0);
        std::fill(squares.begin(), squares.end(), 0.0);
        const auto feature = static_cast<std::int32_t>(j);
        x.each(Single{}, feature, [&](std::int32_t i, T value) {
          for (std::int32_t c = 0; c < weight_columns_; ++c) {
            const double s = weight(i, c);
            sums[static_cast<std::size_t>(c)] += s * double(value);
            seen[static_cast<std::size_t>(c)] += s;
          }
        });
        for (std::size_t c = 0; c < columns; ++c) sums[c] /= totals[c];
        x.each(Single{}, feature, [&](std::int32_t i, T value) {
          for (std::int32_t c = 0; c < weight_columns_; ++c) {
            const double away = double(value) - sums[static_cast<std::size_t>(c)];
            squares[static_cast<std::size_t>(c)] += double(weight(i, c)) * away * away;
          }
        });
        for (std::size_t c = 0; c < columns; ++c) {
          const auto at = j * weight_columns_ + static_cast<std::int64_t>(c);
          means_[at] = static_cast<T>(sums[c]);
          variances_[at] = static_cast<T>(variance_of(sums[c], squares[c], seen[c], totals[c]));
          deviations_[at] = std::sqrt(variances_[at]);
        }
      }
    });
  }

  void choose_group(const NetBlocks<T>& blocks, std::span<const NetChoice> choices) {
    const std::size_t width = choices.size();
    std::vector<std::int32_t> counts(width * ratio_buckets, 0);
    std::vector<std::int16_t> buckets(static_cast<std::size_t>(features_) * width);
    for (std::int64_t j = 0; j < features_; ++j)
      for (std::size_t c = 0; c < width; ++c) {
        const int bucket = working_bucket(blocks, j, choices[c]);
        buckets[static_cast<std::size_t>(j) * width + c] = static_cast<std::int16_t>(bucket);
        if (bucket >= 0) ++counts[c * ratio_buckets + static_cast<std::size_t>(bucket)];
      }
    for (std::size_t c = 0; c < width; ++c) {
      const int lowest = lowest_bucket(counts.data() + c * ratio_buckets, choices[c].count);
      auto& set = sets_[static_cast<std::size_t>(choices[c].lane)];
      set.clear();
      for (std::int64_t j = 0; j < features_; ++j)
        if (buckets[static_cast<std::size_t>(j) * width + c] >= lowest) set.push_back(static_cast<std::int32_t>(j));
    }
  }

  int working_bucket(const NetBlocks<T>& blocks, std::int64_t j, const NetChoice& choice) const {
    const auto& task = tasks_[static_cast<std::size_t>(choice.lane)];
    const T w = blocks.w.data[j * blocks.w.stride + choice.lane];
    const T g = blocks.g.data[j * blocks.g.stride + choice.lane];
    return bucket_in_lane(task, j, g, w, choice.scale, choice.radius);
  }

  template <bool Logistic, class Columns>
  LaneReport solve_lane(const Columns& x, const NetBlocks<T>& blocks, const NetOrder& order) {
    const auto lane = static_cast<std::size_t>(order.lane);
    const auto& set = sets_[lane];
    const auto size = static_cast<std::int64_t>(set.size());
    Array<T> over_rows(rows_ * lane_row_vectors(Logistic));
    Array<T> over_features(size * lane_feature_vectors);
    const auto vectors = lane_rows(over_rows.data(), rows_, Logistic);
    Array<ColumnPlace> places(size);
    Array<std::int32_t> active(size);
    const auto working =
        lane_features(set.data(), static_cast<std::int32_t>(size), over_features.data(), places.data(), active.data());
    LaneSolver<Logistic, Single, T, Columns> solver(single_, x, tasks_[lane], vectors, working, order.rules);
    return solver.run(blocks.w.data + order.lane, blocks.z.data + order.lane, blocks.u.data + order.lane,
                      blocks.w.stride, order.intercept, order.tolerance);
  }

  std::int64_t rows_, features_;
  int threads_;
  const SparseMatrix<T>* sparse_ = nullptr;
  std::shared_ptr<const Array<T>> dense_;
  std::int32_t weight_columns_ = 1, target_columns_ = 1;
  const float* weights_ = nullptr;
  Array<T> targets_, factors_, means_, variances_, deviations_;
  bool intercept_ = true, standardise_ = false;
  double bend_ = 1;
  std::vector<LaneTask<T>> tasks_;
  std::vector<std::vector<std::int32_t>> sets_;
  Single single_;
};

}  // namespace

template <class T>
std::unique_ptr<NetOps<T>> make_cpu_net_ops(const Context& context, const Dataset<T>& dataset, LinearOps<T>&) {
  return std::make_unique<CpuNetOps<T>>(context, dataset);
}

template std::unique_ptr<NetOps<float>> make_cpu_net_ops(const Context&, const Dataset<float>&, LinearOps<float>&);
template std::unique_ptr<NetOps<double>> make_cpu_net_ops(const Context&, const Dataset<double>&, LinearOps<double>&);

}  // namespace sheaf::linear
