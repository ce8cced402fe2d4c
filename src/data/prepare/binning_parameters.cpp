#include <sheaf/binning.hpp>

#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

using O = BinningOptions;

/// How many, or that the numbers are the states already.
Parameter<O> bins_row() {
  auto set = [](O& options, std::string_view text) {
    const bool as_given = text == to_string(BinMethod::as_given);
    if (as_given) options.method = BinMethod::as_given;
    options.bins = as_given ? 0 : parse_number<std::int32_t>("bins", text, {2, O::most_bins});
  };
  return {"bins",
          "N|as-given",
          "bins of each feature, 2 to 65535; as-given: whole numbers are the states",
          std::to_string(O{}.bins),
          {},
          std::move(set)};
}

}  // namespace

template <>
const std::vector<Parameter<BinningOptions>>& parameters() {
  static const std::vector<Parameter<O>> rows{
      bins_row(),
      choice_row<O, BinMethod>("binning", &O::method,
                               {{"equal-width", BinMethod::equal_width},
                                {"equal-frequency", BinMethod::equal_frequency},
                                {"mdlp", BinMethod::mdlp}},
                               "bins of equal width, bins of equally many rows, or cuts that separate the classes"),
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
