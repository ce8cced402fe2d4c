// Shared by the commands that replace the programs of LIBLINEAR and LIBSVM.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/solvers/linear.hpp>

#include "arguments.hpp"
#include "signals.hpp"

namespace sheaf::cli {

/// Class weights as -wi gives them: the class and its weight.
using WeightList = std::vector<std::pair<std::string, double>>;

/// Declares flags of one letter.
class LiblinearFlags {
 public:
  using Set = std::function<void(const std::string&)>;
  explicit LiblinearFlags(Arguments& arguments) : arguments_(arguments) {}

  void toggle(std::string flag, std::string help, bool& value);
  void value(std::string flag, std::string value, std::string help, std::string fallback, Set set);
  /// -wLABEL WEIGHT.
  void weights(WeightList& weights);

 private:
  Arguments& arguments_;
};

/// The device for the work if it is automatic. Reports it only if it is a GPU, since other programs read the output.
Context on_device(const Context::Options& options, const WorkEstimate& work);

/// LIBSVM's format, in double, as LIBLINEAR reads.
Dataset<double> read_libsvm(const Context& context, const std::string& path);

double flag_number(const std::string& flag, const std::string& text);
/// A number above 0.
double flag_positive(const std::string& flag, const std::string& text);
/// A number of 0 or more.
double flag_not_negative(const std::string& flag, const std::string& text);

/// The arguments of the training programs of LIBLINEAR and LIBSVM.
struct PeerTraining {
  std::string input, output;
  std::int32_t folds = 0;
  bool quiet = false;
  Context::Options surroundings{.stop = stop_on_signal()};

  /// The file of the model: `output`, else the name of the input with .model, in the working folder.
  std::string model_path() const;
};
void declare_training(Arguments& arguments, PeerTraining& training);
/// -v and -q.
void declare_folds(LiblinearFlags& flags, PeerTraining& training);
/// Drops the weights of classes that are not in the data, with a warning, and all weights of a regression.
void drop_unknown_weights(WeightList& weights, const Target& target, bool classification);
std::string validation_text(const Score& score, bool regression);

/// The arguments of the prediction programs of LIBLINEAR and LIBSVM.
struct PeerPrediction {
  std::string input, model_path, output;
  bool probabilities = false, quiet = false;
  Context::Options surroundings{.stop = stop_on_signal()};
};
/// `program` is LIBLINEAR or LIBSVM; `which` states the models that have probabilities.
void declare_prediction(Arguments& arguments, PeerPrediction& prediction, const std::string& program,
                        const std::string& which);
/// One line a row: text(row), then its probabilities; above them, if there are some, the names of their columns.
std::string prediction_lines(const Predictions& predictions, std::span<const std::string> columns,
                             const std::function<std::string(std::size_t)>& text);
/// "Accuracy = 86.6667% (234/270)" and `remark`, or the two lines of a regression.
std::string score_lines(const Score& score, bool regression, std::string_view remark = {});

/// One of LIBLINEAR's solvers; other numbers are answered with those.
int solver_id(const std::string& text);
const LinearSolver& trained_solver(int id);

}  // namespace sheaf::cli
