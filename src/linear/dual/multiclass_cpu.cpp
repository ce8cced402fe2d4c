// The verbs of Crammer and Singer's multi-class SVM on CPU cores: one thread a block. A visit reads only those cache
// lines of a row's weights that hold a class which some model still visits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "core/instruction_sets.hpp"
#include "linear/dual/multiclass.hpp"
#include "linear/dual/rows_cpu.hpp"
#include "linear/dual/tables.hpp"

namespace sheaf::linear::dual {
namespace {

/// Beyond so many columns models of a block share little: a feature's weights are several cache lines in any case.
constexpr std::int32_t most_columns = 64;

/// Columns of a cache line.
template <class T>
constexpr int line = 64 / static_cast<int>(sizeof(T));

template <class T>
struct Memory {
  Array<T> w, a;                      // (features and bias) x stride; rows x stride
  std::vector<T> costs;               // rows x models
  Array<std::uint32_t> active;        // see MultiClassLayout
  std::vector<std::int32_t> visited;  // the rows that some model visits, shuffled
  std::int32_t models = 0;            // that are trained; others are padding
};

/// Data shared by the verbs.
template <class T>
struct Problem {
  MultiClassLayout layout;
  T bias;
  const std::int32_t* classes;
  const T* squares;

  std::int32_t lines() const { return layout.stride / line<T>; }
};

/// Decision values of a row in some lines of columns.
template <class T, class X>
void multiply_lines(const Problem<T>& problem, const X& x, std::int64_t i, const T* w, const std::uint8_t* wanted,
                    T* z) {
  const auto row = row_of(x, i);
  const std::int64_t stride = problem.layout.stride;
  for (std::int32_t l = 0; l < problem.lines(); ++l) {
    if (wanted != nullptr && wanted[l] == 0) continue;
    auto sum = multiply<line<T>>(row, w + l * line<T>, stride);
    if (problem.bias > 0) sum.add_scaled(problem.bias, w + x.columns * stride + l * line<T>);
    sum.store(z + l * line<T>);
  }
}

template <class T, class X>
class Pass {
 public:
  Pass(const Problem<T>& problem, const X& x, Memory<T>& memory, bool gaps, std::span<const PassBounds> bounds,
       std::span<PassSums> sums)
      : problem_(problem),
        layout_(problem.layout),
        x_(x),
        m_(memory),
        gaps_(gaps),
        bounds_(bounds),
        sums_(sums),
        z_(static_cast<std::size_t>(layout_.stride)),
        steps_(z_.size(), T(0)),
        gradients_(z_.size()),
        levels_(z_.size()),
        wanted_(static_cast<std::size_t>(problem.lines())),
        moved_(wanted_.size(), 0),
        list_(z_.size()),
        begins_(static_cast<std::size_t>(layout_.models) + 1) {}

  void run(const RowOrder& order) {
    std::fill(sums_.begin(), sums_.end(), PassSums{});
    for_rows(x_, m_.visited, order, [&](std::int64_t i) { visit(i); });
    for (auto& sum : sums_) sum.shared = shared_;
    std::erase_if(m_.visited, [&](std::int32_t i) { return list_classes(i) == 0; });
  }

 private:
  /// The classes of the row that each model visits: list_ from begins_[model] on. Returns their number.
  std::int32_t list_classes(std::int64_t i) {
    std::int32_t count = 0;
    for (std::int32_t m = 0; m < m_.models; ++m) {
      begins_[static_cast<std::size_t>(m)] = count;
      if (!bounds_[static_cast<std::size_t>(m)].visited) continue;
      for (std::int32_t k = 0; k < layout_.words(); ++k)
        for (std::uint32_t bits = m_.active[layout_.word(i, m) + k]; bits != 0; bits &= bits - 1)
          list_[static_cast<std::size_t>(count++)] = 32 * k + std::countr_zero(bits);
    }
    begins_[static_cast<std::size_t>(m_.models)] = count;
    return count;
  }

  std::span<std::int32_t> classes_of_model(std::int32_t m) {
    const auto begin = static_cast<std::size_t>(begins_[static_cast<std::size_t>(m)]);
    return std::span(list_).subspan(begin, static_cast<std::size_t>(begins_[static_cast<std::size_t>(m) + 1]) - begin);
  }

  void visit(std::int64_t i) {
    if (list_classes(i) == 0) return;
    shared_ += 1;
    std::fill(wanted_.begin(), wanted_.end(), 0);
    for (std::int32_t m = 0; m < m_.models; ++m)
      for (const std::int32_t c : classes_of_model(m)) wanted_[line_of(m, c)] = 1;
    multiply_lines(problem_, x_, i, m_.w.data(), wanted_.data(), z_.data());
    for (std::int32_t m = 0; m < m_.models; ++m)
      if (const auto classes = classes_of_model(m); !classes.empty()) visit_model(i, m, classes);
    add_steps(i);
  }

  std::size_t line_of(std::int32_t m, std::int32_t c) const {
    return static_cast<std::size_t>(layout_.column(m, c) / line<T>);
  }

  void visit_model(std::int64_t i, std::int32_t m, std::span<std::int32_t> classes) {
    auto& sum = sums_[static_cast<std::size_t>(m)];
    const T cost = m_.costs[static_cast<std::size_t>(i * layout_.models + m)];
    const MultiClassRow<T> row{cost, MultiClassRow<T>::curvature(problem_.squares[i], cost)};
    const std::int32_t y = problem_.classes[i];
    T* a = m_.a.data() + i * layout_.stride + layout_.column(m, 0);
    const T* z = z_.data() + layout_.column(m, 0);
    T largest = -std::numeric_limits<T>::infinity();
    T smallest = std::numeric_limits<T>::infinity();  // of those that may grow
    T gap = 0;
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const std::int32_t c = classes[k];
      const T g = gradients_[k] = row.gradient(z[c], c == y);
      largest = std::max(largest, g);
      if (!row.at_bound(a[c], c == y)) smallest = std::min(smallest, g);
      gap += (a[c] - row.bound(c == y)) * g;
    }
    sum.visits += 1;
    // Classes that are left out are at their bounds and add nothing.
    if (gaps_) sum.gap += static_cast<double>(gap + cost * largest);
    const std::size_t kept = leave_out(i, m, row, a, smallest, classes);
    sum.left_out += static_cast<double>(classes.size() - kept);
    if (kept == 0 || !(largest - smallest > static_cast<T>(least_violation))) return;
    sum.largest = std::max(sum.largest, static_cast<double>(largest - smallest));
    step(row, y, a, m, classes.first(kept));
  }

  /// Drops the classes that are to be left out from the list and from the bits; returns how many stay. One class alone
  /// cannot move.
  std::size_t leave_out(std::int64_t i, std::int32_t m, const MultiClassRow<T>& row, const T* a, T smallest,
                        std::span<std::int32_t> classes) {
    std::uint32_t* words = m_.active.data() + layout_.word(i, m);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const std::int32_t c = classes[k];
      if (gradients_[k] < smallest && row.at_bound(a[c], c == problem_.classes[i])) {
        words[c / 32] &= ~(1U << c % 32);
        continue;
      }
      classes[kept] = c;
      gradients_[kept++] = gradients_[k];
    }
    if (kept > 1) return kept;
    std::fill(words, words + layout_.words(), 0U);
    return 0;
  }

  void step(const MultiClassRow<T>& row, std::int32_t y, T* a, std::int32_t m, std::span<const std::int32_t> classes) {
    T sum = 0;
    for (std::size_t k = 0; k < classes.size(); ++k)
      sum += levels_[k] = row.level(gradients_[k], a[classes[k]], classes[k] == y);
    T b = 0;
    for (auto above = static_cast<int>(classes.size()), before = above + 1; above > 0 && above < before;) {
      b = row.next_level(sum, above);
      before = std::exchange(above, 0);
      sum = 0;
      for (std::size_t k = 0; k < classes.size(); ++k) {
        if (!(levels_[k] > b)) continue;
        sum += levels_[k];
        ++above;
      }
    }
    for (std::size_t k = 0; k < classes.size(); ++k) {
      const std::int32_t c = classes[k];
      const T next = row.best(gradients_[k], a[c], c == y, b);
      const T difference = next - a[c];
      if (!(std::abs(difference) > static_cast<T>(least_violation))) continue;
      a[c] = next;
      steps_[static_cast<std::size_t>(layout_.column(m, c))] = difference;
      moved_[line_of(m, c)] = 1;
    }
  }

  void add_steps(std::int64_t i) {
    for (std::size_t l = 0; l < moved_.size(); ++l) {
      if (std::exchange(moved_[l], 0) == 0) continue;
      T* steps = steps_.data() + l * line<T>;
      T* w = m_.w.data() + l * line<T>;
      add_row<line<T>>(row_of(x_, i), steps, w, layout_.stride);
      if (problem_.bias > 0)
        add_row<line<T>>(DenseRow<T>{&problem_.bias, 1}, steps, w + x_.columns * layout_.stride, layout_.stride);
      std::fill(steps, steps + line<T>, T(0));
    }
  }

  const Problem<T>& problem_;
  const MultiClassLayout& layout_;
  const X& x_;
  Memory<T>& m_;
  bool gaps_;
  std::span<const PassBounds> bounds_;
  std::span<PassSums> sums_;
  std::vector<T> z_, steps_, gradients_, levels_;
  std::vector<std::uint8_t> wanted_, moved_;  // lines of columns
  std::vector<std::int32_t> list_, begins_;
  double shared_ = 0;
};

template <class T>
class CpuMultiClassOps final : public DualOps<T> {
 public:
  CpuMultiClassOps(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, T bias)
      : x_(dataset.x),
        sheaf_(sheaf),
        layout_(multiclass_layout(sheaf.target_columns,
                                  static_cast<std::int32_t>(sheaf.tasks.size()) / sheaf.target_columns, most_columns,
                                  line<T>)),
        bias_(bias),
        seed_(context.seed()),
        order_(shuffled_rows(context.seed(), dataset.rows())),
        squares_(squared_lengths(dataset.x, bias, context.threads())),
        classes_(classes_of(sheaf)) {}

  std::int32_t width() const override { return layout_.models; }
  bool together() const override { return false; }
  bool moves_out() const override { return false; }
  std::int64_t block_bytes() const override {
    const auto size = static_cast<std::int64_t>(sizeof(T));
    return size * layout_.stride * (weights() + rows(x_)) +
           layout_.models * rows(x_) * (size + 4 * std::int64_t{layout_.words()}) + 4 * rows(x_);
  }
  std::int64_t data_bytes() const override { return matrix_bytes(x_) + order_.bytes() + squares_.bytes(); }

  void reserve(std::int32_t blocks) override { blocks_.resize(static_cast<std::size_t>(blocks)); }

  void start(std::int32_t block, std::span<const Task> tasks, std::span<Start> starts) override {
    auto& memory = at(block);
    memory.models = static_cast<std::int32_t>(tasks.size()) / layout_.classes;
    memory.w = Array<T>::zeros(weights() * layout_.stride);
    memory.a = Array<T>::zeros(rows(x_) * layout_.stride);
    memory.costs = multiclass_costs<T>(sheaf_, classes_, layout_, tasks, starts);
    memory.active = Array<std::uint32_t>::zeros(rows(x_) * layout_.models * layout_.words());
    take_back(block, std::vector<std::uint8_t>(static_cast<std::size_t>(layout_.models), 1));
  }

  void take_back(std::int32_t block, std::span<const std::uint8_t> models) override {
    auto& memory = at(block);
    memory.visited.clear();
    for (const std::int32_t i : order_) {
      std::uint32_t any = 0;
      for (std::int32_t m = 0; m < memory.models; ++m) {
        const bool all = models[static_cast<std::size_t>(m)] != 0 && cost(memory, i, m) != 0;
        for (std::int32_t k = 0; k < layout_.words(); ++k) {
          auto& word = memory.active[layout_.word(i, m) + k];
          if (all) word = layout_.all(k);
          any |= word;
        }
      }
      if (any != 0) memory.visited.push_back(i);
    }
  }

  void pass(std::span<const std::int32_t> blocks, std::int64_t pass, bool gaps, std::span<const PassBounds> bounds,
            std::span<PassSums> sums) override {
    const auto width = static_cast<std::size_t>(layout_.models);
    std::size_t first = 0;
    for (const std::int32_t block : blocks) {
      auto& memory = at(block);
      const RowOrder order = draw_order(seed_, pass, static_cast<std::int64_t>(memory.visited.size()));
      std::visit(
          [&](const auto& x) {
            Pass<T, std::decay_t<decltype(x)>>(problem(), x, memory, gaps, bounds.subspan(first, width),
                                               sums.subspan(first, width))
                .run(order);
          },
          x_);
      first += width;
    }
  }

  void move_out(std::int32_t /*block*/, std::int32_t /*model*/, std::int32_t /*alone*/) override {
    throw InternalError("a multi-class model was to leave its block");
  }

  void measure(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> decisions,
               std::span<Measure> measures) override {
    const auto& memory = at(block);
    std::fill(measures.begin(), measures.end(), Measure{});
    std::vector<T> z(static_cast<std::size_t>(layout_.stride));
    std::visit(
        [&](const auto& x) {
          for (std::int64_t i = 0; i < x.rows; ++i) {
            multiply_lines(problem(), x, i, memory.w.data(), nullptr, z.data());
            for (std::int32_t m = 0; m < memory.models; ++m) {
              measure_row(memory, i, m, z.data() + layout_.column(m, 0), measures[static_cast<std::size_t>(m)]);
              const auto column = columns[static_cast<std::size_t>(m)];
              for (std::int32_t c = 0; c < layout_.classes && decisions.data != nullptr && column >= 0; ++c)
                decisions.data[i * decisions.stride + column + c] = z[static_cast<std::size_t>(layout_.column(m, c))];
            }
          }
        },
        x_);
    for (std::int64_t j = 0; j < weights(); ++j)
      for (std::int32_t m = 0; m < memory.models; ++m)
        for (std::int32_t c = 0; c < layout_.classes; ++c) {
          const auto w = static_cast<double>(memory.w[j * layout_.stride + layout_.column(m, c)]);
          measures[static_cast<std::size_t>(m)].squares += w * w;
        }
  }

  void copy_weights(std::int32_t block, std::span<const std::int32_t> columns, BlockView<T> weights) override {
    const auto& memory = at(block);
    for (std::int64_t j = 0; j < weights.rows; ++j)
      for (std::int32_t m = 0; m < memory.models; ++m)
        for (std::int32_t c = 0; c < layout_.classes; ++c)
          if (const auto column = columns[static_cast<std::size_t>(m)]; column >= 0)
            weights.data[j * weights.stride + column + c] = memory.w[j * layout_.stride + layout_.column(m, c)];
  }

  void release(std::int32_t block) override { at(block) = Memory<T>{}; }

 private:
  Memory<T>& at(std::int32_t block) { return blocks_[static_cast<std::size_t>(block)]; }
  std::int64_t weights() const { return columns(x_) + (bias_ > 0 ? 1 : 0); }
  Problem<T> problem() const { return {layout_, bias_, classes_.data(), squares_.data()}; }
  T cost(const Memory<T>& memory, std::int64_t i, std::int32_t m) const {
    return memory.costs[static_cast<std::size_t>(i * layout_.models + m)];
  }

  void measure_row(const Memory<T>& memory, std::int64_t i, std::int32_t m, const T* z, Measure& measure) const {
    using Row = MultiClassRow<double>;
    const auto cost_here = static_cast<double>(cost(memory, i, m));
    if (cost_here == 0) return;
    const std::int32_t y = classes_[static_cast<std::size_t>(i)];
    const T* a = memory.a.data() + i * layout_.stride + layout_.column(m, 0);
    double largest = -std::numeric_limits<double>::infinity();
    double product = 0;
    for (std::int32_t c = 0; c < layout_.classes; ++c) {
      const double g = Row::gradient(static_cast<double>(z[c]), c == y);
      largest = std::max(largest, g);
      product += static_cast<double>(a[c]) * g;
    }
    const double loss = cost_here * (largest - static_cast<double>(z[y]));
    measure.losses += loss;
    measure.gap += loss + product;
  }

  const Matrix<T>& x_;
  const Sheaf& sheaf_;
  MultiClassLayout layout_;
  T bias_;
  std::uint64_t seed_;
  Array<std::int32_t> order_;
  Array<T> squares_;
  std::vector<std::int32_t> classes_;
  std::vector<Memory<T>> blocks_;
};

}  // namespace

template <class Set, class T>
std::unique_ptr<DualOps<T>> make_cpu_multiclass_ops(const Context& context, const Dataset<T>& dataset,
                                                    const Sheaf& sheaf, T bias) {
  return std::make_unique<CpuMultiClassOps<T>>(context, dataset, sheaf, bias);
}

template std::unique_ptr<DualOps<float>> make_cpu_multiclass_ops<sets::Compiled>(const Context&, const Dataset<float>&,
                                                                                 const Sheaf&, float);
template std::unique_ptr<DualOps<double>> make_cpu_multiclass_ops<sets::Compiled>(const Context&,
                                                                                  const Dataset<double>&, const Sheaf&,
                                                                                  double);

}  // namespace sheaf::linear::dual
