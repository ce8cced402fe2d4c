#include "liblinear/liblinear.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/fail.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr const char* trained = "Sheaf trains -s 0, 2 and 11 (sheaf liblinear-predict takes the models of all)";

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

void LiblinearFlags::weight(std::string help, const std::function<void(const std::string&, const std::string&)>& set) {
  auto take = [set, label = std::string()](const std::string& text) mutable {
    if (!label.empty())
      set(std::exchange(label, ""), text);
    else if (is_integer(text))
      label = text;
    else
      fail_usage("-w takes a class and a weight, such as -w1 5; '{}' is no class", text);
  };
  arguments_.add({"-w", "LABEL WEIGHT", std::move(help), "1", std::move(take), 2});
}

Context on_device(const Context::Options& options, const WorkEstimate& work) {
  const auto context = Context(options).for_work(work);
  if (options.device == Device::automatic() && context.device().is_cuda())
    say(fmt::format("device: {} ({})", to_string(context.device()), describe(context.device()).name));
  return context;
}

Dataset<double> read_libsvm_table(const Context& context, const std::string& path) {
  ReadOptions options;
  options.format = "libsvm";
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

std::int32_t flag_folds(const std::string& text) {
  const double value = flag_number("-v", text);
  if (value < 2 || value != std::floor(value) || value > 1e9)
    fail_usage("-v takes a whole number of folds, 2 or more, not '{}'", text);
  return static_cast<std::int32_t>(value);
}

int solver_id(const std::string& text) {
  for (const auto& solver : linear_solvers()) {
    if (solver.net() || std::to_string(solver.id) != text) continue;
    if (!solver.loss) fail_usage("-s {} ({}) is not supported; {}", text, solver.about, trained);
    return solver.id;
  }
  fail_usage("-s {} is no solver; {}", text, trained);
}

Loss loss_of(int solver) {
  for (const auto& known : linear_solvers())
    if (known.id == solver && known.loss) return *known.loss;
  throw InternalError("a solver without a loss was let through");
}

void declare_prediction(Arguments& arguments, PeerPrediction& prediction, const std::string& program,
                        const std::string& which) {
  arguments.positional("test_file", prediction.input, "the table to predict for, in LIBSVM's format");
  arguments.positional("model_file", prediction.model_path, "a model of " + program + " or of sheaf");
  arguments.positional("output_file", prediction.output, "where to write one prediction a line");
  LiblinearFlags flags(arguments);
  flags.value("-b", "0|1", "1: probabilities too, " + which, "0", [&prediction](const std::string& text) {
    if (text != "0" && text != "1") fail_usage("-b takes 0 or 1, not '{}'", text);
    prediction.probabilities = text == "1";
  });
  flags.toggle("-q", "say nothing", prediction.quiet);
  arguments.section("Beyond " + program);
  arguments.parameters(prediction.surroundings, {"device", "threads", "memory"});
}

}  // namespace sheaf::cli
