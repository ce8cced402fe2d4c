// Reading one feature of a dataset, dense or sparse, whatever its type.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include <sheaf/solvers/binning.hpp>

namespace sheaf::information {

inline const SparseCodes* sparse_codes(const BinnedTable& table) { return std::get_if<SparseCodes>(&table.codes); }

/// Calls read(pointer to the states of feature j), of std::uint8_t or std::uint16_t. Dense datasets only.
template <class Read>
decltype(auto) with_dense_column(const BinnedTable& table, std::int64_t j, Read&& read) {
  return std::visit([&](const auto& codes) { return read(codes.data() + j * table.rows); },
                    std::get<DenseCodes>(table.codes));
}

/// nullptr: sparse, or more than 256 states.
inline const Array<std::uint8_t>* dense_bytes(const BinnedTable& table) {
  const auto* dense = std::get_if<DenseCodes>(&table.codes);
  return dense != nullptr ? std::get_if<Array<std::uint8_t>>(dense) : nullptr;
}

/// The states of feature j, one for each row.
template <class Code>
void read_column(const BinnedTable& table, std::int64_t j, std::vector<Code>& out) {
  const auto rows = static_cast<std::size_t>(table.rows);
  out.resize(rows);
  const SparseCodes* sparse = sparse_codes(table);
  if (sparse == nullptr) {
    with_dense_column(table, j, [&](const auto* codes) {
      for (std::size_t i = 0; i < rows; ++i) out[i] = static_cast<Code>(codes[i]);
    });
    return;
  }
  std::fill(out.begin(), out.end(), static_cast<Code>(sparse->common[j]));
  for (std::int64_t e = sparse->offsets[j]; e < sparse->offsets[j + 1]; ++e)
    out[static_cast<std::size_t>(sparse->examples[e])] = static_cast<Code>(sparse->codes[e]);
}

/// The same for chosen rows alone, in their order. `all` is scratch memory.
inline void read_column(const BinnedTable& table, std::int64_t j, std::span<const std::uint32_t> chosen,
                        std::vector<std::uint32_t>& all, std::vector<std::uint32_t>& out) {
  if (chosen.empty()) {
    read_column(table, j, out);
    return;
  }
  read_column(table, j, all);
  out.resize(chosen.size());
  for (std::size_t k = 0; k < chosen.size(); ++k) out[k] = all[chosen[k]];
}

}  // namespace sheaf::information
