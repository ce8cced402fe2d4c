#include <memory>

#include <fmt/format.h>

#include <sheaf/generate.hpp>

#include "command.hpp"
#include "commands/planted.hpp"
#include "core/text.hpp"
#include "tables.hpp"

namespace sheaf::cli {
namespace {

struct Generate {
  std::string kind, output, truth;
  GenerateOptions options;
  PsmOptions psms;
  WriteOptions writing;
  Common common;

  void run() {
    check_output(common, output);
    if (kind == "psms") return generate_psms(common.context(), psms, output);
    for (const auto& row : parameters<GenerateOptions>())
      if (row.name == "kind") row.set(options, kind);
    const auto context = common.context();
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto generated = generate<T>(context, options);
      if (!truth.empty()) write_text_file(truth, planted_table(generated));
      write_table(common, context, generated.dataset, output, writing);
    });
  }
};

std::string kinds_help() {
  std::string text = "what to make:";
  const char* between = " ";
  for (const auto& generator : generators()) {
    text += fmt::format("{}{} ({}; {} x {}, {} informative)", between, generator.name, generator.about,
                        grouped(generator.rows), grouped(generator.features), generator.informative);
    between = "; ";
  }
  return text + "; psms (peptide-spectrum matches in a PIN file, for rescoring; 50,000 spectra x 18)";
}

std::function<void()> declare(Arguments& arguments) {
  auto generate = std::make_shared<Generate>();
  arguments.positional("KIND", generate->kind, kinds_help());
  arguments.positional("OUT", generate->output, "the dataset to write; - is standard output; compressed by ending");
  arguments.parameters(generate->options,
                       {"rows", "features", "informative", "nonzeros", "classes", "noise", "effect"});
  arguments.text("truth", "FILE", generate->truth, "write which features were planted, and their weights, as CSV");
  arguments.section("Only of psms");
  arguments.parameters(generate->psms);
  declare_writing(arguments, generate->writing);
  generate->common.declare(arguments, {"threads", "memory", "seed"});
  arguments.writes({"OUT", "--truth"});
  return [generate] { generate->run(); };
}

}  // namespace

Command generate_command() {
  return {
      "generate",
      "Make a synthetic dataset whose informative features are known",
      {{"microbe counts with planted species", "sheaf generate microbes microbes.arff.gz --truth planted.csv --seed 7"},
       {"tall and dense, three classes",
        "sheaf generate classification tall.csv --rows 100000 --features 20 --classes 3"},
       {"PSMs of two searches, to be rescored", "sheaf generate psms run.pin.gz --spectra 100000 --separate"},
       {"straight into another command", "sheaf generate text - | sheaf info - --format libsvm"}},
      declare};
}

}  // namespace sheaf::cli
