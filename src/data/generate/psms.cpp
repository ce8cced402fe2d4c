// Peptide-spectrum matches as a search engine would report them, with a known truth; see psm_draw.hpp.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/generate.hpp>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "data/bytes/sink.hpp"
#include "data/generate/psm_draw.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t spectra_at_once = 2048;
constexpr const char* head =
    "SpecId\tLabel\tScanNr\tExpMass\tCalcMass\tfilename\tlnrSp\tdeltLCn\tdeltCn\tXcorr\tSp\tIonFrac\tMass\tPepLen\t"
    "Charge1\tCharge2\tCharge3\tCharge4\tenzN\tenzC\tenzInt\tlnNumSP\tdM\tabsdM\tPeptide\tProteins\n";

using namespace generating;  // NOLINT(google-build-using-namespace): this file writes the draws of that one

constexpr std::array truth_names{"correct", "wrong", "decoy"};

/// A sequence that encodes its number: no two numbers share one.
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
  void append_spectrum(std::string& text, Random& random, std::int64_t number) const {
    const Spectrum spectrum = draw_spectrum(random, number, options_.files);
    const auto [target, decoy] = draw_matches(random, spectrum, options_.correct, options_.spectra);
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

GeneratedPsms generate_psm_features(const Context& context, const PsmOptions& options) {
  if (options.separate) throw UsageError("features are made for one match of each spectrum, not for separate searches");
  const std::int64_t count = options.spectra;
  const Device device = context.device();
  GeneratedPsms made{{count, psm_features, Array<float>(count * psm_features, device)},
                     Array<std::int8_t>(count, device),
                     Array<std::uint8_t>(count, device)};
  const PsmRows rows{made.x.values.data(), made.labels.data(), made.correct.data()};
  if (device.is_cpu()) {
    parallel_ranges(context, count, spectra_at_once, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i)
        draw_row(context.seed(), i, count, options.correct, options.files, rows);
    });
    return made;
  }
#if SHEAF_CUDA
  draw_rows_cuda(context, count, options.correct, options.files, rows);
  return made;
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
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
