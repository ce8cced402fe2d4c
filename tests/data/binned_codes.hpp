// The states of a binned table as plain lists, whichever way they are stored.
#pragma once

#include <vector>

#include <sheaf/solvers/binning.hpp>

namespace sheaf::test {

/// One list for each feature.
using Codes = std::vector<std::vector<int>>;

inline Codes codes_of(const BinnedTable& table) {
  Codes result(static_cast<std::size_t>(table.features), std::vector<int>(static_cast<std::size_t>(table.rows)));
  if (const auto* dense = std::get_if<DenseCodes>(&table.codes)) {
    std::visit(
        [&](const auto& codes) {
          std::int64_t k = 0;
          for (auto& feature : result)
            for (auto& code : feature) code = codes[k++];
        },
        *dense);
    return result;
  }
  const auto& sparse = std::get<SparseCodes>(table.codes);
  for (std::int64_t j = 0; j < table.features; ++j) {
    auto& feature = result[static_cast<std::size_t>(j)];
    feature.assign(feature.size(), sparse.common[j]);
    for (auto k = sparse.offsets[j]; k < sparse.offsets[j + 1]; ++k)
      feature[static_cast<std::size_t>(sparse.examples[k])] = sparse.codes[k];
  }
  return result;
}

}  // namespace sheaf::test
