// Parts of a work advance one common bar instead of beginning one each.
#pragma once

#include <cstdint>

#include <sheaf/progress.hpp>

namespace sheaf::engine {

class InnerProgress : public Progress {
 public:
  explicit InnerProgress(Progress& outer) : outer_(outer) {}
  void advance(std::int64_t by) override { outer_.advance(by); }

 private:
  Progress& outer_;
};

}  // namespace sheaf::engine
