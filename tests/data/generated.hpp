// Generated tables for tests.
#pragma once

#include <string_view>

#include <sheaf/generate.hpp>

#include "tables.hpp"

namespace sheaf::test {

inline GenerateOptions of_kind(std::string_view kind, std::int64_t rows = 0, std::int64_t features = 0) {
  GenerateOptions options;
  options.kind = kind;
  options.rows = rows;
  options.features = features;
  return options;
}

template <class T>
Generated<T> make(const GenerateOptions& options, std::uint64_t seed = 0, int threads = 2) {
  return generate<T>(with_threads(threads, seed), options);
}

/// Whether row i is of the class that positive weights point to.
template <class T>
bool positive(const Dataset<T>& dataset, std::size_t i) {
  const auto& name = dataset.target.class_names[static_cast<std::size_t>(dataset.target.classes[i])];
  return name == "sick" || name == "+1" || name == "1" || name == "tumour";
}

}  // namespace sheaf::test
