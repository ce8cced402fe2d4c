#include <memory>
#include <optional>
#include <utility>

#include <sheaf/report.hpp>
#include <sheaf/solvers/binning.hpp>

#include "command.hpp"
#include "commands/binning.hpp"
#include "commands/select_model.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/keep_features.hpp"
#include "data/write/provenance.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/label_text.hpp"
#include "text/search_text.hpp"
#include "text/select_text.hpp"

namespace sheaf::cli {
namespace {

/// Destinations of results; empty: none, "-": standard output.
struct Outputs {
  std::string save_cuts, apply, csv, report;

  std::vector<std::pair<const char*, const std::string*>> all() const {
    return {{"--save-cuts", &save_cuts}, {"--apply", &apply}, {"--csv", &csv}, {"--report", &report}};
  }
  /// Before the work rather than after it. `json`: standard output is for JSON.
  void check(bool json) const {
    const char* printed = json ? "--json" : nullptr;
    for (const auto& [flag, path] : all()) {
      if (*path == "-" && (path == &save_cuts || path == &report))
        fail_usage("{} takes a file, not standard output", flag);
      if (*path == "-" && printed != nullptr)
        fail_usage("{} and {} on standard output would mix; name a file for one of them", printed, flag);
      if (*path == "-") printed = flag;
    }
  }
  bool printed() const { return apply == "-" || csv == "-"; }
};

struct Select {
  std::string input, load_cuts;
  Outputs outputs;
  std::vector<std::string> preselected;
  SelectRequest request;
  ModelSelection model;
  ReadOptions reading;
  WriteOptions writing;
  Common common;
  bool plan = false;

  void run() {
    outputs.check(common.json());
    reading.keep_left_out = !outputs.apply.empty() && given_format() != "libsvm";
    if (model.wanted()) return run_model();
    if (!load_cuts.empty()) request.cuts = load_binning(load_cuts);
    if (request.cuts && request.cuts->missing == MissingState::own) keep_missing(reading, request.binning);
    request.options.extra_devices = common.extra_devices();
    request.plots = !outputs.report.empty();
    const auto context = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      const auto dataset = read_table<T>(common, context, input, reading);
      request.options.preselected = find_features(preselected, dataset.feature_names, dataset.features());
      if (plan)
        return print_plan(common, context, {request.options.criterion, {}, selection_work(dataset, request), {}});
      write(context, dataset, select(common.on_device(context, selection_work(dataset, request)), dataset, request));
    });
  }

  void run_model() {
    model.launch(common);
    if (request.binning.missing == MissingState::own)
      fail_usage("models work on numbers, so missing values must be filled in: --missing mean, for instance");
    if (!outputs.report.empty() || !model.folder().empty()) model.show_path();
    model.use_pipeline(reading);
    const auto context = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      const auto dataset = model.read<T>(common, context, input, reading);
      if (plan) return print_plan(common, context, model.plan(dataset));
      auto result = model.run(context, common, input, reading, dataset);
      if (!result.published_elsewhere && !model.follows()) write_study(context, dataset, std::move(result));
    });
  }

  template <class T>
  void write_study(const Context& context, const Dataset<T>& dataset, SearchResult result) const {
    if (common.json()) print_data(search_json(result));
    write_result(outputs.csv, [&] { return features_csv(result); });
    write_result(outputs.report, [&] { return search_html(result); });
    if (!outputs.apply.empty()) {
      std::vector<std::int64_t> features;
      for (const auto& feature : result.selected()) features.push_back(feature.index);
      if (features.empty())
        fail("no feature was chosen by {} of the resamples, so there is no dataset to write; see --min-frequency",
             result.options.min_frequency);
      write_reduced(context, dataset, features, fmt::format("--model {}", model.kind()));
    }
    if (common.quiet()) return;
    SearchRun::drop_printed(dataset, result.notes);
    for (const auto& warning : result.warnings) say("sheaf: warning: " + warning);
    if (prints())
      for (const auto& note : result.notes) say("sheaf: note: " + note);
    else
      print(with_label(study_text(result, model.kind(), reading), dataset.target, result.class_names.empty()));
    if (!model.folder().empty()) say(fmt::format("everything is in {0}: {0}/report.html", model.folder()));
    tell_written();
  }

  template <class T>
  void write(const Context& context, const Dataset<T>& dataset, const SelectionResult& result) const {
    const auto features = result.indices();
    if (!outputs.apply.empty() && features.empty())
      fail("no feature was selected, so there is no dataset to write: {}",
           result.notes.empty() ? "" : result.notes.back());
    if (!outputs.save_cuts.empty()) save_binning(result.cuts, outputs.save_cuts);
    if (common.json()) print_data(selection_json(result));
    write_result(outputs.csv, [&] { return selection_csv(result); });
    write_result(outputs.report, [&] { return selection_html(result); });
    if (!outputs.apply.empty())
      write_reduced(context, dataset, features,
                    fmt::format("--select {}:{}", result.options.criterion, result.selected.size()));
    if (!prints() && !common.quiet())
      print(with_label(selection_text(result), dataset.target, !dataset.target.looks_like_classes()));
    if (prints() && !common.quiet())
      for (const auto& note : result.notes) say("sheaf: note: " + note);
    tell_written();
  }

  /// Whether standard output is taken by something else than the text for people.
  bool prints() const { return common.json() || outputs.printed(); }

  template <class Text>
  static void write_result(const std::string& path, Text&& text) {
    if (path == "-")
      print_data(text());
    else if (!path.empty())
      write_text_file(path, text());
  }

  /// The format of the reduced dataset; empty: that of the input.
  std::string given_format() const {
    return writing.format == "auto" ? std::string(format_by_name(outputs.apply)) : writing.format;
  }

  /// In the input's format, unless the output's name implies another. Features stay what they were: LIBSVM keeps their
  /// indices, and those without names are called by their positions. Columns that are no features are kept.
  template <class T>
  void write_reduced(const Context& context, const Dataset<T>& dataset, const std::vector<std::int64_t>& features,
                     const std::string& instead) const {
    auto how = writing;
    how.missing = request.binning.missing == MissingState::own;
    how.format = given_format().empty() ? dataset.format : given_format();
    auto reduced = how.format == "libsvm" ? keep_features(dataset, features)
                                          : take_named_features(dataset, features, context.threads());
    drop_kept_groups(reduced);
    write_dataset(context, reduced, outputs.apply, how);
    std::vector<std::string> kept;
    for (const auto& column : dataset.kept) kept.push_back(column.name);
    if (!kept.empty() && !common.quiet())
      say(fmt::format("{}: columns that are no features are kept as they are: {}", input, join_names(kept)));
    keep_provenance({"select", input, instead}, outputs.apply);
  }

  void tell_written() const {
    if (common.quiet()) return;
    for (const auto& [flag, path] : outputs.all())
      if (!path->empty() && *path != "-") say(fmt::format("{}: {}", flag + 2, *path));
  }
};

/// A flag that none of the criteria uses is an error before the work.
void check_weights(const Arguments& arguments, const Select& select) {
  const std::vector<std::pair<const char*, bool CriterionInfo::*>> flags{
      {"--beta", &CriterionInfo::uses_beta},
      {"--gamma", &CriterionInfo::uses_gamma},
      {"--threshold", &CriterionInfo::uses_threshold},
      {"--neighbours", &CriterionInfo::uses_neighbours}};
  const auto& several = select.request.ensemble.criteria;
  const auto asked = several.empty() ? std::vector{select.request.options.criterion} : several;
  for (const auto& [flag, uses] : flags) {
    if (!arguments.given(flag)) continue;
    const auto used = uses;
    if (std::any_of(asked.begin(), asked.end(), [used](const auto& name) { return find_criterion(name).*used; }))
      continue;
    std::vector<std::string_view> users;
    for (const auto& info : criteria())
      if (info.*used) users.push_back(info.name);
    fail_usage("{} is for {}; {} does not use it", flag, fmt::join(users, " and "), fmt::join(asked, ","));
  }
}

/// Rejects options that contradict each other.
void check_request(const Arguments& arguments, const Select& select) {
  const auto given = [&](const char* flag) { return arguments.given(flag); };
  check_bins(arguments, select.request.binning);
  if (!select.load_cuts.empty() && (given("--bins") || given("--binning") || given("--save-cuts")))
    fail_usage("--load-cuts takes the bins from the file; leave out --bins, --binning and --save-cuts");
  if (given("--criterion") && given("--criteria")) fail_usage("give --criterion, or --criteria for an ensemble");
  check_weights(arguments, select);
  const bool combined = !select.request.ensemble.criteria.empty() || select.request.ensemble.resamples > 0;
  if (given("--combine") && !combined)
    fail_usage("--combine is for ensembles: name several --criteria, or how many --resamples");
  if (given("--stability-permutations") && !combined && !select.model.wanted())
    fail_usage(
        "--stability-permutations is for ensembles and studies: name several --criteria, how many --resamples, or a "
        "--model");
}

void declare_criterion(Arguments& arguments, Select& select) {
  arguments.section("Criterion");
  arguments.parameters(select.request.options);
  arguments.list("preselected", "NAMES", select.preselected,
                 "features that are in already, by name or position from 1");
  arguments.section("Ensemble");
  arguments.parameters(select.request.ensemble, {"criteria", "resamples", "combine"});
  arguments.section("Binning");
  arguments.parameters(select.request.binning);
  arguments.text("load-cuts", "FILE", select.load_cuts, "bin by cuts saved before");
}

/// The number of permutations, shared by ensembles and studies.
Option permutations_option(Select& select) {
  for (const auto& row : parameters<EnsembleOptions>())
    if (row.name == "stability-permutations") {
      auto option = Arguments::option(row, row.name, select.request.ensemble);
      option.help = "an ensemble or a study: " + row.help;
      option.set = [set = option.set, &select](const std::string& text) {
        set(text);
        select.model.set_permutations(select.request.ensemble.permutations);
      };
      return option;
    }
  throw InternalError("ensembles have no permutations");
}

std::function<void()> declare(Arguments& arguments) {
  auto select = std::make_shared<Select>();
  auto& outputs = select->outputs;
  arguments.positional("FILE", select->input, "the dataset to select features from; - is standard input");
  arguments.text("apply", "OUT", outputs.apply, "write the dataset with the selected features alone, best first");
  arguments.text("csv", "FILE", outputs.csv, "write the selection as CSV; - is standard output");
  arguments.text("report", "FILE", outputs.report, "write an HTML page with plots that needs nothing else");
  arguments.text("save-cuts", "FILE", outputs.save_cuts, "write the cuts, to bin other datasets alike");
  arguments.flag("plan", select->plan, "select nothing: say what it would take and, with --model, how many models");
  arguments.add(permutations_option(*select));
  declare_criterion(arguments, *select);
  select->model.declare(arguments);
  declare_reading_with_bin(arguments, select->reading, select->request.binning);
  declare_writing(arguments, select->writing);
  select->common.declare(arguments, {"device", "threads", "memory", "seed"}, {.several_devices = true});
  arguments.reads({"FILE", "--load-cuts"});
  arguments.writes({"--apply", "--csv", "--report", "--save-cuts"});
  arguments.writes_also([select] { return std::vector{provenance_path(select->outputs.apply)}; });
  return [select, &arguments] {
    check_request(arguments, *select);
    select->model.check(arguments, select->common, select->request.binning);
    select->request.allow_fewer = !arguments.given("--count");
    select->run();
  };
}

}  // namespace

Command select_command() {
  return {
      "select",
      "Select features: those with most information about the class and least redundancy, or those that models choose",
      {{"ten features by joint mutual information", "sheaf select genes.arff.gz"},
       {"200 by mRMR, with a report and the reduced dataset",
        "sheaf select genes.arff.gz --criterion mrmr --count 200 --report genes.html --apply genes200.arff.gz"},
       {"whole numbers as they are, for a script", "sheaf select counts.csv --bins as-given --json | jq .selected"},
       {"how stable is the choice?", "sheaf select genes.arff.gz --resamples 50 --combine frequency"},
       {"which features elastic nets choose when rows are left out, and how well they predict those",
        "sheaf select microbes.libsvm --model elastic-net --report microbes.html"}},
      declare,
      {"--label", "--criterion", "--count", "--bins", "--resamples", "--model", "--apply", "--csv", "--report",
       "--device"}};
}

}  // namespace sheaf::cli
