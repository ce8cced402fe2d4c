// A search of any family over a dataset, behind the pipeline of its options.
#pragma once

#include <memory>

#include <sheaf/search.hpp>

#include "family/search.hpp"
#include "search/plan/plan.hpp"

namespace sheaf::engine {

/// A class with this share of the rows makes accuracy a poor score.
inline constexpr double frequent_class = 0.8;

/// All arguments must outlive it. `seen` as in TrainingOptions.
template <class T>
std::unique_ptr<FamilySearch> make_search(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
                                          const SearchOptions& options, const ColumnTransforms* seen = nullptr);

/// The same for a dataset that needs a pipeline.
template <class T>
std::unique_ptr<FamilySearch> make_pipeline_search(const Context& context, const Dataset<T>& dataset,
                                                   const SearchSpace& space, const SearchOptions& options);

/// The same of several models: the candidates of the space. If the candidates were chosen by the data, one that cannot
/// be searched there is taken out of the space, with a note.
template <class T>
std::unique_ptr<FamilySearch> make_models_search(const Context& context, const Dataset<T>& dataset, SearchSpace& space,
                                                 const SearchOptions& options, std::vector<std::string>& notes);

/// The model of a point, trained on all rows, with its pipeline.
Model refit_model(const Context& context, const FamilySearch& search, const Point& point);

}  // namespace sheaf::engine
