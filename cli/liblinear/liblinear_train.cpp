// LIBLINEAR's train, with its flags, files and words.
#include <cmath>
#include <memory>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/linear.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "liblinear/liblinear.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr int default_folds = 5;
constexpr int default_solver = 1;
constexpr double default_cost = 1;
constexpr double default_epsilon = 0.1;
constexpr int one_class_solver = 21;
/// Limit of passes of Crammer and Singer's solver in LIBLINEAR; its passes become short.
constexpr int most_passes = 100000;
/// Duality gap (-s 5, 6 and 21) for a tolerance of 1: LIBLINEAR's default, 0.01, becomes 0.0001.
constexpr double gap_share = 0.01;

struct Train : PeerTraining {
  std::optional<int> solver;
  double bias = -1;
  bool free_bias = false, find_cost = false, cost_given = false, epsilon_given = false;
  LinearOptions options;
  std::optional<double> nu;

  void run() {
    if (solver == one_class_solver) return train_outliers();
    if (nu) fail_usage("-n is for -s 21 alone");
    choose_solver();
    choose_bias();
    options.stop = StopRule::gradient;
    auto dataset = read_libsvm(Context(surroundings), input);
    if (linear_solver(*options.loss).regression) dataset.target.kind = LabelKind::numbers;
    const auto context = on_device(surroundings, training_work(dataset, options, std::max(1, folds)));
    drop_unknown_weights(options.class_weights, dataset.target, !linear_solver(*options.loss).regression);
    if (find_cost) return search(context, dataset);
    if (folds > 0) return validate(context, dataset);
    const auto model = train_linear(context, dataset, options);
    write_text_file(model_path(), format_model(model, ModelFile::liblinear));
    print_training(model);
  }

  /// One-class models look at no labels, classes, costs and bias.
  void train_outliers() const {
    if (find_cost || folds > 0) fail_usage("-C and -v are not for -s 21, whose rows need no labels");
    if (bias >= 0 || free_bias) fail_usage("-B and -R are not for -s 21, which has rho in place of a bias");
    OneClassOptions one_class;
    if (nu) one_class.nu = *nu;
    if (options.tolerance > 0) one_class.tolerance = gap_share * options.tolerance;
    const auto dataset = read_libsvm(Context(surroundings), input);
    const auto context = on_device(surroundings, training_work(dataset, options, 1));
    const auto model = train_one_class(context, dataset, one_class);
    write_text_file(model_path(), format_model(model, ModelFile::liblinear));
    if (quiet) return;
    const auto& fit = model.fits.front();
    print(fmt::format("passes {} f {:.6e} gap {:.3e} (tolerance {:.3e}) rho {:.6g}\n", fit.iterations, fit.objective,
                      fit.gradient_norm, fit.tolerance, -model.weights.back()));
    for (const auto& warning : warnings_of(model)) say("sheaf: warning: " + warning);
  }

  void choose_solver() {
    if (find_cost && !solver) say("Solver not specified. Using -s 2");
    const auto& chosen = trained_solver(solver.value_or(find_cost ? 2 : default_solver));
    if (find_cost && chosen.id != 0 && chosen.id != 2 && chosen.id != 11)
      fail_usage("-C searches for -s 0, -s 2 and -s 11 only");
    options.loss = *chosen.loss;
    if (!options.cost) options.cost = default_cost;
    if (!options.epsilon) options.epsilon = default_epsilon;
    options.method = chosen.method;
    options.penalty = chosen.penalty;
    if (options.loss == Loss::crammer_singer) options.max_iterations = most_passes;
    if (options.penalty == LinearPenalty::l1) {
      options.max_iterations = NetParams{}.max_epochs;
      options.tolerance *= gap_share;
    }
  }

  void choose_bias() {
    if (free_bias && options.method == LinearMethod::dual)
      fail_usage("-R is for -s 0, 2, 5, 6 and 11; dual solvers penalise the bias");
    if (free_bias && bias != 1) fail_usage("-R leaves the bias out of the penalty and needs -B 1");
    options.bias = std::max(0.0, bias);
    options.penalise_bias = !free_bias;
  }

  void search(const Context& context, const Dataset<double>& dataset) const {
    const bool regression = linear_solver(*options.loss).regression;
    const auto listen = [&](const CostTrial& trial) {
      if (regression)
        print(fmt::format("log2c={:7.2f}\tp={:7.2f}\tMean squared error={:g}\n", std::log2(trial.cost), trial.epsilon,
                          trial.score.squared_error));
      else
        print(fmt::format("log2c={:7.2f}\trate={:g}\n", std::log2(trial.cost), 100 * trial.score.accuracy()));
    };
    const auto found =
        search_cost<double>(context, dataset, options, folds > 0 ? folds : default_folds,
                            cost_given ? *options.cost : 0, epsilon_given ? *options.epsilon : 0, listen);
    if (found.reached_maximum) print("warning: maximum C reached.\n");
    if (regression)
      return print(fmt::format("Best C = {:g} Best p = {:g}  CV MSE = {:g}\n", found.best.cost, found.best.epsilon,
                               found.best.score.squared_error));
    print(fmt::format("Best C = {:g}  CV accuracy = {:g}%\n", found.best.cost, 100 * found.best.score.accuracy()));
  }

  void validate(const Context& context, const Dataset<double>& dataset) const {
    const auto result = cross_validate_linear(context, dataset, options, folds);
    if (result.unconverged > 0 && !quiet)
      say(fmt::format("sheaf: warning: {} models at C = {} did not converge", result.unconverged, *options.cost));
    print(validation_text(result.score, result.class_names.empty()));
  }

  void print_training(const LinearModel& model) const {
    if (quiet) return;
    for (std::size_t c = 0; c < model.fits.size(); ++c) {
      const auto& fit = model.fits[c];
      if (c > 0 && model.is_coupled()) break;
      const auto what = model.is_regression() ? std::string("regression")
                        : model.is_coupled()  ? std::string("all classes")
                                              : "class " + model.class_names[c];
      if (options.penalty == LinearPenalty::l1)
        print(fmt::format("{}: epochs {} f {:.6e} gap {:.3e} (tolerance {:.3e})\n", what, fit.iterations, fit.objective,
                          fit.gradient_norm, fit.tolerance));
      else if (model.is_dual())
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
              "(dual), 4 support vector classification by Crammer and Singer, 5 L1-regularized L2-loss support vector "
              "classification, 6 L1-regularized logistic regression, 11 L2-loss support vector regression (12: dual), "
              "13 L1-loss (dual), 21 one-class support vector machine",
              "1", [train](const std::string& text) { train->solver = solver_id(text); });
  flags.value("-c", "COST", "the parameter C", "1", [train](const std::string& text) {
    train->options.cost = flag_positive("-c", text);
    train->cost_given = true;
  });
  flags.value("-p", "EPSILON", "errors up to it cost nothing (-s 11, 12, 13); with -C the largest one to try", "0.1",
              [train](const std::string& text) {
                train->options.epsilon = flag_not_negative("-p", text);
                train->epsilon_given = true;
              });
  flags.value("-n", "NU", "the share of rows that may be outliers (-s 21)", "0.5", [train](const std::string& text) {
    train->nu = flag_positive("-n", text);
    if (*train->nu > 1) fail_usage("-n takes a number above 0 and at most 1, not {}", text);
  });
  flags.value("-e", "EPSILON",
              "tolerance of the gradient, relative to that at w = 0; dual solvers: of its violation; -s 5, 6 and 21: a "
              "hundredth of it is that of the duality gap, relative to the losses at w = 0 (21: to w'w / 2)",
              "0.01, -s 11: 0.0001, dual: 0.1",
              [train](const std::string& text) { train->options.tolerance = flag_positive("-e", text); });
  flags.value("-B", "BIAS", "value of an added feature; below 0: none", "-1",
              [train](const std::string& text) { train->bias = flag_number("-B", text); });
  flags.toggle("-R", "leave the bias out of the penalty (with -B 1)", train->free_bias);
  flags.weights(train->options.class_weights);
  declare_folds(flags, *train);
  flags.toggle("-C", "search for C (-s 0 and 2), or for C and p (-s 11), by cross-validation", train->find_cost);
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
