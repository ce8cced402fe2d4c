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

/// Weights of a linear model: feature-major, features x columns.
struct Coefficients {
  std::vector<std::string> feature_names;  ///< one a feature
  std::vector<std::string> columns;  ///< the class or target that each column favours; a single target has no name
  std::vector<double> values;
  std::vector<double> intercepts;  ///< one a column
  // The same of the features as they are before the pipeline scales them; empty if it does not.
  std::vector<double> unscaled_values;
  std::vector<double> unscaled_intercepts;
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
};

/// The struct of a family's model: trained_model(model) makes it a model of any family, trained_model(&model) one that
/// the struct must outlive.
template <class M>
concept FamilyModel = requires(M model) {
  { trained_model(std::move(model)) } -> std::same_as<std::unique_ptr<TrainedModel>>;
  { trained_model(&model) } -> std::same_as<std::unique_ptr<TrainedModel>>;
};

}  // namespace sheaf
