#include <array>
#include <memory>

#include <nlohmann/json.hpp>

#include <sheaf/model.hpp>
#include <sheaf/report.hpp>
#include <sheaf/solvers/profile.hpp>

#include "command.hpp"
#include "commands/model_arguments.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/write/provenance.hpp"
#include "family/family.hpp"
#include "pipeline/selection_json.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/label_text.hpp"
#include "text/model_text.hpp"

namespace sheaf::cli {
namespace {

/// JSON of a model with its pipeline's selection, if that is by states.
std::string with_selection(const std::string& json, const PipelineOptions& pipeline,
                           const std::optional<BinningOptions>& binning) {
  using Json = nlohmann::ordered_json;
  if (!binning) return json;
  auto answer = Json::parse(json);
  answer["selection"] = pipeline::selection_step_json(pipeline, *binning);
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct Fit {
  std::string input, output, covariance;
  ModelFile format = ModelFile::sheaf;
  ModelArguments model{false, false};
  ReadOptions reading;
  Common common;

  void run() {
    const auto ranks = queue::launched_ranks();
    common.share_rows(ranks);
    if (output.empty()) fail_usage("--output FILE is missing: where to write the model");
    const auto reader = common.context();
    auto pipeline = model.pipeline(reading);
    if (format != ModelFile::sheaf) pipeline.choose_scale = false;  // other programs' files hold no steps
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      const auto dataset = read_table<T>(common, reader, input, reading);
      model.read_files(dataset);
      const auto& options = model.options();
      const auto& family = options.family();
      if (format != ModelFile::sheaf) family.check_peer_format(options, dataset.target);
      auto decided = pipeline;
      decide_steps(dataset, options, decided);
      const auto context = common.on_device(reader, training_work(dataset, options));
      const auto findings =
          common.quiet() ? std::vector<Finding>() : training_findings(reader, dataset, options, decided);
      Model trained = [&] {
        try {
          return fit(context, dataset, options, model.row_weights(), pipeline);
        } catch (const UsageError&) {
          throw;
        } catch (const Error&) {  // which the data may explain
          say_findings(findings);
          throw;
        }
      }();
      const auto made = find_provenance(input);
      if (made && made->command == "select") trained.withhold_tests();
      const auto covariances = covariance.empty() ? std::string() : covariance_csv(trained.trained().covariance());
      if (ranks.rank > 0) return;
      trained.save(output, format);
      if (!covariance.empty()) write_text_file(covariance, covariances);
      say_findings(findings);
      if (!common.quiet()) say_notes(pipeline_notes(dataset, pipeline));
      if (!common.quiet()) warn(trained.warnings());
      if (common.json())
        print_data(with_selection(model_json(trained, output, dataset.rows()), pipeline,
                                  selection_binning(dataset, pipeline)));
      else if (!common.quiet())
        print(with_label(with_steps(model_text(trained, input, dataset.rows()), describe_steps(decided)),
                         dataset.target, trained.is_regression()));
    });
  }
};

ModelFile parse_format(const std::string& text) {
  constexpr std::array<std::string_view, 3> known{"sheaf", "liblinear", "libsvm"};
  return static_cast<ModelFile>(find_name("model format", text, known));
}

std::function<void()> declare(Arguments& arguments) {
  auto fit = std::make_shared<Fit>();
  arguments.positional("FILE", fit->input, "the dataset to learn from; - is standard input");
  fit->model.declare_kind(arguments);
  arguments.text("output", "FILE", fit->output, "where to write the model");
  arguments.add({"--model-format", "sheaf|liblinear|libsvm",
                 "Sheaf's own file keeps all names; those of LIBLINEAR and LIBSVM can be read by their tools", "sheaf",
                 [fit](const std::string& text) { fit->format = parse_format(text); }});
  arguments.text("covariance", "FILE", fit->covariance,
                 kinds_with_likelihood() + ": where to write the covariance of the weights, as CSV");
  fit->model.declare_options(arguments);
  declare_reading(arguments, fit->reading, true);
  fit->common.declare(arguments, {"device", "threads", "memory", "seed"});
  arguments.reads({"FILE"});
  arguments.writes({"--output", "--covariance"});
  return [fit, &arguments] {
    fit->model.apply(arguments);
    if (!fit->covariance.empty() && !fit->model.options().family().has_likelihood())
      fail_usage("--covariance is for the models {}, not {}", kinds_with_likelihood(), fit->model.name());
    const auto peer = fit->model.options().family().peer_format();
    if (fit->format != ModelFile::sheaf && !peer)
      fail_usage("LIBLINEAR's and LIBSVM's files hold no model {}; take Sheaf's own format", fit->model.name());
    if (fit->format != ModelFile::sheaf && fit->format != peer)
      fail_usage("the format of the model {} is {}'s, not {}'s", fit->model.name(), program_of(*peer),
                 program_of(fit->format));
    fit->run();
  };
}

}  // namespace

Command fit_command() {
  return {"fit",
          "Train a linear model, an elastic net, an SVM with a kernel or nearest neighbours, for classes or numbers",
          {{"logistic regression", "sheaf fit iris.csv --output iris.model"},
           {"L2-loss SVM, rare classes weighing as much as frequent ones",
            "sheaf fit trial.csv --loss svm --cost 0.1 --class-weight balanced --output trial.model"},
           {"an SVM with a radial basis function",
            "sheaf fit iris.csv --model svm --gamma 0.25 --cost 16 --output iris.model"},
           {"regression, for LIBLINEAR's own tools to apply",
            "sheaf fit houses.svm --loss svr --model-format liblinear --output houses.model"},
           {"the votes of the seven nearest rows, near ones counting more",
            "sheaf fit iris.csv --model knn --k 7 --vote inverse-distance --output iris.model"},
           {"an elastic net", "sheaf fit genes.csv --model elastic-net --alpha 0.02 --output genes.model"},
           {"three numeric targets at once, which share their features",
            "sheaf fit cars.csv --label mpg,disp,qsec --model elastic-net --alpha 10 --output cars.model"},
           {"logistic regression of all classes at once, with standard errors",
            "sheaf fit iris.csv --model multinomial --output iris.model"},
           {"robust standard errors, and the covariance of the weights",
            "sheaf fit trial.csv --model glm --standard-errors hc0 --covariance trial-vcov.csv --output trial.model"},
           {"counts over different times",
            "sheaf fit claims.csv --model glm --family poisson --exposure years.txt --output claims.model"}},
          declare,
          {"--output", "--model", "--label", "--cost", "--alpha", "--class-weight", "--scale", "--select", "--device"}};
}

}  // namespace sheaf::cli
