// The whole of a selection on a dataset: values become states, the criterion or an ensemble selects, and the result
// gets names.
#include <algorithm>
#include <type_traits>

#include "core/fail.hpp"
#include "data/name_source.hpp"
#include "data/permute_labels.hpp"
#include "information/class_separation.hpp"
#include "information/relief/relief.hpp"
#include "information/selection_result.hpp"

namespace sheaf {
namespace information {
namespace {

/// States and classes of the dataset, and how they came about.
struct Prepared {
  BinnedTarget target;
  BinningOptions binning;  // with a number of bins
  bool automatic = false;  // that number
  Binned binned;
};

template <class T>
Prepared prepare(const Context& context, const Dataset<T>& dataset, const SelectRequest& request) {
  Prepared prepared{bin_target(dataset.target, request.binning), request.binning, false, {}};
  if (request.cuts) {
    prepared.binned = {*request.cuts, apply_binning(context, *request.cuts, dataset), {}};
    return prepared;
  }
  prepared.automatic = has_automatic_bins(request.binning);
  prepared.binning = with_bins(request.binning, dataset.rows(), &prepared.target);
  prepared.binned = learn_and_apply_binning(context, dataset, request.binning, &prepared.target);
  return prepared;
}

template <class T>
SelectionResult begin_result(const Context& context, const Dataset<T>& dataset, const SelectRequest& request,
                             const Prepared& prepared) {
  SelectionResult result;
  result.source = dataset.source;
  result.rows = dataset.rows();
  result.features = dataset.features();
  result.class_names = prepared.target.names;
  result.class_counts.resize(prepared.target.names.size());
  for (const auto c : prepared.target.classes) ++result.class_counts[static_cast<std::size_t>(c)];
  result.options = request.options;
  const auto left = dataset.features() - std::ssize(request.options.preselected);
  if (request.allow_fewer && left > 0) result.options.count = std::min(request.options.count, left);
  result.ensemble = request.ensemble;
  result.binning = prepared.binning;
  result.binning.method = prepared.binned.binning.method;
  result.automatic_bins = prepared.automatic;
  result.cuts = prepared.binned.binning;
  result.seed = context.seed();
  result.notes = prepared.binned.notes;
  for (const auto j : request.options.preselected)
    if (j >= 0 && j < dataset.features()) result.preselected.push_back(dataset.feature_name(j));
  return result;
}

/// FEAST gives relief what all its criteria get, the states; relieff is for the numbers themselves.
template <class T>
Selection select_on_numbers(const Context& context, const Dataset<T>& dataset, const Prepared& prepared,
                            const SelectionOptions& options) {
  if (prepared.binned.binning.missing == MissingState::own)
    fail_usage("{} works on numbers, so missing values must be filled in (missing: mean, for instance)",
               options.criterion);
  const auto in_double = [&](const Matrix<T>& x) {
    if constexpr (std::is_same_v<T, double>)
      return select_by_relief(context, x, prepared.target, options);
    else
      return select_by_relief(context, convert_precision<double>(x, context.threads()), prepared.target, options);
  };
  if (options.criterion == "relief") return in_double(states_dataset(context, prepared.binned.table, dataset).x);
  return in_double(dataset.x);
}

bool is_combined(const EnsembleOptions& ensemble) { return !ensemble.criteria.empty() || ensemble.resamples > 0; }

/// Messages may not name the dataset.
template <class T>
SelectionResult select_unnamed(const Context& given, const Dataset<T>& dataset, const SelectRequest& request) {
  const auto context = given.for_work(selection_work(dataset, request));
  const auto prepared = prepare(context, dataset, request);
  const auto& table = prepared.binned.table;
  const SelectionInput input{table, prepared.target, dataset.feature_names};
  auto result = begin_result(context, dataset, request, prepared);
  auto options = result.options;
  if (prepared.automatic) options.tie_scores = class_separation(context, dataset, prepared.target.classes);
  const auto on_numbers = [&](const SelectionOptions& of_member) {
    return select_on_numbers(context, dataset, prepared, of_member);
  };
  if (is_combined(request.ensemble))
    add_ensemble(context, input,
                 select_ensemble(context, table, prepared.target, options, request.ensemble, on_numbers), result);
  else if (find_criterion(options.criterion).numeric)
    add_selection(input, on_numbers(options), result);
  else
    add_selection(input, select_features(context, table, prepared.target, options), result);
  std::vector<std::string> names;
  for (const auto& row : result.selected) names.push_back(row.name);
  if (!names.empty()) result.annotations = annotations_of(dataset, names);
  if (request.plots) add_plots(context, input, result);
  auto alone = request;
  alone.ensemble.permutations = 0;
  alone.plots = false;
  for (std::int64_t k = 0; k < request.ensemble.permutations && result.combined; ++k) {
    const auto permuted = with_permuted_labels(dataset, context.seed(), static_cast<std::uint64_t>(k));
    result.chance.values.push_back(select_unnamed(context, permuted, alone).stability);
  }
  return result;
}

}  // namespace
}  // namespace information

template <class T>
WorkEstimate selection_work(const Dataset<T>& dataset, const SelectRequest& request) {
  const auto criteria = std::max<std::int64_t>(1, std::ssize(request.ensemble.criteria));
  const auto members = static_cast<double>(criteria * std::max<std::int64_t>(1, request.ensemble.resamples) *
                                           (1 + request.ensemble.permutations));
  const auto entries = static_cast<double>(stored(dataset.x));
  // Each selected feature is compared with all others once, and states take a byte.
  return {2 * entries * static_cast<double>(request.options.count) * members, entries};
}

template <class T>
SelectionResult select(const Context& context, const Dataset<T>& dataset, const SelectRequest& request) {
  return name_source(dataset.source, [&] { return information::select_unnamed(context, dataset, request); });
}

template <class T>
Dataset<T> take_selected(const Context& context, const Dataset<T>& dataset, const SelectionResult& result) {
  const auto features = result.indices();
  if (features.empty())
    fail("no feature was selected, so there is no dataset to make of them: {}",
         result.notes.empty() ? "" : result.notes.back());
  return take_features(dataset, features, context.threads());
}

template WorkEstimate selection_work(const Dataset<float>&, const SelectRequest&);
template WorkEstimate selection_work(const Dataset<double>&, const SelectRequest&);
template SelectionResult select(const Context&, const Dataset<float>&, const SelectRequest&);
template SelectionResult select(const Context&, const Dataset<double>&, const SelectRequest&);
template Dataset<float> take_selected(const Context&, const Dataset<float>&, const SelectionResult&);
template Dataset<double> take_selected(const Context&, const Dataset<double>&, const SelectionResult&);

}  // namespace sheaf
