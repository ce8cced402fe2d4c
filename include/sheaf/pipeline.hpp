// Steps applied to features before a model. They are part of the model: learnt on its training rows, kept in its file,
// and applied to every dataset that it predicts.
//
// Steps come in this order unless another is given: impute, encode, transform, filter, scale, select. Nominal features
// become one feature of 0 and 1 for each level; a level that was not there in training becomes all zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/binning.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/parameters.hpp>
#include <sheaf/solvers/profile.hpp>
#include <sheaf/solvers/scaling.hpp>

namespace sheaf {

/// How missing values are filled in. Statistics are those of the rows that are trained on; nominal features get their
/// most frequent level.
enum class Imputation : std::uint8_t { none, mean, median, most_frequent, constant };

/// Transform of each row by itself; nothing is learnt. "The row" is all numeric features, or the named ones.
enum class RowTransform : std::uint8_t {
  log1p,  ///< log(1 + x); values must be above -1
  sqrt,   ///< values must be 0 or more
  share,  ///< x / sum of the row; values must be 0 or more
  clr,    ///< centred log-ratio: log(x + 1) less its mean over the row; values must be 0 or more
  norm,   ///< x / Euclidean length of the row
  rank,   ///< place among the row's values from 1; ties share their mean place
};

/// A transform of some features.
struct TransformOption {
  RowTransform transform = RowTransform::log1p;
  std::vector<std::string> features = {};  ///< by name, or by position from 1; none: all numeric ones

  TransformOption() = default;
  TransformOption(RowTransform of, std::vector<std::string> named = {})  // NOLINT(google-explicit-constructor): of all
      : transform(of), features(std::move(named)) {}
  bool operator==(const TransformOption&) const = default;
};

enum class PipelineStage : std::uint8_t { impute, encode, transform, filter, scale, select };

struct PipelineOptions {
  Imputation impute = Imputation::none;
  double fill = 0;                  ///< of the imputation `constant`
  bool indicate_missing = false;    ///< one more feature for each that has missing values: 1 if it is missing
  std::int64_t min_level_rows = 1;  ///< levels with fewer rows share one feature
  std::vector<TransformOption> transforms = {};  ///< one after the other
  double min_prevalence = 0;  ///< features that are not 0 in a smaller share of the rows are left out
  double min_variance = 0;    ///< features of a smaller variance are left out
  std::optional<ScaleMethod> scale = {};
  std::string select = {};                ///< a criterion of select(); empty: all features stay
  std::vector<std::int64_t> counts = {};  ///< how many are selected; several are searched over
  BinningOptions binning = {};            ///< how values become states for the selection; missing ones are an Error
  /// fit(): steps are learnt on this share of the rows, drawn by the seed, and the model is trained on the others, so
  /// that the selection has not seen their labels and p-values hold. 1: both on all rows.
  double select_share = 1;
  std::vector<PipelineStage> order = {};  ///< empty: as above
  // Steps that decide_steps() fills in; default_pipeline() sets both.
  bool choose_impute = false;  ///< the median for missing values, if there are any
  bool choose_scale = false;   ///< mean 0 and standard deviation 1 for models that compare features, of dense tables

  /// No step is requested. Nominal features are encoded even so.
  bool empty() const;
};

/// Fills in missing values.
struct ImputeStep {
  std::vector<double> fill;             ///< of each feature
  std::vector<std::int64_t> indicated;  ///< features with one more feature behind the others
};
/// Makes features of 0 and 1 from levels.
struct EncodeStep {
  struct Column {
    std::int64_t feature = 0;
    std::vector<std::int32_t> levels;  ///< that it is 1 for; none: the feature itself
  };
  std::vector<Column> columns;
};
struct RowStep {
  RowTransform transform = RowTransform::log1p;
  std::vector<std::int64_t> features = {};  ///< ascending; none: all numeric ones

  /// Whether the output for a feature depends on the others.
  bool mixes_features() const { return transform != RowTransform::log1p && transform != RowTransform::sqrt; }
};
/// Keeps some features.
struct TakeStep {
  std::vector<std::int64_t> features;  ///< in this order
};
using PipelineStep = std::variant<ImputeStep, EncodeStep, RowStep, TakeStep, Scaling>;

/// A pipeline that has been learnt.
struct Pipeline {
  std::int64_t features = 0;                     ///< of the datasets it is applied to
  std::vector<std::string> feature_names;        ///< empty: by position
  std::vector<std::vector<std::string>> levels;  ///< of nominal features; empty: there are none
  std::vector<PipelineStep> steps;
  // Properties of the training dataset, if known.
  std::string label = {};          ///< name of the label's column
  std::string positive = {};       ///< name of the positive one of two classes
  std::vector<double> means = {};  ///< of each feature, missing values aside
  /// Standard deviations or, if larger, a tenth of the largest distance from the mean; 0: constant, nominal or rare.
  std::vector<double> spreads = {};
  /// For each feature, the share of rows at each of its levels, ignoring missing values; empty: not nominal.
  std::vector<std::vector<double>> level_shares = {};

  bool empty() const { return steps.empty(); }
};

/// Adds the properties that models keep of the dataset they were trained on: the names of the label and of the positive
/// class, and, up to 100,000 features, their means (to a millionth of the standard deviation) and spreads, and the
/// shares of levels.
template <class T>
void describe_training(const Context& context, const Dataset<T>& dataset, Pipeline& pipeline);

/// A sentence if features of the dataset, as the pipeline reads it, are on another scale than those it was learnt on:
/// if a tenth of the rows or more are over 10 spreads from the mean, farther than any in training; not of rare ones.
template <class T>
std::vector<std::string> warn_of_scale(const Pipeline& pipeline, const Dataset<T>& dataset);

/// Whether models of the dataset have steps before them: those requested, and features with levels, which are encoded.
template <class T>
bool needs_pipeline(const Dataset<T>& dataset, const PipelineOptions& options) {
  for (const auto& levels : dataset.levels)
    if (!levels.empty()) return true;
  return !options.empty();
}

/// The steps before a model if none are named: those that suit the data and the model.
PipelineOptions default_pipeline();
/// Fills in the steps that were left open; a second call changes nothing. Features are scaled if the model's family
/// needs that and has_scales().
template <class T>
void decide_steps(const Dataset<T>& dataset, const ModelOptions& model, PipelineOptions& options);
/// Whether the features of a dataset have scales to make equal: it is dense, and less than half of its values are 0.
template <class T>
bool has_scales(const Dataset<T>& dataset);
/// "missing values filled with the median, features scaled (standard)"; empty: there are no steps.
std::string describe_steps(const PipelineOptions& options);

/// Learns the steps on all rows of the dataset, the last count of `options.counts` in its selection. A step that cannot
/// be learnt is an Error that names the feature.
template <class T>
Pipeline learn_pipeline(const Context& context, const Dataset<T>& dataset, const PipelineOptions& options);

/// How values become states for a selection on all rows, with the number of bins. None: nothing is selected by states.
template <class T>
std::optional<BinningOptions> selection_binning(const Dataset<T>& dataset, const PipelineOptions& options);
/// Sentences about options that the data determine: the number of bins.
template <class T>
std::vector<std::string> pipeline_notes(const Dataset<T>& dataset, const PipelineOptions& options);

/// What may mislead a model behind steps that are decided: data_findings(), and features that no step brings to one
/// scale.
template <class T>
std::vector<Finding> training_findings(const Context& context, const Dataset<T>& dataset, const ModelOptions& model,
                                       const PipelineOptions& steps);

/// The dataset after the pipeline.
template <class T>
Dataset<T> apply_pipeline(const Context& context, const Pipeline& pipeline, const Dataset<T>& dataset);

/// The features of the pipeline in its order, and levels as it numbers them. Named features are found by name, others
/// by position; features that only the dataset has are left out. Missing ones are an Error that lists them; without
/// names those behind the dataset's last are 0. `warnings` gains a sentence for each kind of thing that was put right.
template <class T>
Dataset<T> align_features(const Context& context, const Pipeline& pipeline, const Dataset<T>& dataset,
                          std::vector<std::string>& warnings);

std::string_view to_string(RowTransform transform);
std::string_view to_string(Imputation imputation);

template <>
const std::vector<Parameter<PipelineOptions>>& parameters();

}  // namespace sheaf
