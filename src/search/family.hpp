// The interface between the search engine and a family of models. Each family is one file in search/families/.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <sheaf/error.hpp>
#include <sheaf/profile.hpp>
#include <sheaf/search.hpp>

#include "data/column_transforms.hpp"
#include "data/labels.hpp"
#include "search/plan.hpp"
#include "search/space.hpp"

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
  /// The same, with the features as each split sees them; of families that take them.
  virtual void load_transformed(const SplitTable& /*table*/, ColumnTransforms /*transforms*/) {
    throw InternalError("column transforms were given to a family that takes none");
  }
  /// Trains all jobs as one sheaf and scores each on the test rows of its split. `chosen`: they are what inner searches
  /// chose, which are few and kept.
  virtual std::vector<ModelScores> train(std::span<const Job> jobs, bool chosen) = 0;
};

/// How much is trained together.
struct BatchLimits {
  std::int64_t memory = 0;   // of the device
  std::int32_t tasks = 1;    // worth training together
  std::int32_t splits = 1;   // whose row weights may be at hand at once
  bool whole_grids = false;  // all points of a split belong together
};

class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  virtual const Labels& labels() const = 0;
  /// What is trained, in words.
  virtual std::string title() const = 0;
  virtual bool has_probabilities() const = 0;
  virtual const Space& space() const = 0;
  /// Tasks of one model.
  virtual std::int32_t tasks() const = 0;
  /// Rows that a split must train on.
  virtual std::int64_t least_rows() const { return 1; }
  virtual BatchLimits limits(const Context& context, const Plan& plan) const = 0;
  /// Points that share most when they are trained together have the same values (an SVM's kernel).
  virtual Point shared_part(const Point& /*point*/) const { return {}; }
  /// Simpler models have smaller values, compared one after another. `size` as in ModelScores.
  virtual std::vector<double> complexity(const Point& point, double size) const = 0;

  virtual std::unique_ptr<Trainer> trainer(const Context& context) const = 0;
  /// The model of a point, trained on all rows.
  virtual Model refit(const Context& context, const Point& point) const = 0;
  /// The weights along the path that ends at a point, trained on the first split of `table`; none: there is no path.
  virtual std::vector<PathStep> path(const Context& /*context*/, const SplitTable& /*table*/,
                                     const Point& /*point*/) const {
    return {};
  }
  /// Why a training did not converge; without its point and split.
  virtual std::string failure(const TaskFit& fit) const = 0;
  /// Summaries of the dataset's features, where the family has made them.
  virtual std::span<const FeatureSummary> dataset_features() const { return {}; }
  /// Notes on what to try next, after a finished search.
  virtual void add_notes(SearchResult& /*result*/) const {}
};

/// A family's search over a dataset; both must outlive it. `seen`: what follows from the data, refit() among it,
/// follows from what these column transforms of one split of all rows show of the features; of families that take them,
/// which are linear models. nullptr: from the features as they are.
template <class T>
std::unique_ptr<Family> make_family(const Context& context, const Dataset<T>& dataset, const FamilySearch& search,
                                    const SearchOptions& options, const ColumnTransforms* seen = nullptr);

// The families, for make_family() alone.
template <class T>
std::unique_ptr<Family> make_linear_family(const Context& context, const Dataset<T>& dataset,
                                           const LinearSearch& search, const SearchOptions& options,
                                           const ColumnTransforms* seen);
template <class T>
std::unique_ptr<Family> make_svm_family(const Context& context, const Dataset<T>& dataset, const SvmSearch& search,
                                        const SearchOptions& options);
template <class T>
std::unique_ptr<Family> make_net_family(const Context& context, const Dataset<T>& dataset, const NetSearch& search,
                                        const SearchOptions& options, const ColumnTransforms* seen);
template <class T>
std::unique_ptr<Family> make_knn_family(const Context& context, const Dataset<T>& dataset, const KnnSearch& search,
                                        const SearchOptions& options);

template <class T>
std::unique_ptr<Family> make_glm_family(const Context& context, const Dataset<T>& dataset, const GlmSearch& search,
                                        const SearchOptions& options);

/// Whether the trainers of a family take column transforms; else a pipeline copies the dataset for each split.
bool takes_transforms(const FamilySearch& search);

/// Any family behind the pipeline of the options.
template <class T>
std::unique_ptr<Family> make_pipeline_family(const Context& context, const Dataset<T>& dataset,
                                             const FamilySearch& search, const SearchOptions& options);

/// The options that a family decides by itself, before the engine decides the rest.
struct FamilyTraits {
  bool regression = false;
  bool probabilities = false;
  Metric default_score = Metric::accuracy;
  Strategy default_strategy = Strategy::grid;
  std::string title;  // of what is trained, for messages
  bool survival = false;
  bool one_out_is_free = false;  // leaving out one row at a time takes no longer than folds do
};
template <class T>
FamilyTraits decide_family(const Dataset<T>& dataset, LinearSearch& search, const SearchOptions& options);
template <class T>
FamilyTraits decide_family(const Dataset<T>& dataset, SvmSearch& search, const SearchOptions& options);
template <class T>
FamilyTraits decide_family(const Dataset<T>& dataset, NetSearch& search, const SearchOptions& options);
template <class T>
FamilyTraits decide_family(const Dataset<T>& dataset, KnnSearch& search, const SearchOptions& options);
template <class T>
FamilyTraits decide_family(const Dataset<T>& dataset, GlmSearch& search, const SearchOptions& options);

}  // namespace sheaf::engine
