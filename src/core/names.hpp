// Names a user gives: an unknown one is answered with the known ones and the nearest.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sheaf {

/// The known name that `given` most likely meant (few letters wrong, or the beginning of only one name); empty: none.
std::string nearest_name(std::string_view given, std::span<const std::string> known);

/// UsageError "unknown KIND 'GIVEN'; known are A, B and C; did you mean B?".
[[noreturn]] void fail_unknown(std::string_view kind, std::string_view given, std::span<const std::string> known);

/// The place of `given` among `known`; else as fail_unknown().
std::size_t find_name(std::string_view kind, std::string_view given, std::span<const std::string_view> known);
/// "A", "A and B", "A, B and C".
std::string join_names(std::span<const std::string> names, std::string_view last = "and");

}  // namespace sheaf
