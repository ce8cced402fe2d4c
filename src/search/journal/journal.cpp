#include "search/journal/journal.hpp"

#include "core/fail.hpp"

namespace sheaf::engine {

using Json = nlohmann::json;

void Journal::read() {
  file_.read([&](const Json& record) {
    try {
      take(record);
    } catch (const Json::exception&) {  // whole, but not what this version writes
      fail("{}: record {} is none of this version of Sheaf; begin again (--force), or name another folder", path_,
           batches_.size() + 1);
    }
  });
  found_ = batches_.size();
}

void Journal::take(const Json& record) {
  if (record.contains("plan")) {
    const auto& plan = record["plan"];
    plan_.memory = plan.at("memory").get<std::int64_t>();
    plan_.sizes.clear();
    for (const auto& size : plan.at("sizes"))
      plan_.sizes.push_back({size.at(0).get<std::int32_t>(), size.at(1).get<std::int32_t>()});
    planned_ = true;
    return;
  }
  auto& items = batches_[record.at("batch").get<std::int32_t>()];
  for (const auto& json : record.at("models")) from_json(json, items.emplace_back());
}

void Journal::clear() {
  file_.clear();
  batches_.clear();
  found_ = 0;
  planned_ = false;
}

BatchPlan Journal::agree(const BatchPlan& proposed) {
  if (planned_) return plan_;
  plan_ = proposed;
  planned_ = true;
  Json sizes = Json::array();
  for (const auto& size : plan_.sizes) sizes.push_back({size.tasks, size.splits});
  file_.append({{"plan", {{"memory", plan_.memory}, {"sizes", std::move(sizes)}}}});
  return plan_;
}

const std::vector<ModelScores>* Journal::recall(std::int32_t batch) {
  const auto found = batches_.find(batch);
  return found == batches_.end() ? nullptr : &found->second;
}

void Journal::keep(std::int32_t batch, const std::vector<ModelScores>& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  file_.append({{"batch", batch}, {"models", list}});
}

}  // namespace sheaf::engine
