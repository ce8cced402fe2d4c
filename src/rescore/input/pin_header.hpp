// The first lines of a PIN file: the meaning of each column, and the initial direction.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/read/reading.hpp"
#include "rescore/input/psms.hpp"

namespace sheaf::rescore {

struct PinHeader {
  PinLayout layout;                ///< `feature` counts within this file
  std::vector<std::string> names;  ///< of the columns
  std::vector<std::string> feature_names;
  std::vector<double> default_direction;  ///< one value for each feature, or empty
  bool has_direction_row = false;
  const char* first_psm = nullptr;  ///< where the PSMs begin
};

PinHeader read_pin_header(const Reading& reading, const PinOptions& options);

/// A line without the white space at its end.
std::string_view trimmed_line(const char* at, const char* end);

/// The fields of a line, apart by tabs.
std::vector<std::string_view> split_fields(std::string_view line);

}  // namespace sheaf::rescore
