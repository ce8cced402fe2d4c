// The file that an upload becomes.
#pragma once

#include <string>

#include "app/routes/services.hpp"

namespace sheaf::app {

/// For a file of that name, as a client calls it. A name that says no format, and a full disk, are Refusals.
BodyPlan plan_upload(Services& services, const Request& request, const std::string& given);

}  // namespace sheaf::app
