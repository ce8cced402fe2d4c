#include <memory>

#include <sheaf/error.hpp>
#include <sheaf/linear_model.hpp>
#include <sheaf/names.hpp>
#include <sheaf/row_weights.hpp>

#include "command.hpp"
#include "linear_text.hpp"
#include "tables.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

struct Fit {
  std::string input, output, weights;
  ModelFormat format = ModelFormat::sheaf;
  LinearOptions options;
  ReadOptions reading;
  Common common;

  void run() {
    if (output.empty()) fail_usage("--model FILE is missing: where to write the model");
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto dataset = read_dataset<T>(context, input, reading);
      const auto row_weights = weights.empty() ? std::vector<float>{} : read_row_weights(weights, dataset.rows());
      const auto model = train_linear(context, dataset, options, row_weights);
      save_model(model, output, format);
      tell(model, dataset.rows());
    });
  }

  void tell(const LinearModel& model, std::int64_t rows) const {
    if (!common.quiet())
      for (const auto& warning : warnings_of(model)) say("sheaf: warning: " + warning);
    if (common.json())
      print(model_json(model, output, rows));
    else if (!common.quiet())
      print(model_text(model, input, rows));
  }
};

void set_format(ModelFormat& format, const std::string& text) {
  static const std::vector<std::string> known{"sheaf", "liblinear"};
  if (text != known[0] && text != known[1]) fail_unknown("model format", text, known);
  format = text == known[0] ? ModelFormat::sheaf : ModelFormat::liblinear;
}

std::function<void()> declare(Arguments& arguments) {
  auto fit = std::make_shared<Fit>();
  arguments.positional("FILE", fit->input, "the table to learn from; - is standard input");
  arguments.text("model", "FILE", fit->output, "where to write the model");
  arguments.add({"--model-format", "sheaf|liblinear",
                 "Sheaf's own file keeps all names; LIBLINEAR's can be read by its tools", "sheaf",
                 [fit](const std::string& text) { set_format(fit->format, text); }});
  arguments.section("Training");
  arguments.parameters(fit->options);
  arguments.add({"--no-bias-penalty", "", "leave the bias's weight out of the penalty", "",
                 [fit](const std::string&) { fit->options.penalise_bias = false; }});
  arguments.text("row-weights", "FILE", fit->weights, "how much each row counts: one number of 0 or more to a line");
  declare_reading(arguments, fit->reading);
  fit->common.declare(arguments, {"device", "threads", "memory", "seed"});
  return [fit] { fit->run(); };
}

}  // namespace

Command fit_command() {
  return {"fit",
          "Train a linear model: logistic regression or support vectors, for classes or amounts",
          {{"logistic regression", "sheaf fit iris.csv --model iris.model"},
           {"support vectors, rare classes weighing as much as frequent ones",
            "sheaf fit trial.csv --model trial.model --loss svm --cost 0.1 --class-weight balanced"},
           {"regression, for LIBLINEAR's own tools to apply",
            "sheaf fit houses.svm --model houses.model --loss svr --model-format liblinear"}},
          declare};
}

}  // namespace sheaf::cli
