// Arithmetic on arrays on CPU cores. The function is known when its loop is compiled, so that simple ones become
// vectors.
#include <algorithm>
#include <utility>
#include <vector>

#include <cblas.h>

#include "arrays/ops.hpp"
#include "core/blas_threads.hpp"
#include "core/parallel.hpp"

namespace sheaf::arrays {
namespace {

constexpr std::int64_t grain = 1 << 14;

/// Calls use(constant) with the value as a constant of the type system.
template <class Enum, std::size_t... k, class Use>
void as_constant(Enum value, std::index_sequence<k...> /*values*/, const Use& use) {
  const auto chosen = static_cast<std::size_t>(value);
  ((chosen == k ? use(std::integral_constant<Enum, static_cast<Enum>(k)>{}) : void()), ...);
}

constexpr auto unary_functions = std::make_index_sequence<static_cast<std::size_t>(UnaryFunction::lgamma) + 1>{};
constexpr auto binary_functions = std::make_index_sequence<static_cast<std::size_t>(BinaryFunction::maximum) + 1>{};

void gemm(const ProductShape& shape, const float* x, const float* y, float* out, std::int64_t out_stride) {
  cblas_sgemm(CblasColMajor, shape.transpose_x ? CblasTrans : CblasNoTrans,
              shape.transpose_y ? CblasTrans : CblasNoTrans, static_cast<int>(shape.m), static_cast<int>(shape.n),
              static_cast<int>(shape.k), 1, x, static_cast<int>(shape.x_stride), y, static_cast<int>(shape.y_stride), 0,
              out, static_cast<int>(out_stride));
}
void gemm(const ProductShape& shape, const double* x, const double* y, double* out, std::int64_t out_stride) {
  cblas_dgemm(CblasColMajor, shape.transpose_x ? CblasTrans : CblasNoTrans,
              shape.transpose_y ? CblasTrans : CblasNoTrans, static_cast<int>(shape.m), static_cast<int>(shape.n),
              static_cast<int>(shape.k), 1, x, static_cast<int>(shape.x_stride), y, static_cast<int>(shape.y_stride), 0,
              out, static_cast<int>(out_stride));
}

template <class T>
class CpuArrays final : public ArrayOps<T> {
 public:
  using ArrayOps<T>::ArrayOps;

  void apply(UnaryFunction function, const T* x, std::int64_t size, T* out) override {
    as_constant(function, unary_functions, [&](auto constant) {
      parallel_ranges(this->context(), size, grain, [&](Range range) {
        for (auto i = range.begin; i < range.end; ++i) out[i] = evaluate(constant.value, x[i]);
      });
    });
  }

  void combine(BinaryFunction function, const T* x, std::int64_t x_size, const T* y, std::int64_t y_size,
               std::int64_t size, T* out) override {
    as_constant(function, binary_functions, [&](auto constant) {
      parallel_ranges(this->context(), size, grain, [&](Range range) {
        if (x_size == size && y_size == size)
          for (auto i = range.begin; i < range.end; ++i) out[i] = evaluate(constant.value, x[i], y[i]);
        else if (x_size == size && y_size == 1)
          for (auto i = range.begin; i < range.end; ++i) out[i] = evaluate(constant.value, x[i], y[0]);
        else
          for (auto i = range.begin; i < range.end; ++i)
            out[i] = evaluate(constant.value, x[i % x_size], y[i % y_size]);
      });
    });
  }

  /// Outputs side by side in memory are combined together; long ones by parts of a fixed size, added in order.
  void reduce(Reduction reduction, const Reach& reach, double factor, const T* x, double* out) override {
    const std::int64_t parts = reach.by_output == 1 ? 1 : std::max<std::int64_t>((reach.count + grain - 1) / grain, 1);
    std::vector<double> partial(static_cast<std::size_t>(parts * reach.outputs), start_of(reduction));
    if (reach.by_output == 1)
      parallel_ranges(this->context(), reach.outputs,
                      std::max<std::int64_t>(grain / std::max<std::int64_t>(reach.count, 1), 64), [&](Range range) {
                        for (std::int64_t k = 0; k < reach.count; ++k)
                          for (auto o = range.begin; o < range.end; ++o)
                            accumulate(reduction, partial[static_cast<std::size_t>(o)], x[o + k * reach.by_step]);
                      });
    else
      parallel_for(this->context(), parts * reach.outputs, [&](std::int64_t p) {
        const std::int64_t o = p / parts;
        const auto range = part_of(reach.count, parts, p % parts);
        for (auto k = range.begin; k < range.end; ++k)
          accumulate(reduction, partial[static_cast<std::size_t>(p)], x[o * reach.by_output + k * reach.by_step]);
      });
    for (std::int64_t o = 0; o < reach.outputs; ++o) {
      double all = start_of(reduction);
      for (std::int64_t p = 0; p < parts; ++p)
        accumulate(reduction, all, partial[static_cast<std::size_t>(o * parts + p)]);
      out[o] = factor * all;
    }
  }

  /// By parts of the longer side, which depend on the shape alone.
  void product(const ProductShape& shape, const T* x, const T* y, T* out) override {
    const auto& context = this->context();
    const BlasThreads blas(over_openmp() ? context.threads() : 1);
    const int team = over_openmp() ? 1 : team_for(context.threads(), shape.m * shape.n * shape.k);
    const bool by_rows = shape.m > shape.n;
    const std::int64_t side = by_rows ? shape.m : shape.n;
    const auto parts = std::clamp<std::int64_t>(side / 128, 1, 64);
    parallel_for(context.with({.threads = team}), parts, [&](std::int64_t part) {
      const Range range = part_of(side, parts, part);
      auto own = shape;
      (by_rows ? own.m : own.n) = range.end - range.begin;
      if (by_rows)
        gemm(own, x + range.begin * (shape.transpose_x ? shape.x_stride : 1), y, out + range.begin, shape.m);
      else
        gemm(own, x, y + range.begin * (shape.transpose_y ? 1 : shape.y_stride), out + range.begin * shape.m, shape.m);
    });
  }

  /// By tiles that fit in the cache.
  void transpose(const T* x, std::int64_t rows, std::int64_t columns, T* out) override {
    constexpr std::int64_t tile = 32;
    parallel_for(this->context(), (columns + tile - 1) / tile, [&](std::int64_t part) {
      const std::int64_t last = std::min((part + 1) * tile, columns);
      for (std::int64_t first_row = 0; first_row < rows; first_row += tile)
        for (std::int64_t i = first_row; i < std::min(first_row + tile, rows); ++i)
          for (std::int64_t j = part * tile; j < last; ++j) out[j + i * columns] = x[i + j * rows];
    });
  }

 private:
  static void accumulate(Reduction reduction, double& all, double value) { all = combine_two(reduction, all, value); }
};

}  // namespace

template <class T>
std::unique_ptr<ArrayOps<T>> make_cpu_ops(const Context& context) {
  return std::make_unique<CpuArrays<T>>(context);
}
template std::unique_ptr<ArrayOps<float>> make_cpu_ops(const Context&);
template std::unique_ptr<ArrayOps<double>> make_cpu_ops(const Context&);

void convert_cpu(const Context& context, const void* from, ElementType from_type, std::int64_t size, void* to,
                 ElementType to_type) {
  with_type(from_type, [&]<class From>(From* /*type*/) {
    with_type(to_type, [&]<class To>(To* /*type*/) {
      parallel_ranges(context, size, grain, [&](Range range) {
        const auto* source = static_cast<const From*>(from);
        auto* target = static_cast<To*>(to);
        for (auto i = range.begin; i < range.end; ++i) target[i] = static_cast<To>(source[i]);
      });
    });
  });
}

}  // namespace sheaf::arrays
