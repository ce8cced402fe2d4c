// The list of jobs as clients see it.
#pragma once

#include "app/http/json.hpp"
#include "app/routes/services.hpp"

namespace sheaf::app {

/// The answer of GET /jobs.
Json jobs_json(Services& services);

}  // namespace sheaf::app
