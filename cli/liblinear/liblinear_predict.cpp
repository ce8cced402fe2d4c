// LIBLINEAR's predict, with its flags, files and words.
#include <memory>

#include <fmt/format.h>

#include "command.hpp"
#include "core/fail.hpp"
#include "liblinear/liblinear.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

struct Predict : PeerPrediction {
  void run() const {
    const auto file = Model::load(model_path);
    if (file.get_if<LinearModel>() == nullptr) fail("{}: expected a linear model, found an SVM", model_path);
    const auto& model = *file.get_if<LinearModel>();
    if (!model.target_names.empty())
      fail("{}: expected a model of one target, found {}; use sheaf predict", model_path, model.target_names.size());
    const auto dataset = read_libsvm(Context(surroundings), input);
    const auto context = on_device(surroundings, prediction_work(dataset, file));
    const auto predictions = predict_linear(context, model, dataset, probabilities);
    write_text_file(output, prediction_lines(predictions, model.class_names, [&](std::size_t i) {
                      return model.is_regression()
                                 ? fmt::format("{:.17g}", predictions.decisions[i])
                                 : model.class_names[static_cast<std::size_t>(predictions.classes[i])];
                    }));
    const auto score = score_of(model, predictions, dataset.target);
    if (score && !quiet) print(score_lines(*score, model.is_regression()));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto predict = std::make_shared<Predict>();
  declare_prediction(arguments, *predict, "LIBLINEAR", "for logistic regression");
  return [predict] { predict->run(); };
}

}  // namespace

Command liblinear_predict_command() {
  return {"liblinear-predict",
          "LIBLINEAR's predict: the same flags and files",
          {{"labels", "sheaf liblinear-predict a9a.t a9a.model a9a.out"},
           {"with probabilities", "sheaf liblinear-predict -b 1 a9a.t a9a.model a9a.out"}},
          declare};
}

}  // namespace sheaf::cli
