#include <sheaf/report.hpp>

#include <memory>

#include "command.hpp"
#include "commands/model_arguments.hpp"
#include "commands/search_run.hpp"
#include "terminal.hpp"
#include "text/label_text.hpp"
#include "text/search_text.hpp"

namespace sheaf::cli {
namespace {

struct Search {
  SearchRun run{"search"};
  ModelArguments model{true, false};
  SearchOptions options;
  ReadOptions reading;
  Common common;
  std::string input;

  void start() {
    run.check(true, input);
    const auto context = common.context();
    options.also = common.also();
    options.pipeline = model.pipeline(reading);
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto dataset = run.read<T>(common, context, input, reading);
      model.read_files(dataset);
      options.row_weights = model.row_weights();
      const auto result = run.search(context, common, dataset, model.space(), options, input, reading);
      if (!common.quiet()) warn(result.warnings, "results.json");
      if (common.json())
        print_data(search_json(result));
      else if (!common.quiet())
        print(with_label(search_text(result), dataset.target, result.class_names.empty()) +
              fmt::format("\nEverything is in {0}: {0}/report.html, {0}/model.txt\n", run.folder()));
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto search = std::make_shared<Search>();
  arguments.positional("FILE", search->input, "the dataset to learn from");
  search->run.declare(arguments);
  search->model.declare_kind(arguments);
  arguments.section("Search");
  arguments.parameters(search->options, {"split",          "folds",          "test-fraction",
                                         "test-size",      "window",         "gap",
                                         "equal-rows",     "outer",          "outer-split",
                                         "outer-fraction", "score",          "choose",
                                         "strategy",       "trials",         "time",
                                         "batch",          "predictions",    "calibrate",
                                         "threshold",      "learning-curve", "permutation-importance"});
  search->model.declare_options(arguments);
  declare_reading(arguments, search->reading, true);
  search->common.declare(arguments, {"device", "threads", "memory", "seed"}, {.several_devices = true});
  arguments.reads({"FILE"});
  return [search, &arguments] {
    search->model.apply(arguments);
    search->start();
  };
}

}  // namespace

Command search_command() {
  return {
      "search",
      "Find the best parameters of a model: every point on every split trained together, the best on all rows",
      {{"seven costs, five stratified folds", "sheaf search microbes.arff.gz --output microbes-search"},
       {"ten costs by AUC, the simplest model within one standard error",
        "sheaf search text.svm --output found --cost 1e-3:1e3:10 --score auc --choose one-standard-error"},
       {"C and gamma of an SVM, near the best ever finer", "sheaf search trial.csv --output svm --model svm"},
       {"alpha and l1-ratio of an elastic net", "sheaf search genes.csv --output nets --model elastic-net"},
       {"an unbiased estimate by nested validation", "sheaf search trial.csv --output nested --outer 5"},
       {"after an interruption, the same command and", "sheaf search trial.csv --output nested --outer 5 --resume"}},
      declare};
}

}  // namespace sheaf::cli
