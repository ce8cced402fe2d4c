// Synthetic datasets whose informative features are known, for demonstrations, tests and benchmarks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/parameters.hpp>

namespace sheaf {

struct GenerateOptions {
  std::string kind = "microbes";  ///< a name from generators()
  std::int64_t rows = 0;          ///< 0: the kind's default
  std::int64_t features = 0;      ///< 0: the kind's default
  std::int64_t informative = -1;  ///< planted features; -1: the kind's default, fewer if features are few
  std::int64_t redundant = -1;    ///< classification: mixtures of the informative features; -1: half as many
  std::int64_t nonzeros = 0;      ///< sparse kinds: about how many in all; 0: the kind's default for each row
  int classes = 2;                ///< all kinds but regression
  double noise = -1;  ///< fraction of labels moved to another class; regression: sd of the noise; -1: default
  double effect = 1;  ///< strength of the planted features; 0: the labels are noise
};

/// One row of the table of kinds.
struct Generator {
  std::string_view name;
  std::string_view about;
  std::int64_t rows, features, informative;  ///< defaults
  std::int64_t row_nonzeros;                 ///< default non-zeros of a row; 0: a dense kind
  double noise;                              ///< default
};
/// microbes, classification, text, regression, genes.
std::span<const Generator> generators();

template <class T>
struct Generated {
  Dataset<T> dataset;
  std::vector<std::int64_t> informative;  ///< planted features, ascending, from 0
  /// How strongly and which way each of them acts. Regression: its coefficient. Two classes: positive if it is larger
  /// in the class called 1, +1, sick or tumour. More classes: how far it rises in the one class that it marks.
  /// (classification: the difference of the means of classes 1 and 0; more classes: of the largest and smallest mean.)
  std::vector<double> weights;
};

/// The same bits for the same options and context.seed(), for any number of threads; float is double rounded.
template <class T>
Generated<T> generate(const Context& context, const GenerateOptions& options);

/// Peptide-spectrum matches with a known truth, for rescoring.
struct PsmOptions {
  std::int64_t spectra = 50'000;
  double correct = 0.35;  ///< share of spectra whose peptide is among the candidates
  int files = 1;          ///< spectrum files; scans count from 1 in each
  bool separate = false;  ///< the best target and the best decoy of each spectrum; else only the better of the two
};

/// Writes a PIN file of 18 features; "-" is standard output, and the ending of `path` may select compression. An
/// incorrect target and the decoy of a spectrum are two draws from one distribution, so that decoys count incorrect
/// targets exactly. Ids end in _correct, _wrong or _decoy. The same bytes for the same options and context.seed(), for
/// any number of threads; memory does not grow with the number of spectra.
void generate_psms(const Context& context, const PsmOptions& options, const std::string& path);

/// The same kind of PSMs (other draws) without texts, in the memory of the context's device: one row for each spectrum.
struct GeneratedPsms {
  DenseMatrix<float> x;         ///< the 18 features
  Array<std::int8_t> labels;    ///< 1: target, -1: decoy
  Array<std::uint8_t> correct;  ///< 1: the match is correct
};
/// A row depends on the options, context.seed() and its number alone, and not on the device but for rounding.
GeneratedPsms generate_psm_features(const Context& context, const PsmOptions& options);

template <>
const std::vector<Parameter<GenerateOptions>>& parameters();
template <>
const std::vector<Parameter<PsmOptions>>& parameters();

}  // namespace sheaf
