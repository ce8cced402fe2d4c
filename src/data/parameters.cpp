#include <sheaf/generate.hpp>
#include <sheaf/solvers/parameters.hpp>

#include <algorithm>

#include "core/fail.hpp"
#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

constexpr std::int64_t most_rows = std::numeric_limits<std::int32_t>::max();  // row and column numbers fit 32 bits

std::vector<std::string> format_choices(bool to_write = false) {
  std::vector<std::string> names{"auto"};
  for (const auto& format : formats())
    if (format.written || !to_write) names.emplace_back(format.name);
  return names;
}

std::vector<std::string> generator_choices() {
  std::vector<std::string> names;
  for (const auto& generator : generators()) names.emplace_back(generator.name);
  return names;
}

char parse_delimiter(std::string_view text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space") return ' ';
  if (text.size() != 1) fail_usage("delimiter takes one character, 'tab' or 'space', not '{}'", text);
  return text.front();
}

template <class Options>
Parameter<Options> delimiter_row(char Options::*member, const std::string& automatic) {
  const char fallback = Options{}.*member;
  auto set = [member](Options& options, std::string_view text) { options.*member = parse_delimiter(text); };
  return {
      "delimiter",
      "CHAR",
      "CSV: what stands between columns (a character, tab or space)",
      fallback == 0 ? automatic : std::string(1, fallback),
      {},
      std::move(set),
      [member](const Options& options) {
        const char character = options.*member;
        return character == 0 ? "" : character == '\t' ? "tab" : character == ' ' ? "space" : std::string(1, character);
      }};
}

}  // namespace

template <>
const std::vector<Parameter<Context::Options>>& parameters() {
  using O = Context::Options;
  static const std::vector<Parameter<O>> rows{
      {"device",
       "NAME",
       "where to work: cpu, cuda, cuda:N or auto (a GPU if the work is large enough for one, else the CPU)",
       to_string(O{}.device),
       {},
       [](O& options, std::string_view text) { options.device = parse_device(text); },
       [](const O& options) { return to_string(options.device); }},
      number_row("threads", &O::threads, {1, 4096}, "CPU threads; results do not depend on it", "all cores"),
      {"memory",
       "BYTES",
       "memory the work may use, such as 512M or 4G",
       "80 % of what is free",
       {},
       [](O& options, std::string_view text) { options.memory = parse_bytes(text); },
       [](const O& options) { return options.memory > 0 ? fmt::format("{}", options.memory) : std::string(); }},
      number_row("seed", &O::seed, {}, "seed of all random numbers; the same seed gives the same bytes"),
  };
  return rows;
}

template <>
const std::vector<Parameter<PrecisionOptions>>& parameters() {
  static const std::vector<Parameter<PrecisionOptions>> rows{
      choice_row<PrecisionOptions, Precision>("precision", &PrecisionOptions::precision,
                                              {{"float", Precision::float32}, {"double", Precision::float64}},
                                              "number type of the dataset in memory"),
  };
  return rows;
}

template <>
const std::vector<Parameter<ReadOptions>>& parameters() {
  using O = ReadOptions;
  static const std::vector<Parameter<O>> rows{
      name_row("format", &O::format, format_choices(), "format of the input; auto goes by its name, else by content"),
      choice_row<O, Header>("header", &O::header,
                            {{"auto", Header::automatic}, {"yes", Header::yes}, {"no", Header::no}},
                            "CSV: whether the first line holds names"),
      delimiter_row(&O::delimiter, "found in the first line"),
      choice_row<O, char>(
          "decimal", &O::decimal, {{"auto", '\0'}, {".", '.'}, {",", ','}},
          "CSV: decimal sign of numbers; auto: a comma if columns are apart by ; or tab and the numbers "
          "can't be read otherwise"),
      list_row("missing-codes", "VALUES", &O::missing_codes,
               "CSV: values that stand for a missing one, such as -999, separated by commas"),
      yes_no_row("transpose", &O::transpose, "CSV, NumPy, Matrix Market: rows of the file are features"),
      text_row("label", "COLUMN", &O::label,
               "column to predict: a name, a position from 1 (-1: the last), or none; several with commas between are "
               "numeric targets of one elastic net",
               "label, class, target or y, diagnosis, outcome or the like, else the last"),
      text_row("event", "COLUMN", &O::event,
               "survival: the label is a time, and this column 1 if the event came then, 0 if it did not (censored)",
               "none"),
      text_row("entry", "COLUMN", &O::entry,
               "survival: after which time each row is followed (left truncation); (entry, label] are its times",
               "none"),
      text_row("strata", "COLUMN", &O::strata, "survival: groups of rows that have a baseline hazard of their own",
               "none"),
      text_row("group", "COLUMN", &O::group, "column whose values group the rows, or none",
               "ids that say whose rows they are (patient, subject, mouse ...), else none"),
      text_row("order", "COLUMN", &O::order, "column that says when each row was, for --split time: dates or numbers",
               "the order of the rows"),
      text_row("weight-column", "COLUMN", &O::weight_column,
               "column that says how much each row counts in training: numbers of 0 or more", "none"),
      text_row("split-column", "COLUMN", &O::split_column,
               "column that names the fold that tests each row, or says train or test for a single split", "none"),
      text_row("metadata", "FILE", &O::metadata,
               "CSV or TSV file with more columns of the rows (label, group ...), joined by their ids", "none"),
      text_row("id", "COLUMN", &O::id, "column of ids: of --metadata, and of a CSV dataset, which it is no feature of",
               "the first column of --metadata"),
      text_row("annotations", "FILE", &O::annotations,
               "CSV or TSV file with texts about the features (taxonomy, gene symbol ...), joined by their names, or a "
               "taxonomy of QIIME 2 (.qza); results show them",
               "what the dataset's file has"),
      text_row("layer", "NAME", &O::layer, "AnnData: layer to read in place of X", "X"),
      text_row("sheet", "NAME", &O::sheet, "Excel: sheet to read", "the first"),
      list_row("ignore", "COLUMNS", &O::ignore, "columns to leave out, separated by commas"),
      list_row("nominal", "COLUMNS", &O::nominal,
               "CSV: columns whose values are levels even if they are numbers; columns of text are so by themselves"),
      choice_row<O, LabelKind>(
          "task", &O::task,
          {{"auto", LabelKind::automatic}, {"classification", LabelKind::classes}, {"regression", LabelKind::numbers}},
          "what the labels are; auto: words and few whole numbers are classes"),
      text_row("positive", "CLASS", &O::positive,
               "of two classes the one that precision, recall, F1, AUC and weights speak of",
               "the larger number; yes, true, case, cancer, mutant and their like, and what is not normal, control or "
               "wildtype; else the last by alphabet"),
      choice_row<O, Missing>("missing", &O::missing,
                             {{"error", Missing::error},
                              {"mean", Missing::mean},
                              {"median", Missing::median},
                              {"most_frequent", Missing::most_frequent},
                              {"zero", Missing::zero}},
                             "value for a missing value"),
      choice_row<O, Storage>("storage", &O::storage,
                             {{"auto", Storage::automatic}, {"dense", Storage::dense}, {"sparse", Storage::sparse}},
                             "how to hold the dataset in memory; auto takes the smaller"),
      choice_row<O, Verify>("verify", &O::verify,
                            {{"values", Verify::values}, {"checksums", Verify::checksums}, {"none", Verify::none}},
                            ".sheaf: what is checked before it is used; none opens a file of your own at once"),
      yes_no_row("cache", &O::cache,
                 "keep a text file as FILE.sheaf beside it, and read that one while text and options stay the same"),
      number_row("features", &O::features, {0, most_rows}, "LIBSVM: least number of columns",
                 "as many as the largest index"),
  };
  return rows;
}

template <>
const std::vector<Parameter<WriteOptions>>& parameters() {
  using O = WriteOptions;
  static const std::vector<Parameter<O>> rows{
      name_row("format", &O::format, format_choices(true), "format of the output; auto goes by the ending of its name"),
      choice_row<O, bool>("header", &O::header, {{"yes", true}, {"no", false}}, "CSV: names in the first line"),
      delimiter_row(&O::delimiter, {}),
      number_row("digits", &O::digits, {0, 17}, "significant digits of numbers",
                 "the fewest that read back as the same number"),
  };
  return rows;
}

template <>
const std::vector<Parameter<ScaleOptions>>& parameters() {
  static const std::vector<Parameter<ScaleOptions>> rows{
      choice_row<ScaleOptions, ScaleMethod>("method", &ScaleOptions::method,
                                            {{"maxabs", ScaleMethod::max_abs},
                                             {"01", ScaleMethod::unit_interval},
                                             {"-11", ScaleMethod::symmetric_interval},
                                             {"standard", ScaleMethod::standard},
                                             {"robust", ScaleMethod::robust}},
                                            "largest magnitude 1 (sparse stays sparse), range 0 to 1, range -1 to 1, "
                                            "mean 0 and standard deviation 1, or median 0 and quartiles 1 apart"),
  };
  return rows;
}

template <>
const std::vector<Parameter<GenerateOptions>>& parameters() {
  using O = GenerateOptions;
  static const std::vector<Parameter<O>> rows{
      name_row("kind", &O::kind, generator_choices(), "what kind of dataset to make"),
      number_row("rows", &O::rows, {1, most_rows}, "number of rows", "by kind"),
      number_row("features", &O::features, {1, most_rows}, "number of features", "by kind"),
      number_row("informative", &O::informative, {0, most_rows}, "planted features, which decide the label", "by kind"),
      number_row("nonzeros", &O::nonzeros, {1, std::numeric_limits<std::int64_t>::max()},
                 "sparse kinds: about how many non-zeros in all", "by kind"),
      number_row("classes", &O::classes, {2, 65536}, "classes of the label"),
      number_row("noise", &O::noise, {0, std::numeric_limits<double>::max()},
                 "fraction of labels flipped; regression: standard deviation of the noise", "by kind"),
      number_row("effect", &O::effect, {0, std::numeric_limits<double>::max()}, "strength of the planted features"),
  };
  return rows;
}

}  // namespace sheaf
