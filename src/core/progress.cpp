#include <sheaf/progress.hpp>

namespace sheaf {

void Progress::on_begin(std::string_view /*stage*/, std::int64_t /*total*/) {}
void Progress::on_advance(std::int64_t /*by*/) {}
void Progress::on_end() {}

/// Where no stage is open, whoever comes may pass on.
bool Progress::is_mine() const {
  const auto thread = thread_.load();
  return thread == std::thread::id() || thread == std::this_thread::get_id();
}

void Progress::begin(std::string_view stage, std::int64_t total) {
  if (!listens_) return;
  std::thread::id none;
  const auto me = std::this_thread::get_id();
  if (!thread_.compare_exchange_strong(none, me) && none != me) return;
  deliver();
  ++depth_;
  on_begin(stage, total);
}

void Progress::advance(std::int64_t by) {
  if (!listens_) return;
  pending_ += by;
  deliver();
}

void Progress::deliver() {
  if (!listens_ || !is_mine()) return;
  if (const auto by = pending_.exchange(0); by != 0) on_advance(by);
}

void Progress::end() {
  if (!listens_ || thread_.load() != std::this_thread::get_id()) return;
  deliver();
  on_end();
  if (--depth_ == 0) thread_.store({});
}

namespace {
struct Silent final : Progress {
  Silent() : Progress(false) {}
};
}  // namespace

Progress& silent_progress() {
  static Silent silent;
  return silent;
}

}  // namespace sheaf
