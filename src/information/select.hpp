// The steps of a selection, shared by single runs and ensembles.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <sheaf/selection.hpp>

#include "information/count/class_entropies.hpp"
#include "information/count/ops.hpp"

namespace sheaf::information {

/// Throws for a wrong request. Does not check what a criterion that works on numbers needs.
void check_states_request(const BinnedTable& table, const BinnedTarget& target, const SelectionOptions& options);
/// The same, and refuses criteria that work on numbers.
void check_request(const BinnedTable& table, const BinnedTarget& target, const SelectionOptions& options);

/// The counting method that suits the dataset, the criterion and all devices of the request.
Counting counting_for(const Context& context, const Problem& problem, const SelectionOptions& options);

/// All devices of the request as one.
std::unique_ptr<Ops> make_devices(const Context& context, const Problem& problem, const SelectionOptions& options,
                                  Counting counting);

/// `ops` may have served another selection on the same rows before.
Selection select_with(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
                      const SelectionOptions& options);

/// One selection for each resample, over one resident table: a weight for every row, never a copy. Pairs that several
/// of them need are counted once. `options`: of each resample; they may differ in their scores of ties.
std::vector<Selection> select_resamples(const Context& context, const BinnedTable& table, const BinnedTarget& target,
                                        std::span<const SelectionOptions> options,
                                        std::vector<std::vector<std::uint32_t>> resamples);

/// I(partner;candidate) of each pair; partner p is feature partners[p].
std::vector<double> pair_informations(const Entropies& entropies, Ops& ops, std::span<const std::int64_t> partners,
                                      std::span<const Pair> pairs);

}  // namespace sheaf::information
