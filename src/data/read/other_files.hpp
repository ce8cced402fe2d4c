// Files that hold tables, but not as text.
#pragma once

#include "data/read/reading.hpp"

namespace sheaf {

/// An Error that names the kind of file and how to get text from it, if its first bytes are those of a spreadsheet, an
/// archive or another binary file.
void refuse_other_files(const Reading& reading);

}  // namespace sheaf
