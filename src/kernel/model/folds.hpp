// The folds of LIBSVM's cross-validation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernel/model/c_random.hpp"
#include "kernel/model/plan.hpp"

namespace sheaf::kernel {

struct LibsvmFolds {
  std::vector<std::int32_t> order;  // rows, fold after fold
  std::vector<std::size_t> begins;  // folds + 1

  std::int32_t count() const { return static_cast<std::int32_t>(begins.size()) - 1; }
  std::span<const std::int32_t> rows(std::int32_t fold) const {
    const auto f = static_cast<std::size_t>(fold);
    return std::span(order).subspan(begins[f], begins[f + 1] - begins[f]);
  }
  std::vector<std::int32_t> fold_of_rows() const;
};

/// Stratified for classes, unless there is a fold for every row. More folds than rows become as many as rows.
LibsvmFolds deal_folds(const Labels& labels, std::int32_t folds, CRandom& random);

}  // namespace sheaf::kernel
