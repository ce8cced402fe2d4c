// Percolator 3.08: its flags, files and exit codes.
#include <charconv>
#include <cmath>
#include <memory>
#include <type_traits>

#include <fmt/format.h>

#include <sheaf/rescore.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "signals.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

struct Percolator {
  std::vector<std::string> pins;
  std::string psms, decoy_psms, peptides, decoy_peptides, proteins, decoy_proteins, weights, initial_weights;
  std::string fasta, decoy_prefix = "auto";
  RescoreOptions options;
  RescoreTable table;
  PrecisionOptions precision;
  Context::Options surroundings{.threads = 3, .stop = stop_on_signal()};
  bool only_psms = false, tab_input = false, competition = false, mix_max = false;
  int verbose = 2;

  void run() {
    try {
      check();
      options.log = [this](int level, std::string_view line) {
        if (verbose >= level) say(line);
      };
      const Context context(surroundings);
      write(context, precision.precision == Precision::float32 ? rescore_psms<float>(context, pins, options)
                                                               : rescore_psms<double>(context, pins, options));
    } catch (const UsageError& error) {
      fail("{}", error.what());  // Percolator has one exit code for all errors
    }
  }

  void check() {
    options.rules = RescoreRules::percolator;
    if (tab_input) pins.emplace_back("-");
    if (pins.empty()) fail("no PIN file is given");
    if (competition && mix_max) fail("-Y (competition) and -y (mix-max) contradict each other: give one of them");
    if (options.search == SearchType::concatenated && mix_max)
      fail("-I concatenated and -y contradict each other: mix-max is for separate searches");
    choose_confidence();
    if (options.apply_only && initial_weights.empty()) fail("--static needs the weights to use: -W FILE");
    if (!initial_weights.empty()) options.initial_weights = read_weights(initial_weights).raw.at(0);
    if (options.cost_negative > 0 && options.cost_positive == 0)
      say("sheaf: warning: -n is used only together with -p; both costs are chosen");
    options.peptides = !only_psms;
    options.proteins = !fasta.empty();
    if (fasta != "auto") options.fasta = fasta;
    if (decoy_prefix != "auto") options.decoy_prefix = decoy_prefix;
    table.protein_separator = options.protein_separator;
    redirect(psms, peptides, "-r", "-m");
    redirect(decoy_psms, decoy_peptides, "-B", "-M");
  }

  /// -I concatenated cancels -Y, and -I separate means mix-max unless -Y is given.
  void choose_confidence() {
    if (options.search == SearchType::concatenated)
      options.confidence = Confidence::plain;
    else if (competition)
      options.confidence = Confidence::competition;
    else if (mix_max || options.search == SearchType::separate)
      options.confidence = Confidence::mix_max;
  }

  /// With -U, files of peptides take PSMs if no file of PSMs is named.
  void redirect(std::string& of_psms, std::string& of_peptides, const char* peptide_flag, const char* psm_flag) const {
    if (!only_psms || of_peptides.empty()) return;
    const bool taken = !of_psms.empty();
    say(fmt::format("sheaf: warning: with -U there are no peptides: {} {}", peptide_flag,
                    taken ? fmt::format("is left out, since {} is given", psm_flag) : "takes PSMs instead"));
    if (!taken) of_psms = of_peptides;
    of_peptides.clear();
  }

  void write(const Context& context, const RescoreResult& result) const {
    for (const auto& warning : result.warnings)
      if (verbose > 0) say("Warning: " + warning);
    const auto put = [&](const RescoreLevel& level, bool targets, const std::string& path) {
      RescoreTable one = table;
      one.targets = targets;
      if (!path.empty()) write_level(context, result, level, one, path);
    };
    if (!weights.empty()) write_weights(result.model, weights, false);
    put(result.psms, true, only_psms && psms.empty() ? "-" : psms);
    put(result.psms, false, decoy_psms);
    if (!only_psms) {
      put(result.peptides, true, peptides.empty() ? "-" : peptides);
      put(result.peptides, false, decoy_peptides);
    }
    if (!options.proteins) return;
    if (!proteins.empty() || decoy_proteins.empty())
      write_proteins(result, options.rules, true, proteins.empty() ? "-" : proteins);
    if (!decoy_proteins.empty()) write_proteins(result, options.rules, false, decoy_proteins);
  }
};

/// Both ends belong to the range; neither NaN nor infinity does.
template <class Number>
Number number_of(const std::string& flag, const std::string& text, double low, double high) {
  constexpr bool whole = std::is_integral_v<Number>;
  double value = 0;
  const auto* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  const bool within = result.ec == std::errc() && result.ptr == end && value >= low && value <= high;
  if (!within || (whole && value != std::floor(value)))
    fail_usage("{} takes a {}number, {:g} to {:g}, not '{}'", flag, whole ? "whole " : "", low, high, text);
  return static_cast<Number>(value);
}

class Flags {
 public:
  explicit Flags(Arguments& arguments) : arguments_(arguments) {}

  void file(const char* also, const char* flag, std::string& value, const char* help) {
    add(also, flag, "FILE", help, "", [&value](const std::string& text) { value = text; });
  }
  void toggle(const char* also, const char* flag, bool& value, const char* help) {
    add(also, flag, "", help, "", [&value](const std::string&) { value = true; });
  }
  /// Known for the sake of scripts that give it.
  void accepted(const char* also, const char* flag, const char* value, const char* help) {
    add(also, flag, value, help, "", [](const std::string&) {});
  }
  template <class Number>
  void number(const char* also, const char* flag, Number& value, double low, double high, const char* help) {
    add(also, flag, "N", help, fmt::format("{}", value),
        [&value, name = std::string(flag), low, high](const auto& text) {
          value = number_of<Number>(name, text, low, high);
        });
  }
  void add(const char* also, const char* flag, const char* value, const char* help, std::string fallback,
           std::function<void(const std::string&)> set) {
    Option option{flag, value, help, std::move(fallback), std::move(set)};
    option.also = also;
    arguments_.add(std::move(option));
  }

 private:
  Arguments& arguments_;
};

void declare_files(Flags& flags, Percolator& run) {
  flags.file("-m", "--results-psms", run.psms, "write target PSMs");
  flags.file("-M", "--decoy-results-psms", run.decoy_psms, "write decoy PSMs");
  flags.file("-r", "--results-peptides", run.peptides, "write target peptides, else to standard output");
  flags.file("-B", "--decoy-results-peptides", run.decoy_peptides, "write decoy peptides");
  flags.add("-f", "--picked-protein", "auto|FASTA",
            "proteins too, by their best peptide that no other has; with a FASTA file, groups of proteins", "",
            [&run](const std::string& text) { run.fasta = text; });
  flags.add("-z", "--protein-enzyme", "NAME", "that sequences of the FASTA file are cut by", run.options.enzyme,
            [&run](const std::string& text) { run.options.enzyme = text; });
  flags.file("-l", "--results-proteins", run.proteins, "write target proteins, else to standard output");
  flags.file("-L", "--decoy-results-proteins", run.decoy_proteins, "write decoy proteins");
  flags.toggle("-U", "--only-psms", run.only_psms, "PSMs only, no peptides");
  flags.file("-w", "--weights", run.weights, "write the weights of each fold");
  flags.file("-W", "--init-weights", run.initial_weights, "begin with the raw weights of a weights file");
  flags.file("-J", "--tab-out", run.options.features_file, "write the scaled features as a PIN file");
  flags.toggle("", "--static", run.options.apply_only, "score with the weights of -W, without training");
  flags.add("-j", "--tab-in", "FILE", "a PIN file, as without a flag", "",
            [&run](const std::string& text) { run.pins.push_back(text); });
  flags.toggle("", "--stdinput-tab", run.tab_input, "read a PIN file from standard input");
  flags.toggle("", "--output-retention-time", run.table.times, "a column of retention times");
}

void declare_training(Flags& flags, Percolator& run) {
  auto& options = run.options;
  flags.number("-t", "--testFDR", options.test_fdr, 0, 1, "FDR of reported results and of choosing models");
  flags.number("-F", "--trainFDR", options.train_fdr, 0, 1, "FDR of positives in training; 0: that of -t");
  flags.add("", "--train-fdr-initial", "N", "FDR of positives in the first iteration", "that of -F",
            [&options](const std::string& text) {
              options.initial_fdr = number_of<double>("--train-fdr-initial", text, 0, 1);
            });
  flags.number("-i", "--maxiter", options.iterations, 0, 1000, "iterations");
  flags.number("-p", "--Cpos", options.cost_positive, 0, 1e127, "cost of errors on targets; 0: chosen");
  flags.number("-n", "--Cneg", options.cost_negative, 0, 1e127, "cost of errors on decoys, with -p; 0: chosen");
  flags.toggle("-x", "--quick-validation", options.quick, "costs of 1, and an end when iterations gain little");
  flags.number("", "--nested-xval-bins", options.nested, 1, 1000, "nested folds that choose costs");
  flags.toggle("", "--train-best-positive", options.best_positive, "one positive for each spectrum at most");
  flags.number("-N", "--subset-max-train", options.subset, 0, 1e8, "PSMs to train on; 0: all");
  flags.add("-V", "--default-direction", "[-]NAME", "the feature to begin with; - if lower is better", "",
            [&options](const std::string& text) { options.direction = text; });
  flags.add("-u", "--unitnorm", "", "scale features to [0, 1]", "",
            [&options](const std::string&) { options.scaling = FeatureScaling::unit_interval; });
  flags.toggle("-O", "--override", options.keep_trained, "keep models that accept fewer PSMs than the first direction");
  flags.toggle("-o", "--no-terminate", options.tolerant, "go on if data are questionable");
  flags.number("-S", "--seed", options.seed, 1, 20000, "seed of folds and bootstraps");
  flags.accepted("-R", "--test-each-iteration", "", "accepted; test folds are counted in any case");
}

void declare_confidence(Flags& flags, Percolator& run) {
  auto& options = run.options;
  flags.toggle("-Y", "--post-processing-tdc", run.competition, "target-decoy competition");
  flags.toggle("-y", "--post-processing-mix-max", run.mix_max, "mix-max");
  flags.add("-I", "--search-input", "auto|concatenated|separate", "how targets and decoys were searched", "auto",
            [&options](const std::string& text) {
              for (const auto& row : parameters<RescoreOptions>())
                if (row.name == "search") row.set(options, text);
            });
  flags.add("", "--irls-pep", "", "PEPs by a logistic spline", "",
            [&options](const std::string&) { options.pep = PepMethod::spline; });
  flags.add("", "--ip-pep", "", "PEPs over scores instead of ranks", "",
            [&options](const std::string&) { options.pep = PepMethod::score; });
  flags.add("", "--pava-pep", "", "PEPs by pooling adjacent violators", "",
            [&options](const std::string&) { options.pep = PepMethod::pooled; });
  flags.add("-K", "--protein-name-separator", "TEXT", "between proteins", "a tab",
            [&options](const std::string& text) { options.protein_separator = text; });
  flags.add("-P", "--protein-decoy-pattern", "PREFIX", "prefix of the names of decoy proteins", "auto",
            [&run](const std::string& text) { run.decoy_prefix = text; });
  flags.number("-v", "--verbose", run.verbose, 0, 10, "how much to say: 0 nothing, 1 results, 2 progress");
  flags.number("", "--num-threads", run.surroundings.threads, 1, 128, "threads");
  flags.accepted("", "--no-analytics", "", "accepted; nothing is ever sent");
  flags.accepted("-s", "--no-schema-validation", "", "accepted; there is no XML");
}

std::function<void()> declare(Arguments& arguments) {
  auto run = std::make_shared<Percolator>();
  arguments.positionals("FILE", run->pins, "PIN files, plain or compressed", false);
  Flags flags(arguments);
  declare_files(flags, *run);
  arguments.reads({"FILE", "--picked-protein", "--init-weights", "--tab-in"});
  arguments.writes({"--results-psms", "--decoy-results-psms", "--results-peptides", "--decoy-results-peptides",
                    "--results-proteins", "--decoy-results-proteins", "--weights", "--tab-out"});
  arguments.section("Training");
  declare_training(flags, *run);
  arguments.section("Confidence");
  declare_confidence(flags, *run);
  arguments.section("Beyond Percolator");
  arguments.parameters(run->surroundings, {"device", "memory"});
  arguments.parameters(run->precision);
  return [run] { run->run(); };
}

}  // namespace

Command percolator_command() {
  return {"percolator",
          "Percolator 3.08: the same flags, files and results",
          {{"peptides and PSMs, targets and decoys",
            "sheaf percolator -r peptides.tsv -B decoy-peptides.tsv -m psms.tsv -M decoy-psms.tsv run.pin"},
           {"target-decoy competition, weights kept", "sheaf percolator -Y -w weights.txt -m psms.tsv -U run.pin.gz"},
           {"another run scored with these weights", "sheaf percolator --static -W weights.txt other.pin"}},
          declare};
}

}  // namespace sheaf::cli
