// Pages of a dataset as a table, whichever format it has.
#pragma once

#include <cstdint>

#include "app/http/json.hpp"
#include "app/routes/services.hpp"

namespace sheaf::app {

struct TableWindow {
  std::int64_t from = 0, count = 0, first_column = 0, columns = 0;
};

/// The answer of GET /datasets/{id}/rows.
Json table_page(Services& services, const DataFile& file, const TableWindow& window);

}  // namespace sheaf::app
