#include "rescore/confidence/proteins.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "data/bytes/sink.hpp"
#include "rescore/confidence/confidence.hpp"
#include "rescore/confidence/pep.hpp"
#include "rescore/confidence/peptides.hpp"
#include "rescore/confidence/protein_groups.hpp"

namespace sheaf {
namespace rescore {
namespace {

/// Proteins as results name them: themselves, or their groups if there is a FASTA file.
class ProteinNames {
 public:
  ProteinNames(const Context& context, const RescoreOptions& options, std::string prefix)
      : separator_(options.protein_separator), prefix_(std::move(prefix)) {
    if (!options.fasta.empty())
      groups_ = std::make_unique<ProteinGroups>(context, options.fasta, options.enzyme, prefix_);
  }

  /// The only protein or group of a PSM; none if there are several.
  std::optional<std::string> only(const PsmView& psm) {
    std::string_view proteins = psm.proteins;
    if (separator_ != "\t") proteins = proteins.substr(0, proteins.find('\t'));
    std::optional<std::string> only;
    while (!proteins.empty()) {
      const auto end = std::min(proteins.find(separator_), proteins.size());
      if (end > 0) {
        auto name = name_of(proteins.substr(0, end), psm.target);
        if (only && *only != name) return std::nullopt;
        only = std::move(name);
      }
      proteins.remove_prefix(std::min(end + separator_.size(), proteins.size()));
    }
    return only;
  }

  const std::set<std::string>& unknown() const { return unknown_; }  ///< not in the FASTA file

 private:
  std::string name_of(std::string_view protein, bool target) {
    if (!groups_) return std::string(protein);
    const bool prefixed = !target && protein.starts_with(prefix_);
    const auto group = groups_->find(prefixed ? protein.substr(prefix_.size()) : protein);
    if (group >= 0) return groups_->name(group, prefixed ? prefix_ : "");
    unknown_.emplace(protein);
    return std::string(protein);
  }

  std::string separator_, prefix_;
  std::unique_ptr<ProteinGroups> groups_;
  std::set<std::string> unknown_;
};

/// The name that a target and its decoy share; for groups, that of the first member.
std::string pair_name(const RescoreProtein& protein, const std::string& prefix, bool groups) {
  const bool prefixed = !protein.target && protein.name.size() > prefix.size();
  const std::string name = prefixed ? protein.name.substr(prefix.size()) : protein.name;
  return groups ? name.substr(0, name.find(',')) : name;
}

}  // namespace

std::string find_decoy_prefix(const RescoreResult& result) {
  std::optional<std::string> shared;
  for (const auto row : result.psms.rows) {
    if (result.is_target(row)) continue;
    const PsmView psm = result.text(row);
    const auto name = psm.proteins.substr(0, psm.proteins.find('\t'));
    if (!shared) shared = name;
    const auto end = std::mismatch(shared->begin(), shared->end(), name.begin(), name.end()).first;
    shared->erase(end, shared->end());
  }
  if (!shared) return {};
  const auto underscore = shared->find('_');
  return underscore == std::string::npos ? *shared : shared->substr(0, underscore + 1);
}

std::vector<RescoreProtein> pick_proteins(const Context& context, const RescoreResult& result,
                                          const RescoreOptions& options, std::vector<std::string>& warnings) {
  const std::string prefix = options.decoy_prefix.empty() ? find_decoy_prefix(result) : options.decoy_prefix;
  ProteinNames proteins(context, options, prefix);
  std::vector<RescoreProtein> all;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t k = 0; k < result.peptides.rows.size(); ++k) {
    const std::int32_t row = result.peptides.rows[k];
    const PsmView psm = result.text(row);
    const auto name = proteins.only(psm);
    if (!name) continue;
    const auto [entry, fresh] = places.try_emplace(*name, all.size());
    if (fresh)
      all.push_back(
          {entry->first, static_cast<std::int32_t>(all.size()) + 1, psm.target, result.peptides.scores[k], 1, 1, {}});
    all[entry->second].peptides.push_back(row);  // peptides come the best first
  }
  if (!proteins.unknown().empty())
    warnings.push_back(fmt::format("{} proteins, '{}' among them, are not in {}: each is a group of its own",
                                   proteins.unknown().size(), *proteins.unknown().begin(), options.fasta));
  // In the order of first appearance scores fall already; of a pair the first one stays.
  std::set<std::string> seen;
  std::vector<RescoreProtein> picked;
  for (auto& protein : all)
    if (seen.insert(pair_name(protein, prefix, !options.fasta.empty())).second) picked.push_back(std::move(protein));
  if (picked.size() == all.size())
    warnings.push_back(fmt::format(
        "no decoy protein is named as a target protein after '{}': proteins are not picked in pairs", prefix));
  std::vector<double> scores;
  std::vector<std::uint8_t> targets;
  for (const auto& protein : picked) {
    scores.push_back(protein.score);
    targets.push_back(protein.target ? 1 : 0);
  }
  const Ranking ranking{scores, targets};
  const auto q = q_values(ranking, {});
  const auto pep = options.rules == RescoreRules::percolator ? negated_spline_peps(ranking) : isotonic_peps(ranking);
  for (std::size_t k = 0; k < picked.size(); ++k) {
    picked[k].q = q[k];
    picked[k].pep = pep[k];
  }
  return picked;
}

}  // namespace rescore

void write_proteins(const RescoreResult& result, RescoreRules rules, bool targets, const std::string& path) {
  const auto sink = open_sink(path);
  sink->write("ProteinId\tProteinGroupId\tq-value\tposterior_error_prob\tpeptideIds\n");
  for (const auto& protein : result.proteins) {
    if (protein.target != targets) continue;
    std::string line = fmt::format("{}\t{}\t{:g}\t{:g}\t", protein.name, protein.group, protein.q, protein.pep);
    for (const auto row : protein.peptides) {
      line += rescore::peptide_key(result.text(row).peptide, rules);
      line += ' ';
    }
    sink->write(line + "\n");
  }
  sink->finish();
}

}  // namespace sheaf
