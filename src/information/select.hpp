// The steps of a selection that single runs and ensembles share.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <sheaf/selection.hpp>

#include "information/facts.hpp"
#include "information/ops.hpp"

namespace sheaf::information {

/// Throws what is wrong with the request.
void check_request(const BinnedTable& table, const BinnedTarget& target, const SelectionOptions& options);

/// Whether partners are merged states of all selected.
bool merges_partners(const SelectionOptions& options);

/// All devices of the request as one.
std::unique_ptr<Ops> make_devices(const Context& context, const Problem& problem, const SelectionOptions& options,
                                  bool merged_partners);

/// `ops` may have served another selection on the same rows before.
Selection select_with(const Context& context, const Problem& problem, const Facts& facts, Ops& ops,
                      const SelectionOptions& options);

/// I(partner;candidate) of each pair; partner p is feature partners[p].
std::vector<double> pair_informations(const Facts& facts, Ops& ops, std::span<const std::int64_t> partners,
                                      std::span<const Pair> pairs);

}  // namespace sheaf::information
