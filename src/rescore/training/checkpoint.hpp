// Training that is saved now and then, so that a run that was ended before its end goes on from there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sheaf/rescore.hpp>

#include "queue/journal.hpp"

namespace sheaf::rescore {

/// The state from which training continues. Every vector of weights has the bias last.
struct Checkpoint {
  std::vector<RescoreIteration> iterations;
  std::int64_t initial_accepted = 0;
  std::vector<std::vector<double>> start_weights;  ///< of each fold, before the first iteration
  std::vector<std::vector<double>> weights;        ///< of each fold, after the last one
  std::vector<std::vector<double>> svm_weights;    ///< of each SVM
  std::vector<std::string> warnings;
};

/// The limits that the numbers of a checkpoint must fit.
struct CheckpointShape {
  std::size_t iterations = 0;  ///< at most
  std::size_t folds = 0;
  std::size_t svms = 0;
  std::size_t weights = 0;  ///< of one model
};

/// The journal of one run (see queue/journal.hpp): a checkpoint is a unit, numbered by the iterations before it.
class CheckpointFile : public RescoreLog {
 public:
  /// Opens the file or makes it and its folder, and locks it until the destructor. `resume`: what is in it is gone on
  /// with, else forgotten, when the run begins. A file of something else is an Error.
  CheckpointFile(std::string path, bool resume);
  CheckpointFile(const CheckpointFile&) = delete;
  CheckpointFile& operator=(const CheckpointFile&) = delete;
  /// Leaves no file, and no folder that was made for it, if there is nothing to go on from.
  ~CheckpointFile() override;

  /// To be called once all that was asked is known to be possible. `run`: which run it is; to resume another one is an
  /// Error.
  void begin(const std::string& run);
  /// The last checkpoint, if there is one. One that does not fit is an Error.
  std::optional<Checkpoint> read(const CheckpointShape& shape) const;
  /// Returns when the checkpoint will survive.
  void write(const Checkpoint& checkpoint);

  bool had_ended() const override { return had_ended_; }
  void end() override;

 private:
  std::string path_;
  bool resume_;
  bool made_folder_ = false;
  bool resumable_ = false;  // something in it can be gone on from
  std::optional<Checkpoint> last_;
  bool had_ended_ = false;
  queue::Journal journal_;
};

}  // namespace sheaf::rescore
