// Names, labels and columns about the rows, from a .sheaf file to a dataset whose matrix is there.
#pragma once

#include <sheaf/dataset.hpp>

#include "data/sheaf_file/about.hpp"
#include "data/sheaf_file/file.hpp"

namespace sheaf::sheaf_file {

template <class T>
void read_columns(const File& file, const About& about, Dataset<T>& dataset);

/// The texts of a kept column.
std::vector<std::string> read_kept(const File& file, const About& about, std::size_t column);

}  // namespace sheaf::sheaf_file
