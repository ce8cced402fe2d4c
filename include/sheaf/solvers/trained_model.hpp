// Interface of a trained model of any family. Model (model.hpp) adds the parts that are the same for all: the pipeline,
// the calibration, the threshold.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/predictions.hpp>

namespace sheaf {

enum class ModelFile : std::uint8_t {
  sheaf,      ///< readable, exact, with names; any family
  liblinear,  ///< linear models and elastic nets
  libsvm,     ///< SVMs with a kernel
};
/// "LIBLINEAR", "LIBSVM" or "Sheaf".
std::string_view program_of(ModelFile format);

class ModelWriter;

/// Properties of a model that scores, explanations and reports read besides its predictions.
struct ModelTraits {
  bool survival = false;  ///< decision values are logarithms of hazards
  bool log_odds = false;  ///< probabilities, if it has them, are the logistic functions of the decision values
  bool sums = false;  ///< decision values are the sums of coefficients() times the features; if false they may be means
  bool softmax = false;            ///< only differences of the classes' coefficients() count
  bool pairs = false;              ///< decision values are those of pairs of classes: (0, 1), (0, 2) ... (1, 2) ...
  double quantile = 0.5;           ///< of the target, that a regression predicts
  std::int64_t decisive_rows = 0;  ///< training rows that it keeps and decides by, see deciding_rows()
};

/// A training row that a prediction rests on.
struct DecidingRow {
  std::int64_t row = 0;  ///< among those that the model keeps, counted from 0
  double distance = 0;
  double vote = 0;  ///< its share of all votes; NaN if there are no votes
  /// Its place, from 1, among the rows that would decide if features had no weights; 0: it would not be one of them.
  std::int64_t rank_without_weights = 0;
};

/// Weights of features in a distance, and how they were learnt.
struct DistanceWeights {
  std::vector<double> values;
  std::string learnt_by;
};

/// Weights of a linear model: feature-major, features x columns.
struct Coefficients {
  std::vector<std::string> feature_names;  ///< one a feature
  std::vector<std::string> columns;  ///< the class or target that each column favours; a single target has no name
  std::vector<double> values;
  std::vector<double> intercepts;  ///< one a column
  // The same of the features as they are before the pipeline scales them; empty if it does not.
  std::vector<double> unscaled_values;
  std::vector<double> unscaled_intercepts;

  double weight(std::int64_t feature, std::int32_t column) const {
    return values[static_cast<std::size_t>(feature) * columns.size() + static_cast<std::size_t>(column)];
  }
  /// The features of the largest weights of a column, largest first; those of weight 0 are left out.
  std::vector<std::int64_t> largest(std::int32_t column, std::size_t most) const;
};

/// A table in the summary of a model.
struct SummaryTable {
  std::string title;
  std::vector<std::vector<std::string>> rows;
  std::string alignment;  ///< a letter for each column: l or r
  bool headed = true;     ///< the first row is a heading
  std::string note;       ///< below the table
};

/// A description of a trained model for people; programs lay it out.
struct ModelSummary {
  std::vector<std::string> lines;    ///< the shape of the training data first, then the kind of model
  std::vector<SummaryTable> tables;  ///< training, weights ...
  std::string note;                  ///< at the end
};

/// Covariance of a model's weights.
struct WeightCovariance {
  std::vector<std::string> names;  ///< one a weight
  std::vector<double> values;      ///< weights x weights; NaN if the rows do not determine a weight
};

/// The likelihood of a model, for comparisons with models of the same rows.
struct LikelihoodFit {
  double parameters = 0;
  double log_likelihood = 0;
  double deviance = 0;
  double aic = 0, bic = 0;
};
/// A test of whether the additional features of a model over a smaller one explain the target.
struct LikelihoodRatioTest {
  bool first_larger = false;  ///< the first of the two models is the larger one
  /// Twice the difference of the log-likelihoods; if the dispersion is estimated, the difference of the deviances over
  /// the dispersion of the larger model, as R's anova(test = "LRT") has it.
  double statistic = 0;
  double freedom = 0;  ///< parameters that the smaller model lacks
  double p = 1;        ///< by the chi-squared distribution
};

class TrainedModel {
 public:
  TrainedModel() = default;
  TrainedModel(const TrainedModel&) = delete;
  TrainedModel& operator=(const TrainedModel&) = delete;
  virtual ~TrainedModel() = default;

  virtual std::string_view family() const = 0;
  virtual std::int64_t features() const = 0;
  virtual const std::vector<std::string>& feature_names() const = 0;    ///< empty: named by position
  virtual const std::vector<std::string>& class_names() const = 0;      ///< regression: none
  virtual std::vector<std::string> target_names() const { return {}; }  ///< of several targets; else none
  virtual bool is_regression() const = 0;
  virtual bool has_probabilities() const = 0;
  virtual std::vector<std::string> warnings() const = 0;
  /// None if the model has no weight for each feature.
  virtual std::optional<Coefficients> coefficients() const { return std::nullopt; }
  /// The model with some of its features, of families whose searches take column transforms; the others must have no
  /// weight.
  virtual std::unique_ptr<TrainedModel> with_features(std::span<const std::int64_t> features) const;
  /// Columns of a dataset are training rows and not features: nothing is aligned, scaled or shuffled.
  virtual bool has_precomputed_columns() const { return false; }

  /// `offsets` are an Error of families that take none.
  virtual Predictions predict(const Context& context, const Dataset<float>& dataset, bool probabilities,
                              std::span<const double> offsets) const = 0;
  virtual Predictions predict(const Context& context, const Dataset<double>& dataset, bool probabilities,
                              std::span<const double> offsets) const = 0;
  /// Multiplications of prediction for each stored value of a dataset, a measure of its cost.
  virtual double products_per_value() const = 0;
  /// Three classes or more: a decision value for each, rows x classes, also of families whose own are others. Else the
  /// decision values as they are.
  virtual std::vector<double> class_decisions(const Predictions& predictions) const { return predictions.decisions; }
  virtual std::optional<Score> score(const Predictions& predictions, const Target& target) const = 0;
  virtual std::string prediction_text(const Predictions& predictions, std::size_t row) const = 0;

  /// Writes the lines of Sheaf's own file behind the pipeline.
  virtual void write(ModelWriter& file) const = 0;
  /// The format of the program that the family stands in for.
  virtual std::optional<ModelFile> peer_format() const { return std::nullopt; }
  /// The text in that format. A model that it cannot hold is an Error.
  virtual std::string peer_text() const { return {}; }

  /// The family's own struct, if it is of this type; else nullptr.
  virtual const void* holds(const std::type_info& type) const = 0;
  /// The same to be changed or moved from; nullptr too for a model that was made from a pointer.
  virtual void* owns(const std::type_info& type) = 0;

  virtual ModelTraits traits() const { return {}; }
  /// The size of the model in the words of its family (SizeWords); none: reports leave it out.
  virtual std::optional<std::int64_t> size() const { return std::nullopt; }
  /// None if features are not weighed in a distance.
  virtual std::optional<DistanceWeights> distance_weights() const { return std::nullopt; }
  /// The same model as if features had no weights, which this one must outlive; nullptr if they have none.
  virtual std::unique_ptr<TrainedModel> without_feature_weights(const Context& context) const;
  /// The training rows that determine each prediction; a UsageError of families that keep no such rows.
  virtual std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const Dataset<float>& dataset,
                                                              std::int64_t most) const;
  virtual std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const Dataset<double>& dataset,
                                                              std::int64_t most) const;
  /// The class or value of a training row that it keeps.
  virtual std::string deciding_label(std::int64_t /*row*/) const { return {}; }

  /// `rows`: of the training data.
  virtual ModelSummary summary(std::int64_t /*rows*/) const { return {}; }
  /// The same for programs: an object of JSON.
  virtual std::string summary_json(std::int64_t /*rows*/) const { return "{}"; }
  /// An Error of models that have none.
  virtual WeightCovariance covariance() const;
  virtual LikelihoodFit likelihood() const;
  /// Compares two models of one family. Models that cannot be compared are Errors.
  virtual LikelihoodRatioTest compare_likelihood(const TrainedModel& other) const;
};

/// The struct of a family's model: trained_model(model) makes it a model of any family, trained_model(&model) one that
/// the struct must outlive.
template <class M>
concept FamilyModel = requires(M model) {
  { trained_model(std::move(model)) } -> std::same_as<std::unique_ptr<TrainedModel>>;
  { trained_model(&model) } -> std::same_as<std::unique_ptr<TrainedModel>>;
};

}  // namespace sheaf
