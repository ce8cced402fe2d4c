// Decision values. The support vectors of all SVMs are united, so that one kernel value serves every SVM that uses it.
#include <numeric>
#include <utility>

#include <sheaf/error.hpp>
#include <sheaf/solvers/svm.hpp>

#include "kernel/verbs/ops.hpp"

namespace sheaf {
namespace kernel {
namespace {

struct Union {
  std::vector<std::int32_t> rows;  ///< ascending
  Coefficients coefficients;
};

Union unite(std::span<const BinarySvm> svms, std::int64_t rows) {
  Union all;
  std::vector<std::int64_t> next(static_cast<std::size_t>(rows), 0);  // by row: its SVMs, then where they begin
  for (const BinarySvm& svm : svms)
    for (const std::int32_t row : svm.rows) {
      require(row >= 0 && row < rows, "an SVM names rows that are not there");
      ++next[static_cast<std::size_t>(row)];
    }
  auto& [offsets, numbers, values, rhos] = all.coefficients;
  offsets.push_back(0);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t count = std::exchange(next[static_cast<std::size_t>(row)], offsets.back());
    if (count == 0) continue;
    all.rows.push_back(static_cast<std::int32_t>(row));
    offsets.push_back(offsets.back() + count);
  }
  numbers.resize(static_cast<std::size_t>(offsets.back()));
  values.resize(numbers.size());
  for (std::size_t m = 0; m < svms.size(); ++m) {
    rhos.push_back(svms[m].rho);
    for (std::size_t k = 0; k < svms[m].rows.size(); ++k) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(svms[m].rows[k])]++);
      numbers[at] = static_cast<std::int32_t>(m);
      values[at] = svms[m].coefficients[k];
    }
  }
  return all;
}

}  // namespace

template <class T>
void decide_rows(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                 std::span<const BinarySvm> svms, const Queries<T>& queries, BlockView<double> decisions) {
  const auto known = kernel.type == KernelType::precomputed ? queries.dataset.features() : support.rows();
  const Union all = unite(svms, known);
  if (!queries.rows.empty())
    add_decisions(context, Deciders<T>{kernel, support, all.rows, all.coefficients}, queries, decisions);
}

template void decide_rows(const Context&, const KernelParams&, const Dataset<float>&, std::span<const BinarySvm>,
                          const Queries<float>&, BlockView<double>);
template void decide_rows(const Context&, const KernelParams&, const Dataset<double>&, std::span<const BinarySvm>,
                          const Queries<double>&, BlockView<double>);

}  // namespace kernel

template <class T>
Block<double> decision_values(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                              std::span<const BinarySvm> svms, const Dataset<T>& queries) {
  Block<double> decisions(queries.rows(), static_cast<std::int32_t>(svms.size()), context.device());
  std::vector<std::int32_t> all(static_cast<std::size_t>(queries.rows()));
  std::iota(all.begin(), all.end(), 0);
  kernel::decide_rows(context, kernel, support, svms, kernel::Queries<T>{queries, all}, decisions.view());
  return context.device().is_cpu() ? std::move(decisions) : decisions.to(Device::cpu());
}

template Block<double> decision_values(const Context&, const KernelParams&, const Dataset<float>&,
                                       std::span<const BinarySvm>, const Dataset<float>&);
template Block<double> decision_values(const Context&, const KernelParams&, const Dataset<double>&,
                                       std::span<const BinarySvm>, const Dataset<double>&);

}  // namespace sheaf
