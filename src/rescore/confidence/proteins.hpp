// Proteins from peptides: the picked strategy (Savitski and others 2015).
#pragma once

#include <string>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/rescore.hpp>

namespace sheaf::rescore {

/// Proteins by the best score among peptides that belong to one protein alone; of a target and the decoy whose name is
/// `decoy_prefix` and the target's, only the better one stays. An empty prefix is found. With a FASTA file
/// groups take the place of proteins. Texts come from result.text.
std::vector<RescoreProtein> pick_proteins(const Context& context, const RescoreResult& result,
                                          const RescoreOptions& options, std::vector<std::string>& warnings);

/// The prefix that the first proteins of all decoys share, up to and with its first underscore.
std::string find_decoy_prefix(const RescoreResult& result);

}  // namespace sheaf::rescore
