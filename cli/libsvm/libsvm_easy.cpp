// LIBSVM's easy.py: scale, find C and gamma by cross-validation, train, and predict a test dataset.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include <sheaf/io.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/svm.hpp>

#include "command.hpp"
#include "common.hpp"
#include "core/fail.hpp"
#include "liblinear/liblinear.hpp"
#include "libsvm/libsvm.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr std::int32_t folds = 5;

/// The number in the form in which Python prints a float.
std::string python_text(double value) {
  auto text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

struct Easy {
  std::string training, testing;
  Common common;

  void run() {
    const auto reader = common.context();
    const auto name = std::filesystem::path(training).filename().string();
    print("Scaling training data...\n");
    const auto unscaled = read_sparse_libsvm(reader, training);
    const auto scaling = learn_libsvm_scaling(unscaled, -1, 1);
    save_libsvm_scaling(scaling, name + ".range");
    const auto dataset = scaled(reader, unscaled, scaling, name + ".scale");
    SvmOptions options;
    options.kind = SvmKind::c_svc;
    SearchSpace space(options);
    space.get<SvmOptions>().easy = true;
    SearchOptions search;
    search.folds = folds;
    decide(dataset, space, search);
    const auto context = common.on_device(reader, search_work(dataset, space, search));
    print("Cross validation...\n");
    const auto rates = libsvm_grid(context, dataset, options, folds);
    write_text_file(name + ".scale.out", grid_lines(rates));
    const auto best = best_of(rates);
    options.cost = std::exp2(best.log2_cost);
    options.gamma = std::exp2(best.log2_gamma);
    print(fmt::format("Best c={}, g={} CV rate={}\nTraining...\n", python_text(*options.cost),
                      python_text(options.gamma), python_text(best.rate)));
    const auto model = train_svm(context, dataset, options);
    for (const auto& warning : warnings_of(model)) say("WARNING: " + warning);
    write_text_file(name + ".model", format_model(model, ModelFile::libsvm));
    print(fmt::format("Output model: {}.model\n", name));
    if (!testing.empty()) predict(context, name, scaling);
  }

  /// A test dataset of the same name as the training dataset is scaled to the same bytes only if it is the same file.
  std::vector<std::string> outputs() const {
    const auto name = std::filesystem::path(training).filename().string();
    const auto test = std::filesystem::path(testing).filename().string();
    std::vector<std::string> paths{name + ".range", name + ".scale", name + ".scale.out", name + ".model"};
    std::error_code error;
    if (!test.empty() && !std::filesystem::equivalent(training, testing, error)) paths.push_back(test + ".scale");
    if (!test.empty()) paths.push_back(test + ".predict");
    return paths;
  }

  /// Through the file's text, so that predictions are those of the file's six digits.
  static Dataset<double> scaled(const Context& context, const Dataset<double>& dataset, const LibsvmScaling& scaling,
                                const std::string& path) {
    std::string text;
    write_scaled(dataset, scaling, [&](std::string_view piece) { text += piece; });
    write_text_file(path, text);
    return read_libsvm(context, path);
  }

  static std::string grid_lines(const std::vector<GridRate>& rates) {
    std::string text;
    for (const auto& one : rates)
      text += fmt::format("log2c={:g} log2g={:g} rate={}\n", one.log2_cost, one.log2_gamma, python_text(one.rate));
    return text;
  }

  void predict(const Context& context, const std::string& name, const LibsvmScaling& scaling) const {
    const auto test = std::filesystem::path(testing).filename().string();
    print("Scaling testing data...\n");
    const auto unscaled = read_sparse_libsvm(context, testing);
    warn_of_scaling(unscaled, scaling, name + ".range", 0);
    const auto dataset = scaled(context, unscaled, scaling, test + ".scale");
    print("Testing...\n");
    const auto file = Model::load(name + ".model");
    const auto& model = *file.get_if<SvmModel>();
    const auto predictions = predict_svm(context, model, dataset);
    write_text_file(test + ".predict", libsvm_predictions(model, predictions));
    if (const auto score = score_of(model, predictions, dataset.target)) print(libsvm_score(model, *score));
    print(fmt::format("Output prediction: {}.predict\n", test));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto easy = std::make_shared<Easy>();
  arguments.positional("training_file", easy->training, "the dataset to learn from, in LIBSVM's format");
  arguments.positional("testing_file", easy->testing, "a dataset to predict for", false);
  easy->common.declare(arguments, {"device", "threads", "memory", "seed"}, {false, false, false});
  arguments.reads({"training_file", "testing_file"});
  arguments.writes_also([easy] { return easy->outputs(); });
  return [easy] { easy->run(); };
}

}  // namespace

Command libsvm_easy_command() {
  return {"svm-easy",
          "LIBSVM's easy.py: scale, search for C and gamma, train, predict; all files in the working folder",
          {{"everything at once", "sheaf svm-easy a9a a9a.t"}},
          declare};
}

}  // namespace sheaf::cli
