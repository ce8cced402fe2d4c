// The feature of a dataset that each feature behind a pipeline comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <sheaf/pipeline.hpp>

namespace sheaf::pipeline {

/// One for each of the `features` features that come out; those of a level or of missing values come from the feature
/// that has them.
std::vector<std::int64_t> origins(const Pipeline& pipeline, std::int64_t features);

/// The place of a numeric feature behind the steps; none if a step leaves it out.
std::optional<std::int64_t> place_behind(const Pipeline& pipeline, std::int64_t feature);

/// Whether a value of a row depends on that of another feature of the row, as a share of its sum does.
bool mixes_features(const Pipeline& pipeline);

}  // namespace sheaf::pipeline
