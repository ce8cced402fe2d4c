// Parts of a work advance one common bar instead of beginning one each.
#pragma once

#include <atomic>
#include <cstdint>

#include <sheaf/solvers/progress.hpp>

namespace sheaf::engine {

class InnerProgress : public Progress {
 public:
  /// The parts advance by progress_per_model for each model, the whole by 1. Parts may run on different threads.
  explicit InnerProgress(Progress& outer) : Progress(Hears::on_any_thread), outer_(outer) {}

 private:
  void on_advance(std::int64_t by) override {
    const std::int64_t before = done_.fetch_add(by);
    outer_.advance((before + by) / progress_per_model - before / progress_per_model);
  }

  Progress& outer_;
  std::atomic<std::int64_t> done_{0};
};

}  // namespace sheaf::engine
