// The models that are compared if the choice is left to the data.
#pragma once

#include <vector>

#include <sheaf/search.hpp>

namespace sheaf::engine {

/// Classes: linear, elastic net, neighbours, SVM. A numeric target: elastic net, neighbours, SVM. Survival: the elastic
/// net alone. Each behind the steps of the options.
template <class T>
std::vector<Candidate> automatic_candidates(const Dataset<T>& dataset, const SearchOptions& options);

}  // namespace sheaf::engine
