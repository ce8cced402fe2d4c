// A file of metadata: a CSV or TSV file with a header, one line a sample, joined to the rows of a dataset by their ids.
#pragma once

#include <string>
#include <vector>

#include "data/matrices/matrix_file.hpp"

namespace sheaf {

/// The columns of the file that `reading.options.metadata` names, but for that of the ids.
std::vector<std::string> metadata_names(const Reading& reading);
/// The name of the column of ids.
std::string id_column(const Reading& reading);

/// Adds the columns of the metadata, if the options name some, to `table`, where they replace columns of the same name.
/// Notes count and name the ids that do not match; if none does, it is an Error. Returns for each row whether it has no
/// metadata; empty: the options name none.
template <class T>
std::vector<bool> join_metadata(const Reading& reading, Dataset<T>& dataset, RowTable& table);

}  // namespace sheaf
