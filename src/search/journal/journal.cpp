#include "search/journal/journal.hpp"

namespace sheaf::engine {

using Json = nlohmann::json;

Json to_json(const BatchPlan& plan) {
  Json sizes = Json::array();
  for (const auto& size : plan.sizes) sizes.push_back({size.tasks, size.splits});
  return {{"memory", plan.memory}, {"sizes", std::move(sizes)}, {"models", plan.models}};
}

BatchPlan plan_from(const Json& json) {
  BatchPlan plan;
  plan.memory = json.at("memory").get<std::int64_t>();
  for (const auto& size : json.at("sizes"))
    plan.sizes.push_back({size.at(0).get<std::int32_t>(), size.at(1).get<std::int32_t>()});
  plan.models = json.value("models", std::int64_t{0});  // earlier versions did not write it
  return plan;
}

void SearchJournal::read() {
  file_.read([&](std::int64_t batch, const Json& result) { batches_[batch] = models_from(result); },
             [](const Json& plan) { plan_from(plan); });
}

void SearchJournal::clear() {
  file_.clear();
  batches_.clear();
}

BatchPlan SearchJournal::agree(const BatchPlan& proposed) { return plan_from(file_.agree(to_json(proposed))); }

std::optional<std::vector<ModelScores>> SearchJournal::recall(std::int32_t batch) const {
  const auto found = batches_.find(batch);
  if (found == batches_.end()) return std::nullopt;
  return found->second;
}

void SearchJournal::keep(std::int32_t batch, const std::vector<ModelScores>& models) {
  file_.keep(batch, to_json(models));
}

void SearchJournal::add(const std::map<std::int64_t, Json>& batches) {
  for (const auto& [batch, result] : batches)
    if (batches_.try_emplace(batch, models_from(result)).second) file_.keep(batch, result);
}

std::string SearchJournal::text_with(const std::string& work, const Json& plan,
                                     std::map<std::int64_t, Json> batches) const {
  for (const auto& [batch, models] : batches_) batches[batch] = to_json(models);
  auto text = record_line(queue::head_record(search_journal, work)) + record_line(queue::plan_record(plan));
  for (const auto& [batch, result] : batches) text += record_line(queue::unit_record(batch, result));
  return text + record_line(queue::end_record());
}

}  // namespace sheaf::engine
