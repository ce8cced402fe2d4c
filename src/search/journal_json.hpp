// Finished models as records of a journal, exact to the last bit.
#pragma once

#include <nlohmann/json.hpp>

#include <sheaf/study.hpp>

namespace sheaf::search {

nlohmann::json to_json(const ModelScores& model);
nlohmann::json to_json(const StudySplit& split);
void from_json(const nlohmann::json& json, ModelScores& model);
void from_json(const nlohmann::json& json, StudySplit& split);

}  // namespace sheaf::search
