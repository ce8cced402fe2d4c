// Synthetic datasets whose informative features are known, for demonstrations, tests and benchmarks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf {

struct GenerateOptions {
  std::string kind = "microbes";  ///< a name from generators()
  std::int64_t rows = 0;          ///< 0: the kind's default
  std::int64_t features = 0;      ///< 0: the kind's default
  std::int64_t informative = -1;  ///< planted features; -1: the kind's default, fewer where features are few
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
  /// How strongly and which way each of them acts. Regression: its coefficient. Two classes: positive where it is
  /// larger in the class called 1, +1, sick or tumour. More classes: how far it rises in the one class that it marks.
  /// (classification: the difference of the means of classes 1 and 0; more classes: of the largest and smallest mean.)
  std::vector<double> weights;
};

/// The same bits for the same options and context.seed(), for any number of threads; float is double rounded.
template <class T>
Generated<T> generate(const Context& context, const GenerateOptions& options);

}  // namespace sheaf
