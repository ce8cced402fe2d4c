#include "liblinear/liblinear.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "core/fail.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr const char* solvers = "there are 0 to 7, 11, 12, 13 and 21";

bool is_integer(const std::string& text) {
  int value = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data() + (text.starts_with('+') ? 1 : 0), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

}  // namespace

void LiblinearFlags::toggle(std::string flag, std::string help, bool& value) {
  arguments_.add({std::move(flag), "", std::move(help), "", [&value](const std::string&) { value = true; }});
}

void LiblinearFlags::value(std::string flag, std::string value, std::string help, std::string fallback, Set set) {
  arguments_.add({std::move(flag), std::move(value), std::move(help), std::move(fallback), std::move(set)});
}

void LiblinearFlags::weights(WeightList& weights) {
  auto take = [&weights, label = std::string()](const std::string& text) mutable {
    if (!label.empty()) {
      const auto weight = flag_positive("-w" + label, text);
      weights.emplace_back(std::exchange(label, ""), weight);
    } else if (is_integer(text)) {
      label = text;
    } else {
      fail_usage("-w takes a class and a weight, such as -w1 5; '{}' is no class", text);
    }
  };
  arguments_.add({"-w", "LABEL WEIGHT", "factor of C for one class, as in -w1 5", "1", std::move(take), 2});
}

Context on_device(const Context::Options& options, const WorkEstimate& work) {
  const auto context = Context(options).for_work(work);
  if (options.device == Device::automatic() && context.device().is_cuda())
    say(fmt::format("device: {} ({})", to_string(context.device()), describe(context.device()).name));
  return context;
}

Dataset<double> read_libsvm(const Context& context, const std::string& path) {
  ReadOptions options;
  options.format = "libsvm";
  options.class_order = ClassOrder::appearance;
  options.task = LabelKind::classes;  // whatever they are spelled like, unless the solver is for a regression
  return read_dataset<double>(context, path, options);
}

double flag_number(const std::string& flag, const std::string& text) {
  double value = 0;
  const auto* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(begin, end, value);
  if (result.ec != std::errc() || result.ptr != end || !std::isfinite(value))
    fail_usage("{} takes a number, not '{}'", flag, text);
  return value;
}

double flag_positive(const std::string& flag, const std::string& text) {
  const double value = flag_number(flag, text);
  if (value <= 0) fail_usage("{} takes a number above 0, not {}", flag, text);
  return value;
}

double flag_not_negative(const std::string& flag, const std::string& text) {
  const double value = flag_number(flag, text);
  if (value < 0) fail_usage("{} takes a number, 0 or more, not {}", flag, text);
  return value;
}

std::string PeerTraining::model_path() const {
  return output.empty() ? std::filesystem::path(input).filename().string() + ".model" : output;
}

void declare_training(Arguments& arguments, PeerTraining& training) {
  arguments.positional("training_set_file", training.input, "the dataset to learn from, in LIBSVM's format");
  arguments.positional("model_file", training.output,
                       "where to write the model; default: the dataset's name and .model", false);
  arguments.reads({"training_set_file"});
  arguments.writes({"model_file"});
  arguments.writes_also([&training] {
    return std::vector{training.output.empty() && training.folds == 0 ? training.model_path() : std::string()};
  });
}

void declare_folds(LiblinearFlags& flags, PeerTraining& training) {
  flags.value("-v", "N", "cross-validate with N folds, all trained at once", "", [&training](const std::string& text) {
    const double value = flag_number("-v", text);
    if (value < 2 || value != std::floor(value) || value > 1e9)
      fail_usage("-v takes a whole number of folds, 2 or more, not '{}'", text);
    training.folds = static_cast<std::int32_t>(value);
  });
  flags.toggle("-q", "say nothing", training.quiet);
}

void drop_unknown_weights(WeightList& weights, const Target& target, bool classification) {
  if (!classification) return weights.clear();
  std::erase_if(weights, [&](const auto& entry) {
    for (const auto& name : target.class_names)
      if (canonical_label(name) == canonical_label(entry.first)) return false;
    say(fmt::format("WARNING: class label {} specified in weight is not found", entry.first));
    return true;
  });
}

std::string validation_text(const Score& score, bool regression) {
  if (!regression) return fmt::format("Cross Validation Accuracy = {:g}%\n", 100 * score.accuracy());
  return fmt::format(
      "Cross Validation Mean squared error = {:g}\nCross Validation Squared correlation coefficient = {:g}\n",
      score.squared_error, score.squared_correlation);
}

int solver_id(const std::string& text) {
  for (const auto& solver : linear_solvers())
    if (solver.id >= 0 && std::to_string(solver.id) == text) return solver.id;
  fail_usage("-s {} is no solver; {}", text, solvers);
}

const LinearSolver& trained_solver(int id) {
  for (const auto& known : linear_solvers())
    if (known.id == id && known.loss) return known;
  throw InternalError("a solver without a loss was let through");
}

void declare_prediction(Arguments& arguments, PeerPrediction& prediction, const std::string& program,
                        const std::string& which) {
  arguments.positional("test_file", prediction.input, "the dataset to predict for, in LIBSVM's format");
  arguments.positional("model_file", prediction.model_path, "a model of " + program + " or of sheaf");
  arguments.positional("output_file", prediction.output, "where to write one prediction a line");
  LiblinearFlags flags(arguments);
  flags.value("-b", "0|1", "1: probabilities too, " + which, "0", [&prediction](const std::string& text) {
    if (text != "0" && text != "1") fail_usage("-b takes 0 or 1, not '{}'", text);
    prediction.probabilities = text == "1";
  });
  flags.toggle("-q", "say nothing", prediction.quiet);
  arguments.reads({"test_file", "model_file"});
  arguments.writes({"output_file"});
  arguments.section("Beyond " + program);
  arguments.parameters(prediction.surroundings, {"device", "threads", "memory"});
}

std::string prediction_lines(const Predictions& predictions, std::span<const std::string> columns,
                             const std::function<std::string(std::size_t)>& text) {
  const bool probabilities = !predictions.probabilities.empty();
  std::string lines;
  if (probabilities) lines = fmt::format("labels {}\n", fmt::join(columns, " "));
  for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i) {
    lines += text(i);
    for (std::size_t c = 0; c < columns.size() && probabilities; ++c)
      lines += fmt::format(" {:g}", predictions.probabilities[i * columns.size() + c]);
    lines += '\n';
  }
  return lines;
}

std::string score_lines(const Score& score, bool regression, std::string_view remark) {
  if (!regression)
    return fmt::format("Accuracy = {:g}% ({}/{}){}\n", 100 * score.accuracy(), score.correct, score.rows, remark);
  return fmt::format("Mean squared error = {:g} (regression)\nSquared correlation coefficient = {:g} (regression)\n",
                     score.squared_error, score.squared_correlation);
}

}  // namespace sheaf::cli
