#include "search/journal/shared_batches.hpp"

#include <charconv>
#include <chrono>

#include "core/fail.hpp"
#include "search/journal/journal.hpp"

namespace sheaf::engine {
namespace {

using Json = nlohmann::json;

constexpr const char* plan_name = "plan";
constexpr const char* results_name = "results";
constexpr std::string_view batch_word = "batch-";

std::string name_of(std::int32_t batch) { return fmt::format("{}{}", batch_word, batch); }

std::optional<std::int64_t> batch_of(std::string_view name) {
  std::int64_t batch = 0;
  if (!name.starts_with(batch_word)) return std::nullopt;
  const auto* end = name.data() + name.size();
  const auto result = std::from_chars(name.data() + batch_word.size(), end, batch);
  if (result.ec != std::errc() || result.ptr != end || batch < 0) return std::nullopt;
  return batch;
}

}  // namespace

SharedBatches::SharedBatches(const std::string& folder, const Joining& joining)
    : folder_(folder),
      follows_(joining.follows),
      lease_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(joining.lease))),
      claims_(folder, lease_) {}

Json SharedBatches::agree(const BatchPlan& proposed) { return claims_.agree(plan_name, to_json(proposed)); }

bool SharedBatches::agree_to_end(std::int32_t next, bool over) {
  const auto answer = claims_.agree(fmt::format("end-{}", next), over);
  return answer.is_boolean() ? answer.get<bool>() : over;
}

std::optional<std::vector<ModelScores>> SharedBatches::recall(std::int32_t batch) const {
  const auto result = claims_.find(name_of(batch));
  if (!result) return std::nullopt;
  try {
    return models_from(*result);
  } catch (const Json::exception&) {
  } catch (const queue::DamagedRecord&) {
  }
  fail("{}/{}: is none of this version of Sheaf; {}", folder_, name_of(batch), search_journal.remedy);
}

bool SharedBatches::claim(std::int32_t batch) { return claims_.claim(name_of(batch)); }

void SharedBatches::keep(std::int32_t batch, const std::vector<ModelScores>& models) {
  claims_.keep(name_of(batch), to_json(models));
}

/// One that follows leaves it to the others as long as they live, and no longer than a lease.
SearchEnding SharedBatches::claim_ending() {
  if (follows_ && !claims_.is_over() && claims_.others()) {
    if (!waits_since_) waits_since_ = Clock::now();
    if (Clock::now() - *waits_since_ < lease_) return SearchEnding::elsewhere;
  }
  if (!claims_.is_over() && claims_.claim(results_name)) return SearchEnding::here;
  return claims_.is_over() ? SearchEnding::published : SearchEnding::elsewhere;
}

bool SharedBatches::is_publisher() const { return claims_.holds(results_name); }

FinishedBatches finished_batches(const std::string& folder) {
  FinishedBatches finished;
  for (auto& [name, result] : queue::Claims::results(folder)) {
    if (name == plan_name) finished.plan = result;
    if (const auto batch = batch_of(name)) finished.batches[*batch] = result;
  }
  return finished;
}

}  // namespace sheaf::engine
