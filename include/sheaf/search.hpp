// A whole search, of any family of models: every point of its space on every split is trained in common sheaves and
// scored on the held-out rows; the best is chosen and trained again on all rows. Nested validation repeats the search
// without each outer fold; with resamples in place of folds it also measures the stability of the chosen features (a
// study).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/pipeline.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/solvers/kernel_counts.hpp>
#include <sheaf/solvers/parameters.hpp>
#include <sheaf/solvers/search_space.hpp>
#include <sheaf/solvers/splits.hpp>

namespace sheaf {

/// One of several models that a search compares.
struct Candidate {
  std::string name;          ///< for people: "svm", "svm log1p" ...
  SearchSpace space;         ///< of this model alone
  PipelineOptions pipeline;  ///< the steps before it
  Strategy strategy = Strategy::automatic;
  bool extend = false;  ///< the grid is extended while the best point is at its end
};

/// The name that stands for a choice of models by the data.
inline constexpr std::string_view automatic_model = "auto";
/// `auto`, a kind of model, or kinds separated by commas, which are compared: "linear,svm,knn". `pipeline`: the steps
/// before each of them. An unknown name is a UsageError.
SearchSpace space_of_models(std::string_view names, const PipelineOptions& pipeline = {});
/// Whether this kind of model has a parameter of that name.
bool has_parameter(const ModelOptions& options, std::string_view name);
/// Sets one parameter from text; with several models, in each that has it. One that none has is a UsageError.
void set_parameter_of_models(SearchSpace& space, std::string_view name, std::string_view text);
/// The model of a search that names none: `auto` or, if parameters of models are given, the first kind that has them.
std::string default_model(const std::vector<std::string>& parameters);

enum class Choice : std::uint8_t {
  best,                ///< the best mean score; the better log loss or AUC decides among equals, then the simpler model
  one_standard_error,  ///< the simplest model whose mean is within one standard error of the best
};

/// Treatment of rows with the same features as another row, on which a model would be tested after it had learnt them.
/// Splits of the caller, leave-one-out, bootstraps and time are never changed.
enum class EqualRows : std::uint8_t {
  /// Together, unless folds would be uneven, or rows are equal because features have few values: over a tenth of the
  /// rows equal another, and half of the features distinguish less than nine tenths as many rows as all do.
  automatic,
  together,  ///< always on one side of a split, as a group is
  apart,     ///< split like other rows
};

/// Options of a search of any family.
struct SearchOptions {
  /// None: leave-one-out if that is free, else stratified for classes and k-fold for numbers; groups stay together.
  std::optional<SplitKind> split;
  std::int32_t folds = 0;      ///< folds, shuffles or bootstraps; 0: 5, and leave-one-out is welcome
  double test_fraction = 0.2;  ///< shuffles: share of the rows that a split holds out
  std::int64_t test_size = 0;  ///< time: moments that a split tests; see SplitOptions
  std::int64_t window = 0;     ///< time: moments before these that it trains on; 0: all
  std::int64_t gap = 0;        ///< time: moments left out between the two
  EqualRows equal_rows = EqualRows::automatic;
  PipelineOptions pipeline;      ///< steps before the model, learnt on the training rows of each split
  std::optional<Splits> splits;  ///< the caller's own, in place of split, folds and test_fraction

  std::int32_t outer = 0;                ///< outer folds or resamples of nested validation; 0: none
  std::optional<SplitKind> outer_split;  ///< none: k-fold, stratified or by groups as the inner splits are
  double outer_fraction = 0.2;           ///< shuffles: share of the rows that an outer resample holds out
  bool full = true;                      ///< search over all rows too, and train the chosen model on them
  bool refit = true;                     ///< false: choose, but train no model on all rows
  bool keep_decisions = false;           ///< of the test rows, row by row: see Scores. No log keeps them
  double min_frequency = 0.5;            ///< features chosen by this share of the outer resamples are selected
  /// How often a study is repeated with labels that are permuted among the rows, for the stability that chance alone
  /// gives; each costs as much as the study.
  std::int32_t stability_permutations = 0;
  std::int32_t path_split = 0;  ///< the outer resample, from 1, whose path of weights is kept; 0: none

  std::optional<Metric> score;  ///< to choose by; none: accuracy for classes (elastic nets: AUC), R2 for numbers
  Choice choice = Choice::best;
  Strategy strategy = Strategy::automatic;
  std::int32_t trials = 0;            ///< random, refine: points drawn; 0: a third, but 10 at least
  double time = 0;                    ///< seconds after which no more points are begun; 0: no limit
  std::int32_t batch = 0;             ///< models trained and recorded together; 0: as many as are worth it and fit
  std::vector<float> row_weights;     ///< how much each row counts in training; empty: 1
  std::vector<Device> extra_devices;  ///< devices that share the work with the context's
  /// The grid is extended beyond its ends while the best point is there; decide() sets it if the grid was left open.
  bool extend = false;
  /// Leave-one-out for free: each row is predicted by all others, from one list of neighbours, and scores are those of
  /// `folds` parts of the rows. decide() sets it if rows are left out one at a time and votes of neighbours, without
  /// weights of features, need nothing but the rows.
  bool leave_one_out_in_folds = false;
  bool predictions = false;  ///< of the chosen models for the rows they did not see: trains one more for each split
  /// How probabilities are learnt from those predictions, which are made then; classes only. None: they are not.
  std::optional<CalibrationMethod> calibrate = {};
  /// Two classes: how the threshold of the model is chosen on those predictions, which are made then.
  std::optional<ThresholdOptions> threshold = {};
  /// Train the chosen point on growing shares of the training rows of each split: two models for each.
  bool learning_curve = false;
  /// How often each feature is shuffled among the held-out rows of each split; 0: no permutation importance.
  std::int32_t permutation_importance = 0;
  /// How often the whole search is repeated with labels in random order, to see whether it finds more than chance; 0:
  /// no.
  std::int32_t permutation_test = 0;
  /// Several models: the final model is a stack of the best points of so many of them, with weights learnt on held-out
  /// predictions; 0: the final model is the best one alone.
  std::int32_t stack = 0;
};

/// Over the splits that define the score.
struct ScoreSummary {
  double mean = 0;
  double standard_deviation = 0;  ///< standard deviation of a sample: divided by splits - 1; 0 for a single split
  double standard_error = 0;      ///< deviation / sqrt(splits)
  std::int32_t splits = 0;
};
ScoreSummary summarise(std::span<const double> scores);

/// The best and the chosen entry of a list of means and standard errors that begins with the simplest model.
struct Chosen {
  std::size_t best = 0;
  std::size_t chosen = 0;
};
/// `second`: the larger one decides between entries of the same mean; else, and without it, the simpler one is taken.
Chosen choose(std::span<const ScoreSummary> summaries, bool larger_is_better, Choice choice,
              std::span<const double> second = {});

/// One of several models that were compared.
struct ComparedModel {
  Candidate candidate;             ///< with everything decided
  std::string title;               ///< description of the model
  SizeWords size_words;            ///< the unit of such a model's size
  std::vector<std::int32_t> axes;  ///< places of its parameters in SearchResult::axes
  std::int32_t points = 0;         ///< that were tried over all rows
  /// Over all rows it was dropped as worse than the best after so many splits; 0: it was not.
  std::int32_t dropped_after = 0;
  double dropped_score = 0;  ///< the mean of its best point over those splits
};

/// A row of the comparison of models over all rows.
struct LeaderboardRow {
  std::int32_t model = 0;     ///< place in SearchResult::models
  std::int32_t place = -1;    ///< of its best point in SearchLevel::points; -1: it was dropped
  ScoreSummary score;         ///< of that point; of a dropped model over the splits it was tried on
  double difference = 0;      ///< of its score to that of the chosen model
  double low = 0, high = 0;   ///< 95 % interval of the difference, corrected as in compare_scores()
  bool has_interval = false;  ///< false: the chosen model itself, a dropped one, or a single split
};

/// A search over some of the rows, or over all.
struct SearchLevel {
  std::vector<std::int32_t> points;  ///< tried on all splits: places in SearchResult::points, ascending
  std::vector<ModelScores> models;   ///< points x splits
  Chosen chosen;                     ///< places in `points`
};

/// One outer fold or resample: the search without its rows, and the chosen model's scores on them.
struct OuterFold {
  SearchLevel level;
  ModelScores scores;
};

/// A feature that the chosen model of some outer resample has a weight for.
struct FeatureStability {
  std::int64_t index = 0;
  std::string name;
  double frequency = 0;                ///< share of the resamples that gave it a weight
  double median_rank = 0;              ///< by size of effect; if it is not chosen, behind all that are
  double standard_deviation = 0;       ///< standard deviation of its values, all rows
  std::vector<double> mean_weight;     ///< of each decision value, over the resamples that gave it a weight
  std::vector<double> sign_agreement;  ///< the share of those weights that have the more frequent sign; 0: no weights
};

/// Nogueira, Sechidis and Brown 2018: 1 if all sets agree, 0 on average for sets of the same sizes drawn at random.
struct Stability {
  double value = 1;
  double low = 1;  ///< of the interval that holds 95 % by their theorem for many sets
  double high = 1;
  double standard_error = 0;
};
Stability stability_of(std::span<const std::vector<std::int64_t>> sets, std::int64_t features);

/// Predictions of chosen models for held-out rows: those of the model of all rows on the splits of its search or, if
/// there are outer folds, those of their models on them (among several models, a calibration or a threshold is learnt
/// from the former). Lists have an entry for each prediction.
struct HeldOutPredictions {
  std::vector<std::int32_t> splits;   ///< from 0
  std::vector<std::int32_t> rows;     ///< of the dataset, from 0
  std::vector<std::int32_t> truth;    ///< the class; regression: none
  std::vector<std::int32_t> classes;  ///< the predicted class; regression: none
  std::vector<double> values;         ///< regression: entries x targets
  std::int32_t columns = 1;
  std::vector<double> decisions;  ///< entries x columns
  /// Entries x classes, if all these models have them. With a calibration those of one that was learnt without the rows
  /// of the entry's split.
  std::vector<double> probabilities;
  /// If a threshold was requested: the class by a threshold chosen without the rows of the entry's split.
  std::vector<std::int32_t> by_threshold;

  std::size_t size() const { return rows.size(); }
};

/// The chosen point on growing numbers of training rows. Lists are shares x splits.
struct LearningCurve {
  std::vector<double> shares;  ///< of the training rows of each split, ascending; the last is 1
  std::vector<std::int64_t> rows;
  std::vector<ModelScores> training;  ///< on the rows that it was trained on
  std::vector<ModelScores> held_out;
};

/// By how much the score to choose by gets worse if a feature is shuffled among held-out rows (Breiman 2001; Fisher,
/// Rudin and Dominici 2019).
struct FeatureImportance {
  std::int64_t index = 0;
  std::string name;
  ScoreSummary drop;  ///< over the splits, of the means over the shuffles; above 0: the feature helps
};

/// The search compared with the same search with labels in random order.
struct PermutationTest {
  double score = 0;            ///< of the search, by nested validation if there is any
  std::vector<double> scores;  ///< with labels in random order
  double p_value = 1;          ///< (1 + searches with a score as good) / (1 + all of them)
};

/// How a stack combines models: learnt on their predictions for held-out rows.
struct LearntStack {
  std::vector<Point> members;   ///< best first
  std::vector<double> weights;  ///< of each member: 0 or more, of sum 1
  /// Calibrations of members without probabilities of their own.
  std::vector<std::optional<Calibration>> calibrations;
};

/// The stacks of a search. Each split and each outer fold has one that was learnt without its held-out rows.
struct StackResult {
  LearntStack all;                  ///< that of the final model, learnt on the held-out rows of all splits
  std::vector<LearntStack> splits;  ///< its members, with weights learnt without the rows of each split
  std::vector<LearntStack> outer;   ///< of the search without the rows of each outer fold
  /// Training data of `all`, for each of its members; classes: with probabilities.
  std::vector<HeldOutPredictions> held_out;
};

struct SearchResult {
  SearchSpace space;      ///< with everything that was left open decided
  SearchOptions options;  ///< likewise
  SizeWords size_words;   ///< the unit of a model's size
  std::uint64_t seed = 0;
  std::string source;
  std::string label;  ///< the name of the target, if the dataset names it
  std::string title;  ///< description of the models
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t groups = 0;                ///< that stay together; 0: none
  std::vector<std::string> class_names;   ///< in the order of the model; regression: none
  std::vector<std::string> target_names;  ///< of several targets; else none
  std::int32_t positive = -1;             ///< two classes: that of F1 and ROC
  std::int32_t columns = 1;               ///< decision values of a model
  std::vector<Metric> metrics;            ///< that this search has
  std::vector<SearchAxis> axes;
  std::vector<Point> points;  ///< that some level tried, in the order of the axes
  std::int32_t splits = 0;    ///< of each level
  SearchLevel level;          ///< over all rows; nothing in a study
  std::vector<OuterFold> outer;
  std::optional<Model> model;               ///< trained on all rows; none in a study
  std::vector<FeatureStability> stability;  ///< most frequent first, then by median rank
  Stability overall;
  StabilityByChance chance;       ///< if requested
  std::int32_t best_overall = 0;  ///< place in `points`: the best mean over the levels of all outer resamples
  /// Elastic nets, alphas descending: on the training rows of options.path_split or, if that is 0, on all rows down to
  /// the chosen alpha; then of the features with the largest effects in the final model alone.
  std::vector<PathStep> path;
  std::optional<HeldOutPredictions> held_out;       ///< if requested
  std::optional<LearningCurve> learning_curve;      ///< likewise
  std::vector<FeatureImportance> importance;        ///< likewise; the most important first
  std::optional<PermutationTest> permutation_test;  ///< likewise
  /// For a chosen model of neighbours with feature weights: on the held-out rows of the first splits.
  std::optional<FeatureWeightsEffect> weights_effect;
  /// Linear models: of the features after the pipeline, over all rows.
  std::vector<double> standard_deviations;
  /// Binning of a pipeline that selects features by states: on all rows, with the number of bins.
  std::optional<BinningOptions> selection_binning;
  /// Log losses and Brier scores are those of calibrated probabilities.
  bool calibrated_scores = false;
  KernelCounts counts;      ///< SVMs: of the models that this run trained
  Annotations annotations;  ///< of all features of the dataset
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  /// Another of the processes that share the search has written the results, and there are none here.
  bool published_elsewhere = false;
  /// If several models were compared: all of them, simplest first. `space`, `title` and the pipeline of `options` are
  /// then those of the chosen one, and the first axis is the model. A stack is the last one, with one point, and chosen
  /// on every level.
  std::vector<ComparedModel> models;
  std::optional<StackResult> stack;  ///< if requested

  /// The model of a point; nullptr if one model alone was searched.
  const ComparedModel* model_of(const Point& point) const {
    return models.empty() ? nullptr : &models[static_cast<std::size_t>(point.front()) - 1];
  }
  /// Whether a point is that of the stack.
  bool is_stack(const Point& point) const { return stack && static_cast<std::size_t>(point.front()) == models.size(); }
  /// The values of a point for the axes of its own model.
  Point own_point(const Point& point) const;
  /// The models that were compared, best first.
  std::vector<LeaderboardRow> leaderboard() const;
  /// The points of one of the compared models, with its own axes, as a search of their own: without outer folds and
  /// the final model.
  SearchResult of_model(std::int32_t model) const;

  /// The class or the target that a large decision value favours; empty for a single target.
  std::string column_name(std::int32_t column) const {
    const auto& names = target_names.empty() ? class_names : target_names;
    return names.empty() ? std::string() : names[static_cast<std::size_t>(column)];
  }
  // Scores of a level of this search; `p` is a place in its `points`.
  std::vector<double> scores(const SearchLevel& of, std::size_t p, Metric metric) const;
  ScoreSummary summary(const SearchLevel& of, std::size_t p, Metric metric) const;
  /// The mean size over the splits; below 0: not counted.
  double size(const SearchLevel& of, std::size_t p) const;
  const Point& point(const SearchLevel& of, std::size_t p) const {
    return points[static_cast<std::size_t>(of.points[p])];
  }
  // The same for the level over all rows.
  ScoreSummary summary(std::size_t p, Metric metric) const { return summary(level, p, metric); }
  const Point& chosen() const { return point(level, level.chosen.chosen); }
  /// The value of one parameter of a point.
  double value(const Point& of, std::string_view axis) const;
  /// "C = 0.1, gamma = 0.5".
  std::string point_text(const Point& of) const;

  /// Scores of the chosen models on the outer folds or resamples.
  ScoreSummary outer_summary(Metric metric) const;
  /// Over the outer levels that tried the point: of their means over the splits.
  ScoreSummary overall_summary(std::size_t point, Metric metric) const;
  /// Features that at least options.min_frequency of the resamples chose, most frequent first.
  std::vector<FeatureStability> selected() const;
};

/// How the work is divided. Two runs with the same plan give the same bits.
struct BatchPlan {
  /// Limits of one batch.
  struct Size {
    std::int32_t tasks = 0;
    std::int32_t splits = 0;
  };
  std::int64_t memory = 0;
  std::vector<Size> sizes;  ///< one for each model that is compared
  std::int64_t models = 0;  ///< to be trained; 0: not known before. Readers of the journal work out the time left
};

/// Which process trains the final model of a search and publishes its results.
enum class SearchEnding : std::uint8_t {
  here,       ///< this one
  elsewhere,  ///< another one, which is at it
  published,  ///< another one, which has finished
};

/// Remembers finished batches, so that a search that was ended can go on, and so that several processes can share one.
class SearchLog {
 public:
  SearchLog() = default;
  SearchLog(const SearchLog&) = delete;
  SearchLog& operator=(const SearchLog&) = delete;
  virtual ~SearchLog() = default;
  /// The plan that an earlier run began with, else the proposed one, which is remembered.
  virtual BatchPlan agree(const BatchPlan& proposed) = 0;
  /// The models of a batch that is finished already, here or by another process; none: it is not.
  virtual std::optional<std::vector<ModelScores>> recall(std::int32_t batch) = 0;
  /// Returns when the batch will survive the end of the process. If another process has kept it before, that counts.
  /// The models come with their places.
  virtual void keep(std::int32_t batch, const std::vector<ModelScores>& models) = 0;

  /// Whether this process trains the batch. False: another one does; ask recall() and claim() again later.
  virtual bool claim(std::int32_t /*batch*/) { return true; }
  virtual SearchEnding claim_ending() { return SearchEnding::here; }
  /// Whether the search ends before batch `next`, since its time is over: the answer of the first process that asks.
  virtual bool agree_to_end(std::int32_t /*next*/, bool over) { return over; }
};

/// Sets the options that the caller left to the data: splits, score, strategy and the grid, except those that need
/// training. Options that contradict each other, or do not suit the labels, are a UsageError or an Error.
template <class T>
void decide(const Dataset<T>& dataset, SearchSpace& space, SearchOptions& options);

/// Estimated work of the search; all options must be decided. See Context::for_work().
template <class T>
WorkEstimate search_work(const Dataset<T>& dataset, const SearchSpace& space, const SearchOptions& options);

/// The size of a search that has not begun.
struct SearchPlan {
  std::int64_t points = 0;  ///< of each level; 0: scores decide how many there will be
  std::int32_t splits = 0;
  std::int64_t models = 0;  ///< that are trained, the final one included; 0: scores decide how many
};
/// Over so many rows; space and options must be decided. Trains nothing.
SearchPlan search_plan(std::int64_t rows, const SearchSpace& space, const SearchOptions& options);

/// A split that trains without rows of some class, or whose test rows do not define the score to choose by, is an Error
/// before anything is trained. Stopped (see Context) keeps the content of `log`.
template <class T>
SearchResult search(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                    const SearchOptions& options = {}, SearchLog* log = nullptr);

/// Names and texts as on the command line, of the search, of the pipeline or of the model: {{"folds", "5"}, {"cost",
/// "0.1,1,10"}}. An unknown name is a UsageError.
using NamedSettings = std::vector<std::pair<std::string, std::string>>;
/// The same for models by their names, as in space_of_models(): search(context, data, "svm", {{"folds", "5"}, {"score",
/// "auc"}}). Steps before the model that are not named are those of default_pipeline().
template <class T>
SearchResult search(const Context& context, const Dataset<T>& dataset, std::string_view kind,
                    const NamedSettings& settings = {});

template <>
const std::vector<Parameter<SearchOptions>>& parameters();

/// The settings that decide the results, bit for bit, and those that help to repeat them.
struct SearchSettings {
  std::string command;  ///< for people; not compared
  std::string data;     ///< path of the dataset; its contents are compared, not its name
  ReadOptions reading;
  SearchSpace space;      ///< with everything decided, see decide()
  SearchOptions options;  ///< likewise
  Device device;
  Precision precision = Precision::float64;
  std::uint64_t seed = 0;
};

enum class Existing : std::uint8_t {
  refuse,   ///< an existing folder that is not empty is an Error
  resume,   ///< goes on with the search in it; other settings, other data or another version are an Error
  replace,  ///< forgets the search in it as soon as the new one begins to train; until then it stays as it is
  join,     ///< shares the search in it with all other processes that join it, or begins it; otherwise as `resume`
};

/// How a process shares a search with others.
struct Joining {
  double lease = 60;     ///< seconds without a sign of life after which others train what a process has begun
  bool follows = false;  ///< publishes the results only if no other process does
};

class SearchDirectory {
 public:
  /// Makes the folder if it is missing. One that cannot be written is an Error here, before any work.
  SearchDirectory(std::string path, Existing existing, const Joining& joining = {});
  SearchDirectory(const SearchDirectory&) = delete;
  SearchDirectory& operator=(const SearchDirectory&) = delete;
  /// A search that failed before its first batch leaves nothing behind.
  ~SearchDirectory();

  /// The device that the search in it began on, for one that goes on; none: it begins now.
  std::optional<Device> device() const;
  /// Compares the settings with those that the search in it began with, or keeps them: log() writes them when the
  /// engine begins.
  void begin(const SearchSettings& settings);
  /// Too little room on the disk for a model of so many weights is an Error.
  void check_room(std::int64_t weights) const;
  SearchLog& log();
  /// Batches that an earlier run has finished.
  std::size_t finished() const;
  /// A file of the folder; it appears whole or not at all. See write_results() in report.hpp.
  void write(const std::string& name, std::string_view text) const;
  void write(const std::string& name, const Model& model) const;
  /// All files are written. If several processes share the search, it is over for all of them.
  void finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sheaf
