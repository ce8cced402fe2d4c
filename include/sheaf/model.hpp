// A trained model of any family: kept in a file, described, applied to other datasets.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sheaf/calibration.hpp>
#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/elastic_net.hpp>
#include <sheaf/glm.hpp>
#include <sheaf/io.hpp>
#include <sheaf/linear.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/pipeline.hpp>
#include <sheaf/predictions.hpp>
#include <sheaf/scores.hpp>
#include <sheaf/svm.hpp>
#include <sheaf/threshold.hpp>

namespace sheaf {

enum class ModelFile : std::uint8_t {
  sheaf,      ///< readable, exact, with names; any family
  liblinear,  ///< linear models and elastic nets
  libsvm,     ///< SVMs with a kernel
};

/// Weights of a linear model: feature-major, features x columns.
struct Coefficients {
  std::vector<std::string> feature_names;  ///< one a feature
  std::vector<std::string> columns;  ///< the class or target each column speaks for; of one target one without a name
  std::vector<double> values;
  std::vector<double> intercepts;  ///< one a column
  // The same of the features as they are before the pipeline scales them; empty where it does not.
  std::vector<double> unscaled_values;
  std::vector<double> unscaled_intercepts;
};

/// What one feature adds to a decision value: its weight times its value as the model sees it, summed over the features
/// that a pipeline made from it.
struct Contribution {
  std::int64_t feature = 0;  ///< of the dataset as it was for training: a place in Model::known_columns()
  double value = 0;          ///< as it is in the dataset
  double amount = 0;
};

/// Why a linear model predicts what it does for one row: decision = intercept + contributions + rest.
struct Explanation {
  std::int32_t column = 0;  ///< the decision value: a target, or that of the predicted class where there are several
  double decision = 0;      ///< generalised linear models: on the scale of the link
  double intercept = 0;
  std::vector<Contribution> largest;  ///< by magnitude, largest first
  double rest = 0;                    ///< of all other features
};

/// What weights of features change in a model of neighbours: beside the same model without them, on some rows.
struct FeatureWeightsEffect {
  std::int64_t rows = 0;
  std::int64_t neighbours = 0;  ///< training rows that decide about these rows, all together
  std::int64_t kept = 0;        ///< of them, those that would decide without the weights too
  std::int64_t changed = 0;     ///< predictions that would be others
  Score with, without;          ///< of the predictions; of no rows where these have no labels
};
/// `lists` as of Model::deciding_rows(); the predictions of the same rows with the weights and without. The scores are
/// left to the caller.
FeatureWeightsEffect compare_without_weights(const std::vector<std::vector<DecidingRow>>& lists,
                                             const Predictions& with, const Predictions& without);

class Model {
 public:
  Model() = default;
  Model(LinearModel model) : any_(std::move(model)) {}  // NOLINT(google-explicit-constructor): a model of a family
  Model(SvmModel model) : any_(std::move(model)) {}     // NOLINT(google-explicit-constructor): is a model
  Model(KnnModel model) : any_(std::move(model)) {}     // NOLINT(google-explicit-constructor): likewise

  /// Reads Sheaf's own format, LIBLINEAR's and LIBSVM's. A defect is a ParseError that names file:line:column.
  static Model load(const std::string& path);
  /// The same from text in memory; `name` stands for the file in messages.
  static Model parse(std::string_view text, const std::string& name);
  /// Appears under its name whole or not at all. A format that cannot hold the model is an Error.
  void save(const std::string& path, ModelFile format = ModelFile::sheaf) const;
  std::string text(ModelFile format = ModelFile::sheaf) const;
  /// The text in the format of the program that this family stands in for, where that can hold the model.
  std::optional<std::string> peer_text() const;

  /// "linear", "elastic-net", "glm", "svm" or "neighbors".
  std::string_view family() const;
  std::int64_t features() const;
  const std::vector<std::string>& class_names() const;  ///< regression: none
  std::vector<std::string> target_names() const;        ///< of several targets; else none
  std::int32_t positive() const;                        ///< of two classes; else -1
  bool is_regression() const;
  bool has_probabilities() const;
  std::vector<std::string> warnings() const;
  /// None where the model has no weight for each feature.
  std::optional<Coefficients> coefficients() const;

  /// The dataset is as it was for training, before the pipeline: features are found by name, in any order, else by
  /// position; see align_features(). `warnings` of the result say what was put right. `offsets` as predict_linear();
  /// families that have none answer with a UsageError.
  template <class T>
  Predictions predict(const Context& context, const Dataset<T>& dataset, bool probabilities = false,
                      std::span<const double> offsets = {}) const;
  /// The `most` largest contributions to each row's decision value; of several targets to each of a row's, one after
  /// another. Models without a weight a feature are an Error.
  template <class T>
  std::vector<Explanation> explain(const Context& context, const Dataset<T>& dataset, std::size_t most) const;
  /// The training rows that each prediction of a neighbours model rests on: see sheaf::deciding_rows(). Other families
  /// are an Error.
  template <class T>
  std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const Dataset<T>& dataset,
                                                      std::int64_t most) const;
  /// A model of neighbours as if features had no weights, with the same pipeline, calibration and threshold; none where
  /// they have none. Its training rows are those of this model, which must outlive it.
  std::optional<Model> without_feature_weights(const Context& context) const;
  /// None if the dataset has no labels, or if those of a regression are not numbers, or not as many targets as the
  /// model predicts. Of several targets the mean over them.
  std::optional<Score> score(const Predictions& predictions, const Target& target) const;
  /// All scores of the predictions on the rows whose class the model knows; nothing where there are no such rows.
  /// `predictions.classes` may be the caller's own choice, by a threshold.
  std::optional<Scores> scores(const Context& context, const Predictions& predictions, const Target& target) const;
  /// Classes of the dataset that the model does not know.
  std::vector<std::string> unknown_classes(const Target& target) const;
  /// What a reader must know of the model, to read a dataset that it predicts.
  KnownColumns known_columns() const;
  /// The prediction for a row as text: the class as spelled, the number, or 1 and -1 of a one-class SVM. Of several
  /// targets their numbers with commas between.
  std::string prediction_text(const Predictions& predictions, std::size_t row) const;

  /// What is done to features before the model sees them; without steps where there is nothing to do.
  const Pipeline& pipeline() const { return pipeline_; }
  void set_pipeline(Pipeline pipeline) { pipeline_ = std::move(pipeline); }

  /// Probabilities are those of the calibration, where there is one, in place of the family's own.
  const std::optional<Calibration>& calibration() const { return calibration_; }
  void set_calibration(Calibration calibration) { calibration_ = std::move(calibration); }

  /// Two classes: where there is one, predicted classes follow it.
  const std::optional<Threshold>& threshold() const { return threshold_; }
  void set_threshold(const Threshold& threshold) { threshold_ = threshold; }

  /// The model of its family; nullptr: it is of another one.
  const LinearModel* linear() const { return std::get_if<LinearModel>(&any_); }
  LinearModel* linear() { return std::get_if<LinearModel>(&any_); }
  const SvmModel* svm() const { return std::get_if<SvmModel>(&any_); }
  SvmModel* svm() { return std::get_if<SvmModel>(&any_); }
  const KnnModel* neighbors() const { return std::get_if<KnnModel>(&any_); }

 private:
  Pipeline inputs() const;
  std::vector<double> class_decisions(const Predictions& predictions) const;

  std::variant<LinearModel, SvmModel, KnnModel> any_;
  Pipeline pipeline_;
  std::optional<Calibration> calibration_;
  std::optional<Threshold> threshold_;
};

/// The text of a model file. A format that cannot hold the model is an Error: those of LIBLINEAR and LIBSVM keep no
/// names, so that classes must be integers.
std::string format_model(const LinearModel& model, ModelFile format = ModelFile::sheaf);
std::string format_model(const SvmModel& model, ModelFile format = ModelFile::sheaf);
std::string format_model(const KnnModel& model, ModelFile format = ModelFile::sheaf);

/// The options of a model of any family.
using ModelOptions = std::variant<LinearOptions, SvmOptions, NetOptions, KnnOptions, GlmOptions>;

/// A kind of model by the name people know it by: "linear", "svm", "lasso", "knn" ...
struct ModelKind {
  std::string_view name;
  std::string_view family;
  std::string_view about;
  ModelOptions options;  ///< its defaults
};
const std::vector<ModelKind>& model_kinds();
/// A UsageError answers an unknown name with the known ones.
const ModelKind& find_model_kind(std::string_view name);

/// A rough estimate of training `models` models; SVMs of `kernels` different kernels. See Context::for_work().
template <class T>
WorkEstimate training_work(const Dataset<T>& dataset, const ModelOptions& options, double models = 1,
                           double kernels = 1);
template <class T>
WorkEstimate prediction_work(const Dataset<T>& dataset, const Model& model);

/// Trains one model on all rows. `row_weights`: how much each row counts, one of 0 or more a row; none: 1.
template <class T>
Model fit(const Context& context, const Dataset<T>& dataset, const ModelOptions& options,
          std::span<const float> row_weights = {}, const PipelineOptions& pipeline = {});

}  // namespace sheaf
