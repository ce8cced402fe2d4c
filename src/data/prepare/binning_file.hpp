// The text of a file of cuts, apart from the file.
#pragma once

#include <string>
#include <string_view>

#include <sheaf/solvers/binning.hpp>

namespace sheaf {

std::string binning_text(const Binning& binning);

/// `path` is the name in errors.
Binning parse_binning(std::string_view text, const std::string& path);

}  // namespace sheaf
