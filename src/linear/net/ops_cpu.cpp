// The verbs of elastic nets on CPU cores: a thread solves one model after another.
#include <algorithm>
#include <vector>

#include "core/instruction_sets.hpp"
#include "linear/net/ops.hpp"
#include "linear/net/screening.hpp"
#include "linear/net/tables_cpu.hpp"

namespace sheaf::linear {
namespace {

/// Features that a thread prepares at a time.
constexpr std::int64_t features_together = 1024;

std::size_t index(std::int64_t at) { return static_cast<std::size_t>(at); }

template <class T>
class CpuNetOps final : public NetOps<T> {
 public:
  CpuNetOps(const Context& context, const Dataset<T>& dataset, LinearOps<T>& linear)
      : linear_(linear), x_(dataset, context.threads()), threads_(context.threads()), stop_(context.stop()) {}

  void load_tables(const NetSheaf& sheaf, const NetParams& params, const RiskTables& risk,
                   std::span<const double> totals) override {
    tables_ = std::make_shared<const CpuTables<T>>(x_, sheaf, params, risk, totals, threads_);
    classes_ = sheaf.classes;
    group_ = params.grouped ? classes_ : 1;
  }

  std::unique_ptr<NetOps<T>> clone_for_thread(LinearOps<T>& linear) const override {
    constexpr std::int64_t most_entries = 1 << 20;
    if (x_.entries() > most_entries) return nullptr;
    return std::unique_ptr<NetOps<T>>(new CpuNetOps(*this, linear));
  }

  std::optional<ModelTask<T>> task_on_cpu(const ActiveModel& model) const override { return tables_->task_of(model); }

  void normalisers(BlockView<T> means, BlockView<T> scales) override {
    for (std::int32_t c = 0; c < means.tasks; ++c) {
      const auto task = tables_->task_of({.rows = c, .total = 1});
      for (std::int64_t j = 0; j < x_.features(); ++j)
        normalise(task, j, means.data[j * means.stride + c], scales.data[j * scales.stride + c]);
    }
  }

  void choose_models(std::span<const ActiveModel> models) override {
    tasks_.clear();
    std::vector<std::unique_ptr<FeatureScreen<T>>> screens;
    for (const ActiveModel& model : models) {
      tasks_.push_back(tables_->task_of(model));
      if (static_cast<std::int32_t>(tasks_.size() - 1) % group_ != 0) continue;
      const auto same = std::find_if(screens_.begin(), screens_.end(),
                                     [&](const auto& screen) { return screen && screen->id() == model.id; });
      screens.push_back(same != screens_.end() ? std::move(*same) : nullptr);
      if (!screens.back()) screens.back() = std::make_unique<FeatureScreen<T>>(model.id, x_.features(), group_);
    }
    screens_ = std::move(screens);
    sets_.resize(tasks_.size());
    ratios_.resize(screens_.size());
  }

  /// Nothing yet: feature_sums() finds which products are needed.
  void update_gradients(LinearOps<T>&, const NetBlocks<T>&) override {
    for (auto& screen : screens_) screen->forget();
  }

  void feature_sums(const NetBlocks<T>& blocks, Wanted wanted, std::span<FeatureSums> out) override {
    std::vector<std::int32_t> parts;
    for (std::size_t p = 0; p < screens_.size(); ++p)
      if (wanted.empty() || wanted[p] != 0) parts.push_back(static_cast<std::int32_t>(p));
    x_.with([&](const auto& x) {
      auto rest = sum_screened(x, blocks, parts, out);
      if (rest.empty()) return;
      // A product for all models costs little more than one for half of them, or with sparse data than one for one.
      if (x_.sparse() || 2 * rest.size() >= parts.size()) rest = parts;
      multiply(blocks, rest);
      rest = sum_screened(x, blocks, rest, out);
      require(rest.empty(), "a product was computed and is not there");
    });
  }

  void dual_values(Loss loss, const NetBlocks<T>& blocks, std::span<const double> scales,
                   std::span<double> out) override {
    with_net_loss(loss, [&](auto functor) {
      parallel_for(threads_, static_cast<std::int64_t>(out.size()), [&](std::int64_t t) {
        out[index(t)] = dual_value<decltype(functor)>(tasks_[index(t)], blocks.z.data + t, blocks.u.data + t,
                                                      blocks.u.stride, scales[index(t)]);
      });
    });
  }

  void choose_features(const NetBlocks<T>& blocks, std::span<const FeatureChoice> choices,
                       std::span<std::int32_t> sizes) override {
    parallel_for(threads_, static_cast<std::int64_t>(choices.size()), [&](std::int64_t c) {
      const auto& choice = choices[index(c)];
      auto& set = sets_[index(choice.model)];
      if (choice.count >= x_.features()) return take_all(tasks_[index(choice.model)], set);
      choose_set(blocks, choice, choice.model, set);
      for (std::int32_t k = group_; k < classes_; k += group_) add_set(blocks, choice, choice.model + k, set);
    });
    for (std::size_t c = 0; c < choices.size(); ++c)
      sizes[c] = static_cast<std::int32_t>(sets_[index(choices[c].model)].size());
  }

  void solve(Loss loss, const NetBlocks<T>& blocks, std::span<const SolveOrder> orders, std::span<double> intercepts,
             std::span<SolveReport> out) override {
    std::vector<double> numbers(intercepts.size() * static_cast<std::size_t>(class_numbers));
    with_net_fit(loss, group_ > 1, [&](auto functor) {
      x_.with([&](const auto& x) {
        parallel_for(threads_, static_cast<std::int64_t>(orders.size()), [&](std::int64_t o) {
          out[index(o)] =
              solve_model<decltype(functor)>(x, blocks, orders[index(o)], intercepts.data(), numbers.data());
        });
      });
    });
  }

 private:
  CpuNetOps(const CpuNetOps& other, LinearOps<T>& linear)
      : linear_(linear),
        x_(other.x_),
        threads_(1),
        stop_(other.stop_),
        tables_(other.tables_),
        classes_(other.classes_),
        group_(other.group_) {}

  template <class Functor>
  double dual_value(const ModelTask<T>& task, const T* z, const T* u, std::int64_t stride, double scale) const {
    if constexpr (is_cox<Functor>) {
      Array<double> memory(x_.rows() * PartialLikelihood<Single, T>::vectors);
      return cox_dual_value(Single{}, task, memory.data(), z, u, stride, scale);
    } else {
      double sum = 0;
      for (std::int64_t i = 0; i < x_.rows(); ++i) sum += dual_term<Functor>(task, i, scale * double(u[i * stride]));
      return sum / task.total;
    }
  }

  ModelColumns<T> columns_of(const NetBlocks<T>& blocks, std::int32_t model) const {
    return {blocks.w.data + model, blocks.g.data + model, blocks.w.stride, group_};
  }

  /// Returns the parts that need the full product.
  template <class Columns>
  std::vector<std::int32_t> sum_screened(const Columns& x, const NetBlocks<T>& blocks,
                                         std::span<const std::int32_t> parts, std::span<FeatureSums> out) {
    std::vector<std::uint8_t> summed(parts.size(), 0);
    parallel_for(threads_, static_cast<std::int64_t>(parts.size()), [&](std::int64_t k) {
      const auto p = index(parts[index(k)]);
      const std::int32_t model = parts[index(k)] * group_;
      const auto& task = tasks_[index(model)];
      auto& screen = *screens_[p];
      screen.meet(task, blocks.u.data + model, blocks.u.stride);
      if (!screen.feature_sums(x, task, columns_of(blocks, model), tables_->unpenalised(), out[p])) return;
      ratios_[p] = out[p].ratio;
      summed[index(k)] = 1;
    });
    std::vector<std::int32_t> rest;
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (summed[k] == 0) rest.push_back(parts[k]);
    return rest;
  }

  /// Columns of the block g become X'u for some parts of models.
  void multiply(const NetBlocks<T>& blocks, std::span<const std::int32_t> parts) {
    std::vector<std::int32_t> models;
    for (const auto part : parts)
      for (std::int32_t c = 0; c < group_; ++c) models.push_back(part * group_ + c);
    const auto count = static_cast<std::int32_t>(models.size());
    if (count == blocks.u.tasks) {
      linear_.multiply_transposed(blocks.u, blocks.g);
    } else {
      Block<T> u(x_.rows(), count), g(x_.features(), count);
      linear_.keep_tasks(blocks.u, models, u.view());
      linear_.multiply_transposed(std::as_const(u).view(), g.view());
      linear_.place_tasks(std::as_const(g).view(), models, blocks.g);
    }
    parallel_for(threads_, static_cast<std::int64_t>(parts.size()), [&](std::int64_t k) {
      screens_[index(parts[index(k)])]->refer(tasks_[index(parts[index(k)] * group_)]);
    });
    // Models whose entries share a cache line are taken together.
    const std::int64_t ranges = (x_.features() + features_together - 1) / features_together;
    parallel_for(threads_, ranges, [&](std::int64_t range) {
      const std::int64_t end = std::min(x_.features(), (range + 1) * features_together);
      for (std::int64_t j = range * features_together; j < end; ++j)
        for (const auto part : parts)
          screens_[index(part)]->refer_feature(j, blocks.g.data + j * blocks.g.stride + part * group_);
    });
  }

  void take_all(const ModelTask<T>& task, std::vector<std::int32_t>& set) const {
    set.clear();
    for (std::int64_t j = 0; j < x_.features(); ++j)
      if (task.curvature(j) > 0) set.push_back(static_cast<std::int32_t>(j));
  }

  void choose_set(const NetBlocks<T>& blocks, const FeatureChoice& choice, std::int32_t model,
                  std::vector<std::int32_t>& set) {
    const auto part = index(model / group_);
    screens_[part]->choose(tasks_[index(model)], columns_of(blocks, model), choice.count / (classes_ / group_),
                           ratios_[part], choice.scale, choice.radius, set);
  }
  /// Adds the working set of a further class.
  void add_set(const NetBlocks<T>& blocks, const FeatureChoice& choice, std::int32_t model,
               std::vector<std::int32_t>& set) {
    auto& more = sets_[index(model)];
    choose_set(blocks, choice, model, more);
    set.insert(set.end(), more.begin(), more.end());
    std::sort(set.begin(), set.end());
    set.erase(std::unique(set.begin(), set.end()), set.end());
  }

  template <class Functor, class Columns>
  SolveReport solve_model(const Columns& x, const NetBlocks<T>& blocks, const SolveOrder& order, double* intercepts,
                          double* numbers) {
    const auto& set = sets_[index(order.model)];
    const auto size = static_cast<std::int64_t>(set.size());
    using V = SolverValue<Functor, T>;
    Array<V> over_rows(x_.rows() * row_vectors<Functor>(classes_));
    Array<V> over_features(size * feature_vectors(classes_));
    const auto vectors = make_row_vectors<Functor>(over_rows.data(), x_.rows(), classes_);
    Array<ColumnPlace> places(size);
    Array<std::int32_t> active(size);
    const auto working = make_working_set(set.data(), static_cast<std::int32_t>(size), over_features.data(),
                                          places.data(), active.data(), classes_);
    const Single team{&screens_[index(order.model / group_)]->gram(), &stop_};
    const auto report =
        solve_any<Functor>(team, x, tasks_[index(order.model)], vectors, working, order, classes_, blocks.w.data,
                           blocks.z.data, blocks.u.data, blocks.w.stride, intercepts, numbers);
    for (std::int32_t c = 0; c < classes_; c += group_) {
      auto& weighted = screens_[index((order.model + c) / group_)]->weighted();
      weighted.clear();
      for (std::int64_t k = 0; k < size; ++k)
        if (has_weight(working.w + c * size + k, size)) weighted.push_back(set[index(k)]);
    }
    return report;
  }
  /// Whether a class has a weight, among the classes that share a penalty, `stride` apart.
  template <class V>
  bool has_weight(const V* w, std::int64_t stride) const {
    for (std::int32_t c = 0; c < group_; ++c)
      if (w[c * stride] != 0) return true;
    return false;
  }

  LinearOps<T>& linear_;
  CpuColumns<T> x_;
  int threads_;
  std::stop_token stop_;
  std::shared_ptr<const CpuTables<T>> tables_;
  std::int32_t classes_ = 1;
  std::int32_t group_ = 1;  // how many of them share penalties
  std::vector<ModelTask<T>> tasks_;
  std::vector<std::unique_ptr<FeatureScreen<T>>> screens_;  // of parts of models, as
  std::vector<double> ratios_;                              // the results of feature_sums()
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
