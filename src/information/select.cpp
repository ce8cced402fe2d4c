// From a request to a selection: checks it, chooses the devices, selects, and reports each pick.
#include "information/select.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "information/greedy/greedy.hpp"

namespace sheaf::information {
namespace {

void check_classes(const BinnedTable& table, const BinnedTarget& target) {
  if (std::ssize(target.classes) != table.rows)
    fail("the dataset has {} and the target {}", counted(table.rows, "row"), target.classes.size());
  std::set<std::int32_t> seen(target.classes.begin(), target.classes.end());
  if (seen.empty()) fail("there are no rows to select by");
  if (*seen.begin() < 0 || *seen.rbegin() >= std::ssize(target.names))
    fail("a class number is out of range: {}, and numbers from {} to {}", counted(target.names.size(), "name"),
         *seen.begin(), *seen.rbegin());
  if (seen.size() == 1)
    fail("all {} rows have class {}; selection needs at least two classes", table.rows,
         target.names[static_cast<std::size_t>(*seen.begin())]);
}

void check_preselected(const BinnedTable& table, const SelectionOptions& options) {
  std::set<std::int64_t> seen;
  for (const std::int64_t j : options.preselected) {
    if (j < 0 || j >= table.features)
      fail_usage("pre-selected feature {} is not there: features are numbered 0 to {}", j, table.features - 1);
    if (!seen.insert(j).second) fail_usage("feature {} is pre-selected twice", j);
  }
  if (!options.preselected.empty() && options.criterion == "fcbf")
    fail_usage("fcbf takes no pre-selected features: it does not add one feature after the other");
}

void check_weight(std::string_view name, double value) {
  if (!(value >= 0) || std::isinf(value)) fail_usage("{} is {}; 0 or more is expected", name, value);
}

/// Mean I(X;Xs) over the features selected before each, all pairs at once.
void add_redundancies(const Problem& problem, const Entropies& entropies, Ops& ops, const SelectionOptions& options,
                      Selection& result) {
  std::vector<std::int64_t> before = options.preselected;
  std::vector<Pair> pairs;
  ops.choose_rows(problem.weights);
  for (const SelectedFeature& feature : result.selected) {
    for (std::size_t s = 0; s < before.size(); ++s)
      pairs.push_back({static_cast<std::int32_t>(s), static_cast<std::int32_t>(feature.index)});
    before.push_back(feature.index);
  }
  for (std::size_t s = 0; s + 1 < before.size(); ++s) ops.add_partner(static_cast<std::int32_t>(before[s]));
  const auto between = pair_informations(entropies, ops, before, pairs);
  std::size_t next = 0;
  std::size_t earlier = options.preselected.size();
  for (SelectedFeature& feature : result.selected) {
    for (std::size_t s = 0; s < earlier; ++s) feature.redundancy += between[next++];
    if (earlier > 0) feature.redundancy /= static_cast<double>(earlier);
    ++earlier;
  }
}

std::vector<Device> devices_of(const Context& context, const SelectionOptions& options) {
  std::vector<Device> devices{context.device()};
  devices.insert(devices.end(), options.extra_devices.begin(), options.extra_devices.end());
  return devices;
}

Demand demand_of(const SelectionOptions& options) {
  const Criterion* criterion = greedy_criterion(options.criterion);
  if (criterion == nullptr) return Demand::any;
  if (criterion->accumulation == Accumulation::latest) return Demand::merged_partners;
  if (criterion->certain != nullptr) return Demand::screened;
  return criterion->needs == between_in_class ? Demand::distinct_parts : Demand::any;
}

}  // namespace

std::vector<double> pair_informations(const Entropies& entropies, Ops& ops, std::span<const std::int64_t> partners,
                                      std::span<const Pair> pairs) {
  std::vector<double> information(pairs.size());
  if (ops.counting() == Counting::ordered) {
    std::vector<PairTerms> terms(pairs.size());
    ops.ordered_terms(pairs, between, terms);
    for (std::size_t k = 0; k < pairs.size(); ++k) information[k] = terms[k].between;
    return information;
  }
  std::vector<JointSums> sums(pairs.size());
  ops.joint_sums(pairs, false, sums);
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const auto partner = static_cast<std::size_t>(partners[static_cast<std::size_t>(pairs[k].partner)]);
    const auto candidate = static_cast<std::size_t>(pairs[k].candidate);
    information[k] = terms_of(entropies, entropies.features[partner], entropies.features[candidate], sums[k]).between;
  }
  return information;
}

void check_request(const BinnedTable& table, const BinnedTarget& target, const SelectionOptions& options) {
  const CriterionInfo& info = find_criterion(options.criterion);
  if (info.numeric) fail_usage("{} works on numbers, not on states: give it the data without binning", info.name);
  check_states_request(table, target, options);
}

void check_states_request(const BinnedTable& table, const BinnedTarget& target, const SelectionOptions& options) {
  if (table.features == 0) fail("the dataset has no features to select from");
  if (options.count < 1) fail_usage("{} features are asked for; at least 1 is expected", options.count);
  check_preselected(table, options);
  const std::int64_t left = table.features - std::ssize(options.preselected);
  if (options.count > left)
    fail_usage("{} features are asked for, and there are {}{}", options.count, left,
               options.preselected.empty() ? "" : " beside the pre-selected ones");
  check_weight("beta", options.beta);
  check_weight("gamma", options.gamma);
  check_classes(table, target);
}

Counting counting_for(const Context& context, const Problem& problem, const SelectionOptions& options) {
  const auto devices = devices_of(context, options);
  const bool on_gpu = std::any_of(devices.begin(), devices.end(), [](Device d) { return d.is_cuda(); });
  return choose_counting(problem, parse_counting(options.counting), on_gpu, demand_of(options));
}

std::unique_ptr<Ops> make_devices(const Context& context, const Problem& problem, const SelectionOptions& options,
                                  Counting counting) {
  const auto devices = devices_of(context, options);
  std::vector<std::unique_ptr<Ops>> members;
  for (const Device device : devices) {
    // A GPU's own thread is busy while other cores count.
    const int threads =
        device.is_cpu() ? std::max(1, context.threads() - static_cast<int>(devices.size()) + 1) : context.threads();
    members.push_back(make_ops(context.with({.device = device, .threads = threads}), problem, counting));
  }
  return make_team(std::move(members));
}

Selection select_with(const Context& context, const Problem& problem, const Entropies& entropies, Ops& ops,
                      const SelectionOptions& options) {
  Selection result = options.criterion == "fcbf" ? filter_by_correlation(context, problem, entropies, ops, options)
                                                 : select_greedily(context, problem, entropies, ops, options);
  add_redundancies(problem, entropies, ops, options, result);
  return result;
}

}  // namespace sheaf::information

namespace sheaf {

Selection select_features(const Context& context, const BinnedTable& table, const BinnedTarget& target,
                          const SelectionOptions& options) {
  using namespace information;  // NOLINT(google-build-using-namespace): our own family's
  check_request(table, target, options);
  const Problem problem{&table, target.classes, static_cast<std::int32_t>(target.names.size()), {}};
  const Entropies entropies = find_entropies(context, problem);
  const auto ops = make_devices(context, problem, options, counting_for(context, problem, options));
  return select_with(context, problem, entropies, *ops, options);
}

}  // namespace sheaf
