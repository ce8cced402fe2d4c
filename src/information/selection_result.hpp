// The report of a selection: names, votes of an ensemble, and the data of the HTML page's plots.
#pragma once

#include <string>
#include <vector>

#include <sheaf/selection.hpp>

namespace sheaf::information {

/// The states and classes that a selection worked on.
struct SelectionInput {
  const BinnedTable& table;
  const BinnedTarget& target;
  const std::vector<std::string>& feature_names;  ///< empty: by position, from 1
};

/// Appends the selected features, notes and work of one selection.
void add_selection(const SelectionInput& input, const Selection& selection, SelectionResult& result);
/// Appends the features that an ensemble agreed on, its members and notes.
void add_ensemble(const Context& context, const SelectionInput& input, const Ensemble& ensemble,
                  SelectionResult& result);
/// Adds the plots of the page.
void add_plots(const Context& context, const SelectionInput& input, SelectionResult& result);

}  // namespace sheaf::information
