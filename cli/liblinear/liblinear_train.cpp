// LIBLINEAR's train, with its flags, files and words.
#include <cmath>
#include <memory>

#include <sheaf/linear.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "liblinear/liblinear.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr int default_folds = 5;
constexpr int default_solver = 1;

struct Train : PeerTraining {
  std::optional<int> solver;
  double bias = -1;
  bool free_bias = false, find_cost = false, cost_given = false;
  LinearOptions options;

  void run() {
    choose_solver();
    choose_bias();
    options.stop = StopRule::gradient;
    const auto dataset = read_libsvm(Context(surroundings), input);
    const auto context = on_device(surroundings, training_work(dataset, options, std::max(1, folds)));
    drop_unknown_weights(options.class_weights, dataset.target, !linear_solver(options.loss).regression);
    if (find_cost) return search(context, dataset);
    if (folds > 0) return validate(context, dataset);
    const auto model = train_linear(context, dataset, options);
    write_text_file(model_path(), format_model(model, ModelFile::liblinear));
    print_training(model);
  }

  void choose_solver() {
    if (find_cost && !solver) say("Solver not specified. Using -s 2");
    const auto& chosen = trained_solver(solver.value_or(find_cost ? 2 : default_solver));
    if (find_cost && chosen.id != 0 && chosen.id != 2) fail_usage("-C searches for -s 0 and -s 2 only");
    options.loss = *chosen.loss;
    options.method = chosen.method;
  }

  void choose_bias() {
    if (free_bias && options.method == LinearMethod::dual)
      fail_usage("-R is for -s 0, 2 and 11; dual solvers penalise the bias");
    if (free_bias && bias != 1) fail_usage("-R leaves the bias out of the penalty and needs -B 1");
    options.bias = std::max(0.0, bias);
    options.penalise_bias = !free_bias;
  }

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
    print(validation_text(result.score, result.class_names.empty()));
  }

  void print_training(const LinearModel& model) const {
    if (quiet) return;
    for (std::size_t c = 0; c < model.fits.size(); ++c) {
      const auto& fit = model.fits[c];
      const auto what = model.is_regression() ? std::string("regression") : "class " + model.class_names[c];
      if (model.is_dual())
        print(fmt::format("{}: iter {} f {:.6e} violation {:.3e} (tolerance {:.3e})\n", what, fit.iterations,
                          fit.objective, fit.gradient_norm, fit.tolerance));
      else
        print(fmt::format("{}: iter {} f {:.6e} |g| {:.3e} (tolerance {:.3e}) CG {}\n", what, fit.iterations,
                          fit.objective, fit.gradient_norm, fit.tolerance, fit.products));
    }
    for (const auto& warning : warnings_of(model)) say("sheaf: warning: " + warning);
  }
};

void declare_flags(Arguments& arguments, const std::shared_ptr<Train>& train) {
  LiblinearFlags flags(arguments);
  flags.value("-s", "TYPE",
              "0 logistic regression (7: dual), 1 L2-loss support vector classification (dual; 2: primal), 3 L1-loss "
              "(dual), 11 L2-loss support vector regression (12: dual), 13 L1-loss (dual)",
              "1", [train](const std::string& text) { train->solver = solver_id(text); });
  flags.value("-c", "COST", "the parameter C", "1", [train](const std::string& text) {
    train->options.cost = flag_positive("-c", text);
    train->cost_given = true;
  });
  flags.value("-p", "EPSILON", "errors up to it cost nothing (-s 11, 12, 13)", "0.1",
              [train](const std::string& text) { train->options.epsilon = flag_not_negative("-p", text); });
  flags.value("-e", "EPSILON", "tolerance of the gradient, relative to that at w = 0; dual solvers: of its violation",
              "0.01, -s 11: 0.0001, dual: 0.1",
              [train](const std::string& text) { train->options.tolerance = flag_positive("-e", text); });
  flags.value("-B", "BIAS", "value of an added feature; below 0: none", "-1",
              [train](const std::string& text) { train->bias = flag_number("-B", text); });
  flags.toggle("-R", "leave the bias out of the penalty (with -B 1)", train->free_bias);
  flags.weights(train->options.class_weights);
  declare_folds(flags, *train);
  flags.toggle("-C", "search for C by cross-validation (-s 0 and 2)", train->find_cost);
}

std::function<void()> declare(Arguments& arguments) {
  auto train = std::make_shared<Train>();
  declare_training(arguments, *train);
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
           {"five folds at once", "sheaf liblinear-train -v 5 a9a"},
           {"search for C", "sheaf liblinear-train -s 0 -C a9a"}},
          declare};
}

}  // namespace sheaf::cli
