// Peptides as search engines write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sheaf::rescore {

/// A peptide such as K.PEPM[15.9949]IDE.R, taken apart.
struct PeptideText {
  std::string sequence;                    ///< letters alone
  std::vector<std::string> modifications;  ///< "4-CHEMMOD:+15.9949"; 0 and length + 1 are the ends
  std::string pre, post;                   ///< the amino acids around it; -: an end of the protein; empty: not known
  bool has_names = false;                  ///< of modifications, which are left out
};

/// Masses in brackets are those that modifications add.
PeptideText take_apart(std::string_view text);

/// The mass of the neutral molecule, all isotopes the most frequent ones. None if the peptide has letters that are no
/// amino acid, or modifications whose masses it does not say.
std::optional<double> monoisotopic_mass(const PeptideText& peptide);

}  // namespace sheaf::rescore
