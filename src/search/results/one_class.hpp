// Chosen models that predict one class only.
#pragma once

#include <string>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// Whether the threshold of such a model of two classes is to be tried on its held-out rows: the score that chose it
/// asks for the order of the rows or for probabilities, and the caller left the threshold open. `splits`: models to
/// train for it.
bool tries_threshold(std::int32_t splits, const SearchResult& result);

/// Keeps a threshold that was tried, with a note, if others like it find rows of both classes among rows that they were
/// not chosen on; else takes it back.
void keep_useful_threshold(SearchResult& result);

/// A sentence with the remedy, if the chosen model predicts one class only for all held-out rows, and no threshold is
/// chosen; else nothing.
std::string one_class_warning(const SearchResult& result);

}  // namespace sheaf::engine
