#include "commands/binning.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "tables.hpp"

namespace sheaf::cli {
namespace {

Option missing_option(const Parameter<ReadOptions>& row, ReadOptions& reading, BinningOptions& binning) {
  auto with_bin = row;
  with_bin.help += "; bin: a state of its own";
  with_bin.choices.emplace_back("bin");
  with_bin.set = [set = row.set, known = with_bin.choices, &binning](ReadOptions& options, std::string_view text) {
    if (std::find(known.begin(), known.end(), text) == known.end()) fail_unknown("missing", text, known);
    binning.missing = MissingState::error;
    if (text == "bin")
      keep_missing(options, binning);
    else
      set(options, text);
  };
  return Arguments::option(with_bin, "missing", reading);
}

}  // namespace

void keep_missing(ReadOptions& reading, BinningOptions& binning) {
  reading.missing = Missing::keep;
  binning.missing = MissingState::own;
}

void declare_reading_with_bin(Arguments& arguments, ReadOptions& reading, BinningOptions& binning) {
  arguments.section("Reading");
  for (const auto& row : parameters<ReadOptions>())
    if (!is_for_training(row.name))
      arguments.add(row.name == "missing" ? missing_option(row, reading, binning)
                                          : Arguments::option(row, row.name, reading));
  arguments.reads({"--metadata", "--annotations"});
}

void check_bins(const Arguments& arguments, const BinningOptions& binning) {
  const bool as_given = binning.method == BinMethod::as_given;
  if (arguments.given("--bins") && arguments.given("--binning") && (as_given || binning.method == BinMethod::mdlp))
    fail_usage("{} finds its own states; leave out {}", as_given ? "--bins as-given" : "--binning mdlp",
               as_given ? "--binning" : "--bins");
  if (arguments.given("--target-binning") && binning.target_bins == 0)
    fail_usage("--target-binning needs --target-bins, the number of bins");
}

}  // namespace sheaf::cli
