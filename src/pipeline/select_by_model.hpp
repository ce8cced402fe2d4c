// Features by the weights that models give them, for the selecting step of a pipeline.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

namespace sheaf::pipeline {

/// The models that features can be selected by: "linear" by the size of their weights, "elastic-net" and "lasso" in the
/// order in which features enter their paths. Features count as if their standard deviations were 1.
const std::vector<std::string_view>& selecting_models();

/// Up to `count` features, best first; those that no penalty lets in are left out.
template <class T>
std::vector<std::int64_t> rank_by_model(const Context& context, const Dataset<T>& dataset, std::string_view model,
                                        std::int64_t count);

}  // namespace sheaf::pipeline
