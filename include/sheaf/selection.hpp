// Feature selection by a criterion: the information-theoretic ones of FEAST (one greedy search over joint counts), and
// relief. select() does all of it on a dataset: it bins the values, selects, combines ensembles and names what it
// found.
//
// Picks are those of FEAST, in order, and scores equal to 1e-12, on every device and for any number of threads. If the
// number of bins is automatic, ties are broken by how well a feature separates the classes, so that neither the order
// of the rows nor, unless features are copies, that of the columns matters. All information is in bits.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/binning.hpp>

namespace sheaf {

/// One row for each way to select, as front ends show it.
struct CriterionInfo {
  std::string_view name;   ///< "jmi"
  std::string_view title;  ///< "joint mutual information"
  std::string_view help;   ///< one line: its preference, and the formula
  bool uses_beta = false;
  bool uses_gamma = false;
  bool uses_threshold = false;   ///< fcbf
  bool uses_neighbours = false;  ///< relieff
  bool numeric = false;          ///< works on the numbers themselves: select_numeric, not select_features
};

/// Every criterion, in the order they are best shown.
std::span<const CriterionInfo> criteria();
/// An unknown name is a UsageError that lists the known ones.
const CriterionInfo& find_criterion(std::string_view name);

enum class Match : std::uint8_t {
  feast,  ///< picks and ties exactly as FEAST's, to the last bit
  fast,   ///< order-free sums: candidates whose scores differ by rounding alone may change places
};

/// A number for each of these features.
using TieScores = std::function<std::vector<double>(std::span<const std::int64_t> features)>;

struct SelectionOptions {
  std::string criterion = "jmi";
  std::int64_t count = 10;                ///< features to select
  double beta = 1;                        ///< mifs, betagamma: weight of redundancy
  double gamma = 1;                       ///< betagamma: weight of conditional redundancy
  double threshold = 0;                   ///< fcbf: features whose symmetrical uncertainty is not above it are left out
  std::int64_t neighbours = 10;           ///< relieff
  std::vector<std::int64_t> preselected;  ///< features taken as selected before the first pick, in this order
  double min_gain = -std::numeric_limits<double>::infinity();  ///< stop before a feature that gains less; see gain
  Match match = Match::feast;
  std::string counting = "auto";      ///< how joint states are counted: a name of counting_methods(), for tests
  bool lazy = true;                   ///< leave out candidates that an upper bound rules out; the result is the same
  std::vector<Device> extra_devices;  ///< devices that share the work with the context's
  /// Among candidates whose scores differ by rounding alone, the one with the largest number is picked, and among
  /// equals the first. Empty: see `match`.
  TieScores tie_scores = {};
};

/// "auto", and each way to count joint states.
std::span<const std::string_view> counting_methods();

struct SelectedFeature {
  std::int64_t index = 0;
  double score = 0;       ///< the criterion's, at the time of the pick
  double gain = 0;        ///< the score per feature it was compared with: jmi and disr grow with their number
  double relevance = 0;   ///< I(X;Y)
  double redundancy = 0;  ///< mean I(X;Xs) over those before it; 0 for the first
};

/// How much of the search upper bounds saved. A pair is a candidate and a selected feature.
struct SelectionWork {
  std::int64_t pairs_possible = 0;
  std::int64_t pairs_counted = 0;
  std::int64_t pairs_ordered = 0;  ///< counted once more in FEAST's order, if rounding may decide
};

struct Selection {
  std::string criterion;
  std::vector<SelectedFeature> selected;  ///< best first
  std::vector<std::string> notes;         ///< for the user, such as why fewer were selected than requested
  SelectionWork work;
  std::string counting;  ///< the way of counting that was used
};

/// Greedy selection on states. More features than there are, or none, is a UsageError; one class only is an Error.
Selection select_features(const Context& context, const BinnedTable& table, const BinnedTarget& target,
                          const SelectionOptions& options);

/// relief and relieff, on numbers.
Selection select_numeric(const Context& context, const Dataset<double>& dataset, const SelectionOptions& options);

/// I(A;B) for each pair of the features: symmetric, features.size() squared, H(A) on the diagonal. For heat maps.
std::vector<double> mutual_information_matrix(const Context& context, const BinnedTable& table,
                                              std::span<const std::int64_t> features);

enum class Combination : std::uint8_t {
  mean_rank,  ///< smallest mean rank; a feature a member did not select ranks count + 1 there
  borda,      ///< largest sum of count + 1 - rank
  frequency,  ///< selected by most members, then by mean rank
};

struct EnsembleOptions {
  std::vector<std::string> criteria;  ///< one member each; empty: the criterion of the selection
  std::int64_t resamples = 0;         ///< bootstrap resamples per criterion; 0: the data as they are
  Combination combination = Combination::mean_rank;
  std::int64_t permutations = 0;  ///< select(): of the labels, each with an ensemble of its own; see StabilityByChance
};

struct EnsembleFeature {
  std::int64_t index = 0;
  double mean_rank = 0;  ///< from 1
  double borda = 0;
  double frequency = 0;  ///< share of members that selected it
  double relevance = 0;  ///< I(X;Y) on all rows
};

struct EnsembleMember {
  std::int64_t resample = -1;  ///< -1: the data as they are
  Selection selection;
};

/// The stability of the same selections after the labels were permuted among the rows. Resamples share rows, so that it
/// is above 0 although the features are then independent of the labels.
struct StabilityByChance {
  std::vector<double> values;  ///< one a permutation; none: it was not requested

  bool empty() const { return values.empty(); }
  double mean() const;
  double largest() const;
};
/// In words: the meaning of a stability of 1, and the stability by chance.
std::string stability_scale(const StabilityByChance& chance);

struct Ensemble {
  std::vector<EnsembleFeature> selected;  ///< `count` of them, best first
  std::vector<EnsembleMember> members;
  /// Nogueira, Sechidis and Brown 2018: 1 all members agree; 0 as of members that draw their features at random.
  double stability = 1;
  std::vector<std::string> notes;
};

/// How members that work on numbers select: select_numeric on whichever data the criterion is to see.
using NumericSelector = std::function<Selection(const SelectionOptions& options)>;

/// Several criteria, or resamples, over one resident dataset. The same seed gives the same resamples. Without a
/// selector, criteria that work on numbers are a UsageError.
Ensemble select_ensemble(const Context& context, const BinnedTable& table, const BinnedTarget& target,
                         const SelectionOptions& options, const EnsembleOptions& ensemble,
                         const NumericSelector& select_numbers = {});

/// Nogueira's stability of sets of features out of `features`; 1 when there are fewer than two sets.
double selection_stability(std::span<const std::vector<std::int64_t>> sets, std::int64_t features);

/// A selection to make from a dataset.
struct SelectRequest {
  SelectionOptions options;
  EnsembleOptions ensemble;          ///< several criteria, or resamples: their choices are combined
  BinningOptions binning;            ///< how values become states, if `cuts` is empty
  std::optional<Binning> cuts = {};  ///< learnt before; none: learnt from the dataset
  bool allow_fewer = true;           ///< a dataset with fewer features than options.count: all of them, else an Error
  bool plots = false;                ///< also the plots of the HTML report
};

/// A selected feature, best first.
struct ReportedFeature {
  SelectedFeature feature;  ///< of an ensemble: its score is the combination's
  std::string name;
  std::optional<EnsembleFeature> votes;  ///< ensembles only
};

/// How the rows of each class spread over the states of a feature.
struct StateDistribution {
  std::string feature;
  std::vector<std::string> states;         ///< names of the states that occur
  std::vector<std::vector<double>> share;  ///< class x state, of the class's rows
};

/// Everything `sheaf select` reports, for the terminal, JSON, CSV and the HTML page alike (report.hpp).
struct SelectionResult {
  std::string source;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::vector<std::string> class_names;
  std::vector<std::int64_t> class_counts;
  SelectionOptions options;
  EnsembleOptions ensemble;
  BinningOptions binning;       ///< with the number of bins that was used
  bool automatic_bins = false;  ///< that number follows from the rows and classes
  Binning cuts;                 ///< how each feature's values became states
  std::uint64_t seed = 0;
  std::vector<std::string> preselected;  ///< by name
  std::vector<ReportedFeature> selected;
  Annotations annotations;   ///< of the selected features
  bool combined = false;     ///< whether it is an ensemble's
  double stability = 1;      ///< of an ensemble
  StabilityByChance chance;  ///< likewise
  std::vector<EnsembleMember> members;
  std::vector<std::string> notes;
  SelectionWork work;
  std::string counting;  ///< the way of counting that was used

  // Only with `plots`.
  std::vector<double> information;  ///< bits that each pair of the first selected features shares: squared
  std::vector<StateDistribution> distributions;

  /// The preselected features, then the selected ones.
  std::vector<std::int64_t> indices() const;
};

/// Bins the dataset, selects by the criterion or the ensemble, and reports. Criteria that work on numbers (relief,
/// relieff) take missing values for an Error.
template <class T>
SelectionResult select(const Context& context, const Dataset<T>& dataset, const SelectRequest& request = {});

/// Estimated work of the selection. See Context::for_work().
template <class T>
WorkEstimate selection_work(const Dataset<T>& dataset, const SelectRequest& request);

/// The dataset with the features of result.indices() alone. None selected is an Error.
template <class T>
Dataset<T> take_selected(const Context& context, const Dataset<T>& dataset, const SelectionResult& result);

std::string_view to_string(Combination combination);

template <>
const std::vector<Parameter<SelectionOptions>>& parameters();
template <>
const std::vector<Parameter<EnsembleOptions>>& parameters();

}  // namespace sheaf
