#include <memory>

#include <sheaf/profile.hpp>
#include <sheaf/report.hpp>

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

  void run() {
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto result = profile(context, read_dataset<T>(context, input, reading));
      if (!report.empty()) write_text_file(report, profile_html(result));
      print(common.json() ? profile_json(result) : info_text(result));
    });
    if (!report.empty() && !common.quiet()) say("report: " + report);
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto info = std::make_shared<Info>();
  arguments.positional("FILE", info->input, "the dataset to read; - is standard input");
  arguments.text("report", "FILE", info->report, "write an HTML page with plots that needs nothing else");
  declare_reading(arguments, info->reading);
  info->common.declare(arguments, {"threads", "memory", "seed"});
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
