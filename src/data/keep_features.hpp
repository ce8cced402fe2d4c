// Datasets with some of their features, which stay known by their places in the whole.
#pragma once

#include <cstdint>
#include <span>

#include <sheaf/dataset.hpp>

namespace sheaf {

/// The dataset with all other features zero: the others keep their positions, which are their indices in LIBSVM files.
template <class T>
Dataset<T> keep_features(const Dataset<T>& dataset, std::span<const std::int64_t> features);

/// Same as take_features(), except that features without names are named by their positions in the dataset.
template <class T>
Dataset<T> take_named_features(const Dataset<T>& dataset, std::span<const std::int64_t> features, int threads);

/// Groups that were found in a column which is kept as well are not written twice.
template <class T>
void drop_kept_groups(Dataset<T>& dataset);

}  // namespace sheaf
