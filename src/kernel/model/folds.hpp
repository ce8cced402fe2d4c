// Folds as LIBSVM deals them.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/model/c_random.hpp"
#include "kernel/model/plan.hpp"

namespace sheaf::kernel {

struct DealtFolds {
  std::vector<std::int32_t> order;  // rows, fold after fold
  std::vector<std::size_t> begins;  // folds + 1

  std::int32_t count() const { return static_cast<std::int32_t>(begins.size()) - 1; }
  std::vector<std::int32_t> testers() const;  // by row: its fold
};

/// Classes are spread evenly over the folds, unless there is a fold for every row; more folds than rows are as many as
/// rows.
DealtFolds deal_folds(const Labels& labels, std::int32_t folds, CRandom& random);

}  // namespace sheaf::kernel
