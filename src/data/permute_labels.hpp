// Labels made independent of the features: a result on them is due to chance.
#pragma once

#include <cstdint>

#include <sheaf/dataset.hpp>

namespace sheaf {

/// The dataset, whose features are borrowed, with its labels permuted among the rows. If all rows of a group have the
/// same label, and so for every group, labels are permuted among the groups. `number`: which of the permutations that a
/// seed draws.
template <class T>
Dataset<T> with_permuted_labels(const Dataset<T>& dataset, std::uint64_t seed, std::uint64_t number);

}  // namespace sheaf
