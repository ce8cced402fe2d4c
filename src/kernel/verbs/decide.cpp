// Decision values. The support vectors of all SVMs are united, so that one kernel value serves every SVM that uses it.
#include <numeric>
#include <utility>

#include <sheaf/error.hpp>
#include <sheaf/solvers/svm.hpp>

#include "core/parallel.hpp"
#include "kernel/verbs/ops.hpp"

namespace sheaf {
namespace kernel {
namespace {

struct Union {
  std::vector<std::int32_t> rows;  ///< ascending
  Coefficients coefficients;
};

/// Calls work(part, number of the SVM) for all SVMs, a part in order on one thread.
template <class Work>
void for_svms(int threads, std::int64_t parts, std::int64_t svms, const Work& work) {
  parallel_for(threads, parts, [&](std::int64_t part) {
    const Range range = part_of(svms, parts, part);
    for (auto m = range.begin; m < range.end; ++m) work(static_cast<std::size_t>(part), static_cast<std::size_t>(m));
  });
}

/// `rows`: of which the support vectors are some.
Union unite(std::span<const BinarySvm> svms, std::int64_t rows, int threads) {
  constexpr std::int64_t svms_of_a_part = 64;
  const std::int64_t parts = parts_for(std::ssize(svms), svms_of_a_part, threads, 1);
  // By part and row: how many SVMs have it, then where the entries of the next one stand.
  std::vector<std::vector<std::int64_t>> next(static_cast<std::size_t>(parts),
                                              std::vector<std::int64_t>(static_cast<std::size_t>(rows), 0));
  for_svms(threads, parts, std::ssize(svms), [&](std::size_t part, std::size_t m) {
    for (const std::int32_t row : svms[m].rows) {
      require(row >= 0 && row < rows, "an SVM names rows that are not there");
      ++next[part][static_cast<std::size_t>(row)];
    }
  });
  Union all;
  auto& [offsets, numbers, values, rhos] = all.coefficients;
  offsets.push_back(0);
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t end = offsets.back();
    for (auto& own : next) end += std::exchange(own[static_cast<std::size_t>(row)], end);
    if (end == offsets.back()) continue;
    all.rows.push_back(static_cast<std::int32_t>(row));
    offsets.push_back(end);
  }
  numbers.resize(static_cast<std::size_t>(offsets.back()));
  values.resize(numbers.size());
  for_svms(threads, parts, std::ssize(svms), [&](std::size_t part, std::size_t m) {
    for (std::size_t k = 0; k < svms[m].rows.size(); ++k) {
      const auto at = static_cast<std::size_t>(next[part][static_cast<std::size_t>(svms[m].rows[k])]++);
      numbers[at] = static_cast<std::int32_t>(m);
      values[at] = svms[m].coefficients[k];
    }
  });
  for (const BinarySvm& svm : svms) rhos.push_back(svm.rho);
  return all;
}

}  // namespace

template <class T>
void decide_rows(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                 std::span<const BinarySvm> svms, const Queries<T>& queries, BlockView<double> decisions) {
  const auto known = kernel.type == KernelType::precomputed ? queries.dataset.features() : support.rows();
  const Union all = unite(svms, known, context.threads());
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
