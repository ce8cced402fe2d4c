// Parts of a work advance one common bar instead of beginning one each.
#pragma once

#include <cstdint>

#include <sheaf/progress.hpp>

namespace sheaf::search {

class InnerProgress : public Progress {
 public:
  explicit InnerProgress(Progress& outer) : outer_(outer) {}
 private:
  void on_advance(std::int64_t by) override { outer_.advance(by); }

  Progress& outer_;
};

}  // namespace sheaf::search
