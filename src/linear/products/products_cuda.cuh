// Products with X on one GPU, by whichever kernel suits its shape; and the interface behind which X may be resident or
// pass by in tiles.
#pragma once

#include <functional>
#include <memory>

#include <sheaf/dataset.hpp>

#include "core/parallel.hpp"
#include "linear/products/dense_cuda.cuh"
#include "linear/products/sandwich_cuda.cuh"
#include "linear/products/sparse_cuda.cuh"

namespace sheaf::linear::gpu {

/// Resources for products; all products run in order on the stream.
template <class T>
struct Engine {
  cudaStream_t stream;
  const cuda::Blas& blas;
  int processors;
  Array<T> partial;
};

/// Some rows of X on the GPU, in the orders that products need.
template <class T>
struct Rows {
  const Matrix<T>* x = nullptr;
  const SparseMatrix<T>* columns = nullptr;  // sparse data, with the two plans
  const SegmentPlan* by_rows = nullptr;
  const SegmentPlan* by_columns = nullptr;

  void multiply(Engine<T>& engine, BlockView<const T> w, BlockView<T> z) const {
    if (const auto* sparse = std::get_if<SparseMatrix<T>>(x))
      SparseProduct<false, T>(*sparse, *by_rows, engine.partial, engine.stream)(w, z);
    else
      dense(engine).multiply(w, z);
  }
  void transposed(Engine<T>& engine, bool squares, BlockView<const T> z, BlockView<T> g) const {
    squares ? transposed<true>(engine, z, g) : transposed<false>(engine, z, g);
  }

 private:
  DenseProduct<T> dense(Engine<T>& engine) const {
    return {std::get<DenseMatrix<T>>(*x), engine.partial, engine.stream, engine.blas, engine.processors};
  }
  template <bool Squares>
  void transposed(Engine<T>& engine, BlockView<const T> z, BlockView<T> g) const {
    if (columns != nullptr)
      SparseProduct<Squares, T>(*columns, *by_columns, engine.partial, engine.stream)(z, g);
    else
      dense(engine).template transposed<Squares>(z, g);
  }
};

/// Blocks of weights have X's columns as rows here: the bias is no matter of X.
template <class T>
class Products {
 public:
  Products() = default;
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;
  virtual ~Products() = default;

  /// GPU memory that X takes.
  virtual std::int64_t bytes() const = 0;
  virtual void multiply(BlockView<const T> w, BlockView<T> z) = 0;
  virtual void transposed(bool squares, BlockView<const T> z, BlockView<T> g) = 0;
  /// All of X; nullptr: it is sparse, or passes by.
  virtual const DenseMatrix<T>* dense_matrix() const = 0;
  /// The matrix that narrow_sandwich() may take; nullptr: there is none.
  virtual const DenseMatrix<T>* narrow_matrix() const = 0;
  /// Whether both() passes over X once.
  virtual bool one_pass() const = 0;
  /// v = X w; then between(rows) may change those rows of v, for parts that cover all rows; then g = X' v.
  virtual void both(BlockView<const T> w, BlockView<T> v, BlockView<T> g,
                    const std::function<void(Range)>& between) = 0;
};

template <class T>
class ResidentProducts final : public Products<T> {
 public:
  ResidentProducts(const Context& context, const Dataset<T>& dataset, Engine<T>& engine)
      : engine_(engine), bytes_(matrix_bytes(dataset.x) * (is_sparse(dataset.x) ? 2 : 1)) {
    const Device device = context.device();
    rows_.x = &dataset.by_rows(device);
    if (!is_sparse(dataset.x)) return;
    rows_.columns = &dataset.by_columns(device, context.threads());
    by_rows_ = plan(dataset, "segments of rows", std::get<SparseMatrix<T>>(*rows_.x).offsets, device);
    by_columns_ = plan(dataset, "segments of columns", rows_.columns->offsets, device);
    rows_.by_rows = by_rows_.get();
    rows_.by_columns = by_columns_.get();
  }

  std::int64_t bytes() const override { return bytes_; }
  void multiply(BlockView<const T> w, BlockView<T> z) override { rows_.multiply(engine_, w, z); }
  void transposed(bool squares, BlockView<const T> z, BlockView<T> g) override {
    rows_.transposed(engine_, squares, z, g);
  }
  const DenseMatrix<T>* dense_matrix() const override { return std::get_if<DenseMatrix<T>>(rows_.x); }
  const DenseMatrix<T>* narrow_matrix() const override {
    const auto* dense = dense_matrix();
    return dense != nullptr && fuses(*dense) ? dense : nullptr;
  }
  bool one_pass() const override { return false; }
  void both(BlockView<const T> w, BlockView<T> v, BlockView<T> g, const std::function<void(Range)>& between) override {
    multiply(w, v);
    between({0, v.rows});
    transposed(false, v, g);
  }

 private:
  static std::shared_ptr<const SegmentPlan> plan(const Dataset<T>& dataset, const char* name,
                                                 const Array<std::int64_t>& offsets, Device device) {
    const auto make = [&] { return std::make_shared<const SegmentPlan>(plan_segments(offsets, device)); };
    return std::static_pointer_cast<const SegmentPlan>(dataset.cached(device, name, make));
  }

  Engine<T>& engine_;
  Rows<T> rows_;
  std::int64_t bytes_;
  std::shared_ptr<const SegmentPlan> by_rows_, by_columns_;
};

}  // namespace sheaf::linear::gpu
