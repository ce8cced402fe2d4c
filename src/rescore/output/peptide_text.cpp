#include "rescore/output/peptide_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

#include <fmt/format.h>

namespace sheaf::rescore {
namespace {

/// Monoisotopic masses of residues by letter (UNIMOD's list of amino acids); 0: no amino acid, or several.
constexpr std::array<double, 26> residue_masses{
    71.03711381,   // A
    0,             // B
    103.00918496,  // C
    115.02694302,  // D
    129.04259309,  // E
    147.06841391,  // F
    57.02146374,   // G
    137.05891186,  // H
    113.08406398,  // I
    0,             // J
    128.09496302,  // K
    113.08406398,  // L
    131.04048491,  // M
    114.04292744,  // N
    237.14772677,  // O
    97.05276385,   // P
    128.05857751,  // Q
    156.10111103,  // R
    87.03202841,   // S
    101.04767847,  // T
    150.95363559,  // U
    99.06841391,   // V
    186.07931295,  // W
    0,             // X
    163.06332853,  // Y
    0,             // Z
};
constexpr double water_mass = 18.01056468;

constexpr std::string_view mass_key = "CHEMMOD:";

/// Behind the bracket that closes the one at `at`.
std::size_t skip_bracket(std::string_view text, std::size_t at) {
  const char open = text[at];
  const char close = open == '[' ? ']' : open == '(' ? ')' : '}';
  int depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == open ? 1 : text[at] == close ? -1 : 0;
    if (depth == 0) return at + 1;
  }
  return text.size();
}

/// A mass or an accession of UNIMOD as mzTab writes it; "": a name, for which mzTab has no place.
std::string modification(std::string_view text) {
  constexpr std::string_view unimod = "UNIMOD:", psi = "MOD:";
  if (text.starts_with(unimod) || text.starts_with(psi)) return std::string(text);
  const std::string number(text);
  char* end = nullptr;
  std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || std::isalpha(static_cast<unsigned char>(number.back())) != 0) return {};
  const bool has_sign = number.front() == '+' || number.front() == '-';
  return fmt::format("{}{}{}", mass_key, has_sign ? "" : "+", number);
}

/// The part between the amino acids around it, which points set apart; points in brackets do not count.
std::string_view without_flanks(std::string_view text, PeptideText& peptide) {
  if (text.size() < 4 || text[1] != '.' || text[text.size() - 2] != '.') return text;
  peptide.pre = text.substr(0, 1);
  peptide.post = text.substr(text.size() - 1);
  return text.substr(2, text.size() - 4);
}

}  // namespace

PeptideText take_apart(std::string_view text) {
  PeptideText peptide;
  const auto inner = without_flanks(text, peptide);
  bool at_end = false;  // behind c, which stands for the C-terminus
  for (std::size_t at = 0; at < inner.size();) {
    const char c = inner[at];
    if (c == '[' || c == '(' || c == '{') {
      const auto end = skip_bracket(inner, at);
      const auto what = modification(inner.substr(at + 1, end - at - std::min<std::size_t>(end - at, 2)));
      peptide.has_names |= what.empty();
      if (!what.empty())
        peptide.modifications.push_back(fmt::format("{}-{}", peptide.sequence.size() + (at_end ? 1 : 0), what));
      at = end;
      continue;
    }
    at_end = c == 'c';
    if (std::isupper(static_cast<unsigned char>(c)) != 0) peptide.sequence += c;
    ++at;
  }
  return peptide;
}

std::optional<double> monoisotopic_mass(const PeptideText& peptide) {
  if (peptide.has_names || peptide.sequence.empty()) return std::nullopt;
  double mass = water_mass;
  for (const char c : peptide.sequence) {
    const double residue = residue_masses[static_cast<std::size_t>(c - 'A')];
    if (residue == 0) return std::nullopt;
    mass += residue;
  }
  for (const auto& one : peptide.modifications) {
    const auto what = std::string_view(one).substr(one.find('-') + 1);
    if (!what.starts_with(mass_key)) return std::nullopt;
    mass += std::strtod(what.data() + mass_key.size(), nullptr);
  }
  return mass;
}

}  // namespace sheaf::rescore
