// Proteins that peptides cannot distinguish, from their sequences.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <sheaf/context.hpp>

namespace sheaf::rescore {

/// Names of the supported enzymes.
std::vector<std::string> enzyme_names();

/// A UsageError for one that is not.
void check_enzyme(const std::string& name);

/// The peptides, in order, into which an enzyme cuts a sequence.
std::vector<std::string_view> digested(std::string_view sequence, const std::string& enzyme);

/// Proteins of a FASTA file in groups: one whose peptides (6 to 50 residues, cut everywhere) are all peptides of
/// another protein is in that one's group. Sequences of decoys are left out: a decoy is in the group of its target.
class ProteinGroups {
 public:
  ProteinGroups(const Context& context, const std::string& fasta, const std::string& enzyme,
                const std::string& decoy_prefix);

  /// The group of a target protein; -1: not in the file.
  std::int32_t find(std::string_view protein) const;
  /// The members, the one with most peptides first, with commas between them; `prefix` before each.
  std::string name(std::int32_t group, const std::string& prefix = {}) const;

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string_view, std::int32_t> groups_;  // views of names_
  std::vector<std::vector<std::int32_t>> members_;
};

}  // namespace sheaf::rescore
