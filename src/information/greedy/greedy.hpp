// The greedy loops of selection: which candidates are counted, in which order, and which one is picked.
#pragma once

#include <sheaf/selection.hpp>

#include "information/count/class_entropies.hpp"
#include "information/count/ops.hpp"

namespace sheaf::information {

/// Forward selection with any row of criteria.cpp. `ops` serves the problem and has no partners yet.
Selection select_greedily(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
                          const SelectionOptions& options);

/// Yu and Liu 2003, as in FEAST: in descending order of symmetrical uncertainty, each kept feature drops those it
/// predicts better than they predict the class.
Selection filter_by_correlation(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
                                const SelectionOptions& options);

}  // namespace sheaf::information
