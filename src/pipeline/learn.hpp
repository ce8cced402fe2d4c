// Learning a pipeline in parts, for searches that try several numbers of selected features.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <sheaf/pipeline.hpp>
#include <sheaf/solvers/profile.hpp>

#include "data/column_transforms.hpp"

namespace sheaf::pipeline {

/// Learns on `train`, applies to `all`: both are changed step by step.
template <class T>
struct Prepared {
  Pipeline pipeline;
  Dataset<T> train;
  Dataset<T> all;
  bool trains_on_all = false;  ///< both are the same
};

/// The stages in their order, each once.
std::vector<PipelineStage> stages_of(const PipelineOptions& options);

/// A pipeline up to its selection, learnt once; with_count() continues from there.
template <class T>
class PipelineLearner {
 public:
  PipelineLearner(const Context& context, const Dataset<T>& train, const Dataset<T>& all,
                  const PipelineOptions& options);

  /// The whole pipeline with so many selected features (0: no selection), and all rows after the pipeline. Its datasets
  /// may borrow the learner's memory.
  Prepared<T> with_count(const Context& context, std::int64_t count) const;

  /// The features that the selection chooses from, if there is one; else those of the result.
  const Dataset<T>& before_selection() const { return before_.all; }
  /// Whether with_count() looks at the training rows, which must live as long then.
  bool keeps_training_rows() const { return before_.train.rows() > 0; }

 private:
  void learn(const Context& context, PipelineStage stage, Prepared<T>& prepared) const;
  bool learns_more(PipelineStage stage, const Dataset<T>& train) const;

  PipelineOptions options_;
  std::vector<PipelineStage> rest_;  // behind the selection
  std::vector<RowStep> transforms_;  // of features of the dataset
  Prepared<T> before_;
  std::vector<std::int64_t> ranked_;  // selected features, best first
};

/// Warnings about features that no step brings to one scale.
template <class T>
std::vector<Finding> scale_warnings(const Context& context, const Dataset<T>& dataset, const ModelOptions& model,
                                    const PipelineOptions& steps);

// A pipeline that learns of each feature by itself needs no copy of the dataset for a split: the features of a split
// are those of the dataset through a shift and a factor.

/// Whether that is so, apart from steps that learn nothing.
bool changes_features_alone(const PipelineOptions& options);
/// The steps before those.
PipelineOptions without_learnt_steps(PipelineOptions options);
/// Whether sums over the features as they are lose no digits that matter.
template <class T>
bool transforms_are_accurate(const ColumnTransforms& transforms);
/// The transform learnt on all rows.
struct WholeTransforms {
  ColumnTransforms transforms;      // one
  std::vector<std::int64_t> kept;   // features that the filters keep
  std::vector<PipelineStep> steps;  // the same as steps of a pipeline
  std::vector<FeatureSummary> features;
};
template <class T>
WholeTransforms learn_whole_transforms(const Context& context, const Dataset<T>& dataset,
                                       const PipelineOptions& options);
/// One transform for each split, learnt on its rows. `draws`: how often each row is in each split, rows x splits.
template <class T>
ColumnTransforms learn_transforms(const Context& context, const Dataset<T>& dataset, std::span<const float> draws,
                                  std::int32_t splits, const PipelineOptions& options);

/// sheaf::describe_training() with summaries of the dataset's features as `summarize` gives them, if they are needed.
template <class T>
void describe_training(const Context& context, const Dataset<T>& dataset,
                       const std::function<std::vector<FeatureSummary>()>& summarize, Pipeline& pipeline);

}  // namespace sheaf::pipeline
