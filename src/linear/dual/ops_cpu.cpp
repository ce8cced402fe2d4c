// The verbs of dual coordinate descent on CPU cores: one thread a block, vectors over its models.
#include <cmath>
#include <vector>

#include "core/instruction_sets.hpp"
#include "core/simd.hpp"
#include "linear/dual/losses.hpp"
#include "linear/dual/ops.hpp"
#include "linear/dual/rows_cpu.hpp"
#include "linear/dual/tables.hpp"

namespace sheaf::linear::dual {
namespace {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;

/// Numbers of `Width` models side by side, in as many registers as that takes.
template <class T, int Width>
struct Pack {
  static constexpr int units = Lanes<T, Width>::units;
  static constexpr int unit_width = Width / units;
  using Unit = typename Lanes<T, Width>::Unit;
  using Mask = MaskOf<Unit>;

  static Unit load(const T* from) {
    Unit unit;
    std::memcpy(&unit, from, sizeof(Unit));
    return unit;
  }
  static void store(Unit unit, T* to) { std::memcpy(to, &unit, sizeof(Unit)); }
  /// The mask of the models in unit u whose bits are set.
  static Mask active(std::uint32_t bits, int u) {
    Mask places{};
    for (int k = 0; k < unit_width; ++k) places[k] = BitsOf<T>{1} << (u * unit_width + k);
    return (places & static_cast<BitsOf<T>>(bits)) != 0;
  }
  static std::uint32_t bits(Mask mask, int u) {
    std::uint32_t result = 0;
    for (int k = 0; k < unit_width; ++k) result |= static_cast<std::uint32_t>(mask[k] & 1) << (u * unit_width + k);
    return result;
  }
};
template <class T>
struct Pack<T, 1> {
  static constexpr int units = 1;
  static constexpr int unit_width = 1;
  using Unit = T;
  using Mask = bool;

  static T load(const T* from) { return *from; }
  static void store(T unit, T* to) { *to = unit; }
  static bool active(std::uint32_t bits, int /*u*/) { return bits != 0; }
  static std::uint32_t bits(bool mask, int /*u*/) { return mask ? 1 : 0; }
};

template <class T>
struct Memory {
  std::int32_t width = 1;
  Array<T> w, b;
  BlockTables<T> tables;
  Array<std::uint32_t> active;        // of each row: a bit for each model that visits it
  std::vector<std::int32_t> visited;  // the rows that some model visits, shuffled
  std::vector<Task> tasks;
};

template <class T, int Width>
struct Models {
  alignas(64) T upper[Width], lower[Width], epsilon[Width];
  alignas(64) T largest[Width], smallest[Width], amount[Width], gap[Width];
  std::int64_t visits[Width], left_out[Width];
  std::int64_t shared = 0;
  std::uint32_t visited = 0;
};

template <class T, class X, class Functor, int Width>
class Pass {
 public:
  using P = Pack<T, Width>;
  using Unit = typename P::Unit;

  Pass(const X& x, const T* squares, T bias, Memory<T>& memory) : x_(x), squares_(squares), bias_(bias), m_(memory) {}

  void run(std::uint64_t seed, std::int64_t pass, bool gaps, std::span<const PassBounds> bounds,
           std::span<PassSums> sums) {
    begin(bounds);
    const RowOrder order = draw_order(seed, pass, static_cast<std::int64_t>(m_.visited.size()));
    for_rows(x_, m_.visited, order, [&](std::int64_t i) {
      const std::uint32_t bits = m_.active[i] & models_.visited;
      if (bits != 0) visit(i, bits, gaps);
    });
    end(sums);
    if (models_.shared < static_cast<std::int64_t>(order.rows) || left_out_) drop_rows();
  }

 private:
  void begin(std::span<const PassBounds> bounds) {
    for (int t = 0; t < Width; ++t) {
      const auto& bound = bounds[static_cast<std::size_t>(t)];
      models_.upper[t] = static_cast<T>(bound.upper);
      models_.lower[t] = static_cast<T>(bound.lower);
      models_.epsilon[t] = static_cast<std::size_t>(t) < m_.tasks.size()
                               ? static_cast<T>(m_.tasks[static_cast<std::size_t>(t)].loss_parameter)
                               : T(0);
      models_.largest[t] = models_.smallest[t] = models_.amount[t] = models_.gap[t] = 0;
      models_.visits[t] = models_.left_out[t] = 0;
      if (bound.visited) models_.visited |= 1U << t;
    }
  }

  void visit(std::int64_t i, std::uint32_t bits, bool gaps) {
    ++models_.shared;
    for (int t = 0; t < Width; ++t) models_.visits[t] += bits >> t & 1;
    const auto row = row_of(x_, i);
    auto z = multiply<Width>(row, m_.w.data(), Width);
    if (bias_ > 0) z.add_scaled(bias_, m_.w.data() + x_.columns * Width);
    alignas(64) T decisions[Width];
    alignas(64) T steps[Width];
    z.store(decisions);
    std::uint32_t leave_out = 0;
    if constexpr (Functor::in_vectors) {
      for (int u = 0; u < P::units; ++u) leave_out |= visit_unit(i, u, bits, gaps, decisions, steps);
    } else {
      visit_each(i, bits, gaps, decisions, steps);
    }
    if (leave_out != 0) drop(i, leave_out);
    bool moved = false;
    for (int t = 0; t < Width; ++t) moved = moved || steps[t] != 0;
    if (!moved) return;
    add_row<Width>(row, steps, m_.w.data(), Width);
    if (bias_ > 0) add_row<Width>(DenseRow<T>{&bias_, 1}, steps, m_.w.data() + x_.columns * Width, Width);
  }

  DualRow<Unit> unit_of(std::int64_t i, int u, const T* decisions) const {
    const int first = u * P::unit_width;
    const std::int64_t at = i * Width + first;
    DualRow<Unit> row;
    row.z = P::load(decisions + first);
    row.b = P::load(m_.b.data() + at);
    row.cost = P::load(m_.tables.costs.data() + at);
    row.y = Functor::Primal::regression ? P::load(m_.tables.targets.data() + at) : Unit{};
    row.epsilon = P::load(models_.epsilon + first);
    row.upper = P::load(models_.upper + first);
    row.lower = P::load(models_.lower + first);
    return row;
  }

  std::uint32_t visit_unit(std::int64_t i, int u, std::uint32_t bits, bool gaps, const T* decisions, T* steps) {
    const int first = u * P::unit_width;
    const auto row = unit_of(i, u, decisions);
    const auto active = P::active(bits, u);
    const Unit zero{};
    if (gaps)
      P::store(P::load(models_.gap + first) + choose(active, Functor::template gap<T>(row), zero), models_.gap + first);
    const auto result = Functor::template visit<T>(row, squares_[i]);
    const Unit violation = choose(active, result.violation, zero);
    P::store(larger(P::load(models_.largest + first), violation), models_.largest + first);
    P::store(smaller(P::load(models_.smallest + first), violation), models_.smallest + first);
    P::store(P::load(models_.amount + first) + choose(active, result.amount, zero), models_.amount + first);
    P::store(choose(active, result.b, row.b), m_.b.data() + i * Width + first);
    P::store(choose(active, result.step, zero), steps + first);
    return P::bits(both(active, result.leave_out), u);
  }

  void visit_each(std::int64_t i, std::uint32_t bits, bool gaps, const T* decisions, T* steps) {
    for (int t = 0; t < Width; ++t) {
      steps[t] = 0;
      if ((bits >> t & 1) == 0) continue;
      T& b = m_.b[i * Width + t];
      const DualRow<T> row{decisions[t],    b, m_.tables.costs[i * Width + t], T(0), T(0), models_.upper[t],
                           models_.lower[t]};
      if (gaps) models_.gap[t] += Functor::template gap<T>(row);
      const auto result = Functor::template visit<T>(row, squares_[i]);
      b = result.b;
      steps[t] = result.step;
      models_.largest[t] = larger(models_.largest[t], result.violation);
      models_.amount[t] += result.amount;
    }
  }

  void drop(std::int64_t i, std::uint32_t leave_out) {
    m_.active[i] &= ~leave_out;
    left_out_ = left_out_ || (m_.active[i] & models_.visited) == 0;
    for (int t = 0; t < Width; ++t) models_.left_out[t] += leave_out >> t & 1;
  }

  /// Rows that no model visits leave the list; the others keep their order.
  void drop_rows() {
    std::erase_if(m_.visited, [&](std::int32_t i) { return (m_.active[i] & models_.visited) == 0; });
  }

  void end(std::span<PassSums> sums) const {
    for (int t = 0; t < Width; ++t)
      sums[static_cast<std::size_t>(t)] = {
          static_cast<double>(models_.largest[t]), static_cast<double>(models_.smallest[t]),
          static_cast<double>(models_.amount[t]),  static_cast<double>(models_.gap[t]),
          static_cast<double>(models_.visits[t]),  static_cast<double>(models_.left_out[t]),
          static_cast<double>(models_.shared)};
  }

  const X& x_;
  const T* squares_;
  T bias_;
  Memory<T>& m_;
  Models<T, Width> models_;
  bool left_out_ = false;  // by all models that visited it, some row
};

template <class T>
class CpuDualOps final : public DualOps<T> {
 public:
  CpuDualOps(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, Loss loss, T bias,
             std::int32_t tasks)
      : x_(dataset.x),
        sheaf_(sheaf),
        loss_(loss),
        bias_(bias),
        seed_(context.seed()),
        width_(tasks == 1        ? 1
               : tasks <= narrow ? narrow
                                 : wide),
        order_(shuffled_rows(context.seed(), dataset.rows())),
        squares_(squared_lengths(dataset.x, bias, context.threads())) {}

  std::int32_t width() const override { return width_; }
  bool together() const override { return false; }
  bool moves_out() const override { return true; }
  std::int64_t block_bytes() const override {
    const std::int64_t arrays = is_regression(loss_) ? 3 : 2;
    return (width_ + 1) * static_cast<std::int64_t>(sizeof(T)) * (weights() + arrays * rows(x_)) + 12 * rows(x_);
  }
  std::int64_t data_bytes() const override { return matrix_bytes(x_) + order_.bytes() + squares_.bytes(); }

  void reserve(std::int32_t blocks) override { blocks_.resize(static_cast<std::size_t>(blocks)); }

  void start(std::int32_t block, std::span<const Task> tasks, std::span<Start> starts) override {
    auto& memory = at(block);
    memory.width = width_;
    memory.tasks.assign(tasks.begin(), tasks.end());
    memory.w = Array<T>::zeros(weights() * width_);
    memory.b = Array<T>::zeros(rows(x_) * width_);
    with_dual(loss_,
              [&](auto functor) { memory.tables = fill_tables<decltype(functor), T>(sheaf_, tasks, width_, starts); });
    memory.active = Array<std::uint32_t>::zeros(rows(x_));
    take_back(block, std::vector<std::uint8_t>(static_cast<std::size_t>(width_), 1));
  }

  void take_back(std::int32_t block, std::span<const std::uint8_t> models) override {
    auto& memory = at(block);
    for (std::int64_t i = 0; i < rows(x_); ++i)
      for (std::int32_t t = 0; t < memory.width; ++t)
        if (models[static_cast<std::size_t>(t)] != 0 && memory.tables.costs[i * memory.width + t] != 0)
          memory.active[i] |= 1U << t;
    memory.visited.clear();
    for (const std::int32_t i : order_)
      if (memory.active[i] != 0) memory.visited.push_back(i);
  }

  void pass(std::span<const std::int32_t> blocks, std::int64_t pass, bool gaps, std::span<const PassBounds> bounds,
            std::span<PassSums> sums) override {
    std::size_t first = 0;
    for (const std::int32_t block : blocks) {
      auto& memory = at(block);
      const auto width = static_cast<std::size_t>(memory.width);
      with_all(memory, [&](const auto& x, auto functor, auto of_width) {
        using X = std::decay_t<decltype(x)>;
        Pass<T, X, decltype(functor), decltype(of_width)::value>(x, squares_.data(), bias_, memory)
            .run(seed_, pass, gaps, bounds.subspan(first, width), sums.subspan(first, width));
      });
      first += width;
    }
  }

  void move_out(std::int32_t block, std::int32_t model, std::int32_t alone) override {
    const auto& from = at(block);
    auto& to = at(alone);
    to.width = 1;
    to.tasks = {from.tasks[static_cast<std::size_t>(model)]};
    const auto column = [&](const Array<T>& values) {
      Array<T> result(values.size() / from.width);
      for (std::int64_t i = 0; i < result.size(); ++i) result[i] = values[i * from.width + model];
      return result;
    };
    to.w = column(from.w);
    to.b = column(from.b);
    to.tables = {column(from.tables.costs), column(from.tables.targets)};
    to.active = Array<std::uint32_t>(rows(x_));
    for (std::int64_t i = 0; i < rows(x_); ++i) to.active[i] = from.active[i] >> model & 1;
    for (const std::int32_t i : from.visited)
      if (to.active[i] != 0) to.visited.push_back(i);
  }

  void measure(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> decisions,
               std::span<Measure> measures) override {
    const auto& memory = at(block);
    std::fill(measures.begin(), measures.end(), Measure{});
    with_all(memory, [&](const auto& x, auto functor, auto of_width) {
      measure_rows<decltype(functor), decltype(of_width)::value>(x, memory, columns, decisions, measures);
    });
    for (std::int64_t j = 0; j < weights(); ++j)
      for (std::size_t t = 0; t < memory.tasks.size(); ++t) {
        const auto w = static_cast<double>(memory.w[j * memory.width + static_cast<std::int64_t>(t)]);
        measures[t].squares += w * w;
      }
  }

  void copy_weights(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> weights) override {
    const auto& memory = at(block);
    for (std::int64_t j = 0; j < weights.rows; ++j)
      for (std::size_t t = 0; t < memory.tasks.size(); ++t)
        if (columns[t] >= 0)
          weights.data[j * weights.stride + columns[t]] = memory.w[j * memory.width + static_cast<std::int64_t>(t)];
  }

  void release(std::int32_t block) override { at(block) = Memory<T>{}; }

 private:
  // The weights of a feature are one cache line, or two side by side, which are fetched in little more time.
  static constexpr std::int32_t narrow = 64 / static_cast<std::int32_t>(sizeof(T));
  static constexpr std::int32_t wide = 2 * narrow;

  Memory<T>& at(std::int32_t block) { return blocks_[static_cast<std::size_t>(block)]; }
  std::int64_t weights() const { return columns(x_) + (bias_ > 0 ? 1 : 0); }

  /// Calls f(matrix, functor, width) with the types chosen at run time.
  template <class F>
  void with_all(const Memory<T>& memory, const F& f) const {
    std::visit(
        [&](const auto& x) {
          with_dual(loss_, [&](auto functor) {
            if (memory.width == 1)
              f(x, functor, std::integral_constant<int, 1>{});
            else if (memory.width == narrow)
              f(x, functor, std::integral_constant<int, narrow>{});
            else
              f(x, functor, std::integral_constant<int, wide>{});
          });
        },
        x_);
  }

  template <class Functor, int Width, class X>
  void measure_rows(const X& x, const Memory<T>& memory, std::span<const std::int32_t> columns, BlockView<T> decisions,
                    std::span<Measure> measures) const {
    using Primal = typename Functor::Primal;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      auto sum = multiply<Width>(row_of(x, i), memory.w.data(), Width);
      if (bias_ > 0) sum.add_scaled(bias_, memory.w.data() + x.columns * Width);
      alignas(64) T z[Width];
      sum.store(z);
      for (std::size_t t = 0; t < memory.tasks.size(); ++t) {
        const auto at = i * Width + static_cast<std::int64_t>(t);
        if (decisions.data != nullptr && columns[t] >= 0) decisions.data[i * decisions.stride + columns[t]] = z[t];
        const auto cost = static_cast<double>(memory.tables.costs[at]);
        if (cost == 0) continue;
        const double y = Primal::regression ? static_cast<double>(memory.tables.targets[at]) : cost < 0 ? -1.0 : 1.0;
        const double epsilon = memory.tasks[t].loss_parameter;
        const DualRow<double> row{static_cast<double>(z[t]), static_cast<double>(memory.b[at]), cost, y, epsilon, 0, 0};
        measures[t].losses += std::abs(cost) * Primal::terms(row.z, y, epsilon).value;
        measures[t].gap += Functor::template gap<double>(row);
      }
    }
  }

  const Matrix<T>& x_;
  const Sheaf& sheaf_;
  Loss loss_;
  T bias_;
  std::uint64_t seed_;
  std::int32_t width_;
  Array<std::int32_t> order_;
  Array<T> squares_;
  std::vector<Memory<T>> blocks_;
};

}  // namespace

template <class Set, class T>
std::unique_ptr<DualOps<T>> make_cpu_dual_ops(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                              Loss loss, T bias, std::int32_t tasks) {
  return std::make_unique<CpuDualOps<T>>(context, dataset, sheaf, loss, bias, tasks);
}

template std::unique_ptr<DualOps<float>> make_cpu_dual_ops<sets::Compiled>(const Context&, const Dataset<float>&,
                                                                           const Sheaf&, Loss, float, std::int32_t);
template std::unique_ptr<DualOps<double>> make_cpu_dual_ops<sets::Compiled>(const Context&, const Dataset<double>&,
                                                                            const Sheaf&, Loss, double, std::int32_t);

}  // namespace sheaf::linear::dual
