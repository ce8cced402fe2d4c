#include "data/read/storage.hpp"

#include "core/fail.hpp"
#include "core/text.hpp"

namespace sheaf {

template <class T>
Matrix<T> stored_as(const Reading& reading, SparseMatrix<T> x) {
  const std::int64_t cells = x.rows * x.columns;  // below 2^62: columns fit 31 bits, and rows are bytes of a text
  const bool full = x.nonzeros() > cells / 2;
  const std::int64_t memory = reading.context.memory();
  const bool fits = !reading.context.device().is_cpu() || cells <= memory / static_cast<std::int64_t>(sizeof(T));
  const Storage storage = reading.options.storage;
  if (storage == Storage::sparse || (storage == Storage::automatic && !(full && fits))) return x;
  if (!fits)
    fail("{}: {} of {} features do not fit into {} as a dense matrix; read them as sparse", reading.name,
         counted(x.rows, "row"), x.columns, format_bytes(memory));
  return to_dense(x, reading.context.threads());
}

template <class T>
Matrix<T> stored_as(const Reading& reading, DenseMatrix<T> x) {
  if (reading.options.storage != Storage::sparse) return x;
  return to_sparse(x, reading.context.threads());
}

template Matrix<float> stored_as(const Reading&, SparseMatrix<float>);
template Matrix<double> stored_as(const Reading&, SparseMatrix<double>);
template Matrix<float> stored_as(const Reading&, DenseMatrix<float>);
template Matrix<double> stored_as(const Reading&, DenseMatrix<double>);

}  // namespace sheaf
