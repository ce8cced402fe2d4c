// The output of `sheaf compare`.
#pragma once

#include <string>

#include <sheaf/compare.hpp>

namespace sheaf::cli {

std::string compare_text(const Comparison& comparison, const std::string& first, const std::string& second);
std::string compare_json(const Comparison& comparison);

}  // namespace sheaf::cli
