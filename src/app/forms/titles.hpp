// Names of options as a form shows them.
#pragma once

#include <string>
#include <string_view>

namespace sheaf::app {

/// "weights of classes" for class-weight. `task`: some options mean something else there.
std::string title_of(std::string_view task, std::string_view option);

}  // namespace sheaf::app
