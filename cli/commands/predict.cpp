#include <memory>

#include <sheaf/model.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "tables.hpp"
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
      fail_usage("--model-file FILE is missing: the model to apply, as sheaf fit, LIBLINEAR or LIBSVM wrote it");
    check_output(common, output);
    const auto model = Model::load(model_path);
    const auto reader = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto dataset = read_dataset<T>(reader, input, reading);
      const auto context = common.on_device(reader, prediction_work(dataset, model));
      const auto predictions = model.predict(context, dataset, probabilities);
      return_predictions(model, predictions, model.score(predictions, dataset.target), output, common);
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto predict = std::make_shared<Predict>();
  arguments.positional("FILE", predict->input, "the dataset to predict for; - is standard input");
  arguments.text("model-file", "FILE", predict->model_path,
                 "a model of sheaf fit or search, of LIBLINEAR or of LIBSVM");
  arguments.text("output", "FILE", predict->output, "write one line for each row as CSV; - is standard output");
  arguments.flag("probabilities", predict->probabilities,
                 "write each class's probability too (logistic regression, SVMs trained with --probability yes)");
  declare_reading(arguments, predict->reading);
  predict->common.declare(arguments, {"device", "threads", "memory"});
  return [predict] { predict->run(); };
}

}  // namespace

Command predict_command() {
  return {"predict",
          "Apply a model to a dataset, and score the predictions if it has labels",
          {{"how good is it?", "sheaf predict test.csv --model-file iris.model"},
           {"a dataset without labels, with probabilities",
            "sheaf predict new.csv --model-file iris.model --label none --output new.predicted.csv --probabilities"},
           {"a model of LIBLINEAR", "sheaf predict a9a.t --model-file a9a.model --output a9a.predicted.csv"}},
          declare};
}

}  // namespace sheaf::cli
