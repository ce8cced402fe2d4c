// The section of the summary.
#pragma once

#include <string>

#include "data/describe/stored_summary.hpp"
#include "data/sheaf_file/file.hpp"

namespace sheaf::sheaf_file {

std::string encode_summary(const StoredSummary& summary);

/// The summary of a file that has one.
StoredSummary decode_summary(const File& file);

}  // namespace sheaf::sheaf_file
