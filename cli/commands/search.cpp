#include <sheaf/search.hpp>

#include <memory>

#include <sheaf/search_directory.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "commands/model_choice.hpp"
#include "commands/svm_commands.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/search_text.hpp"

namespace sheaf::cli {
namespace {

constexpr std::size_t most_warnings = 10;

struct Search {
  std::string input, output;
  bool resume = false;
  bool force = false;
  ModelKind kind = ModelKind::linear;
  SearchOptions options;
  SvmSearchOptions svm;
  ReadOptions reading;
  Common common;

  Existing existing() const {
    if (resume && force) fail_usage("--resume goes on and --force begins again: give one of them");
    return resume ? Existing::resume : force ? Existing::replace : Existing::refuse;
  }

  void run() {
    if (output.empty()) fail_usage("--output DIR is missing: the folder for the results");
    if (input == "-") fail_usage("a search reads a file, not standard input: to go on, it must read it again");
    if (kind == ModelKind::svm) {
      svm.svm = with_shared(svm.svm, options.linear);
      svm.common = options;
      return search_with_svm({command_line(), input, output, existing(), svm, reading}, common);
    }
    if (!common.also().empty()) fail_usage("linear models are searched on one device; --model svm takes several");
    options = decided(options);
    SearchDirectory directory(output, existing());
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto precision = sizeof(T) == sizeof(float) ? Precision::float32 : Precision::float64;
      directory.begin({command_line(), input, reading, options, context.device(), precision, context.seed()});
      if (directory.finished() > 0 && !common.quiet())
        say(fmt::format("{}: {} finished batches are taken over", output, directory.finished()));
      const auto dataset = read_dataset<T>(context, input, reading);
      directory.check_room(dataset.features() * static_cast<std::int64_t>(dataset.target.class_names.size() + 1));
      const auto result = search_linear(context, dataset, options, &directory.log());
      directory.finish(result);
      tell(result);
    });
  }

  void tell(const SearchResult& result) const {
    if (!common.quiet()) warn(result.warnings);
    if (common.json())
      print(search_json(result));
    else if (!common.quiet())
      print(search_text(result) + fmt::format("\nEverything is in {0}: {0}/report.html, {0}/model.txt\n", output));
  }

  static void warn(const std::vector<std::string>& warnings) {
    for (std::size_t k = 0; k < std::min(warnings.size(), most_warnings); ++k) say("sheaf: warning: " + warnings[k]);
    if (warnings.size() > most_warnings)
      say(fmt::format("sheaf: warning: and {} more, see results.json", warnings.size() - most_warnings));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto search = std::make_shared<Search>();
  arguments.positional("FILE", search->input, "the table to learn from");
  arguments.text("output", "DIR", search->output, "folder for the results; made where it is missing");
  arguments.flag("resume", search->resume, "go on with the search in that folder, which was ended before its end");
  arguments.flag("force", search->force, "begin again where that folder holds a search");
  declare_model_kind(arguments, search->kind);
  arguments.section("Search");
  arguments.parameters(search->options);
  arguments.section("Training");
  arguments.parameters(search->options.linear,
                       {"loss", "epsilon", "tolerance", "max-iterations", "bias", "class-weight", "rule"});
  arguments.add({"--no-bias-penalty", "", "leave the bias's weight out of the penalty", "",
                 [search](const std::string&) { search->options.linear.penalise_bias = false; }});
  declare_svm_search(arguments, search->svm);
  declare_reading(arguments, search->reading);
  search->common.declare(arguments, {"device", "threads", "memory", "seed"}, {.several_devices = true});
  return [search, &arguments] {
    check_svm_flags(arguments, search->kind == ModelKind::svm);
    search->run();
  };
}

}  // namespace

Command search_command() {
  return {
      "search",
      "Find the best cost of a model, and of a kernel machine its kernel: every point on every split, trained together",
      {{"seven costs, five stratified folds", "sheaf search microbes.arff.gz --output microbes-search"},
       {"ten costs by AUC, the simplest model within one standard error",
        "sheaf search text.svm --output found --cost 1e-3:1e3:10 --score auc --choose one-standard-error"},
       {"C and gamma of support vectors, near the best ever finer", "sheaf search trial.csv --output svm --model svm"},
       {"an unbiased estimate by nested validation", "sheaf search trial.csv --output nested --outer 5"},
       {"after an interruption, the same command and", "sheaf search trial.csv --output nested --outer 5 --resume"}},
      declare};
}

}  // namespace sheaf::cli
