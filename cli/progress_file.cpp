#include "progress_file.hpp"

#include <algorithm>

#include <fcntl.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

namespace sheaf::cli {
namespace {

using namespace std::chrono_literals;
constexpr auto interval = 200ms;

}  // namespace

ProgressFile::ProgressFile(const std::string& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600)) {}

ProgressFile::~ProgressFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ProgressFile::on_begin(std::string_view stage, std::int64_t total) {
  stage_ = stage;
  total_ = total;
  done_ = 0;
  start_ = Clock::now();
  next_ = interval;
  write(0);
}

void ProgressFile::on_advance(std::int64_t by) {
  done_ += by;
  const auto elapsed = Clock::now() - start_;
  if (elapsed < next_) return;
  next_ = elapsed + interval;
  write(std::chrono::duration<double>(elapsed).count());
}

/// In one call, so that a reader sees one line or the other.
void ProgressFile::write(double seconds) {
  nlohmann::ordered_json left;
  if (total_ > 0 && done_ > 0)
    left = seconds * static_cast<double>(std::max<std::int64_t>(total_ - done_, 0)) / static_cast<double>(done_);
  const nlohmann::ordered_json progress{
      {"stage", stage_}, {"done", done_}, {"total", total_}, {"seconds", seconds}, {"seconds_left", left}};
  auto line = progress.dump();
  constexpr std::size_t width = 255;  // blanks end what was longer before
  line.resize(std::max(line.size(), width), ' ');
  line += '\n';
  if (descriptor_ >= 0 && ::pwrite(descriptor_, line.data(), line.size(), 0) < 0) {
    ::close(descriptor_);
    descriptor_ = -1;
  }
}

}  // namespace sheaf::cli
