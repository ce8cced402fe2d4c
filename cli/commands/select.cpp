#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

#include <sheaf/binning.hpp>
#include <sheaf/names.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/selection_report.hpp>

#include "command.hpp"
#include "commands/binning.hpp"
#include "commands/select_model.hpp"
#include "core/fail.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/search_text.hpp"
#include "text/select_text.hpp"

namespace sheaf::cli {
namespace {

/// Where results go; empty: nowhere, "-": standard output.
struct Outputs {
  std::string save_cuts, apply, json, csv, report;

  std::vector<std::pair<const char*, const std::string*>> all() const {
    return {
        {"--save-cuts", &save_cuts}, {"--apply", &apply}, {"--json", &json}, {"--csv", &csv}, {"--report", &report}};
  }
  /// Told before the work rather than after it.
  void check() const {
    const char* printed = nullptr;
    for (const auto& [flag, path] : all()) {
      if (*path == "-" && (path == &save_cuts || path == &report))
        fail_usage("{} takes a file, not standard output", flag);
      if (*path == "-" && printed != nullptr)
        fail_usage("{} and {} on standard output would mix; name a file for one of them", printed, flag);
      if (*path == "-") printed = flag;
      const auto folder = std::filesystem::path(*path).parent_path();
      if (!folder.empty() && !std::filesystem::is_directory(folder))
        fail("{} {}: the folder {} is not there", flag, *path, folder.string());
    }
  }
  bool printed() const { return apply == "-" || json == "-" || csv == "-"; }
};

/// States and classes of the table, and how they came about.
struct Prepared {
  BinnedTarget target;
  Binning binning;
  BinnedTable table;
  std::vector<std::string> notes;

  SelectionInput input(const std::vector<std::string>& names) const { return {table, target, binning, names}; }
};

struct Select {
  std::string input, load_cuts;
  Outputs outputs;
  std::vector<std::string> preselected;
  bool counted = false;  ///< whether the user said how many
  SelectionOptions options;
  EnsembleOptions ensemble;
  BinningOptions binning;
  ModelSelection model;
  ReadOptions reading;
  WriteOptions writing;
  Common common;

  void run() {
    outputs.check();
    if (model.wanted()) return run_model();
    const auto loaded = load_cuts.empty() ? std::optional<Binning>() : load_binning(load_cuts);
    if (loaded && loaded->missing == MissingState::own) keep_missing(reading, binning);
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      auto dataset = read_dataset<T>(context, input, reading);
      const auto prepared = prepare(context, dataset, loaded);
      const auto report = select_by_criterion(context, dataset, prepared);
      write(context, dataset, prepared, report);
    });
  }

  void run_model() {
    if (binning.missing == MissingState::own)
      fail_usage("models work on numbers, so missing values must be filled in: --missing mean, for instance");
    if (!outputs.report.empty() || !model.folder().empty()) model.show_path();
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto dataset = model.read<T>(context, input, reading);
      const auto result = model.run(context, common, input, reading, dataset);
      write_study(context, dataset, result);
    });
  }

  template <class T>
  void write_study(const Context& context, const Dataset<T>& dataset, const SearchResult& result) const {
    write_result(outputs.json, [&] { return search_json(result); });
    write_result(outputs.csv, [&] { return features_csv(result); });
    write_result(outputs.report, [&] { return search_html(result); });
    if (!outputs.apply.empty()) {
      std::vector<std::int64_t> features;
      for (const auto& feature : result.selected()) features.push_back(feature.index);
      if (features.empty())
        fail("no feature was chosen by {} of the resamples, so there is no table to write; see --min-frequency",
             result.options.min_frequency);
      write_reduced(context, dataset, features);
    }
    if (common.quiet()) return;
    for (const auto& warning : result.warnings) say("sheaf: warning: " + warning);
    if (outputs.printed())
      for (const auto& note : result.notes) say("sheaf: note: " + note);
    else
      print(study_text(result, model.kind(), reading));
    if (!model.folder().empty()) say(fmt::format("everything is in {0}: {0}/report.html", model.folder()));
    tell_written();
  }

  template <class T>
  Prepared prepare(const Context& context, const Dataset<T>& dataset, const std::optional<Binning>& loaded) const {
    Prepared prepared{bin_target(dataset.target, binning), {}, {}, {}};
    if (loaded) {
      prepared.binning = *loaded;
      prepared.table = apply_binning(context, *loaded, dataset);
      return prepared;
    }
    auto binned = learn_and_apply_binning(context, dataset, binning, &prepared.target);
    prepared.binning = std::move(binned.binning);
    prepared.table = std::move(binned.table);
    prepared.notes = std::move(binned.notes);
    return prepared;
  }

  bool combined() const { return !ensemble.criteria.empty() || ensemble.resamples > 0; }

  template <class T>
  SelectionReport select_by_criterion(const Context& context, Dataset<T>& dataset, const Prepared& prepared) {
    options.also = common.also();
    options.preselected = find_features(preselected, dataset.feature_names, dataset.features());
    const auto left = dataset.features() - static_cast<std::int64_t>(options.preselected.size());
    if (!counted && left > 0) options.count = std::min(options.count, left);
    const auto selection_input = prepared.input(dataset.feature_names);
    auto report = begin_report(selection_input);
    describe_request(dataset, prepared, report);
    const auto on_numbers = [&](const SelectionOptions& request) {
      return select_on_numbers(context, dataset, prepared, request);
    };
    if (combined())
      add_ensemble(context, selection_input,
                   select_ensemble(context, prepared.table, prepared.target, options, ensemble, on_numbers), report);
    else if (find_criterion(options.criterion).numeric)
      add_selection(selection_input, on_numbers(options), report);
    else
      add_selection(selection_input, select_features(context, prepared.table, prepared.target, options), report);
    if (!outputs.report.empty()) add_plots(context, selection_input, report);
    return report;
  }

  template <class T>
  void describe_request(const Dataset<T>& dataset, const Prepared& prepared, SelectionReport& report) const {
    report.source = dataset.source;
    report.options = options;
    report.ensemble = ensemble;
    report.binning = binning;
    report.seed = common.seed();
    report.notes = prepared.notes;
    for (const auto j : options.preselected) report.preselected.push_back(dataset.feature_name(j));
  }

  /// FEAST gives relief what all its criteria get, the states; relieff is for the numbers themselves.
  template <class T>
  Selection select_on_numbers(const Context& context, Dataset<T>& dataset, const Prepared& prepared,
                              const SelectionOptions& request) const {
    if (binning.missing == MissingState::own)
      fail_usage("{} works on numbers, so missing values must be filled in: --missing mean, for instance",
                 request.criterion);
    if (request.criterion == "relief")
      return select_in_double(context, states_dataset(context, prepared.table, dataset), prepared.target, request);
    if constexpr (std::is_same_v<T, double>)
      return select_in_double(context, dataset, prepared.target, request);
    else
      fail_usage("{} works in double precision; leave out --precision", request.criterion);
  }

  /// On the classes as they were binned.
  template <class T>
  static Selection select_in_double(const Context& context, Dataset<T>&& dataset, const BinnedTarget& target,
                                    const SelectionOptions& request) {
    auto numbers = convert_precision<double, T>(std::move(dataset), context.threads());
    return select_in_double(context, numbers, target, request);
  }
  static Selection select_in_double(const Context& context, Dataset<double>&& dataset, const BinnedTarget& target,
                                    const SelectionOptions& request) {
    return select_in_double(context, dataset, target, request);
  }
  static Selection select_in_double(const Context& context, Dataset<double>& dataset, const BinnedTarget& target,
                                    const SelectionOptions& request) {
    Target classes;
    classes.classes = target.classes;
    classes.class_names = target.names;
    std::swap(classes, dataset.target);
    auto selection = select_numeric(context, dataset, request);
    std::swap(classes, dataset.target);
    return selection;
  }

  template <class T>
  void write(const Context& context, const Dataset<T>& dataset, const Prepared& prepared,
             const SelectionReport& report) const {
    const auto features = features_to_keep(report);
    if (!outputs.save_cuts.empty()) save_binning(prepared.binning, outputs.save_cuts);
    write_result(outputs.json, [&] { return selection_json(report); });
    write_result(outputs.csv, [&] { return selection_csv(report); });
    write_result(outputs.report, [&] { return selection_html(report); });
    if (!outputs.apply.empty()) write_reduced(context, dataset, features);
    if (!outputs.printed() && !common.quiet()) print(selection_text(report));
    if (outputs.printed() && !common.quiet())
      for (const auto& note : report.notes) say("sheaf: note: " + note);
    tell_written();
  }

  template <class Text>
  static void write_result(const std::string& path, Text&& text) {
    if (path == "-")
      print(text());
    else if (!path.empty())
      write_text_file(path, text());
  }

  /// Those in already, then those selected.
  std::vector<std::int64_t> features_to_keep(const SelectionReport& report) const {
    auto features = options.preselected;
    for (const auto& row : report.selected) features.push_back(row.feature.index);
    if (features.empty() && !outputs.apply.empty())
      fail("no feature was selected, so there is no table to write: {}",
           report.notes.empty() ? "" : report.notes.back());
    return features;
  }

  /// In the input's format, unless the output's name tells another.
  template <class T>
  void write_reduced(const Context& context, const Dataset<T>& dataset,
                     const std::vector<std::int64_t>& features) const {
    auto how = writing;
    how.missing = binning.missing == MissingState::own;
    if (how.format == "auto" && format_by_name(outputs.apply).empty()) how.format = dataset.format;
    write_dataset(context, take_features(dataset, features, context.threads()), outputs.apply, how);
  }

  void tell_written() const {
    if (common.quiet()) return;
    for (const auto& [flag, path] : outputs.all())
      if (!path->empty() && *path != "-") say(fmt::format("{}: {}", flag + 2, *path));
  }
};

/// A flag that none of the criteria asked for reads is a misunderstanding, told before the work.
void check_weights(const Arguments& arguments, const Select& select) {
  const std::vector<std::pair<const char*, bool CriterionInfo::*>> flags{
      {"--beta", &CriterionInfo::uses_beta},
      {"--gamma", &CriterionInfo::uses_gamma},
      {"--threshold", &CriterionInfo::uses_threshold},
      {"--neighbours", &CriterionInfo::uses_neighbours}};
  const auto& several = select.ensemble.criteria;
  const auto asked = several.empty() ? std::vector{select.options.criterion} : several;
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

/// What contradicts itself.
void check_request(const Arguments& arguments, const Select& select) {
  const auto given = [&](const char* flag) { return arguments.given(flag); };
  check_bins(arguments, select.binning);
  if (!select.load_cuts.empty() && (given("--bins") || given("--binning") || given("--save-cuts")))
    fail_usage("--load-cuts takes the bins from the file; leave out --bins, --binning and --save-cuts");
  if (given("--criterion") && given("--criteria")) fail_usage("give --criterion, or --criteria for an ensemble");
  check_weights(arguments, select);
  if (given("--combine") && !select.combined())
    fail_usage("--combine is for ensembles: name several --criteria, or how many --resamples");
}

void declare_criterion(Arguments& arguments, Select& select) {
  arguments.section("Criterion");
  arguments.parameters(select.options);
  arguments.list("preselected", "NAMES", select.preselected,
                 "features that are in already, by name or position from 1");
  arguments.section("Ensemble");
  arguments.parameters(select.ensemble);
  arguments.section("Binning");
  arguments.parameters(select.binning);
  arguments.text("load-cuts", "FILE", select.load_cuts, "bin by cuts saved before");
}

std::function<void()> declare(Arguments& arguments) {
  auto select = std::make_shared<Select>();
  auto& outputs = select->outputs;
  arguments.positional("FILE", select->input, "the table to select features of; - is standard input");
  arguments.text("apply", "OUT", outputs.apply, "write the table with the selected features alone, best first");
  arguments.text("json", "FILE", outputs.json, "write the selection as JSON; - is standard output");
  arguments.text("csv", "FILE", outputs.csv, "write the selection as a table; - is standard output");
  arguments.text("report", "FILE", outputs.report, "write an HTML page with plots that needs nothing else");
  arguments.text("save-cuts", "FILE", outputs.save_cuts, "write the cuts, to bin other tables alike");
  declare_criterion(arguments, *select);
  select->model.declare(arguments);
  declare_reading_with_bin(arguments, select->reading, select->binning);
  declare_writing(arguments, select->writing);
  select->common.declare(arguments, {"device", "threads", "memory", "seed"}, {.json = false, .several_devices = true});
  return [select, &arguments] {
    check_request(arguments, *select);
    select->model.check(arguments, select->common);
    select->counted = arguments.given("--count");
    select->run();
  };
}

}  // namespace

Command select_command() {
  return {
      "select",
      "Select features: those that tell most of the class with least said twice, or those that models choose",
      {{"ten features by joint mutual information", "sheaf select genes.arff.gz"},
       {"200 by mRMR, with a report and the reduced table",
        "sheaf select genes.arff.gz --criterion mrmr --count 200 --report genes.html --apply genes200.arff.gz"},
       {"whole numbers as they are, for a script", "sheaf select counts.csv --bins as-given --json - | jq .selected"},
       {"how stable is the choice?", "sheaf select genes.arff.gz --resamples 50 --combine frequency"},
       {"which features elastic nets choose when rows are left out, and how well they predict those",
        "sheaf select microbes.libsvm --model elastic-net --report microbes.html"}},
      declare};
}

}  // namespace sheaf::cli
