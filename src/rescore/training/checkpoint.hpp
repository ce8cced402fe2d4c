// Training that is saved now and then, so that a run that was ended before its end goes on from there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <sheaf/rescore.hpp>

namespace sheaf::rescore {

/// What training continues from. Every vector of weights has the bias last.
struct Checkpoint {
  std::vector<RescoreIteration> iterations;
  std::int64_t initial_accepted = 0;
  std::vector<std::vector<double>> start_weights;  ///< of each fold, before the first iteration
  std::vector<std::vector<double>> weights;        ///< of each fold, after the last one
  std::vector<std::vector<double>> svm_weights;    ///< of each SVM
  std::vector<std::string> warnings;
};

/// Where it is saved.
struct CheckpointFile {
  std::string path;  ///< empty: nowhere
  bool resume = false;
  std::string run;  ///< what it is of: a checkpoint of another run is an Error

  /// What was saved; none where there is no file, or training is not to be resumed.
  std::optional<Checkpoint> read() const;
  /// Returns when the file is whole; its folder is made where it is missing.
  void write(const Checkpoint& checkpoint) const;
};

}  // namespace sheaf::rescore
