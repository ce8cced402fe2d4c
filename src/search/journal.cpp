#include "search/journal.hpp"

#include "search/journal_json.hpp"

namespace sheaf::search {

using Json = nlohmann::json;

template <class Log, class Item>
BatchJournal<Log, Item>::BatchJournal(const std::string& path)
    : file_(path, [this](const Json& record) { take(record); }) {
  found_ = batches_.size();
}

template <class Log, class Item>
void BatchJournal<Log, Item>::take(const Json& record) {
  if (record.contains("plan")) {
    plan_ = {record["plan"].at("memory").get<std::int64_t>(), record["plan"].at("tasks").get<std::int32_t>()};
    planned_ = true;
    return;
  }
  auto& items = batches_[record.at("batch").get<std::int32_t>()];
  for (const auto& json : record.at("models")) from_json(json, items.emplace_back());
}

template <class Log, class Item>
void BatchJournal<Log, Item>::clear() {
  file_.clear();
  batches_.clear();
  found_ = 0;
  planned_ = false;
}

template <class Log, class Item>
BatchPlan BatchJournal<Log, Item>::agree(const BatchPlan& proposed) {
  if (planned_) return plan_;
  plan_ = proposed;
  planned_ = true;
  file_.append({{"plan", {{"memory", plan_.memory}, {"tasks", plan_.tasks}}}});
  return plan_;
}

template <class Log, class Item>
const std::vector<Item>* BatchJournal<Log, Item>::recall(std::int32_t batch) {
  const auto found = batches_.find(batch);
  return found == batches_.end() ? nullptr : &found->second;
}

template <class Log, class Item>
void BatchJournal<Log, Item>::keep(std::int32_t batch, const std::vector<Item>& items) {
  Json list = Json::array();
  for (const auto& item : items) list.push_back(to_json(item));
  file_.append({{"batch", batch}, {"models", list}});
}

template class BatchJournal<SearchLog, ModelScores>;
template class BatchJournal<StudyLog, StudySplit>;

}  // namespace sheaf::search
