// A selection of features as the terminal shows it.
#pragma once

#include <string>

#include <sheaf/selection.hpp>

namespace sheaf::cli {

std::string selection_text(const SelectionResult& report);

}  // namespace sheaf::cli
