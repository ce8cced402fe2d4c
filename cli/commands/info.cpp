#include <algorithm>
#include <cmath>
#include <memory>

#include <sheaf/pipeline.hpp>
#include <sheaf/report.hpp>
#include <sheaf/solvers/profile.hpp>

#include "command.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/info_text.hpp"

namespace sheaf::cli {
namespace {

struct Info {
  std::string input, report;
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

  void run() {
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      if (reading.missing == Missing::error) reading.missing = Missing::keep;
      const auto raw = read_dataset<T>(context, input, reading);
      const auto dataset = prepared(context, raw);
      auto result = profile(context, dataset);
      const auto columns = column_findings(context, raw);
      result.findings.insert(result.findings.begin(), columns.begin(), columns.end());
      if (!report.empty()) write_text_file(report, profile_html(result));
      common.json() ? print_data(profile_json(result)) : print(info_text(result));
    });
    if (!report.empty() && !common.quiet()) say("report: " + report);
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto info = std::make_shared<Info>();
  arguments.positional("FILE", info->input, "the dataset to read; - is standard input");
  arguments.text("report", "FILE", info->report, "write an HTML page with plots that needs nothing else");
  declare_reading(arguments, info->reading, true);
  info->common.declare(arguments, {"threads", "memory", "seed"});
  arguments.reads({"FILE"});
  arguments.writes({"--report"});
  return [info] { info->run(); };
}

}  // namespace

Command info_command() {
  return {"info",
          "Describe a dataset: its shape, labels, strongest features, memory needs and possible problems",
          {{"on the terminal", "sheaf info microbes.arff.gz"},
           {"with a report to open in a browser", "sheaf info trial.csv --label outcome --report trial.html"},
           {"how many rows, for a script", "sheaf info trial.csv --json | jq .rows"}},
          declare};
}

}  // namespace sheaf::cli
