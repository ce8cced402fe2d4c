// A selection of features as the terminal shows it.
#pragma once

#include <string>

#include <sheaf/selection_report.hpp>

namespace sheaf::cli {

std::string selection_text(const SelectionReport& report);

}  // namespace sheaf::cli
