// A table of small integers, the states of each feature: what information-theoretic selection counts. Features lie one
// after the other, since every pass of counting reads whole features.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include <sheaf/array.hpp>

namespace sheaf {

/// State of example i in feature j at codes[j * rows + i]. One byte each where no feature has over 256 states.
using DenseCodes = std::variant<Array<std::uint8_t>, Array<std::uint16_t>>;

/// Entries offsets[j] .. offsets[j+1] of feature j name, in ascending order, the examples whose state is not
/// common[j], and that state.
struct SparseCodes {
  Array<std::int64_t> offsets;
  Array<std::int32_t> examples;
  Array<std::uint16_t> codes;
  Array<std::uint16_t> common;
};

/// States are numbered from 0; a feature has `states[j]` of them, gaps counted.
struct BinnedTable {
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::vector<std::int32_t> states;
  std::variant<DenseCodes, SparseCodes> codes;
};

/// The class of each example, numbered from 0 in ascending order of the label; `names` has one entry for each class.
struct BinnedTarget {
  std::vector<std::int32_t> classes;
  std::vector<std::string> names;
};

}  // namespace sheaf
