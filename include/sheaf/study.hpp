// A study of elastic nets: which features are chosen when rows are left out again and again, and how well the models
// predict the rows left out. Every split, fold and l1-ratio is a path of one sheaf.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/elastic_net_model.hpp>
#include <sheaf/search.hpp>

namespace sheaf {

/// Which pairs of alpha and l1-ratio are tried.
enum class Strategy : std::uint8_t {
  grid,     ///< all
  random,   ///< some, drawn at random
  refined,  ///< some at random, then all around the best of them
  descent,  ///< from the middle to better neighbours, in ever smaller steps
};

/// Which rows a split leaves out, and a fold within it.
enum class LeaveOut : std::uint8_t {
  automatic,   ///< group where the table has groups, else stratified
  stratified,  ///< the same share of every class
  group,       ///< whole groups, of every class about the same share
};

struct StudyOptions {
  NetOptions net;                 ///< its alpha and l1-ratio are not used
  std::vector<double> l1_ratios;  ///< empty: default_l1_ratios()
  std::vector<double> alphas;     ///< empty: from the smallest that leaves no weights downwards, for each l1-ratio
  std::int32_t alpha_count = 30;  ///< of those
  double smallest_share = 0.01;   ///< the last of those, as a share of the first
  std::int32_t splits = 20;       ///< into rows to choose and train on and rows left out
  LeaveOut split = LeaveOut::automatic;
  double test_fraction = 0.2;    ///< of the rows that a split leaves out
  std::int32_t folds = 3;        ///< of the rows of a split, to choose alpha and l1-ratio by
  std::optional<Metric> score;   ///< to choose by; none: AUC for classes, R2 for amounts
  Choice choice = Choice::best;  ///< simpler models have fewer features, then a larger alpha
  Strategy strategy = Strategy::grid;
  std::int32_t trials = 0;      ///< random, refined: pairs drawn; 0: a third, but 10 at least
  double min_frequency = 0.5;   ///< features chosen by this share of the splits are selected
  std::int32_t path_split = 0;  ///< the split, from 1, whose whole path is kept; 0: none
  std::int32_t batch = 0;       ///< splits trained and recorded together; 0: as many as are worth it and fit
  std::vector<Device> also;     ///< devices that share the work with the context's; last bits depend on which did what
};
std::vector<double> default_l1_ratios();

/// What one split chose.
struct StudySplit {
  std::vector<double> scores;    ///< l1-ratios x alphas x folds; NaN: not tried, or not defined
  std::vector<double> nonzeros;  ///< l1-ratios x alphas: the mean over the folds; NaN: not tried
  std::int64_t unconverged = 0;  ///< models of the folds
  std::int32_t l1_ratio = 0;     ///< position of the one chosen
  std::int32_t alpha = 0;
  ModelScores left_out;        ///< of the chosen pair, trained on all rows of the split, on the rows left out
  std::vector<NetModel> nets;  ///< one a decision value
};

/// A feature that some split chose.
struct StudyFeature {
  std::int64_t index = 0;
  std::string name;
  double frequency = 0;                ///< share of the splits that gave it a weight
  double median_rank = 0;              ///< by size of effect; where it is not chosen, behind all that are
  double deviation = 0;                ///< of its values, all rows
  std::vector<double> mean_weight;     ///< of each decision value, over the splits that gave it a weight
  std::vector<double> sign_agreement;  ///< the share of those weights that have the more frequent sign; 0: no weights
};

/// Nogueira, Sechidis and Brown 2018: 1 where all sets agree, about 0 as by chance.
struct Stability {
  double value = 1;
  double low = 1;  ///< of the interval that holds 95 % by their theorem for many sets
  double high = 1;
  double standard_error = 0;
};
Stability stability_of(std::span<const std::vector<std::int64_t>> sets, std::int64_t features);

struct StudyResult {
  StudyOptions options;  ///< with everything that was left open decided
  std::uint64_t seed = 0;
  std::string source;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t groups = 0;                  ///< whose rows were kept together; 0: splits did not heed groups
  std::vector<std::string> class_names;     ///< amounts: none
  std::int32_t positive = 0;                ///< two classes: that of F1 and ROC
  std::int32_t columns = 1;                 ///< decision values of a model
  std::vector<std::vector<double>> alphas;  ///< of each l1-ratio, descending, all of one length
  std::vector<StudySplit> splits;
  std::vector<StudyFeature> chosen;  ///< by some split: most frequent first, then by median rank
  Stability stability;
  std::int32_t best_l1_ratio = 0;  ///< position of the pair with the best mean over all folds of all splits
  std::int32_t best_alpha = 0;
  std::vector<NetModel> path;  ///< alphas x decision values of options.path_split at the l1-ratio it chose
  std::vector<std::string> warnings;
  std::vector<std::string> notes;

  std::size_t alpha_count() const { return alphas.front().size(); }
  std::size_t pairs() const { return alphas.size() * alpha_count(); }
  double alpha_of(const StudySplit& split) const {
    return alphas[static_cast<std::size_t>(split.l1_ratio)][static_cast<std::size_t>(split.alpha)];
  }
  double l1_ratio_of(const StudySplit& split) const {
    return options.l1_ratios[static_cast<std::size_t>(split.l1_ratio)];
  }
  /// Over the folds of one split, for a pair counted l1-ratio by l1-ratio.
  Summarised within(const StudySplit& split, std::size_t pair) const;
  /// Over the splits, of their means over the folds.
  Summarised surface(std::size_t pair) const;
  /// Of the rows left out, over the splits.
  Summarised left_out(Metric metric) const;
  /// The metrics that this study has.
  std::vector<Metric> known() const;
  /// Those that at least min_frequency of the splits chose, best first.
  std::vector<StudyFeature> selected() const;
};

/// Remembers what is finished, so that a study that was ended can go on.
class StudyLog {
 public:
  StudyLog() = default;
  StudyLog(const StudyLog&) = delete;
  StudyLog& operator=(const StudyLog&) = delete;
  virtual ~StudyLog() = default;
  /// The plan that an earlier run began with, else the proposed one, which is remembered.
  virtual BatchPlan agree(const BatchPlan& proposed) = 0;
  /// The splits of a batch that is finished already; nullptr: it is not.
  virtual const std::vector<StudySplit>* recall(std::int32_t batch) = 0;
  /// Returns when the batch will survive the end of the process.
  virtual void keep(std::int32_t batch, const std::vector<StudySplit>& splits) = 0;
};

/// With everything that the table leaves open decided. What contradicts itself is a UsageError.
StudyOptions decided(StudyOptions options, const Target& target, bool has_groups, const std::string& source);

/// Balanced class weights are those of the rows that a split, or a fold of it, trains on. A split or fold that trains
/// without rows of some class, or whose rows left out do not define the score, is an Error before anything is trained.
template <class T>
StudyResult study_nets(const Context& context, const Dataset<T>& dataset, const StudyOptions& options,
                       std::span<const float> row_weights = {}, StudyLog* log = nullptr);

template <>
const std::vector<Parameter<StudyOptions>>& parameters();

std::string study_json(const StudyResult& result);
/// One line for each feature that some split chose.
std::string study_features_csv(const StudyResult& result);
/// One line for each split.
std::string study_splits_csv(const StudyResult& result);
/// A complete page with its plots inside; loads nothing from anywhere.
std::string study_html(const StudyResult& result);

std::string_view to_string(Strategy strategy);
std::string_view to_string(LeaveOut split);

}  // namespace sheaf
