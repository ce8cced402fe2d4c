// The steps of a pipeline: each is learnt on a dataset and applied to datasets, in place.
#pragma once

#include <sheaf/pipeline.hpp>
#include <sheaf/solvers/profile.hpp>

#include "data/nominal.hpp"

namespace sheaf::pipeline {

template <class T>
ImputeStep learn_impute(const Context& context, const Dataset<T>& dataset, const PipelineOptions& options);
template <class T>
EncodeStep learn_encode(const Dataset<T>& dataset, std::int64_t min_level_rows);
/// Features that are frequent and variable enough, and nominal ones.
template <class T>
TakeStep learn_filter(const Context& context, const Dataset<T>& dataset, const PipelineOptions& options);

/// The rows of each level of each nominal feature; none of numeric ones, and nothing if all are numeric.
template <class T>
std::vector<std::vector<std::int64_t>> count_levels(const Dataset<T>& dataset);

/// Whether the filters of the options keep a feature of a dataset of so many rows.
bool is_kept(const FeatureSummary& feature, double rows, const PipelineOptions& options);
[[noreturn]] void fail_without_features(const std::string& source, const PipelineOptions& options);

template <class T>
void apply(const Context& context, const ImputeStep& step, Dataset<T>& dataset);
template <class T>
void apply(const Context& context, const EncodeStep& step, Dataset<T>& dataset);
template <class T>
void apply(const Context& context, const RowStep& step, Dataset<T>& dataset);
template <class T>
void apply(const Context& context, const TakeStep& step, Dataset<T>& dataset);
template <class T>
void apply(const Context& context, const Scaling& step, Dataset<T>& dataset);

/// Calls work(feature, value) for each value that row i stores.
template <class M, class Work>
void for_row(M& x, std::int64_t i, const Work& work) {
  if constexpr (requires { x.offsets; })
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k) work(std::int64_t{x.indices[k]}, x.values[k]);
  else
    for (std::int64_t j = 0; j < x.columns; ++j) work(j, x.values[i * x.columns + j]);
}

}  // namespace sheaf::pipeline
