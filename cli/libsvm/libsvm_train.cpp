// LIBSVM's svm-train, with its flags, files and words.
#include <memory>

#include <unistd.h>

#include "command.hpp"
#include "core/fail.hpp"
#include "liblinear/liblinear.hpp"
#include "libsvm/libsvm.hpp"
#include "progress_bar.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr double mebibyte = 1 << 20;
constexpr double most_cache = 1e9;  // MiB: more than any machine has, and in bytes still far from the largest integer

SvmOptions c_svc() {
  SvmOptions options;
  options.kind = SvmKind::c_svc;
  options.cost = 1;
  options.epsilon = 0.1;
  return options;
}

struct Train : PeerTraining {
  double cache = 0;  // MiB; 0: not given
  SvmOptions options = c_svc();

  void run() {
    const auto bar = quiet || !is_terminal(STDERR_FILENO) ? nullptr : std::make_unique<ProgressBar>();
    surroundings.progress = bar.get();
    auto table = read();
    if (is_regression(*options.kind)) table.dataset.target.kind = LabelKind::numbers;
    if (cache > 0 && surroundings.memory == 0)
      surroundings.memory = static_cast<std::int64_t>(cache * mebibyte) + 4 * matrix_bytes(table.dataset.x);
    const auto context = on_device(surroundings, training_work(table.dataset, options, std::max(1, folds)));
    drop_unknown_weights(options.class_weights, table.dataset.target, is_classification(*options.kind));
    if (!quiet)
      for (const auto& warning : warnings_before(table.dataset, options)) say("WARNING: " + warning);
    if (folds > 0) return validate(context, table.dataset);
    const bool rest = options.multi_class == MultiClass::one_vs_rest && table.dataset.target.class_names.size() > 2;
    if (!rest) check_libsvm_format(table.dataset.target, options);
    auto model = train_svm(context, table.dataset, options);
    for (auto& serial : model.serials) serial = table.serials[static_cast<std::size_t>(serial)] - 1;
    if (model.has_classes() && model.class_names.size() == 1)
      say("WARNING: training data in only one class. See README for details.");
    write_text_file(model_path(), format_model(model, rest ? ModelFile::sheaf : ModelFile::libsvm));
    if (quiet) return;
    print(training_lines(model, model.fits, model.support_vectors()));
    for (const auto& warning : warnings_of(model)) say("WARNING: " + warning);
  }

  KernelTable read() const {
    const Context context(surroundings);
    if (options.kernel != KernelType::precomputed) return {read_libsvm(context, input), {}};
    auto table = read_kernel_table(context, input);
    order_by_serials(table);
    return table;
  }

  void validate(const Context& context, const Dataset<double>& dataset) const {
    if (folds > dataset.rows())
      say("WARNING: # folds > # data. Will use # folds = # data instead (i.e., leave-one-out cross validation)");
    const auto result = cross_validate_svm(context, dataset, options, folds);
    for (std::size_t f = 0; f < result.fits.size() && !quiet; ++f)
      print(training_lines(result.shape, result.fits[f], result.support[f]));
    print(validation_text(result.score, is_regression(*options.kind)));
  }
};

/// A whole number of 0 to `most`.
int flag_choice(const std::string& flag, const std::string& text, int most) {
  const double value = flag_number(flag, text);
  if (value < 0 || value > most || value != static_cast<int>(value))
    fail_usage("{} takes a whole number, 0 to {}, not {}", flag, most, text);
  return static_cast<int>(value);
}

double flag_nu(const std::string& text) {
  const double value = flag_positive("-n", text);
  if (value > 1) fail_usage("-n takes a number above 0 and at most 1, not {}", text);
  return value;
}

void declare_kernel(LiblinearFlags& flags, const std::shared_ptr<Train>& train) {
  flags.value(
      "-s", "TYPE", "0 C-SVC, 1 nu-SVC, 2 one-class SVM, 3 epsilon-SVR, 4 nu-SVR", "0",
      [train](const std::string& text) { train->options.kind = static_cast<SvmKind>(flag_choice("-s", text, 4)); });
  flags.value("-t", "KERNEL", "0 linear, 1 polynomial, 2 radial basis function, 3 sigmoid, 4 precomputed", "2",
              [train](const std::string& text) {
                const int number = flag_choice("-t", text, 4);
                for (const auto& function : kernel_functions())
                  if (function.libsvm == number) train->options.kernel = function.type;
              });
  flags.value("-d", "DEGREE", "degree of the polynomial kernel", "3",
              [train](const std::string& text) { train->options.degree = flag_choice("-d", text, 1000); });
  flags.value("-g", "GAMMA", "gamma of the kernel", "1/features",
              [train](const std::string& text) { train->options.gamma = flag_not_negative("-g", text); });
  flags.value("-r", "COEF0", "coef0 of the kernel", "0",
              [train](const std::string& text) { train->options.coef0 = flag_number("-r", text); });
}

void declare_flags(LiblinearFlags& flags, const std::shared_ptr<Train>& train) {
  flags.value("-c", "COST", "the parameter C of -s 0, 3 and 4", "1",
              [train](const std::string& text) { train->options.cost = flag_positive("-c", text); });
  flags.value("-n", "NU", "the parameter nu of -s 1, 2 and 4", "0.5",
              [train](const std::string& text) { train->options.nu = flag_nu(text); });
  flags.value("-p", "EPSILON", "errors up to it cost nothing (-s 3)", "0.1",
              [train](const std::string& text) { train->options.epsilon = flag_not_negative("-p", text); });
  flags.value("-m", "MB", "memory for kernel values, beside that of the dataset", "80 % of what is free",
              [train](const std::string& text) {
                train->cache = flag_positive("-m", text);
                if (train->cache > most_cache)
                  fail_usage("-m takes a number of MB, up to {:g}, not {}", most_cache, text);
              });
  flags.value("-e", "EPSILON", "tolerance of the optimality conditions", "0.001",
              [train](const std::string& text) { train->options.tolerance = flag_positive("-e", text); });
  flags.value("-h", "0|1", "shrinking: accepted, without effect", "1",
              [](const std::string& text) { flag_choice("-h", text, 1); });
  flags.value("-b", "0|1", "1: train for probabilities too", "0",
              [train](const std::string& text) { train->options.probabilities = flag_choice("-b", text, 1) == 1; });
  flags.weights(train->options.class_weights);
  declare_folds(flags, *train);
}

std::function<void()> declare(Arguments& arguments) {
  auto train = std::make_shared<Train>();
  declare_training(arguments, *train);
  LiblinearFlags flags(arguments);
  declare_kernel(flags, train);
  declare_flags(flags, train);
  arguments.section("Beyond LIBSVM");
  arguments.parameters(train->options, {"multi-class", "decide"});
  arguments.parameters(train->surroundings, {"device", "threads", "memory", "seed"});
  return [train] { train->run(); };
}

}  // namespace

Command libsvm_train_command() {
  return {"svm-train",
          "LIBSVM's svm-train: the same flags and model files",
          {{"a radial basis function", "sheaf svm-train -c 16 -g 0.0625 a9a a9a.model"},
           {"five folds at once", "sheaf svm-train -v 5 a9a"},
           {"with probabilities", "sheaf svm-train -b 1 iris iris.model"}},
          declare};
}

}  // namespace sheaf::cli
