// Decision values. The support vectors of all SVMs are united, so that one kernel value serves every SVM that uses it.
#include <algorithm>

#include <sheaf/error.hpp>
#include <sheaf/solvers/svm.hpp>

#include "kernel/verbs/ops.hpp"

namespace sheaf {
namespace {

struct Union {
  std::vector<std::int32_t> rows;  ///< ascending
  kernel::Coefficients coefficients;
};

Union unite(std::span<const BinarySvm> svms, std::int64_t rows) {
  Union all;
  for (const BinarySvm& svm : svms) all.rows.insert(all.rows.end(), svm.rows.begin(), svm.rows.end());
  std::sort(all.rows.begin(), all.rows.end());
  all.rows.erase(std::unique(all.rows.begin(), all.rows.end()), all.rows.end());
  require(all.rows.empty() || (all.rows.front() >= 0 && all.rows.back() < rows),
          "an SVM names rows that are not there");
  const auto place = [&](std::int32_t row) {
    return static_cast<std::size_t>(std::lower_bound(all.rows.begin(), all.rows.end(), row) - all.rows.begin());
  };
  auto& [offsets, numbers, values] = all.coefficients;
  offsets.assign(all.rows.size() + 1, 0);
  for (const BinarySvm& svm : svms)
    for (const std::int32_t row : svm.rows) ++offsets[place(row) + 1];
  for (std::size_t s = 0; s < all.rows.size(); ++s) offsets[s + 1] += offsets[s];
  numbers.resize(static_cast<std::size_t>(offsets.back()));
  values.resize(numbers.size());
  std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
  for (std::size_t m = 0; m < svms.size(); ++m)
    for (std::size_t k = 0; k < svms[m].rows.size(); ++k) {
      const auto at = static_cast<std::size_t>(next[place(svms[m].rows[k])]++);
      numbers[at] = static_cast<std::int32_t>(m);
      values[at] = svms[m].coefficients[k];
    }
  return all;
}

}  // namespace

template <class T>
Block<double> decision_values(const Context& context, const KernelParams& kernel, const Dataset<T>& support,
                              std::span<const BinarySvm> svms, const Dataset<T>& queries) {
  Block<double> decisions(queries.rows(), static_cast<std::int32_t>(svms.size()));
  const Union all = unite(svms, kernel.type == KernelType::precomputed ? queries.features() : support.rows());
  if (!all.rows.empty() && queries.rows() > 0)
    kernel::add_decisions(context, kernel, support, all.rows, all.coefficients, queries, decisions.view());
  for (std::int64_t i = 0; i < decisions.rows(); ++i)
    for (std::int32_t m = 0; m < decisions.tasks(); ++m) decisions(i, m) -= svms[static_cast<std::size_t>(m)].rho;
  return decisions;
}

template Block<double> decision_values(const Context&, const KernelParams&, const Dataset<float>&,
                                       std::span<const BinarySvm>, const Dataset<float>&);
template Block<double> decision_values(const Context&, const KernelParams&, const Dataset<double>&,
                                       std::span<const BinarySvm>, const Dataset<double>&);

}  // namespace sheaf
