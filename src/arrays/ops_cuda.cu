// Arithmetic on arrays on one NVIDIA GPU. All work of one object runs in order on its own stream.
#include <algorithm>

#include "arrays/ops.hpp"
#include "cuda/check.cuh"

namespace sheaf::arrays {
namespace {

constexpr int threads = 256;

unsigned blocks_for(std::int64_t size) {
  return static_cast<unsigned>(std::clamp<std::int64_t>((size + threads - 1) / threads, 1, 1 << 16));
}
__device__ std::int64_t first_element() { return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ std::int64_t all_threads() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

template <class T>
__global__ void apply_kernel(UnaryFunction function, const T* x, std::int64_t size, T* out) {
  for (auto i = first_element(); i < size; i += all_threads()) out[i] = evaluate(function, x[i]);
}

template <class T>
__global__ void combine_kernel(BinaryFunction function, const T* x, std::int64_t x_size, const T* y,
                               std::int64_t y_size, std::int64_t size, T* out) {
  for (auto i = first_element(); i < size; i += all_threads())
    out[i] = evaluate(function, x[x_size == size ? i : i % x_size], y[y_size == size ? i : i % y_size]);
}

/// A block has blockDim.x outputs side by side, and blockDim.y threads for each; gridDim.y parts of the elements.
/// out[part * outputs + o]; the threads' results are combined as a tree.
template <class T>
__global__ void __launch_bounds__(threads)
    reduce_kernel(Reduction reduction, Reach reach, double factor, const T* x, double* out) {
  __shared__ double shared[threads];
  const std::int64_t o = first_element();
  const std::int64_t each = (reach.count + gridDim.y - 1) / gridDim.y;
  const std::int64_t first = blockIdx.y * each;
  const std::int64_t last = first + each < reach.count ? first + each : reach.count;
  double value = start_of(reduction);
  if (o < reach.outputs)
    for (auto k = first + threadIdx.y; k < last; k += blockDim.y)
      value = combine_two(reduction, value, static_cast<double>(x[o * reach.by_output + k * reach.by_step]));
  const unsigned place = threadIdx.y * blockDim.x + threadIdx.x;
  shared[place] = value;
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) shared[place] = combine_two(reduction, shared[place], shared[place + half * blockDim.x]);
  }
  if (threadIdx.y == 0 && o < reach.outputs) out[blockIdx.y * reach.outputs + o] = factor * shared[place];
}

template <class T>
__global__ void transpose_kernel(const T* x, std::int64_t rows, std::int64_t columns, T* out) {
  constexpr int tile = 32;
  __shared__ T shared[tile][tile + 1];
  const std::int64_t tiles = (rows + tile - 1) / tile;
  for (std::int64_t block = blockIdx.x; block < tiles * ((columns + tile - 1) / tile); block += gridDim.x) {
    const std::int64_t row = block % tiles * tile;
    const std::int64_t column = block / tiles * tile;
    for (int j = threadIdx.y; j < tile; j += blockDim.y)
      if (row + threadIdx.x < rows && column + j < columns)
        shared[j][threadIdx.x] = x[row + threadIdx.x + (column + j) * rows];
    __syncthreads();
    for (int i = threadIdx.y; i < tile; i += blockDim.y)
      if (column + threadIdx.x < columns && row + i < rows)
        out[column + threadIdx.x + (row + i) * columns] = shared[threadIdx.x][i];
    __syncthreads();
  }
}

template <class From, class To>
__global__ void convert_kernel(const From* from, std::int64_t size, To* to) {
  for (auto i = first_element(); i < size; i += all_threads()) to[i] = static_cast<To>(from[i]);
}

template <class T>
class CudaArrays final : public ArrayOps<T> {
 public:
  explicit CudaArrays(const Context& context) : ArrayOps<T>(context), current_(context.device().index) {}

  void apply(UnaryFunction function, const T* x, std::int64_t size, T* out) override {
    apply_kernel<<<blocks_for(size), threads, 0, stream_>>>(function, x, size, out);
    finish("apply");
  }

  void combine(BinaryFunction function, const T* x, std::int64_t x_size, const T* y, std::int64_t y_size,
               std::int64_t size, T* out) override {
    combine_kernel<<<blocks_for(size), threads, 0, stream_>>>(function, x, x_size, y, y_size, size, out);
    finish("combine");
  }

  void reduce(Reduction reduction, const Reach& reach, double factor, const T* x, double* out) override {
    const dim3 block = reach.by_output == 1 ? dim3(32, threads / 32) : dim3(1, threads);
    const auto wide = static_cast<unsigned>((reach.outputs + block.x - 1) / block.x);
    constexpr std::int64_t enough_blocks = 1024, elements_a_block = 4 * threads;
    const auto parts = static_cast<unsigned>(std::clamp<std::int64_t>(
        std::min(reach.count / elements_a_block, enough_blocks / std::int64_t{wide}), 1, 1024));
    Array<double> partial(parts > 1 ? parts * reach.outputs : 0, this->context().device());
    reduce_kernel<<<dim3(wide, parts), block, 0, stream_>>>(reduction, reach, parts > 1 ? 1.0 : factor, x,
                                                            parts > 1 ? partial.data() : out);
    if (parts > 1) {
      const Reach over_parts{reach.outputs, parts, 1, reach.outputs};
      const auto blocks = static_cast<unsigned>((reach.outputs + 31) / 32);
      reduce_kernel<<<blocks, dim3(32, threads / 32), 0, stream_>>>(reduction, over_parts, factor,
                                                                    static_cast<const double*>(partial.data()), out);
    }
    finish("reduce");
  }

  void product(const ProductShape& shape, const T* x, const T* y, T* out) override {
    const auto operation = [](bool transposed) { return transposed ? CUBLAS_OP_T : CUBLAS_OP_N; };
    const T one = 1, zero = 0;
    const auto narrow = [](std::int64_t value) { return static_cast<int>(value); };
    const auto multiply = [&](auto gemm) {
      cuda::check(gemm(blas_, operation(shape.transpose_x), operation(shape.transpose_y), narrow(shape.m),
                       narrow(shape.n), narrow(shape.k), &one, x, narrow(shape.x_stride), y, narrow(shape.y_stride),
                       &zero, out, narrow(shape.m)),
                  "multiplying matrices");
    };
    if constexpr (sizeof(T) == sizeof(double))
      multiply(cuda::cublas().dgemm);
    else
      multiply(cuda::cublas().sgemm);
    stream_.synchronize();
  }

  void transpose(const T* x, std::int64_t rows, std::int64_t columns, T* out) override {
    const std::int64_t tiles = ((rows + 31) / 32) * ((columns + 31) / 32);
    transpose_kernel<<<static_cast<unsigned>(std::clamp<std::int64_t>(tiles, 1, 1 << 16)), dim3(32, 8), 0, stream_>>>(
        x, rows, columns, out);
    finish("transpose");
  }

 private:
  void finish(const char* what) {
    cuda::check_launch(what);
    stream_.synchronize();
  }

  cuda::Current current_;
  cuda::Stream stream_;
  cuda::Blas blas_{stream_};
};

}  // namespace

template <class T>
std::unique_ptr<ArrayOps<T>> make_cuda_ops(const Context& context) {
  return std::make_unique<CudaArrays<T>>(context);
}
template std::unique_ptr<ArrayOps<float>> make_cuda_ops(const Context&);
template std::unique_ptr<ArrayOps<double>> make_cuda_ops(const Context&);

void convert_cuda(const Context& context, const void* from, ElementType from_type, std::int64_t size, void* to,
                  ElementType to_type) {
  const cuda::Current current(context.device().index);
  const cuda::Stream stream;
  with_type(from_type, [&]<class From>(From* /*type*/) {
    with_type(to_type, [&]<class To>(To* /*type*/) {
      convert_kernel<<<blocks_for(size), threads, 0, stream>>>(static_cast<const From*>(from), size,
                                                               static_cast<To*>(to));
    });
  });
  cuda::check_launch("convert");
  stream.synchronize();
}

}  // namespace sheaf::arrays
