// Selection as a step: its options, and the selections of many splits as one request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/pipeline.hpp>
#include <sheaf/selection.hpp>

namespace sheaf::pipeline {

/// Whether features are selected by the weights of a model.
bool selects_by_model(const PipelineOptions& options);
/// Whether they are by a criterion that looks at states of bins alone.
bool selects_by_states(const PipelineOptions& options);
/// For the largest of the counts.
SelectRequest selection_of(const PipelineOptions& options);

/// The features that each split selects, best first, by its rows alone, for the largest of the counts. The steps before
/// the selection must be filters and scaling. `draws`: how often each row is in each split, rows x splits.
template <class T>
std::vector<std::vector<std::int64_t>> rank_splits(const Context& context, const Dataset<T>& dataset,
                                                   std::span<const float> draws, std::int32_t splits,
                                                   const PipelineOptions& options);

}  // namespace sheaf::pipeline
