// Whether the rows of a dataset stand in an order that matters.
#pragma once

#include <string>

#include <sheaf/dataset.hpp>

namespace sheaf {

/// A sentence without its end if a column implies that rows stand in the order of time, or if labels of neighbouring
/// rows are more alike than chance allows (beyond four standard deviations: fewer than one table of noise in 30,000).
/// Empty: neither is so, or rows are only sorted by their label.
template <class T>
std::string describe_order(const Dataset<T>& dataset);

}  // namespace sheaf
