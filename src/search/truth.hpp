// What the models of linear searches are scored against.
#pragma once

#include <cstdint>

#include <sheaf/dataset.hpp>

#include "linear/model/problem.hpp"
#include "score/test_rows.hpp"

namespace sheaf::search {

/// The larger number, or the name that appears second; of three classes or more none.
inline std::int32_t positive_class(const linear::Problem& problem, const Target& target) {
  if (problem.class_names.size() != 2) return -1;
  if (target.values.empty()) return 1;
  for (std::size_t i = 0; i < problem.classes.size(); ++i)
    if (problem.classes[i] != problem.classes[0])
      return target.values[i] > target.values[0] ? problem.classes[i] : problem.classes[0];
  return 1;
}

inline score::Truth truth_of(const linear::Problem& problem, const Target& target) {
  const auto classes = static_cast<std::int32_t>(problem.class_names.size());
  if (classes == 0) return {0, -1, {}, problem.sheaf.targets};
  return {classes, positive_class(problem, target), problem.classes, {}};
}

}  // namespace sheaf::search
