// Everything `sheaf select` tells of a selection, for the terminal, JSON, CSV and the HTML report alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/binning.hpp>
#include <sheaf/parameters.hpp>
#include <sheaf/selection.hpp>

namespace sheaf {

/// A selected feature, best first.
struct ReportedFeature {
  SelectedFeature feature;  ///< of an ensemble: its score is the combination's
  std::string name;
  std::optional<EnsembleFeature> votes;  ///< ensembles only
};

/// How the examples of each class spread over the states of a feature.
struct StateDistribution {
  std::string feature;
  std::vector<std::string> states;         ///< names of the states that occur
  std::vector<std::vector<double>> share;  ///< class x state, of the class's examples
};

struct SelectionReport {
  std::string source;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::vector<std::string> class_names;
  std::vector<std::int64_t> class_counts;
  BinMethod method = BinMethod::equal_width;
  BinningOptions binning;
  SelectionOptions options;
  EnsembleOptions ensemble;
  bool combined = false;  ///< whether it is an ensemble's
  double stability = 1;   ///< of an ensemble
  std::vector<EnsembleMember> members;
  std::uint64_t seed = 0;
  std::vector<std::string> preselected;  ///< by name
  std::vector<ReportedFeature> selected;
  std::vector<std::string> notes;
  SelectionWork work;
  std::string kernel;

  // Only where a page is to be made.
  std::vector<double> information;  ///< bits that each pair of the first selected features shares: squared
  std::vector<StateDistribution> distributions;
};

/// The table and label a selection worked on.
struct SelectionInput {
  const BinnedTable& table;
  const BinnedTarget& target;
  const Binning& binning;
  const std::vector<std::string>& feature_names;  ///< empty: by position, from 1
};

/// Features by name, or position from 1. One that is not there, or stands twice, is a UsageError.
std::vector<std::int64_t> find_features(const std::vector<std::string>& wanted,
                                        const std::vector<std::string>& feature_names, std::int64_t features);

/// Shape, classes and names; what was selected is added by add_selection or add_ensemble.
SelectionReport begin_report(const SelectionInput& input);
void add_selection(const SelectionInput& input, const Selection& selection, SelectionReport& report);
void add_ensemble(const Context& context, const SelectionInput& input, const Ensemble& ensemble,
                  SelectionReport& report);
/// What the page shows beyond the list.
void add_plots(const Context& context, const SelectionInput& input, SelectionReport& report);

std::string selection_json(const SelectionReport& report);
/// One line a feature, with a heading.
std::string selection_csv(const SelectionReport& report);
/// A complete page with its plots inside; loads nothing from anywhere.
std::string selection_html(const SelectionReport& report);

std::string_view to_string(Combination combination);

template <>
const std::vector<Parameter<SelectionOptions>>& parameters();
template <>
const std::vector<Parameter<EnsembleOptions>>& parameters();

}  // namespace sheaf
