#include <memory>

#include <sheaf/solvers/binning.hpp>

#include "command.hpp"
#include "commands/binning.hpp"
#include "core/fail.hpp"
#include "data/name_source.hpp"
#include "tables.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

struct Bin {
  std::string input, output, save, load;
  BinningOptions options;
  ReadOptions reading;
  WriteOptions writing;
  Common common;

  void run() {
    check_output(common, output);
    auto binning = load.empty() ? Binning{} : load_binning(load);
    if (!load.empty() && reading.features == 0) reading.features = binning.features();
    if (!load.empty() && binning.missing == MissingState::own) keep_missing(reading, options);
    const auto context = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      auto dataset = read_table<T>(common, context, input, reading);
      const auto table = load.empty() ? learnt(context, dataset, binning) : apply_binning(context, binning, dataset);
      dataset.replace_x({});  // states take its place in memory
      const auto states = states_dataset(context, table, dataset);
      if (!save.empty()) save_binning(binning, save);
      write_table(common, context, states, output, writing);
    });
  }

  template <class T>
  BinnedTable learnt(const Context& context, const Dataset<T>& dataset, Binning& binning) const {
    const bool automatic = has_automatic_bins(options);
    const bool classes = options.target_bins > 0 || (!dataset.target.empty() && dataset.target.looks_like_classes());
    const bool supervised = options.method == BinMethod::mdlp || (automatic && classes);
    const auto target =
        supervised ? name_source(dataset.source, [&] { return bin_target(dataset.target, options); }) : BinnedTarget{};
    const auto* of_classes = supervised ? &target : nullptr;
    auto binned = learn_and_apply_binning(context, dataset, options, of_classes);
    if (automatic) binned.notes.push_back(describe_bins(with_bins(options, dataset.rows(), of_classes), true));
    if (!common.quiet()) say_notes(binned.notes);
    binning = std::move(binned.binning);
    return std::move(binned.table);
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto bin = std::make_shared<Bin>();
  arguments.positional("IN", bin->input, "the dataset to read; - is standard input");
  arguments.positional("OUT", bin->output, "the dataset of states; - is standard output; compressed by ending");
  arguments.parameters(bin->options);
  arguments.text("save", "FILE", bin->save, "write the cuts, to bin other datasets alike");
  arguments.text("load", "FILE", bin->load, "bin by saved cuts instead of learning from this dataset");
  declare_writing(arguments, bin->writing);
  declare_reading_with_bin(arguments, bin->reading, bin->options);
  bin->common.declare(arguments, {"threads", "memory"});
  arguments.reads({"IN", "--load"});
  arguments.writes({"OUT", "--save"});
  return [bin, &arguments] {
    check_bins(arguments, bin->options);
    const bool learns = arguments.given("--bins") || arguments.given("--binning") || arguments.given("--save");
    if (!bin->load.empty() && learns)
      fail_usage("--load takes the cuts from the file; leave out --bins, --binning and --save");
    bin->run();
  };
}

}  // namespace

Command bin_command() {
  return {"bin",
          "Turn each feature's values into states, and those of other datasets in the same way",
          {{"bins of equal width, as many as suit the rows and classes", "sheaf bin genes.csv states.csv"},
           {"five bins of equally many rows", "sheaf bin genes.csv states.csv --bins 5 --binning equal-frequency"},
           {"cuts that separate the classes, learnt on the training rows and applied to the test rows",
            "sheaf bin train.csv train.states.csv --binning mdlp --save cuts.txt && "
            "sheaf bin test.csv test.states.csv --load cuts.txt"}},
          declare};
}

}  // namespace sheaf::cli
