// The models of a batch as a journal keeps them: numbers read back as the same bits.
#pragma once

#include <nlohmann/json.hpp>

#include <sheaf/search.hpp>

namespace sheaf::engine {

nlohmann::json to_json(const ModelScores& model);
void from_json(const nlohmann::json& json, ModelScores& model);

}  // namespace sheaf::engine
