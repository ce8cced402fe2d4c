// Ensembles of selections: several criteria, or bootstrap resamples, over one resident dataset. A resample is a weight
// per row, never a copy.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "information/select.hpp"
#include "information/shared_counts.hpp"
#include "information/shared_resamples.hpp"

namespace sheaf {
namespace information {
namespace {

constexpr std::int64_t most_shared_bytes = std::int64_t{2} << 30;

/// A bootstrap resample: how often each row is drawn. One without two classes is useless and is drawn again.
std::vector<std::uint32_t> draw_resample(const Context& context, const BinnedTarget& target, std::int64_t number) {
  const auto rows = target.classes.size();
  for (std::uint64_t attempt = 0;; ++attempt) {
    Random random(context.seed(), static_cast<std::uint64_t>(number) + (attempt << 32));
    std::vector<std::uint32_t> counts(rows, 0);
    for (std::size_t draw = 0; draw < rows; ++draw) ++counts[random.below(rows)];
    std::int32_t first = -1;
    for (std::size_t i = 0; i < rows; ++i) {
      if (counts[i] == 0) continue;
      if (first >= 0 && target.classes[i] != first) return counts;
      first = target.classes[i];
    }
  }
}

/// The rank of each feature in each member.
struct Standing {
  double rank_sum = 0;
  double borda = 0;
  std::int64_t members = 0;
};

std::map<std::int64_t, Standing> count_standings(const std::vector<EnsembleMember>& members, std::int64_t count) {
  std::map<std::int64_t, Standing> standings;
  for (const EnsembleMember& member : members)
    for (std::size_t k = 0; k < member.selection.selected.size(); ++k) {
      Standing& standing = standings[member.selection.selected[k].index];
      standing.rank_sum += static_cast<double>(k + 1);
      standing.borda += static_cast<double>(count) - static_cast<double>(k);
      ++standing.members;
    }
  return standings;
}

bool comes_before(Combination combination, const EnsembleFeature& a, const EnsembleFeature& b) {
  if (combination == Combination::frequency && a.frequency != b.frequency) return a.frequency > b.frequency;
  if (combination == Combination::borda && a.borda != b.borda) return a.borda > b.borda;
  if (a.mean_rank != b.mean_rank) return a.mean_rank < b.mean_rank;
  return a.index < b.index;
}

/// One selection of an ensemble.
struct Member {
  std::int64_t resample = -1;
  const SelectionOptions* options = nullptr;
  std::int64_t same_as = -1;  ///< an earlier member with the same result: betagamma may be cife, or mifs
};

std::vector<Member> list_members(const std::vector<SelectionOptions>& runs, std::int64_t resamples) {
  std::vector<Member> members;
  for (std::int64_t b = resamples > 0 ? 0 : -1; b < resamples; ++b) {
    const std::size_t first = members.size();
    for (const SelectionOptions& run : runs) {
      Member member{b, &run, -1};
      const Criterion* wanted = greedy_criterion(run.criterion);
      for (std::size_t k = first; k < members.size() && member.same_as < 0; ++k) {
        const Criterion* other = greedy_criterion(members[k].options->criterion);
        if (wanted != nullptr && other != nullptr && mean_the_same(*wanted, *other, run))
          member.same_as = static_cast<std::int64_t>(k);
      }
      members.push_back(member);
    }
  }
  return members;
}

/// Shared by all members of an ensemble.
struct Common {
  Common(const Context& context, const BinnedTable& table, const BinnedTarget& target,
         std::vector<std::vector<std::uint32_t>> given)
      : problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}},
        resamples(std::move(given)),
        entropies_of_resamples(find_entropies_of_resamples(context, problem, resamples)) {}

  Problem problem;
  Entropies entropies;  // of all rows, if a member needs them
  std::vector<std::vector<std::uint32_t>> resamples;
  std::vector<Entropies> entropies_of_resamples;
  bool several_criteria = false;
};

/// Selects for one member after another, on the same devices.
class Selector {
 public:
  Selector(const Context& context, const Common& common)
      : context_(context), common_(common), problem_(common.problem), columns_(std::make_shared<ColumnMemory>()) {}

  Selection select(const Member& member) {
    const auto b = static_cast<std::size_t>(member.resample);
    if (member.resample >= 0) problem_.weights = common_.resamples[b];
    const Counting counting = counting_for(context_, problem_, *member.options);
    auto& ops = devices_[counting];
    if (ops == nullptr) ops = make(*member.options, counting);
    ops->choose_rows(problem_.weights);
    const Entropies& entropies = member.resample < 0 ? common_.entropies : common_.entropies_of_resamples[b];
    return select_with(context_, problem_, entropies, *ops, *member.options);
  }

 private:
  std::unique_ptr<Ops> make(const SelectionOptions& options, Counting counting) const {
    auto ops = make_devices(context_, problem_, options, counting);
    ops = share_resamples(std::move(ops), problem_, common_.resamples, most_shared_bytes);
    // A GPU counts a pair again in less time than it takes to look it up.
    if (!common_.several_criteria || !context_.device().is_cpu()) return ops;
    return share_counts(std::move(ops), problem_, context_.threads(), most_shared_bytes, columns_);
  }

  const Context& context_;
  const Common& common_;
  Problem problem_;
  std::shared_ptr<ColumnMemory> columns_;
  std::map<Counting, std::unique_ptr<Ops>> devices_;  // not every criterion is best counted in the same way
};

void combine(const SelectionOptions& options, Combination combination, const Entropies& entropies, Ensemble& result) {
  const auto members = static_cast<double>(result.members.size());
  for (const auto& [index, standing] : count_standings(result.members, options.count)) {
    EnsembleFeature feature;
    feature.index = index;
    const double absent = members - static_cast<double>(standing.members);
    feature.mean_rank = (standing.rank_sum + absent * static_cast<double>(options.count + 1)) / members;
    feature.borda = standing.borda;
    feature.frequency = static_cast<double>(standing.members) / members;
    feature.relevance = entropies.features[static_cast<std::size_t>(index)].relevance;
    result.selected.push_back(feature);
  }
  std::sort(result.selected.begin(), result.selected.end(),
            [&](const auto& a, const auto& b) { return comes_before(combination, a, b); });
  if (std::ssize(result.selected) > options.count) result.selected.resize(static_cast<std::size_t>(options.count));
}

}  // namespace

std::vector<Selection> select_resamples(const Context& context, const BinnedTable& table, const BinnedTarget& target,
                                        std::span<const SelectionOptions> options,
                                        std::vector<std::vector<std::uint32_t>> resamples) {
  for (const auto& one : options) check_request(table, target, one);
  const Common common(context, table, target, std::move(resamples));
  Selector selector(context, common);
  std::vector<Selection> selections;
  for (std::int64_t b = 0; b < std::ssize(common.resamples); ++b)
    selections.push_back(selector.select({b, &options[static_cast<std::size_t>(b)], -1}));
  return selections;
}

}  // namespace information

double StabilityByChance::mean() const {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double StabilityByChance::largest() const { return *std::max_element(values.begin(), values.end()); }

std::string stability_scale(const StabilityByChance& chance) {
  if (chance.empty())
    return "1 if all choose the same features, 0 if each drew as many at random; as resamples share rows, labels "
           "without any relation to the features may give more than 0 (--stability-permutations N measures how much)";
  return fmt::format(
      "1 if all choose the same features; chance gives {:.3f} (mean of {} of the labels; "
      "largest {:.3f})",
      chance.mean(), counted(chance.values.size(), "permutation"), chance.largest());
}

double selection_stability(std::span<const std::vector<std::int64_t>> sets, std::int64_t features) {
  if (sets.size() < 2 || features == 0) return 1;
  const auto members = static_cast<double>(sets.size());
  const auto all = static_cast<double>(features);
  std::map<std::int64_t, double> frequency;
  double chosen = 0;
  for (const auto& set : sets) {
    for (const std::int64_t j : set) frequency[j] += 1 / members;
    chosen += static_cast<double>(set.size()) / members;
  }
  double variance = 0;
  for (const auto& [feature, f] : frequency) variance += members / (members - 1) * f * (1 - f);
  const double by_chance = chosen / all * (1 - chosen / all);
  return by_chance > 0 ? 1 - variance / all / by_chance : 1;
}

Ensemble select_ensemble(const Context& context, const BinnedTable& table, const BinnedTarget& target,
                         const SelectionOptions& options, const EnsembleOptions& ensemble,
                         const NumericSelector& select_numbers) {
  using namespace information;  // NOLINT(google-build-using-namespace): our own family's
  std::vector<SelectionOptions> runs;
  for (const std::string& name : ensemble.criteria.empty() ? std::vector{options.criterion} : ensemble.criteria) {
    runs.push_back(options);
    runs.back().criterion = name;
    const bool on_numbers = find_criterion(name).numeric && select_numbers != nullptr;
    (on_numbers ? check_states_request : check_request)(table, target, runs.back());
    if (on_numbers && ensemble.resamples > 0)
      fail_usage("{} takes no resamples: the nearest row of one drawn twice would be its copy", name);
  }
  if (ensemble.resamples < 0) fail_usage("{} resamples are asked for; 0 or more is expected", ensemble.resamples);
  std::vector<std::vector<std::uint32_t>> resamples;
  for (std::int64_t b = 0; b < ensemble.resamples; ++b) resamples.push_back(draw_resample(context, target, b));
  Common common(context, table, target, std::move(resamples));
  common.entropies = find_entropies(context, common.problem);
  common.several_criteria = runs.size() > 1;
  Selector selector(context, common);
  Ensemble result;
  for (const Member& member : list_members(runs, ensemble.resamples)) {
    Selection selection;
    if (member.same_as >= 0)
      selection = result.members[static_cast<std::size_t>(member.same_as)].selection;
    else
      selection =
          find_criterion(member.options->criterion).numeric ? select_numbers(*member.options) : selector.select(member);
    selection.criterion = member.options->criterion;
    result.members.push_back({member.resample, std::move(selection)});
  }
  combine(options, ensemble.combination, common.entropies, result);
  std::vector<std::vector<std::int64_t>> sets;
  for (const EnsembleMember& member : result.members) {
    sets.emplace_back();
    for (const SelectedFeature& feature : member.selection.selected) sets.back().push_back(feature.index);
    for (const std::string& note : member.selection.notes)
      result.notes.push_back(fmt::format("{}{}: {}", member.selection.criterion,
                                         member.resample < 0 ? "" : fmt::format(", resample {}", member.resample),
                                         note));
  }
  result.stability = selection_stability(sets, table.features);
  return result;
}

}  // namespace sheaf
