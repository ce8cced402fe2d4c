// Where the rows of CSV text begin, what its columns are called and what they are.
#pragma once

#include <string>
#include <vector>

#include "data/read/columns.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/reading.hpp"

namespace sheaf {

struct CsvLayout {
  char delimiter = ',';
  std::vector<std::string> names;  ///< "" where there is none
  ColumnRoles roles;
  const char* body = nullptr;  ///< the first row
  bool header = false;
};

/// Lines of comments and titles before the header are left out, and so are row names of which the header says nothing
/// (as R writes them); `roles.notes` says so.
CsvLayout find_layout(const Reading& reading);

/// Whether a field is a number, or a text that is neither a number nor missing.
bool is_number(const CsvField& field);
bool is_text(const CsvField& field);

/// The records and fields of the text exchanged, as CSV text with the same delimiter. A row that is longer or shorter
/// than the others is a defect.
std::string transposed(const Reading& reading);

}  // namespace sheaf
