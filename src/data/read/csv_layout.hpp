// Finds the beginning of the rows of CSV text, and the names and kinds of its columns.
#pragma once

#include <string>
#include <vector>

#include "data/read/columns.hpp"
#include "data/read/csv_fields.hpp"
#include "data/read/reading.hpp"

namespace sheaf {

struct CsvLayout {
  char delimiter = ',';
  std::vector<std::string> names;  ///< "" if there is none
  ColumnRoles roles;
  const char* body = nullptr;  ///< the first row
  bool header = false;
};

/// Whether the first record looks like names: text, or something in quotes, above a bare number; the name of a label;
/// or no number at all.
bool looks_like_header(const std::vector<CsvField>& first, const std::vector<CsvField>& second);

/// Lines of comments and titles before the header are left out, and so are row names without a place in the header (as
/// R writes them); `roles.notes` mentions it.
CsvLayout find_layout(const Reading& reading);

/// Whether a field is a number, or a text that is neither a number nor missing.
bool is_number(const CsvField& field);
bool is_text(const CsvField& field);

/// The records and fields of the text exchanged, as CSV text with the same delimiter. A row that is longer or shorter
/// than the others is a defect.
std::string transposed(const Reading& reading);

}  // namespace sheaf
