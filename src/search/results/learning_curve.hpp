// How the chosen point does on growing numbers of training rows.
#pragma once

#include <sheaf/search.hpp>

#include "family/search.hpp"
#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// Over the splits of the search over all rows. The rows of a share are drawn at random and belong to every larger
/// share; classes keep their proportions, groups (empty: none) stay together.
LearningCurve learning_curve(const Context& context, const FamilySearch& family, const Plan& plan,
                             std::span<const std::int32_t> groups, const SearchResult& result);

}  // namespace sheaf::engine
