// The linear verbs on one NVIDIA GPU. All work of one object runs in order on its own stream.
#include <algorithm>
#include <vector>

#include "cuda/check.cuh"
#include "cuda/reduce.cuh"
#include "cuda/staging.cuh"
#include "linear/products/elements_cuda.cuh"
#include "linear/products/factors_cuda.cuh"
#include "linear/products/ops.hpp"
#include "linear/products/products_cuda.cuh"
#include "linear/products/softmax_cuda.cuh"
#include "linear/products/streamed_cuda.cuh"
#include "linear/products/survival_cuda.cuh"

namespace sheaf::linear {
namespace {

constexpr int element_threads = 256;

unsigned element_blocks(std::int64_t size) {
  return static_cast<unsigned>((size + element_threads - 1) / element_threads);
}

int processors_of(int index) {
  int count = 0;
  cuda::check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, index), "counting multiprocessors");
  return count;
}

template <class T>
class CudaOps final : public LinearOps<T> {
 public:
  /// X may take `room` bytes; a larger one is streamed.
  CudaOps(const Context& context, const Dataset<T>& dataset, T bias, std::int64_t room)
      : LinearOps<T>(context.device(), dataset.rows(), dataset.features(), bias),
        blas_(stream_),
        engine_{stream_, blas_, processors_of(context.device().index), {}},
        threads_(context.threads()),
        dataset_(dataset) {
    const std::int64_t bytes = matrix_bytes(dataset.x) * (is_sparse(dataset.x) ? 2 : 1);
    if (bytes <= room)
      products_ = std::make_unique<gpu::ResidentProducts<T>>(context, dataset, engine_);
    else
      products_ = std::make_unique<gpu::StreamedProducts<T>>(context, dataset, engine_, room);
  }

  std::int64_t data_bytes() const override { return products_->bytes(); }

  void multiply_raw(BlockView<const T> w, BlockView<T> z) override {
    const auto current = here();
    products_->multiply(w, z);
    if (!this->has_bias() || z.rows == 0) return;
    const std::int64_t size = z.rows * z.stride;
    gpu::add_bias<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        this->bias(), w.data + this->features() * w.stride, z.data, size, z.stride);
    cuda::check_launch("add_bias");
  }

  void multiply_transposed_raw(BlockView<const T> z, BlockView<T> g) override { transposed(false, z, g); }
  void multiply_squared_transposed_raw(BlockView<const T> d, BlockView<T> h) override { transposed(true, d, h); }

  /// Dense data are a block of weights' own, so that X'X is one product.
  std::vector<double> gram(const Context& context, BlockView<const T> d) override {
    const auto* x = products_->dense_matrix();
    if (x == nullptr || d.data != nullptr || x->columns <= gpu::few_tasks) return LinearOps<T>::gram(context, d);
    const auto current = here();
    const auto columns = static_cast<std::int32_t>(x->columns);
    Array<T> products(this->weights() * columns, this->device());
    transposed(false, {x->values.data(), x->rows, columns, columns, this->device()},
               {products.data(), this->weights(), columns, columns, this->device()});
    synchronize();
    const auto here = products.to(Device::cpu());
    std::vector<double> result(static_cast<std::size_t>(this->weights() * this->weights()));
    for (std::int64_t j = 0; j < this->weights(); ++j)
      std::copy_n(here.data() + j * columns, columns, result.begin() + j * this->weights());
    if (!this->has_bias()) return result;
    for (std::int64_t j = 0; j < columns; ++j)
      result[static_cast<std::size_t>(j * this->weights() + columns)] =
          static_cast<double>(here[columns * x->columns + j]);
    result.back() =
        static_cast<double>(this->bias()) * static_cast<double>(this->bias()) * static_cast<double>(x->rows);
    return result;
  }

  InverseFactors<T> inverse_factors(const Context& context, std::span<const std::int32_t> rows, BlockView<const T> d,
                                    BlockView<const T> diagonal, double ridge, double share) override {
    const auto current = here();
    context.check_stop();
    const T bias = this->has_bias() ? this->bias() : T(0);
    const double scale =
        static_cast<double>(this->examples()) / static_cast<double>(std::max<std::size_t>(1, rows.size()));
    const std::int32_t* numbers = upload(std::vector<std::int32_t>(rows.begin(), rows.end()), keep_);
    const auto make = [&](const DenseMatrix<T>& x, const std::int32_t* in_x) {
      gpu::InverseFactorsMaker<T> maker(x, in_x, numbers, std::ssize(rows), bias, blas_, stream_);
      return maker.make(scale, d, diagonal, ridge, share);
    };
    if (const auto* x = products_->dense_matrix()) return make(*x, numbers);
    const Dataset<T> some = take_rows(dataset_, rows, threads_);
    const auto* sparse = std::get_if<SparseMatrix<T>>(&some.x);
    const auto dense = sparse != nullptr ? to_dense(*sparse, threads_).to(this->device())
                                         : std::get<DenseMatrix<T>>(some.x).to(this->device());
    return make(dense, nullptr);
  }
  void multiply_by_each(const InverseFactors<T>& factors, bool transposed, BlockView<const T> v,
                        BlockView<T> w) override {
    const auto current = here();
    gpu::launch_multiply_each(factors, transposed, v, w, stream_);
  }

  bool fuses(std::int32_t) const override { return products_->one_pass() || products_->narrow_matrix() != nullptr; }

  void sandwich_raw(BlockView<const T> d, BlockView<const T> curvatures, BlockView<const T> u, Wanted wanted,
                    BlockView<T> q, BlockView<T> hd) override {
    const auto current = here();
    const T bias = this->has_bias() ? this->bias() : T(0);
    const gpu::SandwichOperands<T> operands{d.data, curvatures.data, u.data, upload_flags(wanted, d.stride),
                                            bias,   q.data};
    if (const auto* narrow = products_->narrow_matrix())
      return gpu::sandwich(*narrow, operands, hd, engine_.partial, engine_.processors, stream_);
    grow(between_, this->examples() * d.stride);
    const BlockView<T> v{between_.data(), this->examples(), d.tasks, d.stride, this->device()};
    const T* bias_weights = d.data + this->features() * d.stride;
    products_->both(d, v, hd, [&](Range rows) {
      const std::int64_t first = rows.begin * d.stride;
      const std::int64_t size = (rows.end - rows.begin) * d.stride;
      if (size == 0) return;
      gpu::pass_through<T><<<element_blocks(size), element_threads, 0, stream_>>>(operands, bias_weights, v.data, first,
                                                                                  size, d.stride);
      cuda::check_launch("pass_through");
    });
    sum_bias(bias, v, hd);
  }

  void load(const Sheaf& sheaf) override {
    const auto current = here();
    require(sheaf.examples == this->examples(), "a sheaf was made for another dataset");
    tables_.weight_columns = sheaf.weight_columns;
    tables_.target_columns = sheaf.target_columns;
    row_weights_ = Array<float>::copy_of(sheaf.row_weights, this->device());
    targets_ = converted<T, double>(sheaf.targets, threads_).to(this->device());
    tables_.row_weights = row_weights_.data();
    tables_.targets = targets_.data();
    shifts_ = converted<T, double>(sheaf.shifts, threads_).to(this->device());
    column_factors_ = converted<T, double>(sheaf.factors, threads_).to(this->device());
    transforms_ = {shifts_.data(), column_factors_.data(), nullptr, sheaf.column_transforms, this->features()};
  }

  void choose_tasks(std::span<const Task> tasks) override {
    const auto current = here();
    std::vector<gpu::TaskColumn<T>> columns;
    for (const Task& task : tasks)
      columns.push_back({task.rows, task.target, static_cast<T>(task.cost_positive), static_cast<T>(task.cost_negative),
                         static_cast<T>(task.loss_parameter)});
    columns.resize(static_cast<std::size_t>(block_stride(static_cast<std::int32_t>(tasks.size()))));
    synchronize();
    tasks_ = Array<gpu::TaskColumn<T>>::copy_of(columns, this->device());
    tables_.tasks = tasks_.data();
    if (!this->transformed()) return;
    std::vector<std::int32_t> transforms(columns.size(), 0);
    for (std::size_t t = 0; t < tasks.size(); ++t) transforms[t] = tasks[t].columns;
    columns_ = Array<std::int32_t>::copy_of(transforms, this->device());
    transforms_.columns = columns_.data();
  }

  void weights_to_raw(BlockView<const T> w, BlockView<T> raw) override {
    const auto current = here();
    const std::int64_t bias_begins = this->features() * w.stride;
    const T* own = w.rows > this->features() ? w.data + bias_begins : nullptr;
    if (!this->shifted()) {
      const std::int64_t size = bias_begins + w.stride;
      gpu::raw_unshifted<T>
          <<<element_blocks(size), element_threads, 0, stream_>>>(transforms_, w.data, own, raw.data, size, w.stride);
      return cuda::check_launch("raw_unshifted");
    }
    sum(this->features(), w.stride, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::raw_weight_rows<T>
          <<<blocks, gpu::sum_threads, 0, stream_>>>(transforms_, w.data, raw.data, w.stride, across, partial);
    });
    gpu::raw_bias<T><<<element_blocks(w.stride), element_threads, 0, stream_>>>(
        sums_.data(), static_cast<double>(this->bias()), own, raw.data + bias_begins, w.stride);
    cuda::check_launch("raw_bias");
  }

  void gradient_from_raw(BlockView<const T> raw, BlockView<T> g) override {
    const auto current = here();
    const std::int64_t size = g.rows * g.stride;
    if (size == 0) return;
    gpu::transform_gradients<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        transforms_, this->bias(), raw.data, g.data, size, g.stride);
    cuda::check_launch("transform_gradients");
  }

  void squares_from_raw(BlockView<const T> squares, BlockView<const T> sums, BlockView<T> h) override {
    const auto current = here();
    const std::int64_t size = h.rows * h.stride;
    if (size == 0) return;
    gpu::transform_squares<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        transforms_, this->bias(), squares.data, sums.data, h.data, size, h.stride);
    cuda::check_launch("transform_squares");
  }

  void count_rows(std::span<double> used, std::span<double> positive) override {
    const auto current = here();
    const auto stride = static_cast<std::int32_t>(tasks_.size());
    for (const bool above : {false, true}) {
      sum(this->examples(), stride, 0, [&](unsigned blocks, int across, double* partial) {
        gpu::count_task_rows<T>
            <<<blocks, gpu::sum_threads, 0, stream_>>>(tables_, above, this->examples(), stride, across, partial);
      });
      fetch_sums(above ? positive : used);
    }
  }

  void losses(Loss loss, BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
              BlockView<T> slopes, BlockView<T> curvatures) override {
    const auto current = here();
    const std::uint8_t* flags = upload_flags(wanted, z.stride);
    sum(z.rows, z.stride, 0, [&](unsigned blocks, int across, double* partial) {
      with_loss(loss, [&](auto functor) {
        gpu::loss_rows<decltype(functor), T><<<blocks, gpu::sum_threads, 0, stream_>>>(
            z.data, step.data, flags, z.rows, z.stride, across, tables_, slopes.data, curvatures.data, partial);
      });
    });
    fetch_sums(values);
  }

  void softmax(std::int32_t classes, BlockView<const T> z, BlockView<const T> step, Wanted wanted,
               std::span<double> values, BlockView<T> slopes, BlockView<T> probabilities) override {
    const auto current = here();
    const gpu::SoftmaxShape shape = softmax_shape(classes, z);
    const std::uint8_t* flags = upload_flags(wanted, shape.tasks);
    grow(row_losses_, z.rows * shape.tasks);
    if (z.rows > 0 && shape.tasks > 0) {
      gpu::softmax_rows<T><<<element_blocks(shape.threads()), element_threads, 0, stream_>>>(
          shape, tables_, z.data, step.data, flags, slopes.data, probabilities.data, row_losses_.data());
      cuda::check_launch("softmax_rows");
    }
    sum(z.rows, shape.tasks, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::sum_columns<T>
          <<<blocks, gpu::sum_threads, 0, stream_>>>(row_losses_.data(), z.rows, shape.tasks, across, partial);
    });
    fetch_sums(values);
  }

  void softmax_curvature(std::int32_t classes, BlockView<const T> probabilities, Wanted wanted,
                         BlockView<T> q) override {
    const auto current = here();
    const gpu::SoftmaxShape shape = softmax_shape(classes, BlockView<const T>(q));
    if (shape.threads() == 0) return;
    const std::uint8_t* flags = upload_flags(wanted, shape.tasks);
    gpu::softmax_curvature_rows<T><<<element_blocks(shape.threads()), element_threads, 0, stream_>>>(
        shape, tables_, probabilities.data, flags, q.data);
    cuda::check_launch("softmax_curvature_rows");
  }

  void softmax_diagonal(std::int32_t classes, BlockView<T> probabilities) override {
    const auto current = here();
    const std::int64_t size = probabilities.rows * probabilities.stride;
    if (size == 0) return;
    gpu::softmax_diagonal_elements<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        classes, probabilities.tasks, tables_, probabilities.data, size, probabilities.stride);
    cuda::check_launch("softmax_diagonal_elements");
  }

  void center_classes(std::int32_t classes, BlockView<T> w) override {
    const auto current = here();
    const gpu::SoftmaxShape shape = softmax_shape(classes, BlockView<const T>(w));
    if (shape.threads() == 0) return;
    gpu::center_class_rows<T><<<element_blocks(shape.threads()), element_threads, 0, stream_>>>(shape, w.data);
    cuda::check_launch("center_class_rows");
  }

  void load_risks(const RiskTables& risk) override {
    const auto current = here();
    risk_ = RiskArrays<T>(risk, tables_.weight_columns, this->device());
  }

  void partial_likelihood(BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
                          BlockView<T> slopes, BlockView<T> exponentials) override {
    const auto current = here();
    const std::uint8_t* flags = upload_flags(wanted, z.stride);
    grow(sums_, z.stride);
    over_risk_tasks(z.tasks, [&](unsigned some, const gpu::RiskTasks<T>& tasks) {
      gpu::partial_likelihoods<T><<<some, gpu::risk_threads, 0, stream_>>>(
          tasks, z.data, step.data, z.stride, flags, sums_.data(), slopes.data, exponentials.data);
      cuda::check_launch("partial_likelihoods");
    });
    fetch_sums(values);
  }

  void partial_curvature(BlockView<const T> exponentials, BlockView<T> q) override {
    const auto current = here();
    over_risk_tasks(q.tasks, [&](unsigned some, const gpu::RiskTasks<T>& tasks) {
      gpu::partial_curvatures<T><<<some, gpu::risk_threads, 0, stream_>>>(tasks, exponentials.data, q.stride, q.data);
      cuda::check_launch("partial_curvatures");
    });
  }

  void predict(Loss loss, T parameter, std::int32_t classes, BlockView<T> z) override {
    const auto current = here();
    const std::int64_t size = z.rows * z.stride;
    if (size == 0) return;
    if (classes > 1) {
      const gpu::SoftmaxShape shape = softmax_shape(classes, BlockView<const T>(z));
      gpu::log_odds_rows<T><<<element_blocks(shape.threads()), element_threads, 0, stream_>>>(shape, z.data);
    } else {
      with_glm_loss(loss, [&](auto functor) {
        gpu::predict_elements<decltype(functor), T>
            <<<element_blocks(size), element_threads, 0, stream_>>>(parameter, z.data, size);
      });
    }
    cuda::check_launch("predictions");
  }

  void dots(std::span<const Dot<T>> products, std::span<double> out) override {
    const auto current = here();
    if (products.empty()) return;
    const std::int32_t stride = products[0].a.stride;
    grow(sums_, static_cast<std::int64_t>(products.size()) * stride);
    for (std::size_t first = 0; first < products.size(); first += gpu::most_dots) {
      const auto some = products.subspan(first, std::min<std::size_t>(gpu::most_dots, products.size() - first));
      gpu::DotList<T> list{};
      std::int64_t rows = 0;
      for (std::size_t k = 0; k < some.size(); ++k) {
        list.products[k] = {some[k].a.data, some[k].b.data, some[k].over.data, some[k].a.rows};
        rows = std::max(rows, some[k].a.rows);
      }
      const auto count = static_cast<unsigned>(some.size());
      sum(
          rows, stride, static_cast<std::int64_t>(first) * stride,
          [&](unsigned blocks, int across, double* partial) {
            gpu::dot_rows<T><<<dim3(blocks, count), gpu::sum_threads, 0, stream_>>>(list, stride, across, partial);
          },
          static_cast<std::int64_t>(count));
    }
    std::vector<double> sums(products.size() * static_cast<std::size_t>(stride));
    fetch_sums(sums);
    synchronize();
    const std::size_t tasks = out.size() / products.size();
    for (std::size_t k = 0; k < products.size(); ++k)
      std::copy_n(sums.data() + k * static_cast<std::size_t>(stride), tasks, out.data() + k * tasks);
  }

  void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta,
               BlockView<T> b) override {
    const auto current = here();
    const T* on_device = upload_factors(alpha, beta, a.stride);
    const std::int64_t size = a.rows * a.stride;
    if (size == 0) return;
    gpu::combine_elements<T>
        <<<element_blocks(size), element_threads, 0, stream_>>>(on_device, a.data, b.data, size, a.stride);
    cuda::check_launch("combine_elements");
  }

  void combine_all(std::span<const double> factors, std::span<const BlockView<const T>> blocks,
                   BlockView<T> out) override {
    const auto current = here();
    require(blocks.size() <= LinearOps<T>::most_combined, "too many blocks to combine");
    const std::int64_t size = out.rows * out.stride;
    if (size == 0) return;
    constexpr auto most = static_cast<int>(LinearOps<T>::most_combined);
    gpu::BlockList<T, most> list{};
    for (std::size_t k = 0; k < blocks.size(); ++k) list.blocks[k] = blocks[k].data;
    const T* on_device = upload_all_factors(factors, blocks.size(), out.stride);
    gpu::combine_blocks<T, most><<<element_blocks(size), element_threads, 0, stream_>>>(
        list, static_cast<int>(blocks.size()), on_device, out.data, size, out.stride);
    cuda::check_launch("combine_blocks");
  }

  void multiply_by(const DenseMatrix<T>& matrix, bool transposed, BlockView<const T> v, BlockView<T> w) override {
    const auto current = here();
    gpu::DenseProduct<T> product(matrix, engine_.partial, stream_, blas_, engine_.processors);
    if (transposed)
      product.template transposed<false>(v, w);
    else
      product.multiply(v, w);
  }

  void multiply_elements(BlockView<const T> a, BlockView<const T> b, Wanted wanted, BlockView<T> c) override {
    const auto current = here();
    const std::int64_t size = a.rows * a.stride;
    if (size == 0) return;
    const std::uint8_t* flags = upload_flags(wanted, a.stride);
    gpu::multiply_pairs<T>
        <<<element_blocks(size), element_threads, 0, stream_>>>(a.data, b.data, flags, c.data, size, a.stride);
    cuda::check_launch("multiply_pairs");
  }

  void keep_tasks(BlockView<const T> from, std::span<const std::int32_t> keep, BlockView<T> to) override {
    const auto current = here();
    const std::int32_t* on_device = upload(std::vector<std::int32_t>(keep.begin(), keep.end()), keep_);
    const std::int64_t size = to.rows * to.stride;
    if (size == 0) return;
    gpu::keep_columns<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        from.data, from.stride, on_device, static_cast<int>(keep.size()), to.data, to.stride, size);
    cuda::check_launch("keep_columns");
  }

  void place_tasks(BlockView<const T> from, std::span<const std::int32_t> at, BlockView<T> to) override {
    const auto current = here();
    const std::int64_t size = from.rows * static_cast<std::int64_t>(at.size());
    if (size == 0) return;
    const std::int32_t* on_device = upload(std::vector<std::int32_t>(at.begin(), at.end()), keep_);
    gpu::place_columns<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        from.data, from.stride, on_device, static_cast<int>(at.size()), to.data, to.stride, size);
    cuda::check_launch("place_columns");
  }

  void keep_gradients(Wanted wanted, BlockView<const T> hd, BlockView<T> g, std::span<double> out) override {
    const auto current = here();
    const std::uint8_t* flags = upload_flags(wanted, g.stride);
    sum(g.rows, g.stride, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::gradient_rows<T>
          <<<blocks, gpu::sum_threads, 0, stream_>>>(flags, hd.data, g.data, g.rows, g.stride, across, partial);
    });
    fetch_sums(out);
  }

  void start_directions(Wanted wanted, BlockView<const T> g, BlockView<const T> inverse, BlockView<T> r, BlockView<T> s,
                        BlockView<T> d, std::span<double> out) override {
    const auto current = here();
    const std::uint8_t* flags = upload_flags(wanted, g.stride);
    sum(g.rows, g.stride, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::direction_rows<T><<<blocks, gpu::sum_threads, 0, stream_>>>(flags, g.data, inverse.data, r.data, s.data,
                                                                       d.data, g.rows, g.stride, across, partial);
    });
    fetch_sums(out);
  }

  void finish_curvature(T bias_ridge, BlockView<const T> d, BlockView<T> hd, std::span<double> out) override {
    const auto current = here();
    sum(d.rows, d.stride, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::curvature_rows<T><<<blocks, gpu::sum_threads, 0, stream_>>>(bias_ridge, this->features(), d.data, hd.data,
                                                                       d.rows, d.stride, across, partial);
    });
    fetch_sums(out);
  }

  void advance(std::span<const double> alpha, BlockView<const T> d, BlockView<const T> hd, BlockView<const T> inverse,
               BlockView<T> s, BlockView<T> r, std::span<double> out) override {
    const auto current = here();
    const T* factors = upload_factors(alpha, {}, d.stride);
    sum(d.rows, d.stride, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::advance_rows<T><<<blocks, gpu::sum_threads, 0, stream_>>>(factors, d.data, hd.data, inverse.data, s.data,
                                                                     r.data, d.rows, d.stride, across, partial);
    });
    fetch_sums(out);
  }

  void redirect(std::span<const double> fresh, BlockView<const T> inverse, BlockView<const T> r,
                std::span<const double> beta, BlockView<T> d) override {
    const auto current = here();
    const std::int64_t size = d.rows * d.stride;
    if (size == 0) return;
    const T* factors = upload_factors(fresh, beta, d.stride);
    gpu::redirect_elements<T>
        <<<element_blocks(size), element_threads, 0, stream_>>>(factors, inverse.data, r.data, d.data, size, d.stride);
    cuda::check_launch("redirect_elements");
  }

  void take_steps(Wanted wanted, T bias_ridge, BlockView<const T> s, BlockView<T> w, BlockView<T> d,
                  std::span<double> out) override {
    const auto current = here();
    const std::uint8_t* flags = upload_flags(wanted, w.stride);
    sum(w.rows, w.stride, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::step_rows<T><<<blocks, gpu::sum_threads, 0, stream_>>>(flags, bias_ridge, this->features(), s.data, w.data,
                                                                  d.data, w.rows, w.stride, across, partial);
    });
    fetch_sums(out);
  }

  void invert_diagonal(T share, T bias_ridge, BlockView<T> h) override {
    const auto current = here();
    const std::int64_t size = h.rows * h.stride;
    if (size == 0) return;
    gpu::invert_elements<T><<<element_blocks(size), element_threads, 0, stream_>>>(
        share, bias_ridge, this->features() * h.stride, h.data, size);
    cuda::check_launch("invert_elements");
  }

  void synchronize() override {
    stream_.synchronize();
    for (const auto& [pinned, out] : coming_) std::copy_n(pinned, out.size(), out.data());
    coming_.clear();
  }
  void delay_sums(bool delay) override { delay_sums_ = delay; }

 private:
  /// Launches go to the current GPU: every verb makes this one current first.
  cuda::Current here() const { return cuda::Current(this->device().index); }

  /// launch(how many, tasks) for some tasks at a time, for each takes vectors over the rows.
  template <class Launch>
  void over_risk_tasks(std::int32_t tasks, const Launch& launch) {
    constexpr std::int32_t together = 256;
    grow(likelihoods_, std::min(together, tasks) * this->examples() * gpu::risk_vectors);
    for (std::int32_t first = 0; first < tasks; first += together)
      launch(static_cast<unsigned>(std::min(together, tasks - first)),
             gpu::RiskTasks<T>{risk_.sets(), tables_, first, likelihoods_.data()});
  }

  static gpu::SoftmaxShape softmax_shape(std::int32_t classes, BlockView<const T> z) {
    int lanes = 1;
    while (lanes < classes && lanes < 32) lanes *= 2;
    return {z.rows, z.stride, classes, z.tasks / classes, lanes};
  }

  void transposed(bool squares, BlockView<const T> z, BlockView<T> g) {
    const auto current = here();
    products_->transposed(squares, z, g);
    sum_bias(squares ? this->bias() * this->bias() : this->bias(), z, g);
  }

  /// The bias's row of g: factor times the sums of z's columns.
  void sum_bias(T factor, BlockView<const T> z, BlockView<T> g) {
    if (!this->has_bias()) return;
    sum(z.rows, z.stride, 0, [&](unsigned blocks, int across, double* partial) {
      gpu::sum_columns<T><<<blocks, gpu::sum_threads, 0, stream_>>>(z.data, z.rows, z.stride, across, partial);
    });
    gpu::scale_sums<T><<<element_blocks(g.stride), element_threads, 0, stream_>>>(
        sums_.data(), static_cast<double>(factor), g.data + this->features() * g.stride, g.stride);
    cuda::check_launch("scale_sums");
  }

  /// Runs `launch(blocks, across, partial)` and adds the blocks' sums, `lists` of them side by side, into sums_ from
  /// `first` on.
  template <class Launch>
  void sum(std::int64_t rows, std::int32_t stride, std::int64_t first, Launch&& launch, std::int64_t lists = 1) {
    int across = 1;
    while (across < stride && across < 64) across *= 2;
    const std::int64_t lanes = gpu::sum_threads / across;
    const auto blocks =
        static_cast<unsigned>(std::clamp<std::int64_t>((rows + lanes * 8 - 1) / (lanes * 8), 1, gpu::most_sum_blocks));
    grow(sum_parts_, static_cast<std::int64_t>(blocks) * lists * stride);
    grow(sums_, first + lists * stride);
    launch(blocks, across, sum_parts_.data());
    cuda::check_launch("a sum over rows");
    cuda::add_parts(sum_parts_.data(), static_cast<int>(blocks), lists * stride, sums_.data() + first, stream_);
  }

  void fetch_sums(std::span<double> out) {
    auto* pinned = staging_.room<double>(out.size());
    auto* to = pinned != nullptr ? pinned : out.data();
    cuda::check(cudaMemcpyAsync(to, sums_.data(), out.size_bytes(), cudaMemcpyDeviceToHost, stream_), "fetching sums");
    if (pinned != nullptr) coming_.push_back({pinned, out});
    if (!delay_sums_) synchronize();
  }

  /// The factors of all columns of one vector, then of the other; padding counts 0.
  const T* upload_factors(std::span<const double> first, std::span<const double> second, std::int32_t stride) {
    std::vector<T> factors(2 * static_cast<std::size_t>(stride), T(0));
    for (std::size_t t = 0; t < first.size(); ++t) factors[t] = static_cast<T>(first[t]);
    for (std::size_t t = 0; t < second.size(); ++t)
      factors[static_cast<std::size_t>(stride) + t] = static_cast<T>(second[t]);
    return upload(factors, factors_);
  }
  /// The same for `count` vectors that follow each other in `all`.
  const T* upload_all_factors(std::span<const double> all, std::size_t count, std::int32_t stride) {
    const std::size_t tasks = all.size() / count;
    std::vector<T> factors(count * static_cast<std::size_t>(stride), T(0));
    for (std::size_t e = 0; e < all.size(); ++e)
      factors[e / tasks * static_cast<std::size_t>(stride) + e % tasks] = static_cast<T>(all[e]);
    return upload(factors, factors_);
  }

  const std::uint8_t* upload_flags(Wanted wanted, std::int32_t stride) {
    if (wanted.empty()) return nullptr;
    std::vector<std::uint8_t> flags(wanted.begin(), wanted.end());
    flags.resize(static_cast<std::size_t>(stride), 0);
    return upload(flags, flags_);
  }

  /// Small per-task vectors. The copy has left pageable memory when the call returns, so `values` may go.
  template <class V>
  const V* upload(const std::vector<V>& values, Array<V>& on_device) {
    grow(on_device, static_cast<std::int64_t>(values.size()));
    auto* pinned = staging_.room<V>(values.size());
    if (pinned != nullptr) std::copy(values.begin(), values.end(), pinned);
    cuda::check(cudaMemcpyAsync(on_device.data(), pinned != nullptr ? pinned : values.data(), values.size() * sizeof(V),
                                cudaMemcpyHostToDevice, stream_),
                "sending factors");
    return on_device.data();
  }

  /// Grown memory is new memory: work in flight may still use the old, and freeing waits for it.
  template <class V>
  void grow(Array<V>& array, std::int64_t size) {
    if (array.size() < size) array = Array<V>(size, this->device());
  }

  cuda::Stream stream_;
  cuda::Blas blas_;
  gpu::Engine<T> engine_;
  int threads_;
  const Dataset<T>& dataset_;
  std::unique_ptr<gpu::Products<T>> products_;
  Array<T> between_, row_losses_;
  Array<double> sum_parts_, sums_;
  cuda::StagingRing staging_{stream_};
  /// Sums on their way to `out`, which are in pinned memory once the stream has reached them.
  struct Coming {
    const double* pinned;
    std::span<double> out;
  };
  std::vector<Coming> coming_;
  bool delay_sums_ = false;
  Array<T> factors_;
  Array<std::int32_t> keep_;
  Array<std::uint8_t> flags_;
  Array<float> row_weights_;
  Array<T> targets_;
  Array<gpu::TaskColumn<T>> tasks_;
  gpu::Tables<T> tables_{};
  RiskArrays<T> risk_;  // Cox
  Array<double> likelihoods_;
  Array<T> shifts_, column_factors_;
  Array<std::int32_t> columns_;
  gpu::Transforms<T> transforms_{};
};

}  // namespace

template <class T>
std::unique_ptr<LinearOps<T>> make_cuda_ops(const Context& context, const Dataset<T>& dataset, T bias,
                                            std::int64_t blocks) {
  const cuda::Current current(context.device().index);
  return std::make_unique<CudaOps<T>>(context, dataset, bias, std::max<std::int64_t>(0, context.memory() - blocks));
}

template std::unique_ptr<LinearOps<float>> make_cuda_ops(const Context&, const Dataset<float>&, float, std::int64_t);
template std::unique_ptr<LinearOps<double>> make_cuda_ops(const Context&, const Dataset<double>&, double, std::int64_t);

}  // namespace sheaf::linear
