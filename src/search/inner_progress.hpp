// Parts of a work advance one common bar instead of beginning one each.
#pragma once

#include <atomic>
#include <cstdint>

#include <sheaf/progress.hpp>

namespace sheaf::engine {

class InnerProgress : public Progress {
 public:
  /// `units` of the parts are one of the whole.
  explicit InnerProgress(Progress& outer, std::int64_t units = 1) : outer_(outer), units_(units) {}
  void advance(std::int64_t by) override {
    const std::int64_t before = done_.fetch_add(by);
    outer_.advance((before + by) / units_ - before / units_);
  }

 private:
  Progress& outer_;
  std::int64_t units_;
  std::atomic<std::int64_t> done_{0};
};

}  // namespace sheaf::engine
