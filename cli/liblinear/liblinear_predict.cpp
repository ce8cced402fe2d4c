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
    if (file.linear() == nullptr) fail("{}: expected a linear model, found an SVM", model_path);
    const auto& model = *file.linear();
    const auto dataset = read_libsvm_table(Context(surroundings), input);
    const auto context = on_device(surroundings, prediction_work(dataset, file));
    const auto predictions = predict_linear(context, model, dataset, probabilities);
    write_text_file(output, lines(model, predictions));
    const auto score = score_of(model, predictions, dataset.target);
    if (score && !quiet) print(words(model, *score));
  }

  static std::string lines(const LinearModel& model, const Predictions& predictions) {
    const auto classes = model.class_names.size();
    std::string text;
    if (!predictions.probabilities.empty()) {
      text = "labels";
      for (const auto& name : model.class_names) text += ' ' + name;
      text += '\n';
    }
    for (std::size_t i = 0; i < static_cast<std::size_t>(predictions.rows); ++i) {
      if (model.is_regression())
        text += fmt::format("{:.17g}", predictions.decisions[i]);
      else
        text += model.class_names[static_cast<std::size_t>(predictions.classes[i])];
      for (std::size_t c = 0; c < classes && !predictions.probabilities.empty(); ++c)
        text += fmt::format(" {:g}", predictions.probabilities[i * classes + c]);
      text += '\n';
    }
    return text;
  }

  static std::string words(const LinearModel& model, const Score& score) {
    if (model.is_regression())
      return fmt::format(
          "Mean squared error = {:g} (regression)\nSquared correlation coefficient = {:g} (regression)\n",
          score.squared_error, score.squared_correlation);
    return fmt::format("Accuracy = {:g}% ({}/{})\n", 100 * score.accuracy(), score.correct, score.rows);
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
