#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <sheaf/io.hpp>
#include <sheaf/report.hpp>
#include <sheaf/rescore.hpp>

#include "command.hpp"
#include "command_line.hpp"
#include "common.hpp"
#include "core/fail.hpp"
#include "core/temporary.hpp"
#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

/// Training, saved now and then; it stays, so that results can be made from it again.
constexpr const char* journal_name = "journal.txt";
constexpr std::array result_names{"psms.tsv",     "peptides.tsv",       "decoy_psms.tsv", "decoy_peptides.tsv",
                                  "proteins.tsv", "decoy_proteins.tsv", "model.txt",      "results.json",
                                  "report.html",  "results.mzTab"};

struct Rescore {
  std::vector<std::string> pins;
  std::string folder, model;
  bool force = false, resume = false, keep_decoys = false, mokapot_names = false, mztab = false;
  RescoreOptions options;
  Common common;

  void run() {
    if (folder.empty()) fail_usage("--output DIR is missing: the folder for the results");
    if (resume && force) fail_usage("--resume continues and --force starts again: give one of them");
    check_folder();
    options.checkpoint = folder + "/" + journal_name;
    options.resume = resume;
    if (!model.empty()) {
      const auto saved = read_weights(model);
      options.initial_weights = mean_of(saved);
      options.initial_names = saved.feature_names;
      options.apply_only = true;
    }
    const auto context = common.context();
    common.show_progress_in(folder);
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto result = rescore_psms<T>(context, pins, options);
      if (result.log->had_ended() && !common.quiet())
        say(fmt::format("{}: the run had ended already; its results are written again", folder));
      write(context, result);
      result.log->end();
      if (!common.quiet()) warn(result.warnings, "results.json");
      if (common.json())
        print_data(rescore_json(result, options));
      else if (!common.quiet())
        print(summary(result));
    });
  }

  /// The folder, if it is not empty, must hold a run to resume (--resume) or results to replace (--force).
  void check_folder() const {
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::exists(folder, error)) return;
    if (!fs::is_directory(folder, error)) fail("{}: is no folder; name another one for the results", folder);
    if (fs::is_empty(folder, error) || force) return;
    const bool begun = fs::exists(folder + "/" + journal_name, error);
    if (resume && !begun)
      fail("{}: holds no run to go on with; replace results in it (--force), or name another folder", folder);
    if (!resume)
      fail("{}: exists already and is not empty; {}replace results in it (--force), or name another folder", folder,
           begun ? "go on with the run in it (--resume), " : "");
  }

  /// One model for new PSMs: the mean of the folds', all of which are on one scale.
  static std::vector<double> mean_of(const RescoreModel& model) {
    std::vector<double> mean(model.raw[0].size(), 0.0);
    for (const auto& w : model.raw)
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += w[j] / static_cast<double>(model.raw.size());
    return mean;
  }

  /// All results; those of an earlier run that this one does not have are removed.
  void write(const Context& context, const RescoreResult& result) const {
    std::vector<std::string_view> written;
    const auto path = [&](const char* name) {
      written.emplace_back(name);
      return folder + "/" + name;
    };
    const auto put = [&](const RescoreLevel& level, bool targets, const char* name) {
      RescoreTable table;
      table.targets = targets;
      table.mokapot_names = mokapot_names;
      table.protein_separator = options.protein_separator;
      write_level(context, result, level, table, path(name));
    };
    put(result.psms, true, "psms.tsv");
    if (options.peptides) put(result.peptides, true, "peptides.tsv");
    if (keep_decoys) {
      put(result.psms, false, "decoy_psms.tsv");
      if (options.peptides) put(result.peptides, false, "decoy_peptides.tsv");
    }
    if (options.proteins) {
      write_proteins(result, options.rules, true, path("proteins.tsv"));
      if (keep_decoys) write_proteins(result, options.rules, false, path("decoy_proteins.tsv"));
    }
    if (mztab) write_mztab(result, options, keep_decoys, path("results.mzTab"));
    write_weights(result.model, path("model.txt"), true);
    write_text_file(path("results.json"), rescore_json(result, options));
    write_text_file(path("report.html"), rescore_html(result, options));
    remove_others(written);
  }

  /// Results that this run does not have, and files that were under construction when a run here was killed.
  void remove_others(const std::vector<std::string_view>& written) const {
    namespace fs = std::filesystem;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const auto name = entry.path().filename().string();
      const bool ours = std::any_of(result_names.begin(), result_names.end(), [&](std::string_view result) {
        return name == result || is_temporary_name(name, result);
      });
      if (ours && std::find(written.begin(), written.end(), name) == written.end()) fs::remove(entry.path(), ignored);
    }
  }

  std::string summary(const RescoreResult& result) const {
    const auto line = [&](const RescoreLevel& level, const char* what) {
      if (level.accepted == 0)
        return fmt::format("No {} is accepted at an FDR of {} ({}, {}).\n", what, percent(options.test_fdr),
                           counted(level.targets, "target"), counted(level.decoys, "decoy"));
      return fmt::format("{} of {} target {}s are accepted at an FDR of {}.\n", grouped(level.accepted),
                         grouped(level.targets), what, percent(options.test_fdr));
    };
    std::string text = line(result.psms, "PSM");
    if (options.peptides) text += line(result.peptides, "peptide");
    if (!options.apply_only)
      text += fmt::format("The best single feature accepts {} of the test folds, the trained models {}{}.\n",
                          counted(result.initial_accepted, "PSM"), grouped(result.trained_accepted),
                          result.fell_back ? "; so the feature is used" : "");
    return text + fmt::format("\nEverything is in {0}: {0}/report.html, {0}/psms.tsv, {0}/model.txt\n", folder);
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto run = std::make_shared<Rescore>();
  arguments.positionals("FILE", run->pins,
                        "PIN, csv, pepXML or mzIdentML files, plain or compressed; several are one set");
  arguments.text("output", "DIR", run->folder, "folder for the results; made if it is missing");
  arguments.flag("force", run->force, "replace results in that folder");
  arguments.flag("resume", run->resume, "go on with a run that was ended before its end");
  arguments.text("model", "FILE", run->model,
                 "score with the model of an earlier run (its model.txt), without training");
  arguments.flag("decoys", run->keep_decoys, "tables of decoys too; in results.mzTab their lines");
  arguments.flag("mokapot-names", run->mokapot_names, "name columns as mokapot does");
  arguments.flag("mztab", run->mztab,
                 "results.mzTab too: PSMs and proteins as mzTab 1.0, for PRIDE and other programs");
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
