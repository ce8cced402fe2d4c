#include "commands/svm_commands.hpp"

#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/prediction_text.hpp"
#include "text/svm_text.hpp"

namespace sheaf::cli {
namespace {

constexpr std::size_t most_warnings = 10;

void warn(const std::vector<std::string>& warnings, const Common& common) {
  if (common.quiet()) return;
  for (std::size_t k = 0; k < std::min(warnings.size(), most_warnings); ++k) say("sheaf: warning: " + warnings[k]);
  if (warnings.size() > most_warnings)
    say(fmt::format("sheaf: warning: and {} more like these", warnings.size() - most_warnings));
}

SvmFormat format_of(const std::string& name) {
  if (name == "liblinear") fail_usage("LIBLINEAR's format is for linear models; a kernel machine's is libsvm");
  return name == "libsvm" ? SvmFormat::libsvm : SvmFormat::sheaf;
}

}  // namespace

void declare_svm(Arguments& arguments, SvmOptions& options) {
  arguments.section("Kernel machines (--model svm)");
  arguments.parameters(options,
                       {"type", "kernel", "degree", "gamma", "coef0", "nu", "multi-class", "decide", "probability"});
}

void declare_svm_search(Arguments& arguments, SvmSearchOptions& options) {
  arguments.section("Kernel machines (--model svm)");
  arguments.parameters(options);
  arguments.flag("easy", options.easy, "LIBSVM's grid: log2 C -5 to 15, log2 gamma -15 to 3, in steps of 2");
  arguments.parameters(options.svm, {"type", "kernel", "coef0", "nu", "multi-class", "decide", "probability"});
}

void check_svm_flags(const Arguments& arguments, bool kernel_machine) {
  const std::vector<std::string> linear{"--loss", "--max-iterations", "--bias", "--rule", "--no-bias-penalty"};
  const std::vector<std::string> svm{"--type",   "--kernel",      "--degree", "--gamma",       "--coef0", "--nu",
                                     "--refine", "--multi-class", "--decide", "--probability", "--easy"};
  for (const auto& flag : kernel_machine ? linear : svm)
    if (arguments.given(flag))
      fail_usage("{} {}", flag, kernel_machine ? "is not for --model svm" : "is for kernel machines: give --model svm");
}

SvmOptions with_shared(SvmOptions options, const LinearOptions& shared) {
  options.cost = shared.cost;
  options.epsilon = shared.epsilon;
  if (shared.tolerance > 0) options.tolerance = shared.tolerance;
  options.class_weights = shared.class_weights;
  options.balanced = shared.balanced;
  return options;
}

void fit_svm(const SvmFitRequest& request, Common& common) {
  const auto format = format_of(request.format);
  const auto context = common.context();
  common.with_precision([&]<class T>(std::type_identity<T>) {
    const auto dataset = read_dataset<T>(context, request.input, request.reading);
    const auto weights =
        request.weights.empty() ? std::vector<float>{} : read_row_weights(request.weights, dataset.rows());
    check_format(dataset.target, request.options, format);
    warn(warnings_before(dataset, request.options), common);
    const auto model = train_svm(context, dataset, request.options, weights);
    save_svm(model, request.output, format);
    warn(warnings_of(model), common);
    if (common.json())
      print(svm_json(model, request.output, dataset.rows()));
    else if (!common.quiet())
      print(svm_text(model, request.input, dataset.rows()));
  });
}

void predict_with_svm(const SvmPredictRequest& request, Common& common) {
  const auto model = load_svm(request.model);
  const auto context = common.context();
  common.with_precision([&]<class T>(std::type_identity<T>) {
    const auto dataset = read_dataset<T>(context, request.input, request.reading);
    const auto predictions = predict_svm(context, model, dataset, request.probabilities);
    const auto score = score_of(model, predictions, dataset.target);
    const auto csv = [&] { return svm_predictions_csv(model, predictions); };
    hand_out({predictions, score, is_regression(model.kind), request.output, csv}, common);
  });
}

void search_with_svm(const SvmSearchRequest& request, Common& common) {
  if (request.options.easy && (!request.options.common.costs.empty() || !request.options.gammas.empty()))
    fail_usage("--easy is a grid of its own; leave out --cost and --gamma");
  const auto options = decided(request.options);
  SearchDirectory directory(request.output, request.existing);
  const auto context = common.context();
  common.with_precision([&]<class T>(std::type_identity<T>) {
    const auto precision = sizeof(T) == sizeof(float) ? Precision::float32 : Precision::float64;
    directory.begin({request.command, request.input, request.reading, options.common, context.device(), precision,
                     context.seed(), options_json(options)});
    if (directory.finished() > 0 && !common.quiet())
      say(fmt::format("{}: {} finished batches are taken over", request.output, directory.finished()));
    const auto dataset = read_dataset<T>(context, request.input, request.reading);
    warn(warnings_before(dataset, options.svm), common);
    auto wanted = request.options;
    wanted.also = common.also();
    const auto result = search_svm(context, dataset, wanted, &directory.log());
    directory.finish(result);
    warn(result.warnings, common);
    if (common.json())
      print(search_json(result));
    else if (!common.quiet())
      print(svm_search_text(result) +
            fmt::format("\nEverything is in {0}: {0}/report.html, {0}/model.txt\n", request.output));
  });
}

}  // namespace sheaf::cli
