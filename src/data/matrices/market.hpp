// Folders of Matrix Market files.
#pragma once

#include <string>
#include <vector>

namespace sheaf {

/// The matrix of a folder as single-cell programs write it: matrix.mtx or matrix.mtx.gz; empty: there is none.
std::string find_market_in(const std::string& folder);

/// The files that are written beside a Matrix Market file: names of features and of rows, and columns about the rows.
std::vector<std::string> market_names_files(const std::string& path);

}  // namespace sheaf
