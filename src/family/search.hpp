// A family of models in a search over one dataset: as the search engine uses it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/error.hpp>
#include <sheaf/solvers/kernel_counts.hpp>
#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/search_space.hpp>
#include <sheaf/solvers/trained_model.hpp>

#include "data/column_transforms.hpp"
#include "data/labels.hpp"
#include "family/space.hpp"
#include "family/split_table.hpp"

namespace sheaf::engine {

/// A model to train: a point on a split.
struct Job {
  const Point* point = nullptr;
  std::int32_t split = 0;  // column of the split table
};

/// Trains and scores models of one family on one device.
class Trainer {
 public:
  Trainer() = default;
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;
  virtual ~Trainer() = default;

  /// From now on, jobs are over the splits of `table`, which must outlive their training.
  virtual void load(const SplitTable& table) = 0;
  /// The same, with the features transformed for each split; for families that take transforms.
  virtual void load_transformed(const SplitTable& /*table*/, ColumnTransforms /*transforms*/) {
    throw InternalError("column transforms were given to a family that takes none");
  }
  /// Trains all jobs as one sheaf and scores each on the test rows of its split. `chosen`: they are the points that
  /// inner searches chose, which are few and kept.
  virtual std::vector<ModelScores> train(std::span<const Job> jobs, bool chosen) = 0;
};

/// How much is trained together.
struct BatchLimits {
  std::int64_t memory = 0;   // of the device
  std::int32_t tasks = 1;    // worth training together
  std::int32_t splits = 1;   // whose row weights may be at hand at once
  bool whole_grids = false;  // all points of a split belong together
};

/// Choices of a finished search.
struct SearchOutcome {
  std::vector<Point> chosen;              // of each level
  std::vector<const ModelScores*> outer;  // the chosen models on the outer folds
  bool study = false;                     // a search for features rather than for a model
};

/// A point in terms of its own model.
struct OwnPoint {
  std::int32_t model = 0;  // place in FamilySearch::models()
  Point point;
};

class FamilySearch {
 public:
  FamilySearch() = default;
  FamilySearch(const FamilySearch&) = delete;
  FamilySearch& operator=(const FamilySearch&) = delete;
  virtual ~FamilySearch() = default;

  /// The searches of the models that are compared, simplest model first; for one model alone, itself.
  virtual std::vector<const FamilySearch*> models() const { return {this}; }
  virtual OwnPoint own_point(const Point& point) const { return {0, point}; }
  /// The other way round.
  virtual Point joined_point(std::int32_t /*model*/, const Point& own) const { return own; }

  virtual const Labels& labels() const = 0;
  /// Description of the model that is trained.
  virtual std::string title() const = 0;
  virtual bool has_probabilities() const = 0;
  virtual const Space& space() const = 0;
  /// Tasks of one model.
  virtual std::int32_t tasks() const = 0;
  /// Rows that a split must train on.
  virtual std::int64_t least_rows() const { return 1; }
  virtual BatchLimits limits(const Context& context, const SplitCounts& splits) const = 0;
  /// Points that share most when they are trained together have the same values (an SVM's kernel).
  virtual Point shared_part(const Point& /*point*/) const { return {}; }
  /// Simpler models have smaller values, compared one after another. `size` as in ModelScores.
  virtual std::vector<double> complexity(const Point& point, double size) const = 0;

  virtual std::unique_ptr<Trainer> trainer(const Context& context) const = 0;
  /// The model of a point, trained on all rows.
  virtual std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const = 0;
  /// The weights along the path that ends at a point, trained on the first split of `table`; none: there is no path.
  virtual std::vector<PathStep> path(const Context& /*context*/, const SplitTable& /*table*/,
                                     const Point& /*point*/) const {
    return {};
  }
  /// The weights of some features, ascending, along the path that leads to the model of refit(); none: there is none.
  virtual std::vector<PathStep> refit_path(const Context& /*context*/, const Point& /*point*/,
                                           std::span<const std::int32_t> /*features*/) const {
    return {};
  }
  /// Why a training did not converge; without its point and split.
  virtual std::string failure(const TaskFit& fit) const = 0;
  /// Summaries of the dataset's features, if the family has made them.
  virtual std::span<const FeatureSummary> dataset_features() const { return {}; }
  /// Notes on further things to try, after a finished search.
  virtual std::vector<std::string> notes(const SearchOutcome& /*outcome*/) const { return {}; }
  /// Counts of the models trained so far.
  virtual KernelCounts kernel_counts() const { return {}; }
};

/// The part of a search's options that families read.
struct TrainingOptions {
  std::span<const float> row_weights;  // one a row; empty: 1
  bool keep_decisions = false;
  std::int32_t folds = 0;
  /// Column transforms learnt on all rows, for families that take them. If given, data-dependent defaults and refit()
  /// use the transformed features; nullptr: the features as they are.
  const ColumnTransforms* seen = nullptr;
};

/// The values that a search tries if none are given: those that help names as the default.
std::vector<double> default_values(const ModelOptions& options, std::string_view parameter);

/// The options that a family decides by itself, before the engine decides the rest.
struct FamilyTraits {
  bool regression = false;
  bool probabilities = false;
  Metric default_score = Metric::accuracy;
  Strategy default_strategy = Strategy::grid;
  std::string title;  // of the model that is trained, for messages
  bool survival = false;
  bool one_out_is_free = false;  // leaving out one row at a time takes no longer than folds do
  bool open_grid = false;        // the grid was left open, and may be extended beyond its ends
};

}  // namespace sheaf::engine
