#include "information/selection_result.hpp"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "core/fail.hpp"
#include "core/names.hpp"

namespace sheaf::information {
namespace {

constexpr std::size_t most_compared = 40;  // features of the heat map
constexpr std::size_t most_distributed = 12;
constexpr std::size_t most_bars = 24;  // states of one distribution; neighbours are joined if there are more

std::string name_of(const SelectionInput& input, std::int64_t j) {
  return input.feature_names.empty() ? std::to_string(j + 1) : input.feature_names[static_cast<std::size_t>(j)];
}

std::vector<std::int64_t> indices_of(const SelectionResult& result) {
  std::vector<std::int64_t> indices;
  for (const auto& row : result.selected) indices.push_back(row.feature.index);
  return indices;
}

double score_of(const EnsembleFeature& feature, Combination combination) {
  return combination == Combination::borda       ? feature.borda
         : combination == Combination::frequency ? feature.frequency
                                                 : feature.mean_rank;
}

/// State of every row in one feature.
std::vector<std::int32_t> states_of(const BinnedTable& table, std::int64_t j) {
  std::vector<std::int32_t> states(static_cast<std::size_t>(table.rows));
  if (const auto* dense = std::get_if<DenseCodes>(&table.codes)) {
    std::visit([&](const auto& codes) { std::copy_n(codes.data() + j * table.rows, table.rows, states.begin()); },
               *dense);
    return states;
  }
  const auto& sparse = std::get<SparseCodes>(table.codes);
  std::fill(states.begin(), states.end(), sparse.common[j]);
  for (auto k = sparse.offsets[j]; k < sparse.offsets[j + 1]; ++k)
    states[static_cast<std::size_t>(sparse.examples[k])] = sparse.codes[k];
  return states;
}

/// The bar of each state; -1: the state does not occur.
std::vector<std::int32_t> bars_of(const std::vector<std::int32_t>& states, std::int32_t count,
                                  std::vector<std::pair<std::int32_t, std::int32_t>>& ends) {
  std::vector<std::int32_t> bars(static_cast<std::size_t>(count), -1);
  for (const auto state : states) bars[static_cast<std::size_t>(state)] = 0;
  const auto occurring = static_cast<std::size_t>(std::count(bars.begin(), bars.end(), 0));
  const auto together = std::max<std::size_t>(1, (occurring + most_bars - 1) / most_bars);
  std::size_t seen = 0;
  for (std::int32_t state = 0; state < count; ++state) {
    auto& bar = bars[static_cast<std::size_t>(state)];
    if (bar < 0) continue;
    bar = static_cast<std::int32_t>(seen++ / together);
    if (static_cast<std::size_t>(bar) == ends.size()) ends.emplace_back(state, state);
    ends.back().second = state;
  }
  return bars;
}

StateDistribution distribution(const SelectionInput& input, const SelectionResult& result, std::int64_t j) {
  StateDistribution found{name_of(input, j), {}, {}};
  const auto& rule = result.cuts.rules[static_cast<std::size_t>(j)];
  const auto states = states_of(input.table, j);
  std::vector<std::pair<std::int32_t, std::int32_t>> ends;
  const auto bars = bars_of(states, input.table.states[static_cast<std::size_t>(j)], ends);
  for (const auto& [first, last] : ends)
    found.states.push_back(first == last ? rule.state_name(first)
                                         : fmt::format("{} … {}", rule.state_name(first), rule.state_name(last)));
  found.share.assign(result.class_names.size(), std::vector<double>(ends.size()));
  for (std::size_t i = 0; i < states.size(); ++i) {
    const auto c = static_cast<std::size_t>(input.target.classes[i]);
    const auto bar = static_cast<std::size_t>(bars[static_cast<std::size_t>(states[i])]);
    found.share[c][bar] += 1 / static_cast<double>(result.class_counts[c]);
  }
  return found;
}

}  // namespace

void add_selection(const SelectionInput& input, const Selection& selection, SelectionResult& result) {
  for (const auto& feature : selection.selected)
    result.selected.push_back({feature, name_of(input, feature.index), {}});
  result.notes.insert(result.notes.end(), selection.notes.begin(), selection.notes.end());
  result.work = selection.work;
  result.counting = selection.counting;
}

void add_ensemble(const Context& context, const SelectionInput& input, const Ensemble& ensemble,
                  SelectionResult& result) {
  result.combined = true;
  result.stability = ensemble.stability;
  result.members = ensemble.members;
  result.notes.insert(result.notes.end(), ensemble.notes.begin(), ensemble.notes.end());
  for (const auto& votes : ensemble.selected) {
    SelectedFeature feature;
    feature.index = votes.index;
    feature.score = feature.gain = score_of(votes, result.ensemble.combination);
    feature.relevance = votes.relevance;
    result.selected.push_back({feature, name_of(input, votes.index), votes});
  }
  const auto indices = indices_of(result);
  const auto shared = mutual_information_matrix(context, input.table, indices);
  for (std::size_t k = 1; k < indices.size(); ++k) {
    const auto* row = shared.data() + k * indices.size();
    result.selected[k].feature.redundancy = std::accumulate(row, row + k, 0.0) / static_cast<double>(k);
  }
}

void add_plots(const Context& context, const SelectionInput& input, SelectionResult& result) {
  auto indices = indices_of(result);
  indices.resize(std::min(indices.size(), most_compared));
  result.information = mutual_information_matrix(context, input.table, indices);
  for (std::size_t k = 0; k < std::min(indices.size(), most_distributed); ++k)
    result.distributions.push_back(distribution(input, result, indices[k]));
}

}  // namespace sheaf::information

namespace sheaf {
namespace {}  // namespace

std::vector<std::int64_t> SelectionResult::indices() const {
  auto result = options.preselected;
  for (const auto& row : selected) result.push_back(row.feature.index);
  return result;
}

}  // namespace sheaf
