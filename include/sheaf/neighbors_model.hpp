// Models of nearest neighbours: they keep their training rows, and decide by those that are nearest to a query.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/label_kind.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/parameters.hpp>
#include <sheaf/predictions.hpp>

namespace sheaf {

/// How much each of the k nearest rows counts.
enum class Vote : std::uint8_t {
  uniform,
  inverse_distance,  ///< 1 / distance; rows at distance 0 decide alone
  gaussian,          ///< exp(-(d / d_k)^2 / 2), d_k being the distance of the k-th
};

/// What is made of the neighbours.
enum class LocalRule : std::uint8_t {
  votes,        ///< the class of most votes, or their mean number
  hyperplane,   ///< the class whose K nearest rows span the nearest hyperplane (HKNN; ALH where features have weights)
  convex_hull,  ///< the class whose K nearest rows have the nearest convex hull (CKNN)
};

/// Where weights of features come from. All but `given` are learnt on the rows that a model is trained on, and are
/// scaled to a mean of 1.
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
  double temperature = 1;  ///< of class_ratio
  double lambda = 1;       ///< hyperplanes and hulls: the penalty of their coefficients
};

std::string_view to_string(Vote vote);
std::string_view to_string(LocalRule rule);
std::string_view to_string(FeatureWeighting weighting);

struct KnnModel {
  LocalRule rule = LocalRule::votes;
  std::int64_t k = 0;
  Vote vote = Vote::uniform;
  DistanceOptions distance;  ///< with the weights that were learnt
  FeatureWeighting weighting = FeatureWeighting::none;
  double lambda = 1;
  std::vector<std::string> class_names;  ///< regression: none
  std::int64_t features = 0;
  std::vector<std::string> feature_names;  ///< empty: named by position

  Matrix<double> x;                   ///< the training rows
  std::vector<std::int32_t> classes;  ///< of each; regression: none
  std::vector<double> values;         ///< of each; classes: none
  std::vector<float> row_weights;     ///< what each one's vote is multiplied with; empty: 1

  std::int64_t rows() const { return sheaf::rows(x); }
  bool is_regression() const { return class_names.empty(); }
  bool has_probabilities() const { return !is_regression() && rule == LocalRule::votes; }
  std::string feature_name(std::int64_t j) const {
    return feature_names.empty() ? std::to_string(j + 1) : feature_names[static_cast<std::size_t>(j)];
  }
};

/// Whether the labels are numbers for these options.
bool takes_numbers(const KnnOptions& options, const Target& target);

/// Keeps the rows whose weight is not 0, and learns the weights of features. A k beyond the number of rows, a numeric
/// target for a rule that knows only classes, and labels that do not suit are Errors.
template <class T>
KnnModel train_knn(const Context& context, const Dataset<T>& dataset, const KnnOptions& options,
                   std::span<const float> row_weights = {});

/// Features that the table lacks are 0; where both are named, every feature of the model must stand in the table under
/// its name. `decisions` has a column for each class: its share of the votes, or how far away its hyperplane or hull is,
/// as a number below 0. Of equals the lowest label is chosen: the smallest number, or the first word of the alphabet.
template <class T>
Predictions predict_knn(const Context& context, const KnnModel& model, const Dataset<T>& dataset,
                        bool probabilities = false);
std::optional<Score> score_of(const KnnModel& model, const Predictions& predictions, const Target& target);
std::vector<std::string> warnings_of(const KnnModel& model);

/// Of every row, by the others: right rows or, of a regression, the mean squared error.
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
