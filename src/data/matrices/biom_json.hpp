// BIOM 1.0: a table as JSON. The reader of BIOM 2.1 is in biom.cpp.
#pragma once

#include "data/matrices/matrix_file.hpp"

namespace sheaf {

/// Whether the text is JSON that identifies itself near its beginning or end, where writers put it.
bool is_biom_json(std::string_view bytes);

template <class T>
MatrixFile<T> read_biom_json(const Reading& reading);

}  // namespace sheaf
