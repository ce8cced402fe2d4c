#include "app/runs/journal_progress.hpp"

#include <algorithm>

namespace sheaf::app {
namespace {

constexpr double slack = 2;  // seconds by which clocks of a process and of a file system may differ

}  // namespace

void JournalProgress::take_plan(const Json& plan) {
  planned_ = true;
  if (plan.is_object() && plan.contains("models") && plan["models"].is_number_integer())
    total_ = std::max<std::int64_t>(plan["models"].get<std::int64_t>(), 0);
}

Json JournalProgress::json(const SearchTimes& times) {
  if (!planned_ && done_ == 0) return {};
  const bool resumed = times.settings_written < times.process_began - slack;
  if (!begin_) begin_ = resumed ? Begin{times.last_record, done_} : Begin{times.settings_written, 0};
  Json left;
  if (total_ > 0 && done_ > begin_->done) {
    const double a_model = std::max(0.0, times.last_record - begin_->time) / static_cast<double>(done_ - begin_->done);
    const double passed = std::max(0.0, times.now - times.last_record);
    left = std::max(0.0, a_model * static_cast<double>(std::max<std::int64_t>(total_ - done_, 0)) - passed);
  }
  const double seconds = times.now - (resumed ? times.process_began : times.settings_written);
  return {{"stage", "searching"},
          {"done", done_},
          {"total", total_},
          {"seconds", std::max(0.0, seconds)},
          {"seconds_left", std::move(left)}};
}

}  // namespace sheaf::app
