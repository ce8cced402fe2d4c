// A trained model of any family: kept in a file, described, applied to other datasets.
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
#include <sheaf/io.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/pipeline.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/solvers/calibration.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/predictions.hpp>
#include <sheaf/solvers/threshold.hpp>
#include <sheaf/solvers/trained_model.hpp>

namespace sheaf {

/// The share of one feature of the dataset in a decision value, summed over the features that a pipeline made from it.
struct Contribution {
  std::int64_t feature = 0;  ///< of the dataset as it was for training: a place in Model::known_columns()
  double value = 0;          ///< as it is in the dataset
  double amount = 0;
};

/// The explanation of a model's prediction for one row: decision = intercept + contributions + rest.
///
/// Contributions are Shapley values against a reference row, whose decision value is `intercept`: the means of the
/// training rows behind the pipeline, and of the levels of nominal features their shares. A model that does not keep
/// them (it has over 100,000 features, or is of another program) is explained against 0. A transform that mixes
/// features (share, clr, norm, rank) is done before: contributions are of its output for each feature.
///
/// - Linear models of every kind: weight * (value - reference), exactly; for multinomial ones, the weight less the mean
///   of the feature's weights for all classes. In sparse data, absent features are values of 0 and have contributions
///   like others.
/// - SVMs and neighbours: features take the value of the row in place of the reference's one after another, and a
///   contribution is the mean change of the decision value over the orders of the features: over all orders if 10
///   features or fewer differ from the reference, else over random orders and their reverses. Either way they add up.
///   Sparse data: absent features stay absent, and belong to `intercept`.
struct Explanation {
  /// The decision value: a target, or that of the predicted class if there are several. For SVMs of pairs of classes,
  /// the sum of those of the predicted class against each other one.
  std::int32_t column = 0;
  /// Generalised linear models: on the scale of the link. Multinomial ones: less the mean of all classes'.
  double decision = 0;
  double intercept = 0;
  std::vector<Contribution> largest;  ///< by magnitude, largest first
  double rest = 0;                    ///< of all other features
};

struct ExplainOptions {
  std::size_t most = 10;     ///< contributions listed for each row
  std::int32_t orders = 16;  ///< random orders of features, each with its reverse; the context's seed draws them
};

/// Effect of feature weights on a model of neighbours: compared with the same model without them, on some rows.
struct FeatureWeightsEffect {
  std::int64_t rows = 0;
  std::int64_t neighbours = 0;  ///< training rows that decide about these rows, all together
  std::int64_t kept = 0;        ///< of them, those that would decide without the weights too
  std::int64_t changed = 0;     ///< predictions that would be others
  Score with, without;          ///< of the predictions; empty if these have no labels
};
/// `lists` as of Model::deciding_rows(); the predictions of the same rows with the weights and without. The scores are
/// left to the caller.
FeatureWeightsEffect compare_without_weights(const std::vector<std::vector<DecidingRow>>& lists,
                                             const Predictions& with, const Predictions& without);

class Model {
 public:
  /// A linear model without weights.
  Model();
  explicit Model(std::unique_ptr<TrainedModel> trained) : trained_(std::move(trained)) {}
  template <FamilyModel M>
  Model(M model) : trained_(trained_model(std::move(model))) {}  // NOLINT(google-explicit-constructor): is a model

  /// Reads Sheaf's own format, LIBLINEAR's and LIBSVM's. A defect is a ParseError that names file:line:column.
  static Model load(const std::string& path);
  /// The same from text in memory; `name` stands for the file in messages.
  static Model parse(std::string_view text, const std::string& name);
  /// Appears under its name whole or not at all. A format that cannot hold the model is an Error.
  void save(const std::string& path, ModelFile format = ModelFile::sheaf) const;
  std::string text(ModelFile format = ModelFile::sheaf) const;
  /// The text in the format of the program that this family stands in for, if that can hold the model.
  std::optional<std::string> peer_text() const;

  /// "linear", "elastic-net", "glm", "svm", "neighbors" or "stack".
  std::string_view family() const;
  std::int64_t features() const;
  const std::vector<std::string>& class_names() const;  ///< regression: none
  std::vector<std::string> target_names() const;        ///< of several targets; else none
  std::int32_t positive() const;                        ///< of two classes; else -1
  bool is_regression() const;
  bool has_probabilities() const;
  std::vector<std::string> warnings() const;
  /// One of warnings(), until the model is saved.
  void add_training_warning(std::string warning) { training_warnings_.push_back(std::move(warning)); }
  /// None if the model has no weight for each feature.
  std::optional<Coefficients> coefficients() const;

  /// The dataset is as it was for training, before the pipeline: features are found by name, in any order, else by
  /// position; see align_features(). `warnings` of the result name the corrections. `offsets` as predict_linear();
  /// families that have none answer with a UsageError.
  template <class T>
  Predictions predict(const Context& context, const Dataset<T>& dataset, bool probabilities = false,
                      std::span<const double> offsets = {}) const;
  /// The largest contributions to each row's decision value; for several targets, to each of a row's, one after
  /// another. SVMs of precomputed kernels, which have no features, are an Error.
  template <class T>
  std::vector<Explanation> explain(const Context& context, const Dataset<T>& dataset,
                                   const ExplainOptions& options = {}) const;
  /// The class or the target that a large decision value favours, by its place; empty for a single target.
  std::string decision_name(std::int32_t column) const;
  /// Whether explain() compares with the means of the training rows, and not with 0.
  bool keeps_means() const;
  /// The training rows that each prediction of a neighbours model rests on: see sheaf::deciding_rows(). Other families
  /// are an Error.
  template <class T>
  std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const Dataset<T>& dataset,
                                                      std::int64_t most) const;
  /// A model of neighbours as if features had no weights, with the same pipeline, calibration and threshold; none if
  /// they have none. Its training rows are those of this model, which must outlive it.
  std::optional<Model> without_feature_weights(const Context& context) const;
  /// The decision values by class. Two classes: one a row, above 0 for the first; more: one a class. Those of a
  /// regression as they are.
  std::vector<double> class_decisions(const Predictions& predictions) const;
  /// None if the dataset has no labels, or if those of a regression are not numbers, or not as many targets as the
  /// model predicts. The mean over several targets.
  std::optional<Score> score(const Predictions& predictions, const Target& target) const;
  /// All scores of the predictions on the rows whose class is one of the model; nothing if there are no such rows.
  /// `predictions.classes` may be the caller's own choice, by a threshold. For three classes or more, scores that
  /// depend on the order of rows (AUC, average precision) are those of the probabilities if there are any, else of
  /// class_decisions().
  std::optional<Scores> scores(const Context& context, const Predictions& predictions, const Target& target) const;
  /// Classes of the dataset that are not classes of the model.
  std::vector<std::string> unknown_classes(const Target& target) const;
  /// Columns of the training dataset, which a reader needs to read a dataset for prediction.
  KnownColumns known_columns() const;
  /// The prediction for a row as text: the class as spelled, the number, or 1 and -1 of a one-class SVM. Several
  /// targets: their numbers with commas between.
  std::string prediction_text(const Predictions& predictions, std::size_t row) const;

  /// Steps applied to features before the model; empty if there are none.
  const Pipeline& pipeline() const { return pipeline_; }
  void set_pipeline(Pipeline pipeline) { pipeline_ = std::move(pipeline); }

  /// Probabilities are those of the calibration, if there is one, in place of the family's own.
  const std::optional<Calibration>& calibration() const { return calibration_; }
  void set_calibration(Calibration calibration) { calibration_ = std::move(calibration); }

  /// Two classes: if there is one, predicted classes follow it.
  const std::optional<Threshold>& threshold() const { return threshold_; }
  void set_threshold(const std::optional<Threshold>& threshold) { threshold_ = threshold; }

  /// Texts about the features that the model uses (taxonomy, gene symbol), by their names before the pipeline; those of
  /// features whose weights are all 0 are not kept. fit() and search() take them from the dataset.
  const Annotations& annotations() const { return annotations_; }
  void set_annotations(Annotations annotations) { annotations_ = std::move(annotations); }
  template <class T>
  void take_annotations(const Dataset<T>& dataset);

  /// The features were selected by the labels of the rows that the model was trained on, so that p-values would be too
  /// small: forgets standard errors and tests. fit() and search() call it if their pipeline selects.
  void withhold_tests();

  const TrainedModel& trained() const { return *trained_; }
  std::unique_ptr<TrainedModel> take_trained() && { return std::move(trained_); }
  /// The family's own struct, LinearModel, SvmModel or KnnModel; nullptr: it is another one.
  template <class M>
  const M* get_if() const {
    return static_cast<const M*>(trained_->holds(typeid(M)));
  }
  template <class M>
  M* get_if() {
    return static_cast<M*>(trained_->owns(typeid(M)));
  }

 private:
  Pipeline inputs() const;

  std::unique_ptr<TrainedModel> trained_;
  Pipeline pipeline_;
  std::optional<Calibration> calibration_;
  std::optional<Threshold> threshold_;
  Annotations annotations_;
  std::vector<std::string> training_warnings_;
};

/// The text of a model file. A format that cannot hold the model is an Error: those of LIBLINEAR and LIBSVM keep no
/// names, so that classes must be integers.
std::string format_model(const TrainedModel& model, ModelFile format = ModelFile::sheaf);
template <FamilyModel M>
std::string format_model(const M& model, ModelFile format = ModelFile::sheaf) {
  return format_model(*trained_model(&model), format);
}

/// A rough estimate of training `models` models. See Context::for_work().
template <class T>
WorkEstimate training_work(const Dataset<T>& dataset, const ModelOptions& options, double models = 1);
template <class T>
WorkEstimate prediction_work(const Dataset<T>& dataset, const Model& model);

/// Trains one model on all rows. `row_weights`: how much each row counts, one of 0 or more a row; none: 1.
template <class T>
Model fit(const Context& context, const Dataset<T>& dataset, const ModelOptions& options,
          std::span<const float> row_weights = {}, const PipelineOptions& pipeline = {});

}  // namespace sheaf
