// Groups of PSMs whose errors are estimated apart.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rescore/input/psms.hpp"

namespace sheaf::rescore {

/// The group of each row by `what`: "file" (of the spectrum), "modified" (whether the peptide has a modification),
/// "charge" (by the columns Charge1, Charge2 ...), or the values of a feature. Features must still be as they were
/// read.
template <class T>
void find_groups(const Psms<T>& psms, const std::string& what, std::vector<std::int32_t>& groups,
                 std::vector<std::string>& names);

/// The charge of each PSM, by the columns Charge1, Charge2 ..., of which one holds 1; 0: none does. Empty: there are no
/// such columns.
template <class T>
std::vector<std::int8_t> find_charges(const Psms<T>& psms);

}  // namespace sheaf::rescore
