// The row that explanations compare others with.
#pragma once

#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/pipeline.hpp>

namespace sheaf {

/// The means of the training rows after the pipeline, one for each of its `features`: the steps of the pipeline applied
/// to a row of means; for nominal features, the mean over their levels, each by its share. 0 if they are not known.
/// `aligned`: a dataset as the pipeline reads it.
template <class T>
std::vector<double> reference_row(const Context& context, const Pipeline& pipeline, const Dataset<T>& aligned,
                                  std::int64_t features);

/// For a model that reads the columns of a dataset themselves: means, and of nominal features the most frequent level.
/// `pipeline` holds the means; 0 without them.
std::vector<double> reference_columns(const Pipeline& pipeline, std::int64_t features);

}  // namespace sheaf
