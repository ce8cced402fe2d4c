#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <memory>
#include <utility>

#include <sheaf/model.hpp>
#include <sheaf/pipeline.hpp>
#include <sheaf/report.hpp>
#include <sheaf/solvers/profile.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/text/model_file.hpp"
#include "family/family.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/info_text.hpp"
#include "text/model_info.hpp"

namespace sheaf::cli {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 30;

/// Whether a file begins as Sheaf's, LIBLINEAR's or LIBSVM's models do.
bool is_model(const std::string& path) {
  std::array<char, 32> bytes{};
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), bytes.size());
  const std::string_view begin(bytes.data(), static_cast<std::size_t>(file.gcount()));
  return begin.starts_with(model_file_magic) ||
         std::any_of(families().begin(), families().end(), [&](const Family* family) {
           const auto word = family->peer_word();
           return !word.empty() && begin.starts_with(word) && begin.substr(word.size()).starts_with(' ');
         });
}

struct Info {
  std::string input, report, read_values = "auto";
  ReadOptions reading;
  Common common;

  /// The data as models use them: missing values filled in, one feature for each level.
  template <class T>
  static Dataset<T> prepared(const Context& context, const Dataset<T>& raw) {
    PipelineOptions steps;
    const bool gaps = std::visit(
        [](const auto& x) {
          return std::any_of(x.values.begin(), x.values.end(), [](T value) { return std::isnan(value); });
        },
        raw.x);
    if (gaps) steps.impute = Imputation::median;
    if (!needs_pipeline(raw, steps)) return raw.borrowed();
    return apply_pipeline(context, learn_pipeline(context, raw, steps), raw);
  }

  /// Whether a dataset whose file has a summary is described by that alone.
  template <class T>
  bool by_summary(const Dataset<T>& dataset) const {
    if (!has_stored_summary(dataset) || read_values == "yes") return false;
    return read_values == "no" || matrix_bytes(dataset.x) > large;
  }

  /// First without a look at its values: a .sheaf file opens at once then.
  template <class T>
  Dataset<T> read(const Context& context) {
    const auto verify = std::exchange(reading.verify, Verify::none);
    auto dataset = read_dataset<T>(context, input, reading);
    const bool asked = verify != Verify::values;
    if (!has_stored_summary(dataset) || (by_summary(dataset) && !asked)) return dataset;
    reading.verify = verify;
    return read_dataset<T>(context, input, reading);
  }

  template <class T>
  Profile described(const Context& context, const Dataset<T>& raw) const {
    if (by_summary(raw)) return profile(context, raw, {.values = false});
    auto result = profile(context, prepared(context, raw));
    const auto columns = column_findings(context, raw);
    result.findings.insert(result.findings.begin(), columns.begin(), columns.end());
    return result;
  }

  /// Options about a dataset that were given with a model are an error.
  void describe_model(const Arguments& arguments) const {
    for (const auto& section : arguments.sections())
      for (const auto& option : section.options)
        if (option.given && option.flag != "--json" && option.flag != "--quiet")
          fail_usage("{} is for datasets, and {} is a model", option.flag, input);
    const auto model = Model::load(input);
    common.json() ? print_data(model_info_json(model, input)) : print(model_info_text(model, input));
  }

  void run() {
    const auto context = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      if (reading.missing == Missing::error) reading.missing = Missing::keep;
      const auto result = described(context, read<T>(context));
      if (!report.empty()) write_text_file(report, profile_html(result));
      common.json() ? print_data(profile_json(result)) : print(info_text(result));
    });
    if (!report.empty() && !common.quiet()) say("report: " + report);
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto info = std::make_shared<Info>();
  arguments.positional("FILE", info->input, "the dataset or model to describe; - is a dataset on standard input");
  arguments.text("report", "FILE", info->report, "write an HTML page with plots that needs nothing else");
  arguments.add({"--read-values", "auto|yes|no",
                 "whether all values are read; auto: unless a .sheaf file, which holds a summary, has more than 1 GiB",
                 "auto", [info](const std::string& text) {
                   const std::vector<std::string> known{"auto", "yes", "no"};
                   if (std::find(known.begin(), known.end(), text) == known.end())
                     fail_unknown("--read-values", text, known);
                   info->read_values = text;
                 }});
  declare_reading(arguments, info->reading, true);
  info->common.declare(arguments, {"threads", "memory", "seed"});
  arguments.reads({"FILE"});
  arguments.writes({"--report"});
  return [info, &arguments] { is_model(info->input) ? info->describe_model(arguments) : info->run(); };
}

}  // namespace

Command info_command() {
  return {"info",
          "Describe a dataset (shape, labels, strongest features, memory needs, possible problems) or a model",
          {{"on the terminal", "sheaf info microbes.arff.gz"},
           {"with a report to open in a browser", "sheaf info trial.csv --label outcome --report trial.html"},
           {"what a model learnt: its steps, and its largest weights with the annotations of their features",
            "sheaf info found/model.txt"},
           {"how many rows, for a script", "sheaf info trial.csv --json | jq .rows"}},
          declare};
}

}  // namespace sheaf::cli
