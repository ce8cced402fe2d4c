#include "search/journal/team_log.hpp"

#include <cstring>
#include <string>

#include "data/text/json_text.hpp"
#include "search/journal/journal.hpp"

namespace sheaf::engine {
namespace {

using Json = nlohmann::json;

/// The text of the first process.
std::string text_of_first(Team& team, const std::string& text) {
  const auto ranks = static_cast<std::size_t>(team.size());
  std::vector<double> sizes(ranks);
  team.gather(std::vector<double>{static_cast<double>(text.size())}, sizes);
  const auto size = static_cast<std::size_t>(sizes[0]);
  std::vector<double> mine(size / sizeof(double) + 1, 0.0);
  if (team.rank() == 0) std::memcpy(mine.data(), text.data(), size);
  std::vector<double> all(ranks * mine.size());
  team.gather(mine, all);
  std::string first(size, '\0');
  std::memcpy(first.data(), all.data(), size);
  return first;
}

}  // namespace

BatchPlan TeamLog::agree(const BatchPlan& proposed) {
  const auto plan = kept_ != nullptr ? kept_->agree(proposed) : proposed;
  return plan_from(parse_json<Json>(text_of_first(team_, to_json(plan).dump())));
}

std::optional<std::vector<ModelScores>> TeamLog::recall(std::int32_t batch) {
  const auto known = kept_ != nullptr ? kept_->recall(batch) : std::nullopt;
  const auto text = text_of_first(team_, known ? to_json(*known).dump() : std::string());
  if (text.empty()) return std::nullopt;
  return models_from(parse_json<Json>(text));
}

void TeamLog::keep(std::int32_t batch, const std::vector<ModelScores>& models) {
  if (kept_ != nullptr) kept_->keep(batch, models);
}

bool TeamLog::agree_to_end(std::int32_t next, bool over) {
  const bool ends = kept_ != nullptr ? kept_->agree_to_end(next, over) : over;
  return text_of_first(team_, ends ? "ends" : "") == "ends";
}

}  // namespace sheaf::engine
