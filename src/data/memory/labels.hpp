// Labels and groups that the caller gives as numbers, integers or texts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/memory.hpp>

namespace sheaf::memory {

struct Distinct {
  std::vector<std::int32_t> ids;   ///< of each row, by first appearance
  std::vector<std::string> names;  ///< of each id
  std::vector<double> values;      ///< of each row; empty if one is no number
};
Distinct number_distinct(std::string_view argument, const LabelSpan& entries);

/// One name a column, each once but for empty ones.
void check_names(std::string_view argument, const std::vector<std::string>& names, std::int64_t count);

}  // namespace sheaf::memory
