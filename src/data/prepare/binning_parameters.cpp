#include <sheaf/solvers/binning.hpp>

#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

using O = BinningOptions;

/// How many, or that the numbers are the states already.
Parameter<O> bins_row() {
  const auto as_given = std::string(to_string(BinMethod::as_given));
  Parameter<O> row{"bins",
                   "N|as-given",
                   "bins of each feature, 2 to 65535; as-given: whole numbers are the states",
                   "1 + log4(rows / classes), at least 3",
                   {},
                   {}};
  row.set = [as_given](O& options, std::string_view text) {
    if (text == as_given) options.method = BinMethod::as_given;
    options.bins = text == as_given ? 0 : parse_number<std::int32_t>("bins", text, {2, O::most_bins});
  };
  row.get = [as_given](const O& options) {
    if (options.method == BinMethod::as_given) return as_given;
    return options.bins > 0 ? std::to_string(options.bins) : std::string();
  };
  return row;
}

/// Numbers that are states already are not binned.
Parameter<O> method_row() {
  auto row = open_choice_row<O, BinMethod>(
      "binning", &O::method,
      {{"automatic", BinMethod::automatic},
       {"equal-width", BinMethod::equal_width},
       {"equal-frequency", BinMethod::equal_frequency},
       {"mdlp", BinMethod::mdlp}},
      "bins of equal width, bins of equally many rows, or cuts that separate the classes; automatic: equal width, for "
      "skewed features equally many rows",
      "automatic; equal-width if --bins is given");
  row.set = [set = row.set](O& options, std::string_view text) {
    if (options.method == BinMethod::as_given) fail_usage("--bins as-given finds its own states; leave out --binning");
    set(options, text);
  };
  return row;
}

}  // namespace

template <>
const std::vector<Parameter<BinningOptions>>& parameters() {
  static const std::vector<Parameter<O>> rows{
      bins_row(),
      method_row(),
      number_row("target-bins", &O::target_bins, {2, O::most_bins}, "bin a numeric target into this many classes",
                 "classes as they are"),
      choice_row<O, BinMethod>(
          "target-binning", &O::target_method,
          {{"equal-width", BinMethod::equal_width}, {"equal-frequency", BinMethod::equal_frequency}},
          "how to bin a numeric target"),
  };
  return rows;
}

}  // namespace sheaf
