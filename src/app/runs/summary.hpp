// The few values of a large results.json that a list shows, read without keeping the rest.
#pragma once

#include <istream>
#include <map>
#include <string>

#include "app/http/json.hpp"

namespace sheaf::app {

/// Values by their place, such as "chosen/auc/mean": those at most three names deep and in no list. Damaged text ends
/// it.
std::map<std::string, Json> read_shallow(std::istream& text);

}  // namespace sheaf::app
