#include <sheaf/selection.hpp>

#include "data/parameter_rows.hpp"

namespace sheaf {
namespace {

using O = SelectionOptions;
constexpr double largest = std::numeric_limits<double>::max();

std::vector<std::string> criterion_names() {
  std::vector<std::string> names;
  for (const auto& row : criteria()) names.emplace_back(row.name);
  return names;
}

std::vector<std::string> counting_names() {
  const auto known = counting_methods();
  return {known.begin(), known.end()};
}

Parameter<EnsembleOptions> criteria_row() {
  auto row = list_row("criteria", "NAMES", &EnsembleOptions::criteria,
                      "an ensemble: select by each of these criteria and combine the choices");
  row.set = [set = row.set](EnsembleOptions& options, std::string_view text) {
    set(options, text);
    for (const auto& name : options.criteria) find_criterion(name);
  };
  return row;
}

}  // namespace

template <>
const std::vector<Parameter<SelectionOptions>>& parameters() {
  static const std::vector<Parameter<O>> rows{
      name_row("criterion", &O::criterion, criterion_names(), "selection criterion"),
      number_row("count", &O::count, {1, std::numeric_limits<std::int32_t>::max()}, "features to select"),
      number_row("beta", &O::beta, {0, largest}, "mifs, betagamma: weight of redundancy"),
      number_row("gamma", &O::gamma, {0, largest}, "betagamma: weight of redundancy within the classes"),
      number_row("threshold", &O::threshold, {0, 1}, "fcbf: keep features whose symmetrical uncertainty is above this"),
      number_row("neighbours", &O::neighbours, {1, std::numeric_limits<std::int32_t>::max()},
                 "relieff: neighbours of each class"),
      number_row("min-gain", &O::min_gain, {-largest, largest},
                 "stop before a feature whose score, per feature it was compared with, is less", "none"),
      choice_row<O, Match>("match", &O::match, {{"feast", Match::feast}, {"fast", Match::fast}},
                           "ties as FEAST breaks them, or in any order if that is faster"),
      name_row("counting", &O::counting, counting_names(), "counting method; all give the same result"),
  };
  return rows;
}

template <>
const std::vector<Parameter<EnsembleOptions>>& parameters() {
  static const std::vector<Parameter<EnsembleOptions>> rows{
      criteria_row(),
      number_row("resamples", &EnsembleOptions::resamples, {2, 100000},
                 "an ensemble: select on this many bootstrap resamples and combine the choices", "none"),
      number_row("stability-permutations", &EnsembleOptions::permutations, {0, 100000},
                 "repeat it so often with permuted labels, for the stability that chance gives; each takes as long as "
                 "the whole"),
      choice_row<EnsembleOptions, Combination>(
          "combine", &EnsembleOptions::combination,
          {{"mean-rank", Combination::mean_rank}, {"borda", Combination::borda}, {"frequency", Combination::frequency}},
          "how an ensemble's choices become one"),
  };
  return rows;
}

std::string_view to_string(Combination combination) {
  constexpr std::string_view names[] = {"mean-rank", "borda", "frequency"};
  return names[static_cast<std::size_t>(combination)];
}

}  // namespace sheaf
