// Writing a .sheaf file that says more of itself than the dataset does.
#pragma once

#include <string>

#include <sheaf/dataset.hpp>

#include "data/sheaf_file/about.hpp"
#include "data/write/writing.hpp"

namespace sheaf::sheaf_file {

template <class T>
void write_dataset_file(const Context& context, const Dataset<T>& dataset, const std::string& path, const About& about);

}  // namespace sheaf::sheaf_file
