// Columns of text about the features of a dataset, from its own file and from a file of annotations.
#pragma once

#include <string>
#include <vector>

#include <sheaf/dataset.hpp>

#include "data/read/reading.hpp"

namespace sheaf {

/// Adds a column with one text a feature, in place of one of the same name. A column that says the same of all
/// features, or repeats their names, tells nothing about one and is left out. Texts that are not UTF-8 are an Error.
template <class T>
void annotate(const Reading& reading, const std::string& name, std::vector<std::string> values, Dataset<T>& dataset);

/// Adds the columns of the file of annotations, if the options name one, by the names of the features. A note counts
/// the features that it does not have; if it has none, it is an Error.
template <class T>
void join_annotations(const Reading& reading, Dataset<T>& dataset);

}  // namespace sheaf
