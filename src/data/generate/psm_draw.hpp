// How one peptide-spectrum match comes about, for text files and for features in the memory of any device.
//
// A spectrum has a length of peptide, a charge and a number of candidates. The best incorrect target and the best decoy
// are independent draws of one distribution given these, which is all that target-decoy methods assume. If the correct
// peptide is among the candidates, its match is better by a difficulty of its own, and the better of it and the
// incorrect one is reported.
#pragma once

#include <cmath>
#include <cstdint>

#include <sheaf/context.hpp>

#include "core/host_device.hpp"

namespace sheaf::generating {

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

struct Match {
  Truth truth;
  double xcorr, delta, delta_last, rank, sp, ions, mass_error;
  int length, enzyme_n, enzyme_c, missed;
  std::uint64_t peptide;
};

/// The best target and the best decoy of a spectrum.
struct Matches {
  Match target, decoy;
};

inline constexpr int psm_features = 18;

/// `random`: uniform(), normal() and below(), as Random has them.
template <class Source>
SHEAF_HOST_DEVICE Spectrum draw_spectrum(Source& random, std::int64_t number, int files) {
  Spectrum spectrum{};
  spectrum.number = number;
  spectrum.file = number % files;
  spectrum.scan = number / files + 1;
  spectrum.length = 8 + static_cast<int>(random.below(18));
  const double u = random.uniform();
  spectrum.charge = u < 0.03 ? 1 : u < 0.63 ? 2 : u < 0.93 ? 3 : 4;
  spectrum.candidates = 6 + random.normal();
  spectrum.mass = 110 * spectrum.length + 30 * random.normal();
  return spectrum;
}

/// A value that follows the quality of a match with this correlation.
template <class Source>
SHEAF_HOST_DEVICE double like(Source& random, double quality, double loading) {
  return loading * quality + std::sqrt(1 - loading * loading) * random.normal();
}

/// `advantage`: how far a correct match is above incorrect ones, in standard deviations.
template <class Source>
SHEAF_HOST_DEVICE Match draw_match(Source& random, const Spectrum& spectrum, double advantage) {
  Match match{};
  const double quality = random.normal() + advantage;
  const bool correct = advantage > 0;
  match.truth = correct ? Truth::correct : Truth::wrong;
  const int length = spectrum.length + (correct ? 0 : static_cast<int>(std::lround(random.normal())));
  match.length = length < 6 ? 6 : length;
  match.xcorr = 1.1 + 0.035 * match.length + 0.3 * like(random, quality, 0.85);
  match.delta = 0.08 * std::exp(0.5 * like(random, quality, 0.7));
  match.delta_last = match.delta + 0.05 * std::abs(random.normal());
  const double rank = std::round(2.5 - like(random, quality, 0.6)) * 0.693147;
  match.rank = rank > 0 ? rank : 0;
  match.sp = 150 * std::exp(0.5 * like(random, quality, 0.6));
  const double ions = 0.3 + 0.1 * like(random, quality, 0.6);
  match.ions = ions < 0 ? 0 : ions > 1 ? 1 : ions;
  match.mass_error = random.normal() * (correct ? 0.004 : 0.010);
  match.enzyme_n = random.uniform() < (correct ? 0.95 : 0.75) ? 1 : 0;
  match.enzyme_c = random.uniform() < (correct ? 0.95 : 0.75) ? 1 : 0;
  match.missed = random.uniform() < (correct ? 0.1 : 0.2) ? 1 : 0;
  return match;
}

/// `correct`: the share of spectra whose peptide is among the candidates; `spectra`: how many there are, from which the
/// numbers of peptides follow.
template <class Source>
SHEAF_HOST_DEVICE Matches draw_matches(Source& random, const Spectrum& spectrum, double correct, std::int64_t spectra) {
  const auto wrong_peptides = static_cast<std::uint64_t>(3 * spectra + 1);
  Matches matches{};
  matches.target = draw_match(random, spectrum, 0);
  matches.target.peptide = random.below(wrong_peptides);
  matches.decoy = draw_match(random, spectrum, 0);
  matches.decoy.truth = Truth::decoy;
  matches.decoy.peptide = random.below(wrong_peptides);
  if (random.uniform() >= correct) return matches;
  const double difficulty = std::pow(random.uniform(), 1 / 1.5);  // Beta(1.5, 1)
  Match match = draw_match(random, spectrum, 4.5 * difficulty + 1e-9);
  const double all = static_cast<double>(spectra) * correct / 4;
  match.peptide = static_cast<std::uint64_t>((all < 1 ? 1 : all) * std::pow(random.uniform(), 3));
  if (match.xcorr > matches.target.xcorr) matches.target = match;
  return matches;
}

/// The columns of PIN files that are features, in their order.
SHEAF_HOST_DEVICE inline void write_features(const Spectrum& s, const Match& m, float* x) {
  const double values[psm_features] = {m.rank,
                                       m.delta_last,
                                       m.delta,
                                       m.xcorr,
                                       m.sp,
                                       m.ions,
                                       s.mass,
                                       static_cast<double>(m.length),
                                       s.charge == 1 ? 1.0 : 0.0,
                                       s.charge == 2 ? 1.0 : 0.0,
                                       s.charge == 3 ? 1.0 : 0.0,
                                       s.charge == 4 ? 1.0 : 0.0,
                                       static_cast<double>(m.enzyme_n),
                                       static_cast<double>(m.enzyme_c),
                                       static_cast<double>(m.missed),
                                       s.candidates,
                                       m.mass_error,
                                       std::abs(m.mass_error)};
  for (int j = 0; j < psm_features; ++j) x[j] = static_cast<float>(values[j]);
}

/// Random numbers of one spectrum: splitmix64, of which every state is a place to begin. So any spectrum can be drawn
/// alone, by any thread of any device.
class SpectrumRandom {
 public:
  SHEAF_HOST_DEVICE SpectrumRandom(std::uint64_t seed, std::int64_t spectrum)
      : state_(mixed(mixed(seed) + static_cast<std::uint64_t>(spectrum))) {}

  SHEAF_HOST_DEVICE std::uint64_t bits() { return mixed(state_ += 0x9E3779B97F4A7C15U); }
  SHEAF_HOST_DEVICE double uniform() { return static_cast<double>(bits() >> 11U) * 0x1p-53; }
  SHEAF_HOST_DEVICE std::uint64_t below(std::uint64_t bound) {  // biased by less than bound / 2^53
    return static_cast<std::uint64_t>(uniform() * static_cast<double>(bound));
  }
  /// Box and Muller's method, without the second value.
  SHEAF_HOST_DEVICE double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(6.283185307179586 * uniform());
  }

 private:
  SHEAF_HOST_DEVICE static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31U);
  }

  std::uint64_t state_;
};

/// Destinations of features, labels and truths of PSMs, one for each spectrum: the better of target and decoy.
struct PsmRows {
  float* x;
  std::int8_t* labels;
  std::uint8_t* correct;
};

SHEAF_HOST_DEVICE inline void draw_row(std::uint64_t seed, std::int64_t i, std::int64_t spectra, double correct,
                                       int files, const PsmRows& rows) {
  SpectrumRandom random(seed, i);
  const Spectrum spectrum = draw_spectrum(random, i, files);
  const Matches matches = draw_matches(random, spectrum, correct, spectra);
  const bool target = matches.target.xcorr > matches.decoy.xcorr;
  const Match& match = target ? matches.target : matches.decoy;
  write_features(spectrum, match, rows.x + i * psm_features);
  rows.labels[i] = target ? 1 : -1;
  rows.correct[i] = match.truth == Truth::correct ? 1 : 0;
}

/// All rows, on one GPU.
void draw_rows_cuda(const Context& context, std::int64_t spectra, double correct, int files, const PsmRows& rows);

}  // namespace sheaf::generating
