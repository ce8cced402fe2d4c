// Distances between rows, and the nearest rows: exact, whatever the precision of the data. Distances are computed from
// the differences of values, in double, in one fixed order: the same bits on every device and for any number of
// threads, for dense data and for sparse.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/parameters.hpp>
#include <sheaf/solvers/predictions.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

struct Format;

/// distance_functions() describes each.
enum class DistanceType : std::uint8_t {
  euclidean,
  squared_euclidean,
  manhattan,
  cosine,
  correlation,
  chebyshev,
  minkowski,
  hamming,
  jaccard,
};

/// Properties of a distance.
struct DistanceFunction {
  DistanceType type;
  std::string_view name;
  std::string_view formula;
  bool has_weights = false;  ///< features may have weights
};
std::span<const DistanceFunction> distance_functions();
const DistanceFunction& distance_function(DistanceType type);
std::string_view to_string(DistanceType type);

struct DistanceOptions {
  DistanceType metric = DistanceType::euclidean;
  double power = 3;             ///< of Minkowski's distance, 1 or more
  std::vector<double> weights;  ///< one of 0 or more a feature, multiplying its term; empty: 1
};

struct NeighborOptions {
  DistanceOptions distance;
  std::int64_t k = 5;
  double radius = 0;          ///< of find_within()
  bool include_self = false;  ///< of rows among themselves: each row is a neighbour of itself
};

/// The k nearest rows of each query, the nearest first, and of equally near ones the lower index. Indices count from 0.
struct NeighborLists {
  std::int64_t queries = 0;
  std::int64_t k = 0;
  std::vector<std::int32_t> indices;  ///< queries x k
  std::vector<double> distances;      ///< likewise
};

/// All rows within a radius: those of query i stand at offsets[i] .. offsets[i + 1], ordered as above.
struct RadiusLists {
  std::vector<std::int64_t> offsets{0};  ///< queries + 1
  std::vector<std::int32_t> indices;
  std::vector<double> distances;

  std::int64_t queries() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
};

// `queries`: other rows, of as many features (those that either lacks are 0); nullptr: the rows of the dataset
// themselves. Values that are not finite, weights that do not suit the features or are all 0, and a k beyond the number
// of rows are Errors. A row of zeros has cosine distance 1 to every other row and 0 to rows of zeros; the same holds
// for constant rows and correlation. Two rows of zeros have Jaccard distance 0.
template <class T>
NeighborLists find_neighbors(const Context& context, const Dataset<T>& dataset, const NeighborOptions& options,
                             const Dataset<T>* queries = nullptr);
/// Rows at a distance of at most options.radius.
template <class T>
RadiusLists find_within(const Context& context, const Dataset<T>& dataset, const NeighborOptions& options,
                        const Dataset<T>* queries = nullptr);

/// Estimated work to compare all queries with all rows; the functions above choose an automatic device by it.
template <class T>
WorkEstimate neighbors_work(const Dataset<T>& dataset, const Dataset<T>* queries = nullptr);
/// Estimated work to find neighbours: with few features, a tree compares few pairs of rows.
template <class T>
WorkEstimate neighbors_work(const Dataset<T>& dataset, const Dataset<T>* queries, const NeighborOptions& options);

/// Weights of features from a file: one number of 0 or more to a line. Anything else is a ParseError with its place.
std::vector<double> read_feature_weights(const std::string& path, std::int64_t features);

/// Computes blocks of a distance matrix. Dataset and queries must outlive it.
class DistanceMatrix {
 public:
  template <class T>
  DistanceMatrix(const Context& context, const Dataset<T>& dataset, const DistanceOptions& options,
                 const Dataset<T>* queries = nullptr);
  DistanceMatrix(DistanceMatrix&&) noexcept;
  DistanceMatrix& operator=(DistanceMatrix&&) noexcept;
  ~DistanceMatrix();

  std::int64_t rows() const;     ///< queries
  std::int64_t columns() const;  ///< rows of the dataset
  /// out[(i - first_row) * columns + (j - first_column)]: from query i to row j.
  void compute(std::int64_t first_row, std::int64_t rows, std::int64_t first_column, std::int64_t columns,
               double* out) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

struct MatrixFileOptions {
  bool upper = false;  ///< of rows among themselves: the part above the diagonal alone, row after row, as SciPy's pdist
  bool resume = false;  ///< go on with a file that an earlier call began
  bool join = false;    ///< share the work with all processes that are given the same rows, distance and path
  double lease = 60;    ///< `join`: seconds without a sign of life after which others do what a process has begun
  std::vector<Device> extra_devices;  ///< devices that share the work with the context's
};
/// Writes a distance matrix of any size as a NumPy file (.npy) of doubles: rows x columns or, of the upper part, one
/// column. Each device takes the next block of rows when it is free, so that unequal ones end together; the bytes are
/// the same whichever devices take part. Blocks are written as they are computed, to PATH.partial, which gets its name
/// at the end. When the work is ended early, it is kept, and PATH.settings lists the rows that are in it. To go on with
/// one of other rows or another distance is an Error. Processes that join need no journal: PATH.units says which of
/// them computes which block.
template <class T>
void write_distances(const Context& context, const Dataset<T>& dataset, const DistanceOptions& distance,
                     const std::string& path, const MatrixFileOptions& options = {},
                     const Dataset<T>* queries = nullptr);

/// The formats of lists of neighbours.
std::span<const Format> neighbor_formats();
/// `format`: one of their names.
std::string format_neighbors(const NeighborLists& lists, std::string_view format);
std::string format_neighbors(const RadiusLists& lists, std::string_view format);

template <>
const std::vector<Parameter<DistanceOptions>>& parameters();
template <>
const std::vector<Parameter<NeighborOptions>>& parameters();

// ---- models of neighbours: they keep their training rows, and decide by those that are nearest to a query

/// How much each of the k nearest rows counts.
enum class Vote : std::uint8_t {
  uniform,
  inverse_distance,  ///< 1 / distance; rows at distance 0 decide alone
  gaussian,          ///< exp(-(d / d_k)^2 / 2), d_k being the distance of the k-th
};

/// How neighbours determine the prediction.
enum class LocalRule : std::uint8_t {
  votes,        ///< the class of most votes, or their mean number
  hyperplane,   ///< the class whose K nearest rows span the nearest hyperplane (HKNN; ALH if features have weights)
  convex_hull,  ///< the class whose K nearest rows have the nearest convex hull (CKNN)
  local_svm,    ///< an SVM trained on the K nearest rows of all classes, for each query (SVM-KNN)
  falk_svm,     ///< the same around training rows that cover all, a query being decided by that of its nearest row
};

/// Kernel of the SVMs that local_svm and falk_svm train.
enum class LocalKernel : std::uint8_t {
  linear,  ///< x'y
  rbf,     ///< exp(-gamma |x - y|^2)
};

/// Source of feature weights. All but `given` are learnt on the training rows and scaled to a mean of 1.
enum class FeatureWeighting : std::uint8_t {
  none,
  given,               ///< DistanceOptions::weights
  class_ratio,         ///< exp(temperature * between-class over within-class sum of squares)
  mutual_information,  ///< of the feature, in ten intervals of equal counts, and the class
  relief,              ///< ReliefF, ten nearest rows of each class; below 0 counts as 0
};

struct KnnOptions {
  LocalRule rule = LocalRule::votes;
  LabelKind labels = LabelKind::automatic;
  std::int64_t k = 5;  ///< hyperplanes and hulls: of each class
  Vote vote = Vote::uniform;
  DistanceOptions distance;
  FeatureWeighting weighting = FeatureWeighting::none;
  double temperature = 1;                    ///< of class_ratio
  double lambda = 1;                         ///< hyperplanes and hulls: the penalty of their coefficients
  LocalKernel kernel = LocalKernel::linear;  ///< local SVMs, as the next three
  double cost = 1;
  double gamma = 0;         ///< 0: 1 / features
  double tolerance = 1e-3;  ///< stop when the largest violation of the optimality conditions is below it
};
const Family& family_of(const KnnOptions& options);

std::string_view to_string(Vote vote);
std::string_view to_string(LocalRule rule);
std::string_view to_string(LocalKernel kernel);
/// Whether the rule trains SVMs.
bool trains_svms(LocalRule rule);
std::string_view to_string(FeatureWeighting weighting);

struct KnnModel {
  LocalRule rule = LocalRule::votes;
  std::int64_t k = 0;
  Vote vote = Vote::uniform;
  DistanceOptions distance;  ///< with the weights that were learnt
  FeatureWeighting weighting = FeatureWeighting::none;
  double lambda = 1;
  LocalKernel kernel = LocalKernel::linear;
  double cost = 1;
  double gamma = 1;
  double tolerance = 1e-3;
  std::vector<std::string> class_names;  ///< regression: none
  std::int64_t features = 0;
  std::vector<std::string> feature_names;  ///< empty: named by position

  Matrix<double> x;                   ///< the training rows
  std::vector<std::int32_t> classes;  ///< of each; regression: none
  std::vector<double> values;         ///< of each; classes: none
  std::vector<float> row_weights;     ///< factor of each one's vote, or cost in SVMs; empty: 1
  std::vector<std::int32_t> centres;  ///< falk_svm: of each, the row around which its SVM is trained; else none

  std::int64_t rows() const { return sheaf::rows(x); }
  bool is_regression() const { return class_names.empty(); }
  bool has_probabilities() const { return !is_regression() && rule == LocalRule::votes; }
  bool has_feature_weights() const { return !distance.weights.empty(); }
  std::string feature_name(std::int64_t j) const {
    return feature_names.empty() ? std::to_string(j + 1) : feature_names[static_cast<std::size_t>(j)];
  }
};

/// Whether the labels are numbers for these options.
bool takes_numbers(const KnnOptions& options, const Target& target);

/// Keeps the rows whose weight is not 0, and learns the weights of features. A k of votes beyond the number of rows, a
/// numeric target for a rule with classes only, and labels that do not suit are Errors. Local models take the rows that
/// there are if those are fewer than k. `in_place`: rows of double precision that all have a weight are not copied, and
/// the dataset must outlive the model.
template <class T>
KnnModel train_knn(const Context& context, const Dataset<T>& dataset, const KnnOptions& options,
                   std::span<const float> row_weights = {}, bool in_place = false);

/// Features that the table lacks are 0; if both are named, every feature of the model must stand in the table under its
/// name. `decisions` has a column for each class: its share of the votes; how far away its hyperplane or hull is, as a
/// number below 0; or, of local SVMs, the decision value of two classes with its sign for each, of more how many of the
/// other classes it wins against, and at most a third for the sum of those decision values. The lowest label of equals
/// is chosen: the smallest number, or the first word of the alphabet.
template <class T>
Predictions predict_knn(const Context& context, const KnnModel& model, const Dataset<T>& dataset,
                        bool probabilities = false);
std::optional<Score> score_of(const KnnModel& model, const Predictions& predictions, const Target& target);
std::vector<std::string> warnings_of(const KnnModel& model);
/// Neighbours as a model of any family.
std::unique_ptr<TrainedModel> trained_model(KnnModel model);
std::unique_ptr<TrainedModel> trained_model(const KnnModel* model);

/// The training rows that determine the prediction of each row of the dataset, the nearest first, `most` at the most:
/// all that vote; the K nearest of the predicted class, whose hyperplane or hull is the nearest; all rows of its local
/// SVM.
template <class T>
std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const KnnModel& model,
                                                    const Dataset<T>& dataset, std::int64_t most);

/// The same model as if features had no weights; falk_svm covers the rows anew. Its training rows are those of the
/// model, which must outlive it.
KnnModel without_feature_weights(const Context& context, const KnnModel& model);

/// Every row predicted from the others: number of correct rows or, in a regression, the mean squared error.
struct LeaveOneOut {
  std::int64_t k = 0;
  Vote vote = Vote::uniform;
  Score score;
};
/// Every k and vote from one search; options.k and options.vote do not count.
template <class T>
std::vector<LeaveOneOut> leave_one_out(const Context& context, const Dataset<T>& dataset, const KnnOptions& options,
                                       std::span<const std::int64_t> ks, std::span<const Vote> votes);

template <>
const std::vector<Parameter<KnnOptions>>& parameters();

}  // namespace sheaf
