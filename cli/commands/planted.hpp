// The planted features of a generated dataset, as CSV.
#pragma once

#include <string>

#include <fmt/format.h>

#include <sheaf/generate.hpp>

namespace sheaf::cli {

template <class T>
std::string planted_table(const Generated<T>& generated) {
  std::string text = "position,name,weight\n";
  for (std::size_t k = 0; k < generated.informative.size(); ++k) {
    const auto j = generated.informative[k];
    text += fmt::format("{},{},{}\n", j + 1, generated.dataset.feature_name(j), generated.weights[k]);
  }
  return text;
}

}  // namespace sheaf::cli
