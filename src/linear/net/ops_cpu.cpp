// The verbs of elastic nets on CPU cores: a thread solves one lane after another.
#include <algorithm>
#include <vector>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "linear/net/gram.hpp"
#include "linear/net/ops.hpp"
#include "linear/net/screening.hpp"

namespace sheaf::linear {
namespace {

/// A team of one.
struct Single {
  using Gram = LaneGram;
  LaneGram* products = nullptr;
  const std::stop_token* stop = nullptr;
  LaneGram& gram() const { return *products; }
  bool stopped() const { return stop != nullptr && stop->stop_requested(); }
  static constexpr bool fetches_ahead = false;
  static constexpr std::int32_t epochs_between_looks = 1;
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

/// Columns as a thread by itself reads them.
template <class T>
struct CpuSparseColumns : SparseColumns<T> {
  using SparseColumns<T>::SparseColumns;
  T whole_dot(std::int32_t j, const T* q) const { return this->dot(Single{}, this->place(j), {}, q); }
};
template <class T>
struct CpuDenseColumns : DenseColumns<T> {
  using DenseColumns<T>::DenseColumns;
  T whole_dot(std::int32_t j, const T* q) const { return dot(Single{}, this->place(j), {}, q); }
  T dot(const Single&, const ColumnPlace& place, const ColumnAhead<T>&, const T* q) const {
    constexpr int chains = 8;
    const T* x = this->values + place.begin;
    T sums[chains] = {};
    std::int64_t e = 0;
    for (; e + chains <= place.length; e += chains)
      for (int c = 0; c < chains; ++c) sums[c] += x[e + c] * q[e + c];
    for (; e < place.length; ++e) sums[0] += x[e] * q[e];
    return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
  }
};

/// Columns of row weights whose moments are taken together.
constexpr std::int32_t moments_together = 8;
/// Features that a thread prepares at a time.
constexpr std::int64_t features_together = 1024;

/// What lanes share.
template <class T>
struct CpuNetTables {
  std::int32_t weight_columns = 1, target_columns = 1;
  const float* weights = nullptr;
  Array<T> targets, factors, means, variances, deviations;
  bool intercept = true, standardise = false;
  double bend = 1;
  std::vector<std::int32_t> free;  // features without a penalty
};

template <class T>
class CpuNetOps final : public NetOps<T> {
  using Tables = CpuNetTables<T>;

 public:
  CpuNetOps(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear)
      : linear_(linear),
        rows_(dataset.rows()),
        features_(dataset.features()),
        threads_(context.threads()),
        stop_(context.stop()) {
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
    tables_->weight_columns = sheaf.weight_columns;
    tables_->target_columns = sheaf.target_columns;
    tables_->weights = sheaf.row_weights.empty() ? nullptr : sheaf.row_weights.data();
    tables_->targets = converted<T, double>(sheaf.targets, threads_);
    tables_->factors = converted<T, double>(sheaf.penalty_factors, threads_);
    tables_->intercept = params.intercept;
    tables_->standardise = params.standardise;
    tables_->bend = largest_bend(params.loss);
    tables_->free.clear();
    for (std::int64_t j = 0; j < static_cast<std::int64_t>(tables_->factors.size()); ++j)
      if (!(tables_->factors[j] > 0)) tables_->free.push_back(static_cast<std::int32_t>(j));
    with_columns([&](const auto& x) { take_moments(x, totals); });
  }

  std::unique_ptr<NetOps<T>> apart(LinearOps<T>& linear) const override {
    constexpr std::int64_t most_entries = 1 << 20;
    const std::int64_t entries = sparse_ != nullptr ? sparse_->offsets[features_] : rows_ * features_;
    if (entries > most_entries) return nullptr;
    return std::unique_ptr<NetOps<T>>(new CpuNetOps(*this, linear));
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
    std::vector<std::unique_ptr<LaneWatch<T>>> watches;
    for (const NetLane& lane : lanes) {
      tasks_.push_back(task_of(lane));
      const auto same = std::find_if(watches_.begin(), watches_.end(),
                                     [&](const auto& watch) { return watch && watch->id() == lane.id; });
      watches.push_back(same != watches_.end() ? std::move(*same) : nullptr);
      if (!watches.back()) watches.back() = std::make_unique<LaneWatch<T>>(lane.id, features_);
    }
    watches_ = std::move(watches);
    sets_.resize(tasks_.size());
    ratios_.resize(tasks_.size());
  }

  /// Nothing yet: judge() finds which products are needed.
  void take_gradients(LinearOps<T>&, const NetBlocks<T>&) override {
    for (auto& watch : watches_) watch->forget();
  }

  void judge(const NetBlocks<T>& blocks, Wanted wanted, std::span<FeatureSums> out) override {
    std::vector<std::int32_t> lanes;
    for (std::size_t t = 0; t < tasks_.size(); ++t)
      if (wanted.empty() || wanted[t] != 0) lanes.push_back(static_cast<std::int32_t>(t));
    with_columns([&](const auto& x) {
      auto rest = judge_lanes(x, blocks, lanes, out);
      if (rest.empty()) return;
      // A product for all lanes costs little more than one for half of them, or with sparse data than one for one.
      if (sparse_ != nullptr || 2 * rest.size() >= lanes.size()) rest = lanes;
      multiply(blocks, rest);
      rest = judge_lanes(x, blocks, rest, out);
      require(rest.empty(), "a product was computed and is not there");
    });
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
    parallel_for(threads_, static_cast<std::int64_t>(choices.size()), [&](std::int64_t c) {
      const auto& choice = choices[static_cast<std::size_t>(c)];
      const auto t = static_cast<std::size_t>(choice.lane);
      if (choice.count >= features_)
        take_all(tasks_[t], sets_[t]);
      else
        watches_[t]->choose(tasks_[t], columns_of(blocks, choice.lane), choice.count, ratios_[t], choice.scale,
                            choice.radius, sets_[t]);
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
  CpuNetOps(const CpuNetOps& other, LinearOps<T>& linear)
      : linear_(linear),
        rows_(other.rows_),
        features_(other.features_),
        threads_(1),
        stop_(other.stop_),
        sparse_(other.sparse_),
        dense_(other.dense_),
        tables_(other.tables_) {}

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
    const LaneTables<T> tables{rows_,
                               tables_->targets.data(),
                               tables_->target_columns,
                               tables_->weights,
                               tables_->weight_columns,
                               tables_->factors.data(),
                               tables_->means.data(),
                               tables_->variances.data(),
                               tables_->intercept,
                               tables_->standardise};
    auto task = lane_task(tables, lane.rows, lane.target, lane.total, lane.center, lane.alpha1, lane.alpha2);
    task.deviations = tables_->deviations.data() + lane.rows;
    return task;
  }

  template <class F>
  void with_columns(F&& f) const {
    if (sparse_ != nullptr)
      f(CpuSparseColumns<T>{sparse_->offsets.data(), sparse_->indices.data(), sparse_->values.data()});
    else
      f(CpuDenseColumns<T>{dense_->data(), rows_});
  }

  float weight(std::int64_t row, std::int32_t column) const {
    return tables_->weights != nullptr ? tables_->weights[row * tables_->weight_columns + column] : 1.0F;
  }

  /// Means and variances of all features under each column of row weights.
  template <class Columns>
  void take_moments(const Columns& x, std::span<const double> totals) {
    tables_->means = Array<T>(features_ * tables_->weight_columns);
    tables_->variances = Array<T>(features_ * tables_->weight_columns);
    tables_->deviations = Array<T>(features_ * tables_->weight_columns);
    for (std::int32_t first = 0; first < tables_->weight_columns; first += moments_together) {
      const std::int32_t some = std::min(moments_together, tables_->weight_columns - first);
      // Columns that are not there have no weights.
      std::vector<double> weights(static_cast<std::size_t>(rows_ * moments_together), 0.0);
      for (std::int64_t i = 0; i < rows_; ++i)
        for (std::int32_t c = 0; c < some; ++c)
          weights[static_cast<std::size_t>(i * moments_together + c)] = weight(i, first + c);
      parallel_ranges(threads_, features_, 64, [&](Range range) {
        for (std::int64_t j = range.begin; j < range.end; ++j)
          take_moments_of(x, static_cast<std::int32_t>(j), weights.data(),
                          totals.subspan(static_cast<std::size_t>(first)), first, some);
      });
    }
  }

  /// For `some` columns of row weights from `first` on, whose weights and totals are given. Means first, then the
  /// squares of what is left, so that a large mean costs no digits.
  template <class Columns>
  void take_moments_of(const Columns& x, std::int32_t j, const double* weights, std::span<const double> totals,
                       std::int32_t first, std::int32_t some) {
    double sums[moments_together] = {};
    double seen[moments_together] = {};
    double squares[moments_together] = {};
    x.each(Single{}, j, [&](std::int32_t i, T value) {
      const double* s = weights + std::int64_t{i} * moments_together;
      for (int c = 0; c < moments_together; ++c) sums[c] += s[c] * double(value);
      for (int c = 0; c < moments_together; ++c) seen[c] += s[c];
    });
    for (std::int32_t c = 0; c < some; ++c) sums[c] /= totals[static_cast<std::size_t>(c)];
    x.each(Single{}, j, [&](std::int32_t i, T value) {
      const double* s = weights + std::int64_t{i} * moments_together;
      for (int c = 0; c < moments_together; ++c) {
        const double away = double(value) - sums[c];
        squares[c] += s[c] * away * away;
      }
    });
    for (std::int32_t c = 0; c < some; ++c) {
      const auto at = std::int64_t{j} * tables_->weight_columns + first + c;
      tables_->means[at] = static_cast<T>(sums[c]);
      tables_->variances[at] =
          static_cast<T>(variance_of(sums[c], squares[c], seen[c], totals[static_cast<std::size_t>(c)]));
      tables_->deviations[at] = std::sqrt(tables_->variances[at]);
    }
  }

  static LaneColumns<T> columns_of(const NetBlocks<T>& blocks, std::int32_t lane) {
    return {blocks.w.data + lane, blocks.g.data + lane, blocks.w.stride};
  }

  /// Those that need the full product.
  template <class Columns>
  std::vector<std::int32_t> judge_lanes(const Columns& x, const NetBlocks<T>& blocks,
                                        std::span<const std::int32_t> lanes, std::span<FeatureSums> out) {
    std::vector<std::uint8_t> judged(lanes.size(), 0);
    parallel_for(threads_, static_cast<std::int64_t>(lanes.size()), [&](std::int64_t k) {
      const std::int32_t lane = lanes[static_cast<std::size_t>(k)];
      const auto t = static_cast<std::size_t>(lane);
      auto& watch = *watches_[t];
      watch.meet(tasks_[t], blocks.u.data + lane, blocks.u.stride);
      if (!watch.judge(x, tasks_[t], columns_of(blocks, lane), tables_->free, tables_->bend, out[t])) return;
      ratios_[t] = out[t].ratio;
      judged[static_cast<std::size_t>(k)] = 1;
    });
    std::vector<std::int32_t> rest;
    for (std::size_t k = 0; k < lanes.size(); ++k)
      if (judged[k] == 0) rest.push_back(lanes[k]);
    return rest;
  }

  /// Columns of the block g become X'u for some lanes.
  void multiply(const NetBlocks<T>& blocks, std::span<const std::int32_t> lanes) {
    const auto count = static_cast<std::int32_t>(lanes.size());
    if (count == blocks.u.tasks) {
      linear_.multiply_transposed(blocks.u, blocks.g);
    } else {
      Block<T> u(rows_, count), g(features_, count);
      linear_.keep_tasks(blocks.u, lanes, u.view());
      linear_.multiply_transposed(std::as_const(u).view(), g.view());
      linear_.place_tasks(std::as_const(g).view(), lanes, blocks.g);
    }
    parallel_for(threads_, count, [&](std::int64_t k) {
      const auto t = static_cast<std::size_t>(lanes[static_cast<std::size_t>(k)]);
      watches_[t]->refer(tasks_[t]);
    });
    // Lanes whose entries share a cache line are taken together.
    const std::int64_t parts = (features_ + features_together - 1) / features_together;
    parallel_for(threads_, parts, [&](std::int64_t part) {
      const std::int64_t end = std::min(features_, (part + 1) * features_together);
      for (std::int64_t j = part * features_together; j < end; ++j)
        for (const auto lane : lanes) {
          const auto t = static_cast<std::size_t>(lane);
          watches_[t]->refer_feature(j, blocks.g.data[j * blocks.g.stride + lane]);
        }
    });
  }

  void take_all(const LaneTask<T>& task, std::vector<std::int32_t>& set) const {
    set.clear();
    for (std::int64_t j = 0; j < features_; ++j)
      if (task.curvature(j) > 0) set.push_back(static_cast<std::int32_t>(j));
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
    const Single team{&watches_[lane]->gram(), &stop_};
    LaneSolver<Logistic, Single, T, Columns> solver(team, x, tasks_[lane], vectors, working, order.rules);
    const auto report = solver.run(blocks.w.data + order.lane, blocks.z.data + order.lane, blocks.u.data + order.lane,
                                   blocks.w.stride, order.intercept, order.tolerance);
    auto& weighted = watches_[lane]->weighted();
    weighted.clear();
    for (std::int64_t k = 0; k < size; ++k)
      if (working.w[k] != 0) weighted.push_back(set[static_cast<std::size_t>(k)]);
    return report;
  }

  LinearOps<T>& linear_;
  std::int64_t rows_, features_;
  int threads_;
  std::stop_token stop_;
  const SparseMatrix<T>* sparse_ = nullptr;
  std::shared_ptr<const Array<T>> dense_;
  std::shared_ptr<Tables> tables_ = std::make_shared<Tables>();
  std::vector<LaneTask<T>> tasks_;
  std::vector<std::unique_ptr<LaneWatch<T>>> watches_;
  std::vector<double> ratios_;  // as judged last
  std::vector<std::vector<std::int32_t>> sets_;
};

}  // namespace

template <class Set, class T>
std::unique_ptr<NetOps<T>> make_cpu_net_ops_for(const Context& context, const Dataset<T>& dataset,
                                                LinearOps<T>& linear) {
  return std::make_unique<CpuNetOps<T>>(context, dataset, linear);
}

template std::unique_ptr<NetOps<float>> make_cpu_net_ops_for<sets::Compiled>(const Context&, const Dataset<float>&,
                                                                             LinearOps<float>&);
template std::unique_ptr<NetOps<double>> make_cpu_net_ops_for<sets::Compiled>(const Context&, const Dataset<double>&,
                                                                              LinearOps<double>&);

}  // namespace sheaf::linear
