// Scores of a study's models, computed where their decision values are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "linear/products/ops.hpp"
#include "score/scorer.hpp"

namespace sheaf::search {

/// A model that is trained: `part` of a batch (see StudyPlan), and the pair of the grid.
struct StudyModel {
  std::int32_t part = 0;
  std::int32_t pair = 0;
};

/// Judges models whose decision values arrive in any order, those of one model not all at once or from one device.
template <class T>
class StudyJudge {
 public:
  StudyJudge(std::span<const Context> contexts, const Dataset<T>& dataset, const linear::Problem& problem,
             const LinearOptions& options);

  std::int32_t positive() const { return positive_; }
  void load_tests(const score::TestRows& tests);
  /// Decision value columns[t] of models[t] is column t of `z`, on the device of one of the contexts. Calls use(model,
  /// scores) for each that is complete.
  void judge(std::size_t context, BlockView<const T> z, std::span<const StudyModel> models,
             std::span<const std::int32_t> columns, const std::function<void(const StudyModel&, const Scores&)>& use);

 private:
  struct Place {
    Device device;
    score::Scorer<T> judge;
    std::unique_ptr<linear::LinearOps<T>> ops;  // three classes or more
  };
  struct Parts {
    Block<T> decisions;  // on the first device
    std::int32_t missing = 0;
  };
  Parts& gather(std::size_t context, BlockView<const T> z, std::int32_t t, const StudyModel& model,
                std::int32_t column);

  std::int64_t rows_;
  std::int32_t columns_;
  std::int32_t positive_;
  std::vector<Place> places_;                                       // of the contexts
  std::map<std::pair<std::int32_t, std::int32_t>, Parts> waiting_;  // for other decision values, by part and pair
};

}  // namespace sheaf::search
