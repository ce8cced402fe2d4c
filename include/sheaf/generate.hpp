// Seeded tables with a known truth, for demonstrations, tests and benchmarks.
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
  std::int64_t informative = -1;  ///< planted features; -1: the kind's default
  std::int64_t nonzeros = 0;      ///< sparse kinds: about how many in all; 0: the kind's default
  int classes = 2;
  double noise = -1;  ///< classification: fraction of labels flipped; regression: sd of the noise; -1: default
  double effect = 1;  ///< strength of the planted features
};

struct Generator {
  std::string_view name;
  std::string_view about;
  std::int64_t rows, features, informative;  ///< defaults
};
/// microbes, classification, text, regression, genes.
std::span<const Generator> generators();

template <class T>
struct Generated {
  Dataset<T> dataset;
  std::vector<std::int64_t> informative;  ///< planted features, ascending, from 0
  std::vector<double> weights;            ///< their true weights
};

/// The same bits for the same options and context.seed(), for any number of threads.
template <class T>
Generated<T> generate(const Context& context, const GenerateOptions& options);

}  // namespace sheaf
