// LIBLINEAR's train, with its flags, files and words.
#include <cmath>
#include <filesystem>
#include <memory>

#include <sheaf/linear_search.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "liblinear/liblinear.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr int default_folds = 5;

struct Train {
  std::string input, output;
  std::optional<int> solver;
  double bias = -1;
  bool free_bias = false, quiet = false, find_cost = false, cost_given = false;
  std::int32_t folds = 0;
  LinearOptions options;
  Context::Options surroundings{.stop = stop_on_signal()};

  void run() {
    choose_loss();
    choose_bias();
    const auto dataset = read_libsvm_table(Context(surroundings), input);
    const auto context = on_device(surroundings, training_work(dataset, options, std::max(1, folds)));
    heed_known_classes(dataset.target);
    if (find_cost) return search(context, dataset);
    if (folds > 0) return validate(context, dataset);
    const auto model = train_linear(context, dataset, options);
    write_text_file(output.empty() ? default_output() : output, format_model(model, ModelFile::liblinear));
    tell(model);
  }

  void choose_loss() {
    if (!solver && !find_cost)
      fail_usage(
          "LIBLINEAR's default solver, -s 1, is not there; give -s 0, 2 or 11 (-s 2 has the same optimum as -s 1)");
    if (!solver) say("Solver not specified. Using -s 2");
    options.loss = loss_of(solver.value_or(2));
    if (find_cost && linear_solver(options.loss).regression) fail_usage("-C searches for -s 0 and -s 2 only");
  }

  void choose_bias() {
    if (free_bias && bias != 1) fail_usage("-R leaves the bias out of the penalty and needs -B 1");
    options.bias = std::max(0.0, bias);
    options.penalise_bias = !free_bias;
  }

  /// LIBLINEAR goes on where a class of -wi is not there.
  void heed_known_classes(const Target& target) {
    std::erase_if(options.class_weights, [&](const auto& entry) {
      for (const auto& name : target.class_names)
        if (canonical_label(name) == canonical_label(entry.first)) return false;
      say(fmt::format("sheaf: warning: class label {} of -w is not in the data", entry.first));
      return true;
    });
    if (linear_solver(options.loss).regression) options.class_weights.clear();
  }

  std::string default_output() const { return std::filesystem::path(input).filename().string() + ".model"; }

  void search(const Context& context, const Dataset<double>& dataset) const {
    const auto listen = [&](const CostTrial& trial) {
      print(fmt::format("log2c={:7.2f}\trate={:g}\n", std::log2(trial.cost), 100 * trial.score.accuracy()));
    };
    const auto found = search_cost<double>(context, dataset, options, folds > 0 ? folds : default_folds,
                                           cost_given ? options.cost : 0, listen);
    if (found.reached_maximum) print("warning: maximum C reached.\n");
    print(fmt::format("Best C = {:g}  CV accuracy = {:g}%\n", found.best.cost, 100 * found.best.score.accuracy()));
  }

  void validate(const Context& context, const Dataset<double>& dataset) const {
    const auto result = cross_validate_linear(context, dataset, options, folds);
    if (result.unconverged > 0 && !quiet)
      say(fmt::format("sheaf: warning: {} models at C = {} did not converge", result.unconverged, options.cost));
    const auto& score = result.score;
    if (result.class_names.empty())
      print(fmt::format(
          "Cross Validation Mean squared error = {:g}\nCross Validation Squared correlation coefficient = {:g}\n",
          score.squared_error, score.squared_correlation));
    else
      print(fmt::format("Cross Validation Accuracy = {:g}%\n", 100 * score.accuracy()));
  }

  void tell(const LinearModel& model) const {
    if (quiet) return;
    for (std::size_t c = 0; c < model.fits.size(); ++c) {
      const auto& fit = model.fits[c];
      const auto what = model.is_regression() ? std::string("regression") : "class " + model.class_names[c];
      print(fmt::format("{}: iter {} f {:.6e} |g| {:.3e} (tolerance {:.3e}) CG {}\n", what, fit.iterations,
                        fit.objective, fit.gradient_norm, fit.tolerance, fit.products));
    }
    for (const auto& warning : warnings_of(model)) say("sheaf: warning: " + warning);
  }
};

double flag_tube(const std::string& text) {
  const double epsilon = flag_number("-p", text);
  if (epsilon < 0) fail_usage("-p takes a number, 0 or more, not {}", text);
  return epsilon;
}

void declare_flags(Arguments& arguments, const std::shared_ptr<Train>& train) {
  LiblinearFlags flags(arguments);
  flags.value("-s", "TYPE",
              "0 logistic regression, 2 L2-loss support vector classification, 11 L2-loss support vector regression",
              "", [train](const std::string& text) { train->solver = solver_id(text); });
  flags.value("-c", "COST", "the parameter C", "1", [train](const std::string& text) {
    train->options.cost = flag_positive("-c", text);
    train->cost_given = true;
  });
  flags.value("-p", "EPSILON", "errors up to it cost nothing (-s 11)", "0.1",
              [train](const std::string& text) { train->options.epsilon = flag_tube(text); });
  flags.value("-e", "EPSILON", "tolerance of the gradient, relative to that at w = 0", "0.01, -s 11: 0.0001",
              [train](const std::string& text) { train->options.tolerance = flag_positive("-e", text); });
  flags.value("-B", "BIAS", "value of an added feature; below 0: none", "-1",
              [train](const std::string& text) { train->bias = flag_number("-B", text); });
  flags.toggle("-R", "leave the bias out of the penalty (with -B 1)", train->free_bias);
  flags.weight("factor of C for one class, as in -w1 5", [train](const std::string& label, const std::string& text) {
    train->options.class_weights.emplace_back(label, flag_positive("-w" + label, text));
  });
  flags.value("-v", "N", "cross-validate with N folds, all trained at once", "",
              [train](const std::string& text) { train->folds = flag_folds(text); });
  flags.toggle("-C", "search for C by cross-validation (-s 0 and 2)", train->find_cost);
  flags.toggle("-q", "say nothing", train->quiet);
}

std::function<void()> declare(Arguments& arguments) {
  auto train = std::make_shared<Train>();
  arguments.positional("training_set_file", train->input, "the table to learn from, in LIBSVM's format");
  arguments.positional("model_file", train->output, "where to write the model; default: the table's name and .model",
                       false);
  declare_flags(arguments, train);
  arguments.section("Beyond LIBLINEAR");
  arguments.parameters(train->options, {"rule"});
  arguments.parameters(train->surroundings, {"device", "threads", "memory", "seed"});
  return [train] { train->run(); };
}

}  // namespace

Command liblinear_train_command() {
  return {"liblinear-train",
          "LIBLINEAR's train: the same flags and model files",
          {{"logistic regression with a bias", "sheaf liblinear-train -s 0 -B 1 a9a a9a.model"},
           {"five folds at once", "sheaf liblinear-train -s 2 -v 5 a9a"},
           {"search for C", "sheaf liblinear-train -s 0 -C a9a"}},
          declare};
}

}  // namespace sheaf::cli
