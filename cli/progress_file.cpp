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

ProgressFile::~ProgressFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void ProgressFile::on_begin(std::string_view stage, std::int64_t total) {
  if (temporary_ && descriptor_ >= 0) {  // work that begins removes what an earlier run left, this file too
    ::close(descriptor_);
    descriptor_ = -1;
  }
  stage_ = stage;
  pace_.begin(total, interval);
  write();
}

void ProgressFile::on_advance(std::int64_t by) {
  if (pace_.advance(by, interval)) write();
}

/// In one call, so that a reader sees one line or the other.
void ProgressFile::write() {
  if (descriptor_ < 0)
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return;
  if (temporary_ && !removed_) removed_.emplace(path_);
  nlohmann::ordered_json left;
  if (const auto seconds = pace_.seconds_left()) left = *seconds;
  const nlohmann::ordered_json progress{{"stage", stage_},
                                        {"done", pace_.done()},
                                        {"total", pace_.total()},
                                        {"seconds", pace_.seconds()},
                                        {"seconds_left", left}};
  auto line = progress.dump();
  constexpr std::size_t width = 255;  // blanks end what was longer before
  line.resize(std::max(line.size(), width), ' ');
  line += '\n';
  static_cast<void>(::pwrite(descriptor_, line.data(), line.size(), 0) < 0);  // a full disk stops no work
}

}  // namespace sheaf::cli
