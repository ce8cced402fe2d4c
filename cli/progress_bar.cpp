#include "progress_bar.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "terminal.hpp"

namespace sheaf::cli {
namespace {

using namespace std::chrono_literals;
constexpr auto patience = 300ms;  // without a bar: short work shows none
constexpr auto interval = 100ms;

std::string rate_text(double rate) {
  static constexpr const char* units[] = {"", "k", "M", "G", "T"};
  std::size_t unit = 0;
  for (; rate >= 1000 && unit < 4; ++unit) rate /= 1000;
  return fmt::format("{:.{}f}{}/s", rate, rate < 10 ? 1 : 0, units[unit]);
}

std::string time_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::min(seconds, 1e9)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}:{:02} min", whole / 60, whole % 60);
  return fmt::format("{}:{:02} h", whole / 3600, whole / 60 % 60);
}

}  // namespace

void ProgressBar::on_begin(std::string_view stage, std::int64_t total) {
  stage_ = stage;
  total_ = total;
  start_ = Clock::now();
  done_ = 0;
  next_draw_ = patience;
}

void ProgressBar::on_advance(std::int64_t by) {
  done_ += by;
  const auto elapsed = Clock::now() - start_;
  if (elapsed < next_draw_) return;
  next_draw_ = elapsed + interval;
  draw(std::chrono::duration<double>(elapsed).count());
}

void ProgressBar::on_end() {
  if (drawn_) write_message("\r\033[K");
  drawn_ = false;
}

void ProgressBar::draw(double seconds) {
  const auto done = static_cast<double>(done_);
  const double rate = done / std::max(seconds, 1e-3);
  std::string line = fmt::format("{}  {}", stage_, rate_text(rate));
  if (total_ > 0) {
    const double share = std::min(done / static_cast<double>(total_), 1.0);
    const double left = rate > 0 ? (static_cast<double>(total_) - done) / rate : 0;
    constexpr int width = 24;
    const int filled = static_cast<int>(share * width);
    line = fmt::format("{}  [{:=<{}}{:{}}] {:3.0f} %  {}  {} left", stage_, "", filled, "", width - filled, share * 100,
                       rate_text(rate), time_text(std::max(left, 0.0)));
  }
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(terminal_width() - 1, 1))));
  write_message(fmt::format("\r{}\033[K", printable(line, false)));
  drawn_ = true;
}

}  // namespace sheaf::cli
