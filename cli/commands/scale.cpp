#include <memory>

#include <sheaf/solvers/scaling.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "data/write/provenance.hpp"
#include "tables.hpp"

namespace sheaf::cli {
namespace {

struct Scale {
  std::string input, output, save, load;
  ScaleOptions options;
  ReadOptions reading;
  WriteOptions writing;
  Common common;

  void run() {
    check_output(common, output);
    const auto context = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      auto scaling = load.empty() ? Scaling{} : load_scaling(load);
      if (!load.empty() && reading.features == 0) reading.features = scaling.features();
      auto dataset = read_table<T>(common, context, input, reading);
      if (load.empty()) scaling = learn_scaling(context, dataset, options.method);
      apply_scaling(context, scaling, dataset);
      if (!save.empty()) save_scaling(scaling, save);
      write_table(common, context, dataset, output, writing);
      if (load.empty()) keep_provenance({"scale", input, fmt::format("--scale {}", to_string(options.method))}, output);
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto scale = std::make_shared<Scale>();
  arguments.positional("IN", scale->input, "the dataset to read; - is standard input");
  arguments.positional("OUT", scale->output, "the scaled dataset; - is standard output; compressed by ending");
  arguments.parameters(scale->options);
  arguments.text("save", "FILE", scale->save, "write what was learnt, to scale other datasets alike");
  arguments.text("load", "FILE", scale->load, "scale as saved instead of learning from this dataset");
  declare_writing(arguments, scale->writing);
  declare_reading(arguments, scale->reading);
  scale->common.declare(arguments, {"threads", "memory"});
  arguments.reads({"IN", "--load"});
  arguments.writes({"OUT", "--save"});
  arguments.writes_also([scale] { return std::vector{provenance_path(scale->output)}; });
  return [scale, &arguments] {
    if (!scale->load.empty() && (arguments.given("--method") || !scale->save.empty()))
      fail_usage("--load takes method and ranges from the file; leave out --method and --save");
    scale->run();
  };
}

}  // namespace

Command scale_command() {
  return {"scale",
          "Scale each feature, and scale other datasets in the same way",
          {{"largest magnitude 1; zeros stay zeros", "sheaf scale train.svm train.scaled.svm --method maxabs"},
           {"learn on the training rows, apply to the test rows",
            "sheaf scale train.csv train.01.csv --method 01 --save ranges.txt && "
            "sheaf scale test.csv test.01.csv --load ranges.txt"}},
          declare};
}

}  // namespace sheaf::cli
