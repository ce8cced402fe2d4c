// A line on standard error: how far the work is, its rate, and the time left.
#pragma once

#include <cstdint>
#include <string>

#include <sheaf/solvers/progress.hpp>

#include "pace.hpp"

namespace sheaf::cli {

class ProgressBar : public Progress {
 private:
  void on_begin(std::string_view stage, std::int64_t total) override;
  void on_advance(std::int64_t by) override;
  void on_end() override;
  void draw();

  std::string stage_;
  Pace pace_;
  bool drawn_ = false;
};

}  // namespace sheaf::cli
