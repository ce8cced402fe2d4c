#include <memory>

#include <sheaf/linear_model.hpp>

#include "command.hpp"
#include "commands/svm_commands.hpp"
#include "core/fail.hpp"
#include "tables.hpp"
#include "text/linear_text.hpp"
#include "text/prediction_text.hpp"

namespace sheaf::cli {
namespace {

struct Predict {
  std::string input, model_path, output;
  bool probabilities = false;
  ReadOptions reading;
  Common common;

  void run() {
    if (model_path.empty())
      fail_usage("--model FILE is missing: the model to apply, as sheaf fit, LIBLINEAR or LIBSVM wrote it");
    check_output(common, output);
    if (holds_svm(model_path)) return predict_with_svm({input, model_path, output, probabilities, reading}, common);
    const auto model = load_model(model_path);
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto dataset = read_dataset<T>(context, input, reading);
      const auto predictions = predict_linear(context, model, dataset, probabilities);
      const auto score = score_of(model, predictions, dataset.target);
      const auto csv = [&] { return predictions_csv(model, predictions); };
      hand_out({predictions, score, model.is_regression(), output, csv}, common);
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto predict = std::make_shared<Predict>();
  arguments.positional("FILE", predict->input, "the table to predict for; - is standard input");
  arguments.text("model", "FILE", predict->model_path, "a model of sheaf fit, of LIBLINEAR or of LIBSVM");
  arguments.text("output", "FILE", predict->output, "write one line for each row as CSV; - is standard output");
  arguments.flag(
      "probabilities", predict->probabilities,
      "write each class's probability too (logistic regression, kernel machines trained with --probability yes)");
  declare_reading(arguments, predict->reading);
  predict->common.declare(arguments, {"device", "threads", "memory"});
  return [predict] { predict->run(); };
}

}  // namespace

Command predict_command() {
  return {"predict",
          "Apply a model to a table, and compare with its labels where it has some",
          {{"how good is it?", "sheaf predict test.csv --model iris.model"},
           {"a table without labels, with probabilities",
            "sheaf predict new.csv --model iris.model --label none --output new.predicted.csv --probabilities"},
           {"a model of LIBLINEAR", "sheaf predict a9a.t --model a9a.model --output a9a.predicted.csv"}},
          declare};
}

}  // namespace sheaf::cli
