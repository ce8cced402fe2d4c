// The verbs over rows that several processes share. Each has some slices of the rows, with ops of their own, and blocks
// of examples have its rows alone. Blocks of weights are the same in all processes: what is summed over rows is summed
// over the slices of all of them (core/team/slices.hpp), and all other work on weights is done by each.
//
// A process that receives a stop adds it to the next sum, and all end there.
#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include <sheaf/error.hpp>

#include "core/fail.hpp"
#include "core/team/alone.hpp"
#include "core/team/slices.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::linear {
namespace {

/// Some rows that follow one another. Values stay where they are; offsets begin at 0.
template <class T>
DenseMatrix<T> rows_of(const DenseMatrix<T>& x, Range rows) {
  const std::int64_t count = rows.end - rows.begin;
  return {count, x.columns, Array<T>::over(x.values.data() + rows.begin * x.columns, count * x.columns)};
}
template <class T>
SparseMatrix<T> rows_of(const SparseMatrix<T>& x, Range rows) {
  const std::int64_t count = rows.end - rows.begin;
  const std::int64_t first = x.offsets[rows.begin];
  const std::int64_t stored = x.offsets[rows.end] - first;
  Array<std::int64_t> offsets(count + 1);
  for (std::int64_t i = 0; i <= count; ++i) offsets[i] = x.offsets[rows.begin + i] - first;
  return {count, x.columns, std::move(offsets), Array<std::int32_t>::over(x.indices.data() + first, stored),
          Array<T>::over(x.values.data() + first, stored)};
}

template <class V>
std::vector<V> table_rows(const std::vector<V>& table, std::int32_t columns, Range rows) {
  if (table.empty()) return {};
  return {table.begin() + rows.begin * columns, table.begin() + rows.end * columns};
}

/// The tables of some rows. Column transforms are of blocks of weights, for which one slice serves.
Sheaf tables_of(const Sheaf& sheaf, Range rows, bool with_transforms) {
  Sheaf part;
  part.examples = rows.end - rows.begin;
  part.weight_columns = sheaf.weight_columns;
  part.row_weights = table_rows(sheaf.row_weights, sheaf.weight_columns, rows);
  part.target_columns = sheaf.target_columns;
  part.targets = table_rows(sheaf.targets, sheaf.target_columns, rows);
  if (!with_transforms) return part;
  part.column_transforms = sheaf.column_transforms;
  part.shifts = sheaf.shifts;
  part.factors = sheaf.factors;
  return part;
}

}  // namespace

template <class T>
class SlicedOps final : public LinearOps<T> {
 public:
  SlicedOps(const Context& context, const Dataset<T>& dataset, T bias, std::int64_t blocks)
      : SlicedOps(context, dataset, bias, blocks, Slices(dataset.rows(), context.team()->size())) {}

  std::int64_t data_bytes() const override { return data_bytes_; }

  void multiply_raw(BlockView<const T> w, BlockView<T> z) override {
    over_slices([&](Slice& slice) { slice.ops->multiply_raw(w, of(slice, z)); });
  }
  void multiply_transposed_raw(BlockView<const T> z, BlockView<T> g) override {
    sum_blocks({g}, [&](Slice& slice, const auto& to) { slice.ops->multiply_transposed_raw(of(slice, z), to[0]); });
  }
  void multiply_squared_transposed_raw(BlockView<const T> d, BlockView<T> h) override {
    sum_blocks({h},
               [&](Slice& slice, const auto& to) { slice.ops->multiply_squared_transposed_raw(of(slice, d), to[0]); });
  }
  void transpose_both_raw(BlockView<const T> z, BlockView<T> g, BlockView<const T> d, BlockView<T> h) override {
    sum_blocks({g, h}, [&](Slice& slice, const auto& to) {
      slice.ops->transpose_both_raw(of(slice, z), to[0], of(slice, d), to[1]);
    });
  }
  bool fuses(std::int32_t tasks) const override {
    const auto [known, is_new] = fuses_.try_emplace(tasks, false);
    if (!is_new) return known->second;
    std::vector<double> apart(1);
    sums_.sum(apart, [&](std::int32_t slice, std::span<double> to) {
      to[0] += slices_[place_of(slice)].ops->fuses(tasks) ? 0 : 1;
    });
    return known->second = apart[0] == 0;
  }
  void sandwich_raw(BlockView<const T> d, BlockView<const T> curvatures, BlockView<const T> u, Wanted wanted,
                    BlockView<T> q, BlockView<T> hd) override {
    sum_blocks({hd}, [&](Slice& slice, const auto& to) {
      slice.ops->sandwich_raw(d, of(slice, curvatures), of(slice, u), wanted, of(slice, q), to[0]);
    });
  }

  std::vector<double> gram(const Context& context, BlockView<const T> d) override {
    const auto size = static_cast<std::size_t>(this->weights());
    std::vector<double> total(size * size);
    sum_slices(total, [&](Slice& slice, std::span<double> to) {
      const auto products = slice.ops->gram(without_team(context), of(slice, d));
      std::transform(products.begin(), products.end(), to.begin(), to.begin(), std::plus<>());
    });
    return total;
  }

  /// Every process has the rows that the Hessian is estimated from, and makes it.
  InverseFactors<T> inverse_factors(const Context& context, std::span<const std::int32_t> rows, BlockView<const T> d,
                                    BlockView<const T> diagonal, double ridge, double share) override {
    if (!sample_.ops || !std::ranges::equal(sample_.rows, rows)) {
      sample_.ops.reset();
      sample_.rows.assign(rows.begin(), rows.end());
      sample_.data = take_rows(dataset_, rows, context.threads());
      sample_.ops = make_ops<T>(without_team(context), sample_.data, this->has_bias() ? this->bias() : T(0));
    }
    const auto columns = static_cast<std::size_t>(d.tasks);
    const Array<T> here = on_host(d);
    std::vector<double> numbers(rows.size() * columns);
    sums_.sum(numbers, [&](std::int32_t slice, std::span<double> to) {
      const Range own = cut_.rows_of(slice);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        if (rows[r] < own.begin || rows[r] >= own.end) continue;
        const T* from = here.data() + (rows[r] - first_row_) * d.stride;
        for (std::size_t t = 0; t < columns; ++t) to[r * columns + t] = static_cast<double>(from[t]);
      }
    });
    const double scale =
        static_cast<double>(this->all_examples()) / static_cast<double>(std::max<std::size_t>(1, rows.size()));
    for (double& number : numbers) number *= scale;
    const auto sampled = sample_.ops->own_examples(numbers);
    std::vector<std::int32_t> all(rows.size());
    std::iota(all.begin(), all.end(), 0);
    first().synchronize();
    auto factors = sample_.ops->inverse_factors(without_team(context), all, sampled.view(), diagonal, ridge, share);
    sample_.ops->synchronize();
    return factors;
  }
  void multiply_by_each(const InverseFactors<T>& factors, bool transposed, BlockView<const T> v,
                        BlockView<T> w) override {
    first().multiply_by_each(factors, transposed, v, w);
  }

  Block<T> all_examples_of(Block<T> block) override {
    auto& team = *team_;
    const auto tasks = static_cast<std::int64_t>(block.tasks());
    std::int64_t most = 0;
    for (int rank = 0; rank < team.size(); ++rank) most = std::max(most, rows_in(cut_.rows_of_rank(rank)));
    std::vector<double> mine(static_cast<std::size_t>(most * tasks));
    std::vector<double> everyone(mine.size() * static_cast<std::size_t>(team.size()));
    this->synchronize();
    const Array<T> here = on_host(std::as_const(block).view());
    for (std::int64_t i = 0; i < block.rows(); ++i)
      for (std::int64_t t = 0; t < tasks; ++t)
        mine[static_cast<std::size_t>(i * tasks + t)] = static_cast<double>(here[i * block.stride() + t]);
    team.gather(mine, everyone);
    Block<T> all(this->all_examples(), block.tasks());
    for (int rank = 0; rank < team.size(); ++rank) {
      const Range rows = cut_.rows_of_rank(rank);
      const double* from = everyone.data() + rank * most * tasks;
      for (std::int64_t i = rows.begin; i < rows.end; ++i)
        for (std::int32_t t = 0; t < block.tasks(); ++t) all(i, t) = static_cast<T>(*from++);
    }
    return this->device().is_cpu() ? std::move(all) : all.to(this->device());
  }

  void load(const Sheaf& sheaf) override {
    require(sheaf.examples == this->all_examples(), "a sheaf was made for another dataset");
    for (auto& slice : slices_)
      slice.ops->load_tables(tables_of(sheaf, cut_.rows_of(slice.number), &slice == &slices_.front()));
  }
  void choose_tasks(std::span<const Task> tasks) override {
    for (auto& slice : slices_) slice.ops->choose_tasks(tasks);
  }
  void weights_to_raw(BlockView<const T> w, BlockView<T> raw) override { first().weights_to_raw(w, raw); }
  void gradient_from_raw(BlockView<const T> raw, BlockView<T> g) override { first().gradient_from_raw(raw, g); }
  void squares_from_raw(BlockView<const T> squares, BlockView<const T> sums, BlockView<T> h) override {
    first().squares_from_raw(squares, sums, h);
  }

  void count_rows(std::span<double> used, std::span<double> positive) override {
    std::vector<double> total(used.size() + positive.size());
    sum_slices(total, [&](Slice& slice, std::span<double> to) {
      slice.ops->count_rows(to.first(used.size()), to.subspan(used.size()));
    });
    std::copy_n(total.begin(), used.size(), used.begin());
    std::copy_n(total.begin() + std::ssize(used), positive.size(), positive.begin());
  }
  void losses(Loss loss, BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
              BlockView<T> slopes, BlockView<T> curvatures) override {
    sum_slices(values, [&](Slice& slice, std::span<double> to) {
      slice.ops->losses(loss, of(slice, z), of(slice, step), wanted, to, of(slice, slopes), of(slice, curvatures));
    });
  }
  void softmax(std::int32_t classes, BlockView<const T> z, BlockView<const T> step, Wanted wanted,
               std::span<double> values, BlockView<T> slopes, BlockView<T> probabilities) override {
    sum_slices(values, [&](Slice& slice, std::span<double> to) {
      slice.ops->softmax(classes, of(slice, z), of(slice, step), wanted, to, of(slice, slopes),
                         of(slice, probabilities));
    });
  }
  void softmax_curvature(std::int32_t classes, BlockView<const T> probabilities, Wanted wanted,
                         BlockView<T> q) override {
    over_slices(
        [&](Slice& slice) { slice.ops->softmax_curvature(classes, of(slice, probabilities), wanted, of(slice, q)); });
  }
  void softmax_diagonal(std::int32_t classes, BlockView<T> probabilities) override {
    over_slices([&](Slice& slice) { slice.ops->softmax_diagonal(classes, of(slice, probabilities)); });
  }
  void center_classes(std::int32_t classes, BlockView<T> w) override { first().center_classes(classes, w); }
  void load_risks(const RiskTables& /*risk*/) override { no_risks(); }
  void partial_likelihood(BlockView<const T> /*z*/, BlockView<const T> /*step*/, Wanted /*wanted*/,
                          std::span<double> /*values*/, BlockView<T> /*slopes*/,
                          BlockView<T> /*exponentials*/) override {
    no_risks();
  }
  void partial_curvature(BlockView<const T> /*exponentials*/, BlockView<T> /*q*/) override { no_risks(); }
  void predict(Loss loss, T parameter, std::int32_t classes, BlockView<T> z) override {
    over_slices([&](Slice& slice) { slice.ops->predict(loss, parameter, classes, of(slice, z)); });
  }

  void dots(std::span<const Dot<T>> products, std::span<double> out) override {
    if (products.empty()) return;
    const std::size_t tasks = out.size() / products.size();
    for (const bool of_examples : {false, true}) {
      std::vector<Dot<T>> some;
      std::vector<std::size_t> places;
      for (std::size_t k = 0; k < products.size(); ++k) {
        if (products[k].of_examples != of_examples) continue;
        some.push_back(products[k]);
        places.push_back(k);
      }
      if (some.empty()) continue;
      std::vector<double> found(some.size() * tasks);
      of_examples ? dots_of_examples(some, found) : first().dots(some, found);
      for (std::size_t k = 0; k < places.size(); ++k)
        std::copy_n(found.begin() + static_cast<std::ptrdiff_t>(k * tasks), tasks,
                    out.begin() + static_cast<std::ptrdiff_t>(places[k] * tasks));
    }
  }
  // Elements of blocks of either kind: one slice's device serves all rows.
  void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
               BlockView<T> b) override {
    first().combine(alpha, a, beta, b);
  }
  void combine_all(std::span<const double> factors, std::span<const BlockView<const T>> blocks,
                   BlockView<T> out) override {
    first().combine_all(factors, blocks, out);
  }
  void multiply_by(const DenseMatrix<T>& matrix, bool transposed, BlockView<const T> v, BlockView<T> w) override {
    first().multiply_by(matrix, transposed, v, w);
  }
  void multiply_elements(BlockView<const T> a, BlockView<const T> b, Wanted wanted, BlockView<T> c) override {
    first().multiply_elements(a, b, wanted, c);
  }
  void keep_tasks(BlockView<const T> from, std::span<const std::int32_t> keep, BlockView<T> to) override {
    first().keep_tasks(from, keep, to);
  }
  void place_tasks(BlockView<const T> from, std::span<const std::int32_t> at, BlockView<T> to) override {
    first().place_tasks(from, at, to);
  }

  // Blocks of weights.
  void keep_gradients(Wanted wanted, BlockView<const T> hd, BlockView<T> g, std::span<double> out) override {
    first().keep_gradients(wanted, hd, g, out);
  }
  void start_directions(Wanted wanted, BlockView<const T> g, BlockView<const T> inverse, BlockView<T> r, BlockView<T> s,
                        BlockView<T> d, std::span<double> out) override {
    first().start_directions(wanted, g, inverse, r, s, d, out);
  }
  void finish_curvature(T bias_ridge, BlockView<const T> d, BlockView<T> hd, std::span<double> out) override {
    first().finish_curvature(bias_ridge, d, hd, out);
  }
  void advance(std::span<const double> alpha, BlockView<const T> d, BlockView<const T> hd, BlockView<const T> inverse,
               BlockView<T> s, BlockView<T> r, std::span<double> out) override {
    first().advance(alpha, d, hd, inverse, s, r, out);
  }
  void redirect(std::span<const double> fresh, BlockView<const T> inverse, BlockView<const T> r,
                std::span<const double> beta, BlockView<T> d) override {
    first().redirect(fresh, inverse, r, beta, d);
  }
  void take_steps(Wanted wanted, T bias_ridge, BlockView<const T> s, BlockView<T> w, BlockView<T> d,
                  std::span<double> out) override {
    first().take_steps(wanted, bias_ridge, s, w, d, out);
  }
  void invert_diagonal(T share, T bias_ridge, BlockView<T> h) override {
    first().invert_diagonal(share, bias_ridge, h);
  }

  void synchronize() override {
    for (auto& slice : slices_) slice.ops->synchronize();
  }

 private:
  struct Slice {
    std::int32_t number;  // of all slices
    Range rows;           // in blocks of this process
    std::unique_ptr<Dataset<T>> data;
    std::unique_ptr<LinearOps<T>> ops;
  };
  struct Sample {
    std::vector<std::int32_t> rows;
    Dataset<T> data;
    std::unique_ptr<LinearOps<T>> ops;
  };

  SlicedOps(const Context& context, const Dataset<T>& dataset, T bias, std::int64_t blocks, const Slices& cut)
      : LinearOps<T>(context.device(), cut.rows_of_rank(context.team()->rank()), dataset.rows(), dataset.features(),
                     bias),
        dataset_(dataset),
        team_(context.team()),
        stop_(context.stop()),
        cut_(cut),
        sums_(*team_, cut),
        first_row_(cut.rows_of_rank(team_->rank()).begin) {
    const Range own = cut.of_rank(team_->rank());
    const auto room = std::max<std::int64_t>(1, (context.memory() - blocks) / (own.end - own.begin));
    const auto part = without_team(context).with({.memory = room});
    for (std::int64_t k = own.begin; k < own.end; ++k) {
      const auto number = static_cast<std::int32_t>(k);
      const Range rows = cut.rows_of(number);
      auto data = std::make_unique<Dataset<T>>();
      data->x = std::visit([&](const auto& x) { return Matrix<T>(rows_of(x, rows)); }, dataset.x);
      auto ops = make_ops<T>(part, *data, bias);
      slices_.push_back({number, {rows.begin - first_row_, rows.end - first_row_}, std::move(data), std::move(ops)});
    }
    std::int64_t bytes = 0;
    for (const auto& slice : slices_) bytes += slice.ops->data_bytes();
    const std::vector<double> mine{static_cast<double>(bytes), static_cast<double>(dataset.rows()),
                                   static_cast<double>(dataset.features()), this->device().is_cuda() ? 1.0 : 0.0};
    std::vector<double> all(mine.size() * static_cast<std::size_t>(team_->size()));
    team_->gather(mine, all);
    for (std::size_t at = 0; at < all.size(); at += mine.size()) {
      data_bytes_ = std::max(data_bytes_, static_cast<std::int64_t>(all[at]));
      check_equal(static_cast<int>(at / mine.size()), std::span(all).subspan(at + 1, 3), std::span(all).subspan(1, 3));
    }
  }

  /// A process's rows, features, and 1 if it computes on a GPU; then the same of the first process.
  static void check_equal(int rank, std::span<const double> its, std::span<const double> first) {
    if (its[0] != first[0] || its[1] != first[1])
      fail("process {} has read {} rows of {} features, and process 0 {} of {}; give all of them the same file", rank,
           its[0], its[1], first[0], first[1]);
    if (its[2] != first[2])
      fail("process {} computes on {}, and process 0 on {}; name the device (--device)", rank,
           its[2] != 0 ? "a GPU" : "the CPU", first[2] != 0 ? "a GPU" : "the CPU");
  }
  [[noreturn]] static void no_risks() { throw InternalError("the partial likelihood is no sum over rows"); }
  static std::int64_t rows_in(Range rows) { return rows.end - rows.begin; }

  LinearOps<T>& first() { return *slices_.front().ops; }
  std::size_t place_of(std::int32_t slice) const { return static_cast<std::size_t>(slice - slices_.front().number); }

  /// The rows of a slice.
  template <class V>
  static BlockView<V> of(const Slice& slice, BlockView<V> block) {
    if (block.data == nullptr) return block;
    block.data += slice.rows.begin * block.stride;
    block.rows = rows_in(slice.rows);
    return block;
  }

  static Array<T> on_host(BlockView<const T> block) {
    return Array<T>::over(block.data, block.rows * block.stride, block.device).to(Device::cpu());
  }

  /// Each slice has its own queue on a GPU; what was called before is done first, and what this calls when it returns.
  template <class Work>
  void over_slices(const Work& work) {
    first().synchronize();
    for (auto& slice : slices_) work(slice);
    synchronize();
  }

  /// add(slice, to) adds the numbers of a slice to `to`, which is zeros.
  template <class Add>
  void sum_slices(std::span<double> total, const Add& add) {
    first().synchronize();
    std::vector<double> numbers(total.size() + 1);  // and how many have received a stop
    sums_.sum(numbers, [&](std::int32_t number, std::span<double> to) {
      add(slices_[place_of(number)], to.first(total.size()));
      if (number == slices_.front().number && stop_.stop_requested()) to.back() = 1;
    });
    synchronize();
    if (numbers.back() > 0) throw Stopped();
    std::copy_n(numbers.begin(), total.size(), total.begin());
  }

  /// Sums of blocks of weights: make(slice, blocks) fills those of a slice.
  template <class Make>
  void sum_blocks(const std::vector<BlockView<T>>& blocks, const Make& make) {
    std::vector<Block<T>> parts;
    std::vector<BlockView<T>> views;
    std::size_t size = 0;
    for (const auto& block : blocks) {
      parts.emplace_back(block.rows, block.tasks, block.device);
      size += static_cast<std::size_t>(block.rows) * static_cast<std::size_t>(block.tasks);
    }
    std::transform(parts.begin(), parts.end(), std::back_inserter(views), [](auto& part) { return part.view(); });
    std::vector<double> total(size);
    sum_slices(total, [&](Slice& slice, std::span<double> to) {
      make(slice, views);
      slice.ops->synchronize();
      std::size_t e = 0;
      for (const auto& part : parts) {
        const Array<T> copy = part.device().is_cpu() ? Array<T>() : on_host(part.view());
        const T* from = part.device().is_cpu() ? part.view().data : copy.data();
        for (std::int64_t j = 0; j < part.rows(); ++j)
          for (std::int32_t t = 0; t < part.tasks(); ++t) to[e++] += static_cast<double>(from[j * part.stride() + t]);
      }
    });
    std::size_t e = 0;
    for (const auto& block : blocks) {
      Array<T> sums = Array<T>::zeros(block.rows * block.stride);
      for (std::int64_t j = 0; j < block.rows; ++j)
        for (std::int32_t t = 0; t < block.tasks; ++t) sums[j * block.stride + t] = static_cast<T>(total[e++]);
      copy_bytes(block.data, block.device, sums.data(), Device::cpu(), sums.bytes());
    }
  }

  void dots_of_examples(std::span<const Dot<T>> products, std::span<double> out) {
    sum_slices(out, [&](Slice& slice, std::span<double> to) {
      std::vector<Dot<T>> own;
      for (const auto& p : products) own.push_back({of(slice, p.a), of(slice, p.b), of(slice, p.over)});
      slice.ops->dots(own, to);
    });
  }

  const Dataset<T>& dataset_;
  Team* team_;
  std::stop_token stop_;
  Slices cut_;
  mutable SliceSums sums_;
  std::int64_t first_row_;
  std::vector<Slice> slices_;
  Sample sample_;
  std::int64_t data_bytes_ = 0;
  mutable std::map<std::int32_t, bool> fuses_;  // by tasks; a slice alone may be too small
};

template <class T>
std::unique_ptr<LinearOps<T>> make_sliced_ops(const Context& context, const Dataset<T>& dataset, T bias,
                                              std::int64_t blocks) {
  return std::make_unique<SlicedOps<T>>(context, dataset, bias, blocks);
}

template std::unique_ptr<LinearOps<float>> make_sliced_ops(const Context&, const Dataset<float>&, float, std::int64_t);
template std::unique_ptr<LinearOps<double>> make_sliced_ops(const Context&, const Dataset<double>&, double,
                                                            std::int64_t);

}  // namespace sheaf::linear
