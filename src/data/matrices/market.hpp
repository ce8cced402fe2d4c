// Folders of Matrix Market files.
#pragma once

#include <string>

namespace sheaf {

/// The matrix of a folder as single-cell programs write it: matrix.mtx or matrix.mtx.gz; empty: there is none.
std::string find_market_in(const std::string& folder);

}  // namespace sheaf
