// Designs as requests have them.
#pragma once

#include "app/forms/design.hpp"
#include "app/routes/services.hpp"

namespace sheaf::app {

/// Unknown datasets and names that cannot be used are Refusals; wrong settings are in the design's errors.
Design design_from(Services& services, const Json& body);
/// Wrong settings are a 400 Refusal too.
Design valid_design_from(Services& services, const Json& body);

}  // namespace sheaf::app
