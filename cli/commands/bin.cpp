#include <memory>

#include <sheaf/binning.hpp>

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
    common.with_precision([&]<class T>(std::type_identity<T>) {
      const auto dataset = read_table<T>(common, context, input, reading);
      const auto table = load.empty() ? learnt(context, dataset, binning) : apply_binning(context, binning, dataset);
      const auto states = states_dataset(context, table, dataset);
      if (!save.empty()) save_binning(binning, save);
      write_table(common, context, states, output, writing);
    });
  }

  template <class T>
  BinnedTable learnt(const Context& context, const Dataset<T>& dataset, Binning& binning) const {
    const bool supervised = options.method == BinMethod::mdlp;
    const auto target =
        supervised ? name_source(dataset.source, [&] { return bin_target(dataset.target, options); }) : BinnedTarget{};
    auto binned = learn_and_apply_binning(context, dataset, options, supervised ? &target : nullptr);
    if (!common.quiet())
      for (const auto& note : binned.notes) say("sheaf: note: " + note);
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
          {{"64 bins of equal width", "sheaf bin genes.csv states.csv"},
           {"cuts that separate the classes, learnt on the training rows and applied to the test rows",
            "sheaf bin train.csv train.states.csv --binning mdlp --save cuts.txt && "
            "sheaf bin test.csv test.states.csv --load cuts.txt"}},
          declare};
}

}  // namespace sheaf::cli
