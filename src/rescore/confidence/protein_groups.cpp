#include "rescore/confidence/protein_groups.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/bytes/text_source.hpp"
#include "data/read/reading.hpp"

namespace sheaf::rescore {
namespace {

/// Cuts behind residues of `after` unless one of `but` follows, and before those of `before`.
struct Enzyme {
  const char* name;
  std::string_view after, but, before;
};
constexpr Enzyme enzymes[] = {
    {"trypsin", "KR", "P", ""}, {"trypsinp", "KR", "", ""},    {"lys-c", "K", "P", ""},
    {"lys-n", "", "", "K"},     {"arg-c", "R", "P", ""},       {"asp-n", "", "", "D"},
    {"glu-c", "E", "P", ""},    {"elastase", "LVAG", "P", ""}, {"chymotrypsin", "FWYL", "P", ""},
    {"pepsin", "FL", "R", ""},  {"no_enzyme", "", "", ""},
};

const Enzyme& find_enzyme(const std::string& name) {
  for (const Enzyme& enzyme : enzymes)
    if (name == enzyme.name) return enzyme;
  fail_unknown("enzyme", name, enzyme_names());
}

bool holds(std::string_view residues, char residue) { return residues.find(residue) != std::string_view::npos; }

struct Protein {
  std::string name, sequence;
};

std::vector<Protein> read_fasta(const Context& context, const std::string& path) {
  const TextSource source(path, context.progress(), context.stop());
  const ReadOptions options;
  const Reading reading{context, source.text(), path, options};
  check_is_text(reading);
  std::vector<Protein> proteins;
  for (const char* at = reading.text.data(); at < reading.limit();) {
    const char* end = line_end(at, reading.limit());
    std::string_view line(at, static_cast<std::size_t>(end - at));
    while (!line.empty() && std::isspace(static_cast<unsigned char>(line.back())) != 0) line.remove_suffix(1);
    at = end + 1;
    if (line.empty() || line[0] == ';') continue;
    if (line[0] == '>') {
      const auto name = line.substr(1, line.find_first_of(" \t") - 1);
      if (name.empty()) fail_at(reading, line.data(), "the name of a protein expected behind >");
      if (!proteins.empty() && proteins.back().sequence.empty())
        fail_at(reading, line.data(),
                fmt::format("the sequence of '{}' expected, found another name", proteins.back().name));
      proteins.push_back({checked_name(reading, name, name.data()), {}});
      continue;
    }
    if (proteins.empty()) fail_at(reading, line.data(), "a line that begins with > and a protein's name expected");
    for (const char& c : line) {
      if (std::isalpha(static_cast<unsigned char>(c)) == 0 && c != '*' && c != '-')
        fail_at(reading, &c, fmt::format("a residue expected, found {}", shown({&c, 1})));
      proteins.back().sequence += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
  }
  if (proteins.empty()) fail("{}: holds no protein", path);
  return proteins;
}

/// Numbers of the different peptides of each protein, ascending.
std::vector<std::vector<std::int32_t>> peptide_sets(const std::vector<Protein>& proteins, const std::string& enzyme) {
  constexpr std::size_t shortest = 6;
  constexpr std::size_t longest = 50;
  std::unordered_map<std::string_view, std::int32_t> numbers;
  std::vector<std::vector<std::int32_t>> sets(proteins.size());
  for (std::size_t p = 0; p < proteins.size(); ++p) {
    auto& mine = sets[p];
    for (const auto peptide : digested(proteins[p].sequence, enzyme))
      if (peptide.size() >= shortest && peptide.size() <= longest)
        mine.push_back(numbers.try_emplace(peptide, static_cast<std::int32_t>(numbers.size())).first->second);
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
  }
  return sets;
}

}  // namespace

std::vector<std::string> enzyme_names() {
  std::vector<std::string> names;
  for (const Enzyme& enzyme : enzymes) names.emplace_back(enzyme.name);
  return names;
}

void check_enzyme(const std::string& name) { find_enzyme(name); }

std::vector<std::string_view> digested(std::string_view sequence, const std::string& enzyme) {
  const Enzyme& rule = find_enzyme(enzyme);
  std::vector<std::string_view> peptides;
  std::size_t begin = 0;
  for (std::size_t i = 1; i < sequence.size(); ++i) {
    const bool behind = holds(rule.after, sequence[i - 1]) && !holds(rule.but, sequence[i]);
    if (!behind && !holds(rule.before, sequence[i])) continue;
    peptides.push_back(sequence.substr(begin, i - begin));
    begin = i;
  }
  if (begin < sequence.size()) peptides.push_back(sequence.substr(begin));
  return peptides;
}

ProteinGroups::ProteinGroups(const Context& context, const std::string& fasta, const std::string& enzyme,
                             const std::string& decoy_prefix) {
  auto proteins = read_fasta(context, fasta);
  if (!decoy_prefix.empty())
    std::erase_if(proteins, [&](const Protein& one) { return one.name.starts_with(decoy_prefix); });
  const auto sets = peptide_sets(proteins, enzyme);
  std::int32_t peptides = 0;
  for (const auto& mine : sets)
    if (!mine.empty()) peptides = std::max(peptides, mine.back() + 1);
  // From the largest set to the smallest; a set joins the first group whose leader's set holds it. Leaders that could
  // are those with the peptide that the fewest leaders have.
  std::vector<std::int32_t> order(proteins.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return sets[static_cast<std::size_t>(a)].size() > sets[static_cast<std::size_t>(b)].size();
  });
  std::vector<std::vector<std::int32_t>> leaders(static_cast<std::size_t>(peptides));  // groups, by peptide
  for (const auto& protein : proteins) names_.push_back(protein.name);
  for (const std::int32_t p : order) {
    const auto& mine = sets[static_cast<std::size_t>(p)];
    std::int32_t group = -1;
    if (!mine.empty()) {
      const auto rarest = *std::min_element(mine.begin(), mine.end(), [&](std::int32_t a, std::int32_t b) {
        return leaders[static_cast<std::size_t>(a)].size() < leaders[static_cast<std::size_t>(b)].size();
      });
      for (const std::int32_t one : leaders[static_cast<std::size_t>(rarest)]) {
        const auto& larger = sets[static_cast<std::size_t>(members_[static_cast<std::size_t>(one)][0])];
        if (!std::includes(larger.begin(), larger.end(), mine.begin(), mine.end())) continue;
        group = one;
        break;
      }
    }
    if (group < 0) {
      group = static_cast<std::int32_t>(members_.size());
      members_.emplace_back();
      for (const std::int32_t peptide : mine) leaders[static_cast<std::size_t>(peptide)].push_back(group);
    }
    members_[static_cast<std::size_t>(group)].push_back(p);
    groups_.try_emplace(names_[static_cast<std::size_t>(p)], group);
  }
}

std::int32_t ProteinGroups::find(std::string_view protein) const {
  const auto found = groups_.find(protein);
  return found == groups_.end() ? -1 : found->second;
}

std::string ProteinGroups::name(std::int32_t group, const std::string& prefix) const {
  std::string text;
  for (const std::int32_t p : members_[static_cast<std::size_t>(group)]) {
    if (!text.empty()) text += ',';
    text += prefix;
    text += names_[static_cast<std::size_t>(p)];
  }
  return text;
}

}  // namespace sheaf::rescore
