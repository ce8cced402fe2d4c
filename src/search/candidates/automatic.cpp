#include "search/candidates/automatic.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "family/family.hpp"

namespace sheaf::engine {

template <class T>
std::vector<Candidate> automatic_candidates(const Dataset<T>& dataset, const SearchOptions& options) {
  const auto summary = summary_of(dataset, options.row_weights);
  std::vector<std::pair<int, std::string>> kinds;
  for (const auto* family : families())
    for (auto& kind : family->automatic_kinds(summary)) kinds.push_back(std::move(kind));
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Candidate> candidates;
  for (const auto& [order, name] : kinds) {
    Candidate candidate{name, find_model_kind(name).options, options.pipeline};
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

template std::vector<Candidate> automatic_candidates(const Dataset<float>&, const SearchOptions&);
template std::vector<Candidate> automatic_candidates(const Dataset<double>&, const SearchOptions&);

}  // namespace sheaf::engine
