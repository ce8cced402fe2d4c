// Keys that are equal if two matches are of the same peptide.
#pragma once

#include <string_view>

#include <sheaf/rescore.hpp>

#include "rescore/confidence/ops.hpp"
#include "rescore/input/psms.hpp"

namespace sheaf::rescore {

/// The text without the flanking residues of the peptide.
std::string_view peptide_key(std::string_view peptide, RescoreRules rules);

/// Fingerprint of the key and the label: a target and a decoy are never one peptide.
Fingerprint peptide_fingerprint(std::string_view peptide, bool target, RescoreRules rules);

/// Fingerprints of every row. The files are read once more, in their order, whatever the order of the rows: the pages
/// of a piece are given back before the next one is read.
template <class T>
Array<Fingerprint> peptide_fingerprints(const Context& context, const Psms<T>& psms, RescoreRules rules);

}  // namespace sheaf::rescore
