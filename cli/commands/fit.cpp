#include <algorithm>
#include <memory>

#include <sheaf/elastic_net_model.hpp>
#include <sheaf/io.hpp>
#include <sheaf/linear_model.hpp>

#include "command.hpp"
#include "commands/model_choice.hpp"
#include "commands/net_options.hpp"
#include "commands/svm_commands.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/linear_text.hpp"

namespace sheaf::cli {
namespace {

struct Fit {
  std::string input, weights;
  ModelChoice choice;
  std::string format = "sheaf";
  LinearOptions options;
  SvmOptions svm;
  NetOptions net;
  NetFlags net_flags;
  ReadOptions reading;
  Common common;

  void run() {
    const auto& output = choice.file();
    if (choice.kind == ModelKind::svm)
      return fit_svm({input, output, weights, format, with_shared(svm, options), reading}, common);
    if (format == "libsvm") fail_usage("LIBSVM's format is for kernel machines (--model svm); here it is liblinear");
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto dataset = read_dataset<T>(context, input, reading);
      const auto row_weights = weights.empty() ? std::vector<float>{} : read_row_weights(weights, dataset.rows());
      net_flags.find_factors(dataset.feature_names, dataset.features(), net);
      const auto model = choice.net != nullptr ? train_net(context, dataset, net, row_weights)
                                               : train_linear(context, dataset, options, row_weights);
      save_model(model, output, format == "sheaf" ? ModelFormat::sheaf : ModelFormat::liblinear);
      tell(model, dataset.rows());
    });
  }

  void tell(const LinearModel& model, std::int64_t rows) const {
    if (!common.quiet())
      for (const auto& warning : warnings_of(model)) say("sheaf: warning: " + warning);
    if (common.json())
      print(model_json(model, choice.file(), rows));
    else if (!common.quiet())
      print(model_text(model, input, rows));
  }
};

void set_format(std::string& format, const std::string& text) {
  static const std::vector<std::string> known{"sheaf", "liblinear", "libsvm"};
  if (std::find(known.begin(), known.end(), text) == known.end()) fail_unknown("model format", text, known);
  format = text;
}

/// Options that the kind of model does not have would be forgotten in silence.
void check_kind(const Arguments& arguments, Fit& fit) {
  const auto refuse = [&](std::initializer_list<const char*> flags, const std::string& why) {
    for (const char* flag : flags)
      if (arguments.given(flag)) fail_usage("{} {}", flag, why);
  };
  check_svm_flags(arguments, fit.choice.kind == ModelKind::svm);
  if (fit.choice.net == nullptr) {
    refuse({"--alpha", "--l1-ratio", "--labels", "--solver", "--parallel", "--max-epochs", "--no-intercept",
            "--standardise", "--penalty-factors", "--unpenalised"},
           "is for elastic nets: give --model " + net_names() + ", and --output for the file");
    return;
  }
  refuse({"--loss", "--cost", "--epsilon", "--max-iterations", "--bias", "--rule", "--no-bias-penalty"},
         fmt::format("is not for --model {}; its penalty is --alpha", fit.choice.net->name));
  if (fit.choice.net->l1_ratio)
    refuse({"--l1-ratio"}, fmt::format("is {} for {}", *fit.choice.net->l1_ratio, fit.choice.net->name));
  NetFlags::check(arguments, fit.net);
  fit.net.loss = fit.choice.net->loss;
  fit.net.l1_ratio = fit.choice.net->l1_ratio.value_or(fit.net.l1_ratio);
}

/// Rows of both tables under one flag, each with its own default.
void declare_shared(Arguments& arguments, const std::shared_ptr<Fit>& fit, std::string_view name) {
  for (const auto& linear : parameters<LinearOptions>())
    for (const auto& net : parameters<NetOptions>()) {
      if (linear.name != name || net.name != name) continue;
      auto option = Arguments::option(linear, linear.name, fit->options);
      if (net.help != linear.help) option.help += "; elastic nets: " + net.help;
      if (net.default_text != linear.default_text) option.default_text += ", elastic nets: " + net.default_text;
      option.set = [fit, &linear, &net](const std::string& text) {
        linear.set(fit->options, text);
        net.set(fit->net, text);
      };
      arguments.add(std::move(option));
    }
}

void declare_nets(Arguments& arguments, const std::shared_ptr<Fit>& fit) {
  arguments.section("Elastic nets");
  arguments.parameters(fit->net, {"alpha", "l1-ratio", "labels"});
  fit->net_flags.declare(arguments, fit->net, {"solver", "parallel", "max-epochs"});
}

std::function<void()> declare(Arguments& arguments) {
  auto fit = std::make_shared<Fit>();
  arguments.positional("FILE", fit->input, "the table to learn from; - is standard input");
  fit->choice.declare(arguments);
  arguments.add({"--model-format", "sheaf|liblinear|libsvm",
                 "Sheaf's own file keeps all names; those of LIBLINEAR and LIBSVM can be read by their tools", "sheaf",
                 [fit](const std::string& text) { set_format(fit->format, text); }});
  arguments.section("Training");
  arguments.parameters(fit->options, {"loss", "cost", "epsilon"});
  declare_shared(arguments, fit, "tolerance");
  arguments.parameters(fit->options, {"max-iterations", "bias"});
  declare_shared(arguments, fit, "class-weight");
  arguments.parameters(fit->options, {"rule"});
  arguments.add({"--no-bias-penalty", "", "leave the bias's weight out of the penalty", "",
                 [fit](const std::string&) { fit->options.penalise_bias = false; }});
  arguments.text("row-weights", "FILE", fit->weights, "how much each row counts: one number of 0 or more to a line");
  declare_svm(arguments, fit->svm);
  declare_nets(arguments, fit);
  declare_reading(arguments, fit->reading);
  fit->common.declare(arguments, {"device", "threads", "memory", "seed"});
  return [fit, &arguments] {
    check_kind(arguments, *fit);
    fit->run();
  };
}

}  // namespace

Command fit_command() {
  return {"fit",
          "Train a linear model, an elastic net or a kernel machine, for classes or amounts",
          {{"logistic regression", "sheaf fit iris.csv --model iris.model"},
           {"support vectors, rare classes weighing as much as frequent ones",
            "sheaf fit trial.csv --model trial.model --loss svm --cost 0.1 --class-weight balanced"},
           {"support vectors with a radial basis function",
            "sheaf fit iris.csv --model svm --gamma 0.25 --cost 16 --output iris.model"},
           {"regression, for LIBLINEAR's own tools to apply",
            "sheaf fit houses.svm --model houses.model --loss svr --model-format liblinear"},
           {"an elastic net", "sheaf fit genes.csv --model elastic-net --alpha 0.02 --output genes.model"}},
          declare};
}

}  // namespace sheaf::cli
