// Declarations of parameters, read from text.
#pragma once

#include <string_view>
#include <vector>

#include <sheaf/solvers/snippets.hpp>

namespace sheaf::snippets {

/// "double x, raw float table": types, names, and whether a parameter is a whole array. Names that the text around the
/// snippet uses (i, n, and all that begin with "sheaf_") are refused. `argument` is named in errors.
std::vector<SnippetParameter> parse_declarations(std::string_view text, std::string_view argument);

/// The parameters of `__global__ void name(...)` in a text.
std::vector<SnippetParameter> parse_kernel(std::string_view code, std::string_view name);

}  // namespace sheaf::snippets
