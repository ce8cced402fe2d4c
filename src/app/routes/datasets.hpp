// Datasets as several groups of routes know them.
#pragma once

#include <string>
#include <vector>

#include "app/forms/design.hpp"
#include "app/http/json.hpp"
#include "app/routes/services.hpp"

namespace sheaf::app {

/// A 404 Refusal if there is none.
DataFile find_dataset(Services& services, const std::string& id);
Json dataset_json(Services& services, const DataFile& file, const Json& readings);
/// sheaf info with these reading options; a 400 Refusal of others.
std::vector<std::string> reading_words(Services& services, const DataFile& file, const Json& settings);
/// The name of work on this version of a file.
std::string work_key(const DataFile& file, const std::vector<std::string>& words);

}  // namespace sheaf::app
