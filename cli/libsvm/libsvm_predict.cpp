// LIBSVM's svm-predict, with its flags, files and words.
#include <memory>

#include <unistd.h>

#include <fmt/format.h>

#include <sheaf/io.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "liblinear/liblinear.hpp"
#include "libsvm/libsvm.hpp"
#include "progress_bar.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

struct Predict : PeerPrediction {
  void run() {
    const auto bar = quiet || !is_terminal(STDERR_FILENO) ? nullptr : std::make_unique<ProgressBar>();
    surroundings.progress = bar.get();
    const auto file = Model::load(model_path);
    if (file.get_if<SvmModel>() == nullptr)
      fail("{}: expected an SVM, found a model of the family {}", model_path, file.family());
    const auto& model = *file.get_if<SvmModel>();
    const Context reader(surroundings);
    const auto dataset = model.kernel.type == KernelType::precomputed ? read_kernel_table(reader, input).dataset
                                                                      : read_libsvm(reader, input);
    const auto context = on_device(surroundings, prediction_work(dataset, file));
    if (!quiet) announce(model);
    const auto predictions = predict_svm(context, model, dataset, probabilities);
    write_text_file(output, libsvm_predictions(model, predictions));
    const auto score = score_of(model, predictions, dataset.target);
    if (score && !quiet) print(libsvm_score(model, *score));
  }

  void announce(const SvmModel& model) const {
    if (!probabilities && model.has_probabilities())
      print("Model supports probability estimates, but disabled in prediction.\n");
    if (probabilities && is_regression(model.kind) && model.has_probabilities())
      print(
          fmt::format("Prob. model for test data: target value = predicted value + z,\n"
                      "z: Laplace distribution e^(-|z|/sigma)/(2sigma),sigma={:g}\n",
                      model.sigmoid_a[0]));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto predict = std::make_shared<Predict>();
  declare_prediction(arguments, *predict, "LIBSVM", "of models that were trained for them");
  return [predict] { predict->run(); };
}

}  // namespace

Command libsvm_predict_command() {
  return {"svm-predict",
          "LIBSVM's svm-predict: the same flags and files",
          {{"labels", "sheaf svm-predict a9a.t a9a.model a9a.out"},
           {"with probabilities", "sheaf svm-predict -b 1 iris iris.model iris.out"}},
          declare};
}

}  // namespace sheaf::cli
