// The semi-supervised loop: targets that a score separates from decoys are the positives from which the next score is
// learnt.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/rescore.hpp>

#include "rescore/training/checkpoint.hpp"
#include "rescore/training/ops.hpp"
#include "rescore/training/rows.hpp"

namespace sheaf::rescore {

/// How to begin, on normalised features.
struct InitialDirection {
  std::vector<double> weights;     ///< given, the bias last; empty: the best feature of each training part
  std::vector<double> fallback;    ///< if training fails; empty: the best feature of each training part
  std::int32_t required_sign = 0;  ///< of feature |required_sign| - 1 in the trained weights; 0: none
};

struct Trained {
  std::vector<std::vector<double>> weights;  ///< of each fold, on normalised features
  std::vector<std::uint16_t> folds;          ///< the test fold of each row
  std::vector<RescoreIteration> iterations;
  std::int64_t initial_accepted = 0;
  std::int64_t trained_accepted = 0;
  bool fell_back = false;
  Array<double> scores;  ///< of each row, by the fold that did not see it (see RescoreRules); on the verbs' device
  std::vector<std::string> warnings;
};

/// Trains, checks against the initial direction, and scores every row. `saved`: the journal in which training is saved
/// and from which it continues; null: none.
template <class T>
Trained train(const Context& context, RescoreOps<T>& ops, const TrainingRows& rows, const InitialDirection& initial,
              const RescoreOptions& options, ParkMiller& random, CheckpointFile* saved = nullptr);

}  // namespace sheaf::rescore
