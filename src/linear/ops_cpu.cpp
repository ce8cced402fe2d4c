// The linear verbs on CPU cores: OpenMP over rows, vectors over tasks.
#include <vector>

#include "linear/ops.hpp"
#include "linear/products_cpu.hpp"
#include "linear/sandwich_cpu.hpp"

namespace sheaf::linear {
namespace {

/// Rows per partial sum; fixed, so that sums do not depend on the number of threads.
constexpr std::int64_t sum_rows = 2048;

/// out[t] = sum over parts of what part(range, sums) added to sums[t], added in the order of the parts.
template <class Part>
void sum_over_rows(std::int64_t rows, std::int32_t stride, int threads, std::span<double> out, Part&& part) {
  const std::int64_t parts = (rows + sum_rows - 1) / sum_rows;
  std::vector<double> sums(static_cast<std::size_t>(parts * stride), 0.0);
  const int team = team_for(threads, rows * stride);
#pragma omp parallel for num_threads(team) schedule(static)
  for (std::int64_t p = 0; p < parts; ++p)
    part(Range{p * sum_rows, std::min(rows, (p + 1) * sum_rows)}, sums.data() + p * stride);
  for (std::size_t t = 0; t < out.size(); ++t) {
    out[t] = 0;
    for (std::int64_t p = 0; p < parts; ++p) out[t] += sums[static_cast<std::size_t>(p * stride) + t];
  }
}

/// The chosen tasks, column by column, padded to the stride with tasks that cost nothing.
template <class T>
struct Columns {
  std::vector<std::int32_t> rows, target;
  std::vector<T> positive, negative, epsilon;
};

template <class T>
class CpuOps final : public LinearOps<T> {
 public:
  CpuOps(const Context& context, const Dataset<T>& dataset, T bias)
      : LinearOps<T>(Device::cpu(), dataset.rows(), dataset.features(), bias),
        dataset_(dataset),
        x_(dataset.x),
        threads_(context.threads()) {}

  std::int64_t data_bytes() const override { return matrix_bytes(x_) * (is_sparse(x_) ? 2 : 1); }

  void multiply(BlockView<const T> w, BlockView<T> z) override {
    if (const auto* sparse = std::get_if<SparseMatrix<T>>(&x_))
      cpu::sparse_product<false>(*sparse, w, z, threads_);
    else
      dense_multiply(std::get<DenseMatrix<T>>(x_), w, z);
    if (this->has_bias()) add_bias(w.data + this->features() * w.stride, z);
  }

  void multiply_transposed(BlockView<const T> z, BlockView<T> g) override { transposed<false>(z, g); }
  void multiply_squared_transposed(BlockView<const T> d, BlockView<T> h) override { transposed<true>(d, h); }

  bool fuses(std::int32_t tasks) const override {
    return std::visit([&](const auto& x) { return cpu::fuses(x, block_stride(tasks)); }, x_);
  }

  void sandwich(BlockView<const T> d, BlockView<const T> curvatures, BlockView<const T> u, Wanted wanted,
                BlockView<T> q, BlockView<T> hd) override {
    const auto flags = padded_flags(d.stride, wanted);
    const cpu::Sandwich<T> operands{d, curvatures, u, flags.data(), bias_or_0(), q};
    std::visit([&](const auto& x) { cpu::sandwich(x, operands, hd, sandwich_totals_, threads_); }, x_);
  }

  void transpose_both(BlockView<const T> z, BlockView<T> g, BlockView<const T> d, BlockView<T> h) override {
    const auto* sparse = std::get_if<SparseMatrix<T>>(&x_);
    if (sparse == nullptr || !cpu::fuses(*sparse, 2 * g.stride)) return LinearOps<T>::transpose_both(z, g, d, h);
    cpu::scatter_both(*sparse, bias_or_0(), {z, d}, g, h, sandwich_totals_, threads_);
  }

  void load_tables(const Sheaf& sheaf) override {
    require(sheaf.examples == this->examples(), "a sheaf was made for another dataset");
    weight_columns_ = sheaf.weight_columns;
    target_columns_ = sheaf.target_columns;
    row_weights_ = converted<T, float>(sheaf.row_weights, threads_);
    if (sheaf.row_weights.empty()) {
      row_weights_ = Array<T>(this->examples());
      std::fill(row_weights_.begin(), row_weights_.end(), T(1));
    }
    targets_ = converted<T, double>(sheaf.targets, threads_);
  }

  void choose_tasks(std::span<const Task> tasks) override {
    columns_ = {};
    for (const Task& task : tasks) {
      columns_.rows.push_back(task.rows);
      columns_.target.push_back(task.target);
      columns_.positive.push_back(static_cast<T>(task.cost_positive));
      columns_.negative.push_back(static_cast<T>(task.cost_negative));
      columns_.epsilon.push_back(static_cast<T>(task.epsilon));
    }
    const auto stride = static_cast<std::size_t>(block_stride(static_cast<std::int32_t>(tasks.size())));
    columns_.rows.resize(stride, 0);
    columns_.target.resize(stride, 0);
    columns_.positive.resize(stride, T(0));
    columns_.negative.resize(stride, T(0));
    columns_.epsilon.resize(stride, T(0));
  }

  void count_rows(std::span<double> used, std::span<double> positive) override {
    const auto stride = static_cast<std::int32_t>(columns_.rows.size());
    std::vector<double> counts(2 * columns_.rows.size());
    sum_over_rows(this->examples(), 2 * stride, threads_, counts, [&](Range range, double* sums) {
      over_rows(range, stride, [&](std::int64_t e, std::int32_t t) {
        const std::int64_t i = e / stride;
        const auto task = static_cast<std::size_t>(t);
        if (row_weights_[i * weight_columns_ + columns_.rows[task]] <= 0) return;
        sums[t] += 1;
        sums[stride + t] += targets_[i * target_columns_ + columns_.target[task]] > 0 ? 1 : 0;
      });
    });
    std::copy_n(counts.begin(), used.size(), used.begin());
    std::copy_n(counts.begin() + stride, positive.size(), positive.begin());
  }

  void losses(Loss loss, BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
              BlockView<T> slopes, BlockView<T> curvatures) override {
    const auto tiles = wanted_tiles(z.stride, wanted);
    with_loss(loss, [&](auto functor) {
      sum_over_rows(z.rows, z.stride, threads_, values, [&](Range range, double* sums) {
        const LossBlocks blocks{z, step, slopes, curvatures, tiles.data(), sums};
        std::int64_t i = range.begin;
        if (z.stride < loss_lanes) i = loss_groups<decltype(functor)>(range, blocks);
        for (; i < range.end; ++i)
          cpu::for_tiles<loss_lanes>(z.stride, [&](auto width, std::int32_t column) {
            if (tiles[static_cast<std::size_t>(column)] == 0) return;
            loss_tile<decltype(functor), 1, width()>(i, column, blocks);
          });
      });
    });
    for (std::size_t t = 0; t < values.size() && !wanted.empty(); ++t)
      if (wanted[t] == 0) values[t] = 0;
  }

  void dots(std::span<const Dot<T>> products, std::span<double> out) override {
    if (products.empty()) return;
    const std::size_t tasks = out.size() / products.size();
    const std::int32_t stride = products[0].a.stride;
    std::int64_t rows = 0;
    for (const auto& p : products) rows = std::max(rows, p.a.rows);
    std::vector<double> all(products.size() * static_cast<std::size_t>(stride));
    // All products of some rows before the next ones, since they share their operands.
    const auto width = static_cast<std::int32_t>(all.size());
    sum_over_rows(rows, width, threads_, all, [&](Range range, double* sums) {
      for (std::size_t k = 0; k < products.size(); ++k)
        add_products(products[k], range, sums + static_cast<std::int64_t>(k) * stride);
    });
    for (std::size_t k = 0; k < products.size(); ++k)
      std::copy_n(all.data() + k * static_cast<std::size_t>(stride), tasks, out.data() + k * tasks);
  }

  void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
               BlockView<T> b) override {
    const auto of_a = padded(alpha, a.stride);
    const auto of_b = padded(beta, a.stride);
    over_elements(a.rows, a.stride, [&](std::int64_t e, std::int32_t t) {
      const auto s = static_cast<std::size_t>(t);
      const T kept = of_b[s] == 0 ? T(0) : of_b[s] * b.data[e];  // what stands in b may be no number yet
      b.data[e] = of_a[s] * a.data[e] + kept;
    });
  }

  void multiply_elements(BlockView<const T> a, BlockView<const T> b, Wanted wanted, BlockView<T> c) override {
    const auto flags = padded_flags(a.stride, wanted);
    over_elements(a.rows, a.stride, [&](std::int64_t e, std::int32_t t) {
      c.data[e] = flags[static_cast<std::size_t>(t)] != 0 ? a.data[e] * b.data[e] : c.data[e];
    });
  }

  void keep_tasks(BlockView<const T> from, std::span<const std::int32_t> keep, BlockView<T> to) override {
    const auto kept = static_cast<std::int32_t>(keep.size());
    const int team = team_for(threads_, from.rows * to.stride);
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t i = 0; i < from.rows; ++i)
      for (std::int32_t t = 0; t < to.stride; ++t)
        to.data[i * to.stride + t] = t < kept ? from.data[i * from.stride + keep[static_cast<std::size_t>(t)]] : T(0);
  }

  void place_tasks(BlockView<const T> from, std::span<const std::int32_t> at, BlockView<T> to) override {
    const int team = team_for(threads_, from.rows * to.stride);
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t i = 0; i < from.rows; ++i)
      for (std::size_t t = 0; t < at.size(); ++t)
        to.data[i * to.stride + at[t]] = from.data[i * from.stride + static_cast<std::int64_t>(t)];
  }

  void keep_gradients(Wanted wanted, BlockView<const T> hd, BlockView<T> g, std::span<double> out) override {
    const auto runs = wanted_runs(g.stride, wanted);
    sum_over_rows(g.rows, g.stride, threads_, out, [&](Range range, double* sums) {
      over_runs(range, g.stride, runs, [&](std::int64_t e, std::int32_t t) {
        g.data[e] = hd.data[e];
        sums[t] += static_cast<double>(hd.data[e]) * static_cast<double>(hd.data[e]);
      });
    });
  }

  void start_directions(Wanted wanted, BlockView<const T> g, BlockView<const T> inverse, BlockView<T> r, BlockView<T> s,
                        BlockView<T> d, std::span<double> out) override {
    const auto runs = wanted_runs(g.stride, wanted);
    sum_over_rows(g.rows, g.stride, threads_, out, [&](Range range, double* sums) {
      over_runs(range, g.stride, runs, [&](std::int64_t e, std::int32_t t) {
        const T direction = -inverse.data[e] * g.data[e];
        r.data[e] = -g.data[e];
        s.data[e] = T(0);
        d.data[e] = direction;
        sums[t] -= static_cast<double>(g.data[e]) * static_cast<double>(direction);
      });
    });
  }

  void finish_curvature(T bias_ridge, BlockView<const T> d, BlockView<T> hd, std::span<double> out) override {
    const std::int64_t bias_begins = this->features() * d.stride;
    sum_over_rows(d.rows, d.stride, threads_, out, [&](Range range, double* sums) {
      over_rows(range, d.stride, [&](std::int64_t e, std::int32_t t) {
        const T value = hd.data[e] + (e < bias_begins ? d.data[e] : bias_ridge * d.data[e]);
        hd.data[e] = value;
        sums[t] += static_cast<double>(d.data[e]) * static_cast<double>(value);
      });
    });
  }

  void advance(std::span<const double> alpha, BlockView<const T> d, BlockView<const T> hd, BlockView<const T> inverse,
               BlockView<T> s, BlockView<T> r, std::span<double> out) override {
    const auto factor = padded(alpha, d.stride);
    sum_over_rows(d.rows, d.stride, threads_, out, [&](Range range, double* sums) {
      over_rows(range, d.stride, [&](std::int64_t e, std::int32_t t) {
        const T step = factor[static_cast<std::size_t>(t)];
        s.data[e] += step * d.data[e];
        const T residual = r.data[e] - step * hd.data[e];
        r.data[e] = residual;
        sums[t] += static_cast<double>(residual) * static_cast<double>(inverse.data[e] * residual);
      });
    });
  }

  void redirect(std::span<const double> fresh, BlockView<const T> inverse, BlockView<const T> r,
                std::span<const double> beta, BlockView<T> d) override {
    const auto of_residual = padded(fresh, d.stride);
    const auto of_direction = padded(beta, d.stride);
    over_elements(d.rows, d.stride, [&](std::int64_t e, std::int32_t t) {
      d.data[e] = of_residual[static_cast<std::size_t>(t)] * inverse.data[e] * r.data[e] +
                  of_direction[static_cast<std::size_t>(t)] * d.data[e];
    });
  }

  void take_steps(Wanted wanted, T bias_ridge, BlockView<const T> s, BlockView<T> w, BlockView<T> d,
                  std::span<double> out) override {
    const auto runs = wanted_runs(w.stride, wanted);
    const std::int64_t bias_begins = this->features() * w.stride;
    sum_over_rows(w.rows, w.stride, threads_, out, [&](Range range, double* sums) {
      over_runs(range, w.stride, runs, [&](std::int64_t e, std::int32_t t) {
        const T weight = w.data[e] + s.data[e];
        w.data[e] = weight;
        d.data[e] = weight;
        const T ridge = e < bias_begins ? T(1) : bias_ridge;
        sums[t] += static_cast<double>(ridge * weight) * static_cast<double>(weight);
      });
    });
  }

  void invert_diagonal(T share, T bias_ridge, BlockView<T> h) override {
    const std::int64_t bias_begins = this->features() * h.stride;
    over_elements(h.rows, h.stride, [&](std::int64_t e, std::int32_t) {
      h.data[e] = 1 / (1 - share + share * ((e < bias_begins ? T(1) : bias_ridge) + h.data[e]));
    });
  }

  void synchronize() override {}

 private:
  void dense_multiply(const DenseMatrix<T>& x, BlockView<const T> w, BlockView<T> z) {
    if (cpu::own_dense_kernel(x.columns, z.stride)) return cpu::dense_product(x, w, z, threads_);
    openblas_set_num_threads(threads_);
    cpu::gemm(CblasNoTrans, x.rows, z.stride, x.columns, x.values.data(), x.columns, w.data, w.stride, z.data,
              z.stride);
  }

  template <bool Squares>
  void transposed(BlockView<const T> z, BlockView<T> g) {
    const auto* sparse = std::get_if<SparseMatrix<T>>(&x_);
    if (sparse != nullptr && cpu::fuses(*sparse, g.stride)) {
      const std::vector<std::uint8_t> none(static_cast<std::size_t>(g.stride), 0);
      cpu::scatter<Squares>(*sparse, {{}, {}, z, none.data(), bias_or_0(), {}}, g, sandwich_totals_, threads_);
      return;
    }
    if (sparse != nullptr)
      cpu::sparse_product<Squares>(dataset_.by_columns(Device::cpu(), threads_), z, g, threads_);
    else
      dense_transposed<Squares>(std::get<DenseMatrix<T>>(x_), z, g);
    if (this->has_bias()) sum_bias<Squares>(z, g.data + this->features() * g.stride);
  }

  T bias_or_0() const { return this->has_bias() ? this->bias() : T(0); }

  template <bool Squares>
  void dense_transposed(const DenseMatrix<T>& x, BlockView<const T> z, BlockView<T> g) {
    if (Squares || cpu::own_dense_kernel(x.columns, z.stride)) return cpu::dense_transposed<Squares>(x, z, g, threads_);
    openblas_set_num_threads(threads_);
    cpu::gemm(CblasTrans, x.columns, g.stride, x.rows, x.values.data(), x.columns, z.data, z.stride, g.data, g.stride);
  }

  void add_bias(const T* weights, BlockView<T> z) {
    over_elements(z.rows, z.stride, [&](std::int64_t e, std::int32_t t) { z.data[e] += this->bias() * weights[t]; });
  }

  template <bool Squares>
  void sum_bias(BlockView<const T> z, T* out) {
    std::vector<double> sums(static_cast<std::size_t>(z.stride));
    sum_over_rows(z.rows, z.stride, threads_, sums, [&](Range range, double* partial) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        for (std::int32_t t = 0; t < z.stride; ++t) partial[t] += static_cast<double>(z.data[i * z.stride + t]);
    });
    const auto factor = static_cast<double>(Squares ? this->bias() * this->bias() : this->bias());
    for (std::int32_t t = 0; t < z.stride; ++t) out[t] = static_cast<T>(factor * sums[static_cast<std::size_t>(t)]);
  }

  /// What losses() reads and writes; a flag of `wanted` and a sum for each column.
  struct LossBlocks {
    BlockView<const T> z, step;
    BlockView<T> slopes, curvatures;
    const std::uint8_t* wanted;
    double* sums;
  };

  static constexpr int loss_lanes = 8;

  /// Blocks of few tasks, several rows at a time; returns the first row that is left.
  template <class Functor>
  std::int64_t loss_groups(Range range, const LossBlocks& blocks) const {
    std::int64_t i = range.begin;
    cpu::for_tiles<4>(blocks.z.stride, [&](auto width, std::int32_t) {
      constexpr int rows = loss_lanes / width();
      for (; i + rows <= range.end; i += rows) loss_tile<Functor, rows, width()>(i, 0, blocks);
    });
    return i;
  }

  /// Rows x Tasks neighbouring elements: several rows only where Tasks is the whole stride.
  template <class Functor, int Rows, int Tasks>
  void loss_tile(std::int64_t i, std::int32_t column, const LossBlocks& blocks) const {
    constexpr int width = Rows * Tasks;
    T y[width];
    T cost[width];
    T epsilon[width];
    T decision[width];
    const std::int64_t at = i * blocks.z.stride + column;
    for (int e = 0; e < width; ++e) {
      const auto task = static_cast<std::size_t>(column) + static_cast<std::size_t>(e % Tasks);
      const std::int64_t row = i + e / Tasks;
      y[e] = targets_[row * target_columns_ + columns_.target[task]];
      cost[e] = row_weights_[row * weight_columns_ + columns_.rows[task]] *
                (y[e] > 0 ? columns_.positive[task] : columns_.negative[task]);
      epsilon[e] = columns_.epsilon[task];
      decision[e] = blocks.z.data[at + e];
    }
    for (int e = 0; e < width && blocks.step.data != nullptr; ++e) decision[e] += blocks.step.data[at + e];
    T value[width];
    T slope[width];
    T curvature[width];
#pragma omp simd
    for (int e = 0; e < width; ++e) {
      const auto terms = Functor::terms(decision[e], y[e], epsilon[e]);
      value[e] = cost[e] * terms.value;
      slope[e] = cost[e] * terms.slope;
      curvature[e] = cost[e] * terms.curvature;
    }
    for (int e = 0; e < width; ++e) blocks.sums[column + e % Tasks] += static_cast<double>(value[e]);
    const std::uint8_t* wanted = blocks.wanted + column;
    if (blocks.slopes.data != nullptr) store_wanted<width, Tasks>(slope, wanted, blocks.slopes.data + at);
    if (blocks.curvatures.data != nullptr) store_wanted<width, Tasks>(curvature, wanted, blocks.curvatures.data + at);
  }

  template <int Width, int Tasks>
  static void store_wanted(const T* values, const std::uint8_t* wanted, T* to) {
    for (int e = 0; e < Width; ++e) to[e] = (wanted[e % Tasks] & exactly) != 0 ? values[e] : to[e];
  }

  static constexpr std::uint8_t nearby = 1;   // some task of the tile is wanted
  static constexpr std::uint8_t exactly = 2;  // this task is wanted

  static std::vector<std::uint8_t> padded_flags(std::int32_t stride, Wanted wanted) {
    std::vector<std::uint8_t> flags(wanted.begin(), wanted.end());
    flags.resize(static_cast<std::size_t>(stride), wanted.empty() ? std::uint8_t{1} : std::uint8_t{0});
    return flags;
  }

  /// For each column, whether its tile has a wanted task and whether it is one.
  static std::vector<std::uint8_t> wanted_tiles(std::int32_t stride, Wanted wanted) {
    auto flags = padded_flags(stride, wanted);
    for (auto& flag : flags) flag = flag != 0 ? std::uint8_t{exactly} : std::uint8_t{0};
    cpu::for_tiles<loss_lanes>(stride, [&](auto width, std::int32_t column) {
      bool any = false;
      for (int t = 0; t < width(); ++t)
        any = any || flags[static_cast<std::size_t>(column) + static_cast<std::size_t>(t)] != 0;
      for (int t = 0; t < width() && any; ++t)
        flags[static_cast<std::size_t>(column) + static_cast<std::size_t>(t)] |= nearby;
    });
    return flags;
  }

  static std::vector<T> padded(std::span<const double> values, std::int32_t stride) {
    std::vector<T> result(static_cast<std::size_t>(stride), T(0));
    for (std::size_t t = 0; t < values.size(); ++t) result[t] = static_cast<T>(values[t]);
    return result;
  }

  static void add_products(const Dot<T>& p, Range range, double* sums) {
    range.end = std::min(range.end, p.a.rows);
    over_rows(range, p.a.stride, [&](std::int64_t e, std::int32_t t) {
      const double term = static_cast<double>(p.a.data[e]) * static_cast<double>(p.b.data[e]);
      sums[t] += p.over.data == nullptr ? term : term / static_cast<double>(p.over.data[e]);
    });
  }

  /// The wanted columns as runs of neighbours: tasks of one phase mostly stand side by side.
  static std::vector<Range> wanted_runs(std::int32_t stride, Wanted wanted) {
    const auto flags = padded_flags(stride, wanted);
    std::vector<Range> runs;
    for (std::int32_t t = 0; t < stride; ++t) {
      if (flags[static_cast<std::size_t>(t)] == 0) continue;
      if (runs.empty() || runs.back().end != t) runs.push_back({t, t});
      ++runs.back().end;
    }
    return runs;
  }

  template <class Element>
  static void over_runs(Range range, std::int32_t stride, const std::vector<Range>& runs, Element&& element) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (const Range& run : runs)
        for (auto t = static_cast<std::int32_t>(run.begin); t < run.end; ++t) element(i * stride + t, t);
  }

  template <class Element>
  static void over_rows(Range range, std::int32_t stride, Element&& element) {
    for (std::int64_t i = range.begin; i < range.end; ++i)
      for (std::int32_t t = 0; t < stride; ++t) element(i * stride + t, t);
  }

  template <class Element>
  void over_elements(std::int64_t rows, std::int32_t stride, Element&& element) {
    const int team = team_for(threads_, rows * stride);
#pragma omp parallel for num_threads(team) schedule(static)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int32_t t = 0; t < stride; ++t) element(i * stride + t, t);
  }

  const Dataset<T>& dataset_;
  const Matrix<T>& x_;
  int threads_;
  Array<double> sandwich_totals_;
  std::int32_t weight_columns_ = 1;
  std::int32_t target_columns_ = 1;
  Array<T> row_weights_;
  Array<T> targets_;
  Columns<T> columns_;
};

}  // namespace

template <class T>
std::unique_ptr<LinearOps<T>> make_cpu_ops(const Context& context, const Dataset<T>& dataset, T bias) {
  return std::make_unique<CpuOps<T>>(context, dataset, bias);
}

template std::unique_ptr<LinearOps<float>> make_cpu_ops(const Context&, const Dataset<float>&, float);
template std::unique_ptr<LinearOps<double>> make_cpu_ops(const Context&, const Dataset<double>&, double);

}  // namespace sheaf::linear
