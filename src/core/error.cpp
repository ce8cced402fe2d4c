#include "core/fail.hpp"

namespace sheaf {

std::string to_string(const Place& place) {
  std::string text = place.file;
  if (place.line > 0) text += fmt::format(":{}", place.line);
  if (place.line > 0 && place.column > 0) text += fmt::format(":{}", place.column);
  return text;
}

ParseError::ParseError(Place place, std::string_view message)
    : Error(fmt::format("{}: {}", to_string(place), message)), place_(std::move(place)) {}

}  // namespace sheaf
