// Scores of models by their decision values on the rows that they did not see.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/search.hpp>

#include "linear/problem.hpp"

namespace sheaf::search {

/// Confusion matrices are kept for up to so many classes.
constexpr std::size_t most_confused = 50;

class Judge {
 public:
  /// Both must outlive it.
  Judge(const linear::Problem& problem, const Target& target, const LinearOptions& options);

  std::int32_t positive() const { return positive_; }
  /// `decisions`: test rows x columns.
  ModelScores judge(std::span<const std::int32_t> rows, std::span<const double> decisions) const;

 private:
  ModelScores judge_classes(std::span<const std::int32_t> rows, std::span<const double> decisions) const;
  ModelScores judge_amounts(std::span<const std::int32_t> rows, std::span<const double> decisions) const;

  const linear::Problem& problem_;
  bool probabilities_;
  std::int32_t columns_;
  std::int32_t positive_ = -1;  // of three classes or more: none
};

}  // namespace sheaf::search
