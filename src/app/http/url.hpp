// Texts of addresses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sheaf::app {

/// Nothing if a % is not followed by two hexadecimal digits, or stands for a zero byte.
std::optional<std::string> percent_decoded(std::string_view text);
std::string percent_encoded(std::string_view text);

/// "a=1&b=x+y" in its order. What is damaged is left out.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

/// Letters, digits, - and _ alone, so that it is one part of a path whatever the bytes are.
std::string to_base64url(std::string_view bytes);
std::optional<std::string> from_base64url(std::string_view text);

}  // namespace sheaf::app
