#include <sheaf/report.hpp>

#include <memory>

#include "command.hpp"
#include "commands/model_arguments.hpp"
#include "commands/search_run.hpp"
#include "terminal.hpp"
#include "text/label_text.hpp"
#include "text/plan_text.hpp"
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
  bool plan = false;

  /// The command that trains the chosen one of several models alone.
  std::string repeat_text(const SearchResult& result) const {
    if (result.models.empty() || result.stack) return {};
    const auto& chosen = *result.model_of(result.chosen());
    const auto own = result.own_point(result.chosen());
    std::string flags;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto& axis = result.axes[static_cast<std::size_t>(chosen.axes[k])];
      flags += fmt::format(" --{} {}", axis.name, axis.names.empty() ? fmt::format("{}", own[k]) : axis.text(own[k]));
    }
    return fmt::format("\nTo train it alone: sheaf fit {}{} --model {}{}{} --output model.txt\n", input,
                       column_flags(reading), chosen.candidate.space.options.kind(),
                       pipeline_flags(result.options.pipeline), flags);
  }

  void start() {
    run.launch(common);
    run.check(!plan, input);
    const auto context = common.context();
    options.extra_devices = common.extra_devices();
    options.pipeline = model.pipeline(reading);
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      const auto dataset = run.read<T>(common, context, input, reading);
      model.read_files(dataset);
      options.row_weights = model.row_weights();
      if (plan) {
        auto space = model.space();
        decide(dataset, space, options);
        return print_plan(common, context, planned_search(dataset, space, options, std::string(model.name())));
      }
      auto result = run.search(context, common, dataset, model.space(), options, input, reading);
      if (result.published_elsewhere || run.follows()) return;
      if (!common.quiet()) warn(result.warnings, "results.json");
      if (common.json()) print_data(search_json(result));
      SearchRun::drop_printed(dataset, result.notes);
      if (!common.json() && !common.quiet())
        print(with_label(search_text(result), dataset.target, result.class_names.empty()) + repeat_text(result) +
              fmt::format("\nEverything is in {0}: {0}/report.html, {0}/model.txt\n", run.folder()));
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto search = std::make_shared<Search>();
  arguments.positional("FILE", search->input, "the dataset to learn from");
  search->run.declare(arguments);
  arguments.flag("plan", search->plan, "train nothing: say how many models that would be, and what they take");
  search->model.declare_kind(arguments);
  arguments.section("Search");
  arguments.parameters(search->options, {"split",
                                         "folds",
                                         "test-fraction",
                                         "test-size",
                                         "window",
                                         "gap",
                                         "equal-rows",
                                         "outer",
                                         "outer-split",
                                         "outer-fraction",
                                         "score",
                                         "choose",
                                         "strategy",
                                         "trials",
                                         "time",
                                         "batch",
                                         "predictions",
                                         "calibrate",
                                         "threshold",
                                         "learning-curve",
                                         "permutation-importance",
                                         "permutation-test",
                                         "stack"});
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
      "Find the best model and its parameters: every point on every split trained together, the best on all rows",
      {{"the best of all models that suit the data, on five folds", "sheaf search trial.csv"},
       {"linear models and SVMs on the same folds", "sheaf search trial.csv --model linear,svm --output compared"},
       {"seven costs, five stratified folds", "sheaf search microbes.arff.gz --model linear --output microbes-search"},
       {"ten costs by AUC, the simplest model within one standard error",
        "sheaf search text.svm --output found --cost 1e-3:1e3:10 --score auc --choose one-standard-error"},
       {"C and gamma of an SVM, near the best ever finer", "sheaf search trial.csv --output svm --model svm"},
       {"alpha and l1-ratio of an elastic net", "sheaf search genes.csv --output nets --model elastic-net"},
       {"an unbiased estimate by nested validation", "sheaf search trial.csv --output nested --outer 5"},
       {"after an interruption, the same command and", "sheaf search trial.csv --output nested --outer 5 --resume"},
       {"on each of several machines that see the same folder",
        "sheaf search trial.csv --outer 5 --join shared/nested"}},
      declare,
      {"--label", "--model", "--score", "--outer", "--group", "--scale", "--select", "--device", "--output", "--resume",
       "--join"}};
}

}  // namespace sheaf::cli
