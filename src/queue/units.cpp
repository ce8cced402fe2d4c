#include "queue/units.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include <sheaf/error.hpp>

namespace sheaf::queue {
namespace {

using Milliseconds = std::chrono::milliseconds;

// Between two questions whether another process has finished: short at first, since units may take milliseconds.
constexpr Milliseconds first_wait{2};
constexpr Milliseconds longest_wait{500};

class UnitQueue {
 public:
  UnitQueue(std::int64_t units, const UnitWork& work, const Sharing& sharing)
      : units_(units), work_(work), sharing_(sharing) {}

  void serve(std::size_t device) {
    try {
      while (const auto taken = take(device)) {
        const bool done = work_(device, *taken);
        if (!done) postpone(*taken);
        advanced(done);
      }
    } catch (...) {
      fail(std::current_exception());
    }
  }
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    changed_.notify_all();
  }
  void finish() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// None: all units are done or being done here, or there was an error.
  std::optional<Range> take(std::size_t device) {
    std::unique_lock lock(mutex_);
    if (!error_ && next_ < units_) {
      const auto count = sharing_.at_once.empty() ? 1 : std::max<std::int64_t>(sharing_.at_once[device], 1);
      const Range taken{next_, std::min(next_ + count, units_)};
      next_ = taken.end;
      return taken;
    }
    if (error_ || postponed_.empty()) return std::nullopt;
    wait_if_all_refused(lock);
    if (error_ || postponed_.empty()) return std::nullopt;
    const auto taken = postponed_.front();
    postponed_.pop_front();
    return taken;
  }
  /// Asks at once after a unit was done; waits after all that is left was offered in vain.
  void wait_if_all_refused(std::unique_lock<std::mutex>& lock) {
    if (refusals_ < postponed_.size()) return;
    if (sharing_.stop.stop_requested()) throw Stopped();
    changed_.wait_for(lock, wait_);
    wait_ = std::min(2 * wait_, longest_wait);
    refusals_ = 0;
  }
  void postpone(Range units) {
    const std::lock_guard lock(mutex_);
    postponed_.push_back(units);
  }
  void advanced(bool done) {
    const std::lock_guard lock(mutex_);
    refusals_ = done ? 0 : refusals_ + 1;
    if (done) wait_ = first_wait;
  }

  std::int64_t units_;
  const UnitWork& work_;
  const Sharing& sharing_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t next_ = 0;
  std::deque<Range> postponed_;  // of other processes, when they were offered
  std::size_t refusals_ = 0;     // offers since a unit was done
  Milliseconds wait_ = first_wait;
  std::exception_ptr error_;
};

}  // namespace

std::vector<Context> device_contexts(const Context& context, const std::vector<Device>& others) {
  std::vector<Context> contexts{context};
  for (const Device device : others) contexts.push_back(context.with({.device = device, .memory = 0}));
  return contexts;
}

void run_units(std::size_t devices, std::int64_t units, const UnitWork& work, const Sharing& sharing) {
  UnitQueue queue(units, work, sharing);
  {
    std::vector<std::jthread> others;
    try {
      for (std::size_t device = 1; device < devices; ++device)
        others.emplace_back([&queue, device] { queue.serve(device); });
    } catch (...) {
      queue.fail(std::current_exception());
    }
    queue.serve(0);
  }
  queue.finish();
}

}  // namespace sheaf::queue
