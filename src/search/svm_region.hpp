// Where an automatic search for a kernel's parameters begins.
#pragma once

#include <sheaf/dataset.hpp>
#include <sheaf/svm_search.hpp>

#include "search/explorer.hpp"

namespace sheaf::search {

inline bool has_gamma(KernelType type) { return kernel_function(type).has_gamma; }

/// Costs from 2^-4 to 2^8, and gammas around the one at which typical distances have a kernel value of 1/e.
template <class T>
Region region_of(const Dataset<T>& dataset, const SvmSearchOptions& options);

}  // namespace sheaf::search
