#include "queue/journal.hpp"

#include "core/fail.hpp"

namespace sheaf::queue {

using Json = nlohmann::json;

Json head_record(const JournalKind& kind, const std::string& work) {
  return {{"journal", kind.name}, {"version", kind.version}, {"work", work}};
}

Json plan_record(const Json& plan) { return {{"plan", plan}}; }

Json unit_record(std::int64_t unit, const Json& result) { return {{"unit", unit}, {"result", result}}; }

Json end_record() { return {{"ended", true}}; }

void Journal::read(const Take& take, const TakePlan& take_plan) {
  std::size_t records = 0;
  file_.read([&](const Json& record) {
    ++records;
    const auto refuse = [&] {
      fail("{}: record {} is none of this version of Sheaf; {}", path_, records, kind_.remedy);
    };
    try {
      take_record(record, take, take_plan);
    } catch (const Json::exception&) {
      refuse();
    } catch (const DamagedRecord&) {
      refuse();
    }
  });
}

void Journal::take_record(const Json& record, const Take& take, const TakePlan& take_plan) {
  if (work_.empty()) return take_head(record);
  if (record.contains("plan")) {
    plan_ = record["plan"];
    if (take_plan) take_plan(*plan_);
  } else if (record.contains("ended")) {
    ended_ = true;
  } else {
    const auto& unit = record.at("unit");
    if (!unit.is_number_unsigned()) throw DamagedRecord();
    take(unit.get<std::int64_t>(), record.at("result"));
    found_.insert(unit.get<std::int64_t>());
  }
}

void Journal::take_head(const Json& record) {
  if (record.at("journal") != kind_.name)
    fail("{}: is the journal of something else, not of a {}; {}", path_, kind_.name, kind_.remedy);
  const auto version = record.at("version").get<std::int64_t>();
  if (version < kind_.oldest || version > kind_.version)
    fail("{}: was written by another version of Sheaf (journals of version {}; this one reads {}); {}", path_, version,
         kind_.oldest == kind_.version ? fmt::format("{}", kind_.version)
                                       : fmt::format("{} to {}", kind_.oldest, kind_.version),
         kind_.remedy);
  record.at("work").get_to(work_);
  if (work_.empty()) throw DamagedRecord();
}

void Journal::clear() {
  file_.clear();
  work_.clear();
  plan_.reset();
  found_.clear();
  ended_ = false;
}

void Journal::begin(const std::string& work) {
  clear();
  file_.append(head_record(kind_, work));
  work_ = work;
}

const Json& Journal::agree(const Json& proposed) {
  if (!plan_) {
    file_.append(plan_record(proposed));
    plan_ = proposed;
  }
  return *plan_;
}

void Journal::keep(std::int64_t unit, const Json& result) {
  const std::lock_guard lock(mutex_);
  file_.append(unit_record(unit, result));
}

void Journal::end() {
  if (!ended_) file_.append(end_record());
  ended_ = true;
}

}  // namespace sheaf::queue
