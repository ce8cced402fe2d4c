// What the two commands that stand for LIBLINEAR's programs share.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>

#include "arguments.hpp"
#include "signals.hpp"

namespace sheaf::cli {

/// Declares LIBLINEAR's flags, which have one letter.
class LiblinearFlags {
 public:
  using Set = std::function<void(const std::string&)>;
  explicit LiblinearFlags(Arguments& arguments) : arguments_(arguments) {}

  void toggle(std::string flag, std::string help, bool& value);
  void value(std::string flag, std::string value, std::string help, std::string fallback, Set set);
  /// -wLABEL WEIGHT: set(LABEL, WEIGHT).
  void weight(std::string help, const std::function<void(const std::string&, const std::string&)>& set);

 private:
  Arguments& arguments_;
};

/// The device for the work, where it is automatic. Says which only where that is a GPU: these programs stand in for
/// others, whose words are known.
Context on_device(const Context::Options& options, const WorkEstimate& work);

/// LIBSVM's format, in double, as LIBLINEAR reads.
Dataset<double> read_libsvm_table(const Context& context, const std::string& path);

double flag_number(const std::string& flag, const std::string& text);
/// A number above 0.
double flag_positive(const std::string& flag, const std::string& text);
std::int32_t flag_folds(const std::string& text);

/// What LIBLINEAR's and LIBSVM's programs for predicting are given.
struct PeerPrediction {
  std::string input, model_path, output;
  bool probabilities = false, quiet = false;
  Context::Options surroundings{.stop = stop_on_signal()};
};
/// `program` is LIBLINEAR or LIBSVM; `which` says which models have probabilities.
void declare_prediction(Arguments& arguments, PeerPrediction& prediction, const std::string& program,
                        const std::string& which);

/// One of LIBLINEAR's solvers that Sheaf trains; others are answered with those.
int solver_id(const std::string& text);
Loss loss_of(int solver);

}  // namespace sheaf::cli
