// Peptide-spectrum matches as a search engine would report them, with a known truth.
//
// A spectrum has a length of peptide, a charge and a number of candidates. The best incorrect target and the best decoy
// are independent draws of one distribution given these, which is all that target-decoy methods assume. Where the
// correct peptide is among the candidates, its match is better by a difficulty of its own, and the better of it and the
// incorrect one is reported.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/generate.hpp>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "data/parameter_rows.hpp"
#include "data/write/sink.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t spectra_at_once = 2048;
constexpr const char* head =
    "SpecId\tLabel\tScanNr\tExpMass\tCalcMass\tfilename\tlnrSp\tdeltLCn\tdeltCn\tXcorr\tSp\tIonFrac\tMass\tPepLen\t"
    "Charge1\tCharge2\tCharge3\tCharge4\tenzN\tenzC\tenzInt\tlnNumSP\tdM\tabsdM\tPeptide\tProteins\n";

struct Spectrum {
  std::int64_t number;
  std::int64_t scan;
  std::int64_t file;
  int length;
  int charge;
  double candidates;  // logarithm
  double mass;
};

enum class Truth : std::uint8_t { correct, wrong, decoy };
constexpr std::array truth_names{"correct", "wrong", "decoy"};

struct Match {
  Truth truth;
  double xcorr, delta, delta_last, rank, sp, ions, mass_error;
  int length, enzyme_n, enzyme_c, missed;
  std::uint64_t peptide;
};

/// `advantage`: how far a correct match is above incorrect ones, in standard deviations.
Match draw(Random& random, const Spectrum& spectrum, double advantage) {
  Match match{};
  const double quality = random.normal() + advantage;
  const auto like = [&](double loading) {
    return loading * quality + std::sqrt(1 - loading * loading) * random.normal();
  };
  const bool correct = advantage > 0;
  match.truth = correct ? Truth::correct : Truth::wrong;
  match.length = std::max(6, spectrum.length + (correct ? 0 : static_cast<int>(std::lround(random.normal()))));
  match.xcorr = 1.1 + 0.035 * match.length + 0.3 * like(0.85);
  match.delta = 0.08 * std::exp(0.5 * like(0.7));
  match.delta_last = match.delta + 0.05 * std::abs(random.normal());
  match.rank = std::max(0.0, std::round(2.5 - like(0.6)) * 0.693147);
  match.sp = 150 * std::exp(0.5 * like(0.6));
  match.ions = std::clamp(0.3 + 0.1 * like(0.6), 0.0, 1.0);
  match.mass_error = random.normal() * (correct ? 0.004 : 0.010);
  match.enzyme_n = random.uniform() < (correct ? 0.95 : 0.75) ? 1 : 0;
  match.enzyme_c = random.uniform() < (correct ? 0.95 : 0.75) ? 1 : 0;
  match.missed = random.uniform() < (correct ? 0.1 : 0.2) ? 1 : 0;
  return match;
}

/// A sequence that says its number: no two numbers share one.
std::string sequence(std::uint64_t number, char kind) {
  constexpr std::string_view residues = "ACDEFGHILMNPQSTVWY";
  std::string text(1, kind);
  while (number > 0 || text.size() < 7) {
    text += residues[number % residues.size()];
    number /= residues.size();
  }
  return text;
}

class PsmWriter {
 public:
  PsmWriter(const PsmOptions& options, std::uint64_t seed) : options_(options), seed_(seed) {}

  std::string block(std::int64_t number) const {
    Random random(seed_, static_cast<std::uint64_t>(number));
    std::string text;
    const std::int64_t end = std::min(options_.spectra, (number + 1) * spectra_at_once);
    for (std::int64_t i = number * spectra_at_once; i < end; ++i) append_spectrum(text, random, i);
    return text;
  }

 private:
  Spectrum draw_spectrum(Random& random, std::int64_t number) const {
    Spectrum spectrum{};
    spectrum.number = number;
    spectrum.file = number % options_.files;
    spectrum.scan = number / options_.files + 1;
    spectrum.length = 8 + static_cast<int>(random.below(18));
    const double u = random.uniform();
    spectrum.charge = u < 0.03 ? 1 : u < 0.63 ? 2 : u < 0.93 ? 3 : 4;
    spectrum.candidates = 6 + random.normal();
    spectrum.mass = 110 * spectrum.length + 30 * random.normal();
    return spectrum;
  }

  void append_spectrum(std::string& text, Random& random, std::int64_t number) const {
    const Spectrum spectrum = draw_spectrum(random, number);
    const auto wrong_peptides = static_cast<std::uint64_t>(3 * options_.spectra + 1);
    Match target = draw(random, spectrum, 0);
    target.peptide = random.below(wrong_peptides);
    Match decoy = draw(random, spectrum, 0);
    decoy.truth = Truth::decoy;
    decoy.peptide = random.below(wrong_peptides);
    if (random.uniform() < options_.correct) {
      const double difficulty = std::pow(random.uniform(), 1 / 1.5);  // Beta(1.5, 1)
      Match correct = draw(random, spectrum, 4.5 * difficulty + 1e-9);
      const double present = std::max(1.0, static_cast<double>(options_.spectra) * options_.correct / 4);
      correct.peptide = static_cast<std::uint64_t>(present * std::pow(random.uniform(), 3));
      if (correct.xcorr > target.xcorr) target = correct;
    }
    const bool ragged = random.uniform() < 0.1;
    if (options_.separate || target.xcorr > decoy.xcorr) append(text, spectrum, target, ragged);
    if (options_.separate || target.xcorr <= decoy.xcorr) append(text, spectrum, decoy, ragged);
  }

  static void append(std::string& text, const Spectrum& s, const Match& m, bool ragged) {
    const bool decoy = m.truth == Truth::decoy;
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{}_{}_{}_{}\t{}\t{}\t{:.4f}\t{:.4f}\trun{}\t", s.file, s.scan, s.charge,
                   truth_names[static_cast<std::size_t>(m.truth)], decoy ? -1 : 1, s.scan, s.mass,
                   s.mass + m.mass_error, s.file);
    fmt::format_to(out, "{:.5g}\t{:.5g}\t{:.5g}\t{:.5g}\t{:.5g}\t{:.4g}\t{:.6g}\t{}\t{}\t{}\t{}\t{}\t", m.rank,
                   m.delta_last, m.delta, m.xcorr, m.sp, m.ions, s.mass, m.length, s.charge == 1 ? 1 : 0,
                   s.charge == 2 ? 1 : 0, s.charge == 3 ? 1 : 0, s.charge == 4 ? 1 : 0);
    const char kind = decoy ? 'D' : m.truth == Truth::correct ? 'C' : 'W';
    const std::string peptide = sequence(m.peptide, kind);
    fmt::format_to(out, "{}\t{}\t{}\t{:.5g}\t{:.5g}\t{:.5g}\tK.{}K.R\t{}P{}", m.enzyme_n, m.enzyme_c, m.missed,
                   s.candidates, m.mass_error, std::abs(m.mass_error), peptide, decoy ? "decoy_" : "", m.peptide / 8);
    if (ragged) fmt::format_to(out, "\t{}Q{}", decoy ? "decoy_" : "", m.peptide / 16);
    text += '\n';
  }

  PsmOptions options_;
  std::uint64_t seed_;
};

}  // namespace

void generate_psms(const Context& context, const PsmOptions& options, const std::string& path) {
  const PsmWriter writer(options, context.seed());
  const auto sink = open_sink(path);
  const std::int64_t blocks = (options.spectra + spectra_at_once - 1) / spectra_at_once;
  Stage stage(context.progress(), "generating", blocks, context.stop());
  sink->write(head);
  const auto together = static_cast<std::int64_t>(context.threads()) * 4;
  for (std::int64_t first = 0; first < blocks; first += together) {
    std::vector<std::string> texts(static_cast<std::size_t>(std::min(together, blocks - first)));
    parallel_for(context, static_cast<std::int64_t>(texts.size()),
                 [&](std::int64_t k) { texts[static_cast<std::size_t>(k)] = writer.block(first + k); });
    for (const auto& text : texts) sink->write(text);
    stage.advance(static_cast<std::int64_t>(texts.size()));
  }
  sink->finish();
}

template <>
const std::vector<Parameter<PsmOptions>>& parameters() {
  using O = PsmOptions;
  static const std::vector<Parameter<O>> rows{
      number_row<O, std::int64_t>("spectra", &O::spectra, {1, 1'000'000'000}, "spectra"),
      number_row<O, double>("correct", &O::correct, {0, 1}, "share of spectra whose peptide is among the candidates"),
      number_row<O, int>("files", &O::files, {1, 10'000}, "spectrum files that they come from"),
      yes_no_row<O>("separate", &O::separate, "targets and decoys of separate searches, one of each for a spectrum"),
  };
  return rows;
}

}  // namespace sheaf
