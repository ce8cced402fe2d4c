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
  pace_.begin(total, patience);
}

void ProgressBar::on_advance(std::int64_t by) {
  if (pace_.advance(by, interval)) draw();
}

void ProgressBar::on_end() {
  if (drawn_) write_message("\r\033[K");
  drawn_ = false;
}

void ProgressBar::draw() {
  const auto rate =
      rate_text(pace_.rate() > 0 ? pace_.rate() : static_cast<double>(pace_.done()) / std::max(pace_.seconds(), 1e-3));
  std::string line = fmt::format("{}  {}", stage_, rate);
  if (pace_.total() > 0) {
    const double share = std::min(static_cast<double>(pace_.done()) / static_cast<double>(pace_.total()), 1.0);
    constexpr int width = 24;
    const int filled = static_cast<int>(share * width);
    line = fmt::format("{}  [{:=<{}}{:{}}] {:3.0f} %  {}", stage_, "", filled, "", width - filled, share * 100, rate);
    if (const auto left = pace_.seconds_left()) line += fmt::format("  {} left", time_text(*left));
  }
  line.resize(std::min(line.size(), static_cast<std::size_t>(std::max(terminal_width() - 1, 1))));
  write_message(fmt::format("\r{}\033[K", printable(line, false)));
  drawn_ = true;
}

}  // namespace sheaf::cli
