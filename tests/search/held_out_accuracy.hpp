// Held-out predictions of nested validation beside the scores of its outer folds.
#pragma once

#include <cstdint>

#include <gtest/gtest.h>

#include <sheaf/search.hpp>

namespace sheaf::test {

/// The predictions are those of the models that the outer folds chose: their accuracy is the folds' own.
inline void expect_accuracy_of_outer_folds(const SearchResult& result) {
  ASSERT_TRUE(result.held_out);
  for (std::size_t k = 0; k < result.outer.size(); ++k) {
    double right = 0;
    double rows = 0;
    for (std::size_t i = 0; i < result.held_out->size(); ++i) {
      if (result.held_out->splits[i] != static_cast<std::int32_t>(k)) continue;
      ++rows;
      right += result.held_out->truth[i] == result.held_out->classes[i] ? 1 : 0;
    }
    EXPECT_NEAR(right / rows, result.outer[k].scores.score(Metric::accuracy), 1e-12);
  }
}

}  // namespace sheaf::test
