#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include <sheaf/io.hpp>
#include <sheaf/report.hpp>
#include <sheaf/rescore.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

/// Training, saved now and then, until the results are there.
constexpr const char* checkpoint_name = "unfinished.json";

struct Rescore {
  std::vector<std::string> pins;
  std::string folder, model;
  bool force = false, resume = false, keep_decoys = false, mokapot_names = false;
  RescoreOptions options;
  Common common;

  void run() {
    namespace fs = std::filesystem;
    if (folder.empty()) fail_usage("--output DIR is missing: the folder for the results");
    std::error_code error;
    const bool occupied =
        fs::exists(folder, error) && !(fs::is_directory(folder, error) && fs::is_empty(folder, error));
    const bool unfinished = fs::exists(folder + "/" + checkpoint_name, error);
    if (occupied && unfinished && !force && !resume)
      fail("{}: holds a run that has not ended; go on with it (--resume), or begin anew (--force)", folder);
    if (occupied && !unfinished && !force)
      fail("{}: exists already and is not empty; replace results in it (--force), or name another folder", folder);
    options.checkpoint = folder + "/" + checkpoint_name;
    options.resume = resume;
    if (!model.empty()) {
      const auto saved = read_weights(model);
      options.initial_weights = mean_of(saved);
      options.initial_names = saved.feature_names;
      options.apply_only = true;
    }
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto result = rescore_psms<T>(context, pins, options);
      fs::create_directories(folder, error);
      if (error) fail("{}: the folder cannot be made: {}", folder, error.message());
      write(context, result);
      fs::remove(options.checkpoint, error);
      if (!common.quiet()) warn(result.warnings, "results.json");
      if (common.json())
        print_data(rescore_json(result, options));
      else if (!common.quiet())
        print(summary(result));
    });
  }

  /// One model for new PSMs: the mean of the folds', all of which are on one scale.
  static std::vector<double> mean_of(const RescoreModel& model) {
    std::vector<double> mean(model.raw[0].size(), 0.0);
    for (const auto& w : model.raw)
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += w[j] / static_cast<double>(model.raw.size());
    return mean;
  }

  void write(const Context& context, const RescoreResult& result) const {
    const auto put = [&](const RescoreLevel& level, bool targets, const char* name) {
      RescoreTable table;
      table.targets = targets;
      table.mokapot_names = mokapot_names;
      table.protein_separator = options.protein_separator;
      write_level(context, result, level, table, folder + "/" + name);
    };
    put(result.psms, true, "psms.tsv");
    if (options.peptides) put(result.peptides, true, "peptides.tsv");
    if (keep_decoys) {
      put(result.psms, false, "decoy_psms.tsv");
      if (options.peptides) put(result.peptides, false, "decoy_peptides.tsv");
    }
    if (options.proteins) {
      write_proteins(result, options.rules, true, folder + "/proteins.tsv");
      if (keep_decoys) write_proteins(result, options.rules, false, folder + "/decoy_proteins.tsv");
    }
    write_weights(result.model, folder + "/model.txt", true);
    write_text_file(folder + "/results.json", rescore_json(result, options));
    write_text_file(folder + "/report.html", rescore_html(result, options));
  }

  std::string summary(const RescoreResult& result) const {
    const auto line = [&](const RescoreLevel& level, const char* what) {
      if (level.accepted == 0)
        return fmt::format("No {} is accepted at an FDR of {} ({} targets, {} decoys).\n", what,
                           percent(options.test_fdr), grouped(level.targets), grouped(level.decoys));
      return fmt::format("{} of {} target {}s are accepted at an FDR of {}.\n", grouped(level.accepted),
                         grouped(level.targets), what, percent(options.test_fdr));
    };
    std::string text = line(result.psms, "PSM");
    if (options.peptides) text += line(result.peptides, "peptide");
    if (!options.apply_only)
      text += fmt::format("The best single feature accepts {} PSMs of the test folds, the trained models {}{}.\n",
                          grouped(result.initial_accepted), grouped(result.trained_accepted),
                          result.fell_back ? "; so the feature is used" : "");
    return text + fmt::format("\nEverything is in {0}: {0}/report.html, {0}/psms.tsv, {0}/model.txt\n", folder);
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto run = std::make_shared<Rescore>();
  arguments.positionals("FILE", run->pins,
                        "PIN, csv, pepXML or mzIdentML files, plain or compressed; several are one set");
  arguments.text("output", "DIR", run->folder, "folder for the results; made where it is missing");
  arguments.flag("force", run->force, "replace results in that folder");
  arguments.flag("resume", run->resume, "go on with a run that was ended before its end");
  arguments.text("model", "FILE", run->model,
                 "score with the model of an earlier run (its model.txt), without training");
  arguments.flag("decoys", run->keep_decoys, "tables of decoys too");
  arguments.flag("mokapot-names", run->mokapot_names, "name columns as mokapot does");
  arguments.section("Rescoring");
  arguments.parameters(run->options);
  run->common.declare(arguments, {"device", "threads", "memory"});
  arguments.reads({"FILE", "--model", "--fasta"});
  arguments.writes_folder("--output");
  return [run] { run->run(); };
}

}  // namespace

Command rescore_command() {
  return {"rescore",
          "Learn from targets and decoys which peptide-spectrum matches are correct",
          {{"one run", "sheaf rescore run.pin --output rescored"},
           {"all runs of an experiment together, q-values of each", "sheaf rescore *.pin.gz --output all --group file"},
           {"another run with the model of an earlier one",
            "sheaf rescore new.pin --output new --model rescored/model.txt"},
           {"after an interruption, the same command and", "sheaf rescore run.pin --output rescored --resume"}},
          declare};
}

}  // namespace sheaf::cli
