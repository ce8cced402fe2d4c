// Sparse datasets that a step of preparation makes dense.
#pragma once

#include <string_view>

#include <sheaf/dataset.hpp>

#include "core/fail.hpp"
#include "data/budget.hpp"

namespace sheaf {

/// A dense dataset stays as it is. If there is no memory for both forms, the Error names the reason for a dense
/// dataset, `what`, and the step to take `instead`.
template <class T>
void make_dense(const Context& context, Dataset<T>& dataset, std::string_view what, std::string_view instead) {
  if (!is_sparse(dataset.x)) return;
  const double need = dense_bytes(dataset.rows(), dataset.features(), sizeof(T));
  const std::int64_t budget = cpu_budget(context);
  if (need > static_cast<double>(budget))
    fail(
        "{} turns the {} x {} sparse dataset dense, which takes {:.1f} GiB, and the memory budget is {}; {}, or raise "
        "--memory",
        what, dataset.rows(), dataset.features(), need / 0x1p30, format_bytes(budget), instead);
  dataset.replace_x(to_dense(std::get<SparseMatrix<T>>(dataset.x), context.threads()));
}

}  // namespace sheaf
