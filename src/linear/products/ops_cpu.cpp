// The linear verbs on CPU cores: threads over rows, vectors over tasks.
#include <vector>

#include "core/instruction_sets.hpp"
#include "data/matrix_bytes.hpp"
#include "linear/products/blas_cpu.hpp"
#include "linear/products/factors_cpu.hpp"
#include "linear/products/gram_cpu.hpp"
#include "linear/products/losses_cpu.hpp"
#include "linear/products/ops.hpp"
#include "linear/products/products_cpu.hpp"
#include "linear/products/sandwich_cpu.hpp"
#include "linear/products/softmax_cpu.hpp"
#include "linear/products/survival_cpu.hpp"
#include "linear/products/transform.hpp"

namespace sheaf::linear {
namespace {

template <class T>
class CpuOps final : public LinearOps<T> {
 public:
  CpuOps(const Context& context, const Dataset<T>& dataset, T bias)
      : LinearOps<T>(Device::cpu(), dataset.rows(), dataset.features(), bias),
        dataset_(dataset),
        x_(dataset.x),
        threads_(context.threads()),
        losses_(dataset.rows(), context.threads()) {}

  std::int64_t data_bytes() const override { return training_bytes(x_); }

  void multiply_raw(BlockView<const T> w, BlockView<T> z) override {
    if (const auto* sparse = std::get_if<SparseMatrix<T>>(&x_))
      cpu::sparse_product<false>(*sparse, w, z, threads_);
    else
      dense_multiply(std::get<DenseMatrix<T>>(x_), w, z);
    if (this->has_bias()) add_bias(w.data + this->features() * w.stride, z);
  }

  void multiply_transposed_raw(BlockView<const T> z, BlockView<T> g) override { transposed<false>(z, g); }
  void multiply_squared_transposed_raw(BlockView<const T> d, BlockView<T> h) override { transposed<true>(d, h); }

  std::vector<double> gram(const Context& context, BlockView<const T> d) override {
    const auto features = this->features();
    const auto size = this->weights();
    std::vector<double> result(static_cast<std::size_t>(size * size), 0.0);
    std::visit(
        [&](const auto& x) {
          if (d.data != nullptr)
            cpu::add_weighted_gram(context, x, {}, bias_or_0(), d.data, d.stride, result);
          else
            cpu::add_gram(context, x, result, size);
        },
        x_);
    if (size > features && d.data == nullptr) {
      Block<T> ones(this->examples(), 1);
      for (std::int64_t i = 0; i < ones.rows(); ++i) ones(i, 0) = 1;
      Block<T> sums(size, 1);
      multiply_transposed_raw(std::as_const(ones).view(), sums.view());
      for (std::int64_t j = 0; j < size; ++j)
        result[static_cast<std::size_t>(features * size + j)] =
            static_cast<double>(this->bias()) * static_cast<double>(sums(j, 0));
    }
    for (std::int64_t a = 0; a < size; ++a)
      for (std::int64_t b = 0; b < a; ++b)
        result[static_cast<std::size_t>(b * size + a)] = result[static_cast<std::size_t>(a * size + b)];
    return result;
  }

  InverseFactors<T> inverse_factors(const Context& context, std::span<const std::int32_t> rows, BlockView<const T> d,
                                    BlockView<const T> diagonal, double ridge, double share) override {
    return cpu::inverse_factors(context, dataset_, rows, bias_or_0(), {d, diagonal, ridge, share});
  }
  void multiply_by_each(const InverseFactors<T>& factors, bool transposed, BlockView<const T> v,
                        BlockView<T> w) override {
    cpu::multiply_by_each(factors, transposed, v, w, threads_);
  }

  bool fuses(std::int32_t tasks) const override {
    return std::visit([&](const auto& x) { return cpu::fuses(x, block_stride(tasks)); }, x_);
  }

  void sandwich_raw(BlockView<const T> d, BlockView<const T> curvatures, BlockView<const T> u, Wanted wanted,
                    BlockView<T> q, BlockView<T> hd) override {
    const auto flags = cpu::padded_flags(d.stride, wanted);
    const cpu::Sandwich<T> operands{d, curvatures, u, flags.data(), bias_or_0(), q};
    std::visit([&](const auto& x) { cpu::sandwich(x, operands, hd, sandwich_totals_, threads_); }, x_);
  }

  void transpose_both_raw(BlockView<const T> z, BlockView<T> g, BlockView<const T> d, BlockView<T> h) override {
    const auto* sparse = std::get_if<SparseMatrix<T>>(&x_);
    if (sparse == nullptr || !cpu::fuses(*sparse, 2 * g.stride)) return LinearOps<T>::transpose_both_raw(z, g, d, h);
    cpu::scatter_both(*sparse, bias_or_0(), {z, d}, g, h, sandwich_totals_, threads_);
  }

  void load(const Sheaf& sheaf) override {
    losses_.load_tables(sheaf);
    transforms_ = sheaf.column_transforms;
    shifts_ = converted<T, double>(sheaf.shifts, threads_);
    factors_ = converted<T, double>(sheaf.factors, threads_);
  }
  void choose_tasks(std::span<const Task> tasks) override {
    losses_.choose_tasks(tasks);
    columns_ = Array<std::int32_t>::zeros(block_stride(static_cast<std::int32_t>(tasks.size())));
    for (std::size_t t = 0; t < tasks.size(); ++t) columns_[static_cast<std::int64_t>(t)] = tasks[t].columns;
  }

  void weights_to_raw(BlockView<const T> w, BlockView<T> raw) override {
    const std::int32_t stride = w.stride;
    std::vector<double> shifted(static_cast<std::size_t>(stride));
    cpu::sum_over_rows(this->features(), stride, threads_, shifted, [&](Range range, double* sums) {
      over_transforms(range, [&](std::int64_t j, const T* shifts, const T* factors) {
        const T* from = w.data + j * stride;
        T* to = raw.data + j * stride;
        for (std::int32_t t = 0; t < stride; ++t) to[t] = factors[columns_[t]] * from[t];
        if (!this->shifted()) return;
        for (std::int32_t t = 0; t < stride; ++t)
          sums[t] += static_cast<double>(shifts[columns_[t]]) * static_cast<double>(to[t]);
      });
    });
    const std::int64_t bias_begins = this->features() * stride;
    for (std::int32_t t = 0; t < stride; ++t) {
      const double own = w.rows > this->features() ? static_cast<double>(w.data[bias_begins + t]) : 0;
      raw.data[bias_begins + t] =
          static_cast<T>(own - shifted[static_cast<std::size_t>(t)] / static_cast<double>(this->bias()));
    }
  }

  void gradient_from_raw(BlockView<const T> raw, BlockView<T> g) override {
    const std::int32_t stride = g.stride;
    const auto sums = per_bias(raw);
    parallel_parts(team_for(threads_, g.rows * stride), this->features(), [&](Range range) {
      over_transforms(range, [&](std::int64_t j, const T* shifts, const T* factors) {
        const T* from = raw.data + j * stride;
        T* to = g.data + j * stride;
        for (std::int32_t t = 0; t < stride; ++t)
          to[t] = factors[columns_[t]] * (from[t] - shifts[columns_[t]] * sums[static_cast<std::size_t>(t)]);
      });
    });
    copy_bias(raw, g);
  }

  void squares_from_raw(BlockView<const T> squares, BlockView<const T> sums, BlockView<T> h) override {
    const std::int32_t stride = h.stride;
    const auto totals = this->shifted() ? per_bias(sums) : std::vector<T>(static_cast<std::size_t>(stride), T(0));
    parallel_parts(team_for(threads_, h.rows * stride), this->features(), [&](Range range) {
      over_transforms(range, [&](std::int64_t j, const T* shifts, const T* factors) {
        const T* from = squares.data + j * stride;
        const T* with = this->shifted() ? sums.data + j * stride : from;
        T* to = h.data + j * stride;
        for (std::int32_t t = 0; t < stride; ++t)
          to[t] = transformed_square(from[t], with[t], totals[static_cast<std::size_t>(t)], shifts[columns_[t]],
                                     factors[columns_[t]]);
      });
    });
    copy_bias(squares, h);
  }
  void count_rows(std::span<double> used, std::span<double> positive) override { losses_.count_rows(used, positive); }
  void losses(Loss loss, BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
              BlockView<T> slopes, BlockView<T> curvatures) override {
    losses_.losses(loss, z, step, wanted, values, slopes, curvatures);
  }

  void softmax(std::int32_t classes, BlockView<const T> z, BlockView<const T> step, Wanted wanted,
               std::span<double> values, BlockView<T> slopes, BlockView<T> probabilities) override {
    cpu::softmax(losses_, cpu::SoftmaxBlocks<T>{classes, z, step, slopes, probabilities, wanted}, values, threads_);
  }
  void softmax_curvature(std::int32_t classes, BlockView<const T> probabilities, Wanted wanted,
                         BlockView<T> q) override {
    cpu::softmax_curvature(losses_, classes, probabilities, wanted, q, threads_);
  }
  void softmax_diagonal(std::int32_t classes, BlockView<T> probabilities) override {
    cpu::softmax_diagonal(losses_, classes, probabilities, threads_);
  }
  void center_classes(std::int32_t classes, BlockView<T> w) override { cpu::center_classes(classes, w, threads_); }
  void load_risks(const RiskTables& risk) override {
    risk_ = RiskArrays<T>(risk, losses_.weight_columns(), Device::cpu());
  }
  void partial_likelihood(BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
                          BlockView<T> slopes, BlockView<T> exponentials) override {
    cpu::partial_likelihood(risk_, losses_, z, step, wanted, values, slopes, exponentials, threads_);
  }
  void partial_curvature(BlockView<const T> exponentials, BlockView<T> q) override {
    cpu::partial_curvature(risk_, losses_, exponentials, q, threads_);
  }
  void predict(Loss loss, T parameter, std::int32_t classes, BlockView<T> z) override {
    if (classes > 1) return cpu::log_odds(classes, z, threads_);
    with_glm_loss(loss, [&](auto functor) {
      cpu::over_elements(threads_, z.rows, z.stride,
                         [&](std::int64_t e, std::int32_t) { z.data[e] = functor.prediction(z.data[e], parameter); });
    });
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
    cpu::sum_over_rows(rows, width, threads_, all, [&](Range range, double* sums) {
      for (std::size_t k = 0; k < products.size(); ++k)
        add_products(products[k], range, sums + static_cast<std::int64_t>(k) * stride);
    });
    for (std::size_t k = 0; k < products.size(); ++k)
      std::copy_n(all.data() + k * static_cast<std::size_t>(stride), tasks, out.data() + k * tasks);
  }

  void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
               BlockView<T> b) override {
    const auto of_a = cpu::padded<T>(alpha, a.stride);
    const auto of_b = cpu::padded<T>(beta, a.stride);
    cpu::over_elements(threads_, a.rows, a.stride, [&](std::int64_t e, std::int32_t t) {
      const auto s = static_cast<std::size_t>(t);
      const T kept = of_b[s] == 0 ? T(0) : of_b[s] * b.data[e];  // what stands in b may be no number yet
      b.data[e] = of_a[s] * a.data[e] + kept;
    });
  }

  void combine_all(std::span<const double> factors, std::span<const BlockView<const T>> blocks,
                   BlockView<T> out) override {
    const std::size_t tasks = factors.size() / blocks.size();
    std::vector<std::vector<T>> of_blocks;
    for (std::size_t k = 0; k < blocks.size(); ++k)
      of_blocks.push_back(cpu::padded<T>(factors.subspan(k * tasks, tasks), out.stride));
    cpu::over_elements(threads_, out.rows, out.stride, [&](std::int64_t e, std::int32_t t) {
      T sum = 0;
      for (std::size_t k = 0; k < blocks.size(); ++k)
        sum += of_blocks[k][static_cast<std::size_t>(t)] * blocks[k].data[e];
      out.data[e] = sum;
    });
  }

  void multiply_by(const DenseMatrix<T>& matrix, bool transposed, BlockView<const T> v, BlockView<T> w) override {
    cpu::blas_product(matrix, transposed, v, w, threads_);
  }

  void multiply_elements(BlockView<const T> a, BlockView<const T> b, Wanted wanted, BlockView<T> c) override {
    const auto flags = cpu::padded_flags(a.stride, wanted);
    cpu::over_elements(threads_, a.rows, a.stride, [&](std::int64_t e, std::int32_t t) {
      c.data[e] = flags[static_cast<std::size_t>(t)] != 0 ? a.data[e] * b.data[e] : c.data[e];
    });
  }

  void keep_tasks(BlockView<const T> from, std::span<const std::int32_t> keep, BlockView<T> to) override {
    const auto kept = static_cast<std::int32_t>(keep.size());
    const int team = team_for(threads_, from.rows * to.stride);
    parallel_parts(team, from.rows, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        for (std::int32_t t = 0; t < to.stride; ++t)
          to.data[i * to.stride + t] = t < kept ? from.data[i * from.stride + keep[static_cast<std::size_t>(t)]] : T(0);
    });
  }

  void place_tasks(BlockView<const T> from, std::span<const std::int32_t> at, BlockView<T> to) override {
    const int team = team_for(threads_, from.rows * to.stride);
    parallel_parts(team, from.rows, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        for (std::size_t t = 0; t < at.size(); ++t)
          to.data[i * to.stride + at[t]] = from.data[i * from.stride + static_cast<std::int64_t>(t)];
    });
  }

  void keep_gradients(Wanted wanted, BlockView<const T> hd, BlockView<T> g, std::span<double> out) override {
    const auto runs = cpu::wanted_runs(g.stride, wanted);
    cpu::sum_over_rows(g.rows, g.stride, threads_, out, [&](Range range, double* sums) {
      cpu::over_runs(range, g.stride, runs, [&](std::int64_t e, std::int32_t t) {
        g.data[e] = hd.data[e];
        sums[t] += static_cast<double>(hd.data[e]) * static_cast<double>(hd.data[e]);
      });
    });
  }

  void start_directions(Wanted wanted, BlockView<const T> g, BlockView<const T> inverse, BlockView<T> r, BlockView<T> s,
                        BlockView<T> d, std::span<double> out) override {
    const auto runs = cpu::wanted_runs(g.stride, wanted);
    cpu::sum_over_rows(g.rows, g.stride, threads_, out, [&](Range range, double* sums) {
      cpu::over_runs(range, g.stride, runs, [&](std::int64_t e, std::int32_t t) {
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
    cpu::sum_over_rows(d.rows, d.stride, threads_, out, [&](Range range, double* sums) {
      cpu::over_rows(range, d.stride, [&](std::int64_t e, std::int32_t t) {
        const T value = hd.data[e] + (e < bias_begins ? d.data[e] : bias_ridge * d.data[e]);
        hd.data[e] = value;
        sums[t] += static_cast<double>(d.data[e]) * static_cast<double>(value);
      });
    });
  }

  void advance(std::span<const double> alpha, BlockView<const T> d, BlockView<const T> hd, BlockView<const T> inverse,
               BlockView<T> s, BlockView<T> r, std::span<double> out) override {
    const auto factor = cpu::padded<T>(alpha, d.stride);
    cpu::sum_over_rows(d.rows, d.stride, threads_, out, [&](Range range, double* sums) {
      cpu::over_rows(range, d.stride, [&](std::int64_t e, std::int32_t t) {
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
    const auto of_residual = cpu::padded<T>(fresh, d.stride);
    const auto of_direction = cpu::padded<T>(beta, d.stride);
    cpu::over_elements(threads_, d.rows, d.stride, [&](std::int64_t e, std::int32_t t) {
      d.data[e] = of_residual[static_cast<std::size_t>(t)] * inverse.data[e] * r.data[e] +
                  of_direction[static_cast<std::size_t>(t)] * d.data[e];
    });
  }

  void take_steps(Wanted wanted, T bias_ridge, BlockView<const T> s, BlockView<T> w, BlockView<T> d,
                  std::span<double> out) override {
    const auto runs = cpu::wanted_runs(w.stride, wanted);
    const std::int64_t bias_begins = this->features() * w.stride;
    cpu::sum_over_rows(w.rows, w.stride, threads_, out, [&](Range range, double* sums) {
      cpu::over_runs(range, w.stride, runs, [&](std::int64_t e, std::int32_t t) {
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
    cpu::over_elements(threads_, h.rows, h.stride, [&](std::int64_t e, std::int32_t) {
      h.data[e] = 1 / (1 - share + share * ((e < bias_begins ? T(1) : bias_ridge) + h.data[e]));
    });
  }

  void synchronize() override {}

 private:
  void dense_multiply(const DenseMatrix<T>& x, BlockView<const T> w, BlockView<T> z) {
    if (cpu::own_dense_kernel(x.columns, z.stride)) return cpu::dense_product(x, w, z, threads_);
    cpu::blas_product(x, false, w, z, threads_);
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

  /// Calls row(feature, its shifts, its factors).
  template <class Row>
  void over_transforms(Range range, const Row& row) const {
    for (std::int64_t j = range.begin; j < range.end; ++j)
      row(j, shifts_.data() + j * transforms_, factors_.data() + j * transforms_);
  }

  /// The last row of a block of weights of x, over the bias.
  std::vector<T> per_bias(BlockView<const T> raw) const {
    const T* last = raw.data + this->features() * raw.stride;
    std::vector<T> result(last, last + raw.stride);
    for (T& value : result) value /= this->bias();
    return result;
  }

  /// Copies the weights of the bias, if models have one.
  void copy_bias(BlockView<const T> raw, BlockView<T> to) const {
    if (to.rows > this->features())
      std::copy_n(raw.data + this->features() * raw.stride, to.stride, to.data + this->features() * to.stride);
  }

  T bias_or_0() const { return this->has_bias() ? this->bias() : T(0); }

  template <bool Squares>
  void dense_transposed(const DenseMatrix<T>& x, BlockView<const T> z, BlockView<T> g) {
    if (Squares || cpu::own_dense_kernel(x.columns, z.stride)) return cpu::dense_transposed<Squares>(x, z, g, threads_);
    cpu::blas_product(x, true, z, g, threads_);
  }

  void add_bias(const T* weights, BlockView<T> z) {
    cpu::over_elements(threads_, z.rows, z.stride,
                       [&](std::int64_t e, std::int32_t t) { z.data[e] += this->bias() * weights[t]; });
  }

  template <bool Squares>
  void sum_bias(BlockView<const T> z, T* out) {
    std::vector<double> sums(static_cast<std::size_t>(z.stride));
    cpu::sum_over_rows(z.rows, z.stride, threads_, sums, [&](Range range, double* partial) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        for (std::int32_t t = 0; t < z.stride; ++t) partial[t] += static_cast<double>(z.data[i * z.stride + t]);
    });
    const auto factor = static_cast<double>(Squares ? this->bias() * this->bias() : this->bias());
    for (std::int32_t t = 0; t < z.stride; ++t) out[t] = static_cast<T>(factor * sums[static_cast<std::size_t>(t)]);
  }

  static void add_products(const Dot<T>& p, Range range, double* sums) {
    range.end = std::min(range.end, p.a.rows);
    cpu::over_rows(range, p.a.stride, [&](std::int64_t e, std::int32_t t) {
      const double term = static_cast<double>(p.a.data[e]) * static_cast<double>(p.b.data[e]);
      sums[t] += p.over.data == nullptr ? term : term / static_cast<double>(p.over.data[e]);
    });
  }

  const Dataset<T>& dataset_;
  const Matrix<T>& x_;
  int threads_;
  Array<double> sandwich_totals_;
  std::int64_t transforms_ = 0;
  Array<T> shifts_, factors_;
  Array<std::int32_t> columns_;  // of the chosen tasks
  TaskLosses<T> losses_;
  RiskArrays<T> risk_;  // Cox
};

}  // namespace

template <class Set, class T>
std::unique_ptr<LinearOps<T>> make_cpu_ops_for(const Context& context, const Dataset<T>& dataset, T bias) {
  return std::make_unique<CpuOps<T>>(context, dataset, bias);
}

template std::unique_ptr<LinearOps<float>> make_cpu_ops_for<sets::Compiled>(const Context&, const Dataset<float>&,
                                                                            float);
template std::unique_ptr<LinearOps<double>> make_cpu_ops_for<sets::Compiled>(const Context&, const Dataset<double>&,
                                                                             double);

}  // namespace sheaf::linear
