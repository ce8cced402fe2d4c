#include "app/jobs/job.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/http/message.hpp"

namespace sheaf::app {
namespace {

constexpr std::array<std::pair<JobState, std::string_view>, 6> states{{{JobState::queued, "queued"},
                                                                       {JobState::running, "running"},
                                                                       {JobState::stopping, "stopping"},
                                                                       {JobState::stopped, "stopped"},
                                                                       {JobState::done, "done"},
                                                                       {JobState::failed, "failed"}}};

/// The end of a file that may be long.
/// Only of a regular file, no link.
std::string tail_of(const std::string& path, off_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return {};
  const OpenFile file(descriptor);
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(static_cast<std::size_t>(std::min(status.st_size, most)), '\0');
  const auto got = ::pread(descriptor, text.data(), text.size(), status.st_size - static_cast<off_t>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return text;
}

}  // namespace

std::string_view to_string(JobState state) {
  for (const auto& [known, name] : states)
    if (known == state) return name;
  return {};
}

Json to_record(const Job& job) {
  return {{"id", job.id},
          {"task", job.task},
          {"datasets", job.datasets},
          {"settings", job.settings},
          {"words", job.words},
          {"folder", job.folder},
          {"state", to_string(job.state)},
          {"resumes", job.resumes},
          {"again", job.again},
          {"prints_results", job.prints_results},
          {"created", job.created},
          {"started", job.started},
          {"ended", job.ended},
          {"exit_code", job.exit_code ? Json(*job.exit_code) : Json()},
          {"message", job.message},
          {"pid", job.process.pid},
          {"process_start", job.process.start}};
}

std::optional<Job> job_from(const Json& record) try {
  Job job;
  job.id = record.at("id").get<std::string>();
  job.task = record.at("task").get<std::string>();
  job.datasets = record.at("datasets").get<std::vector<std::string>>();
  job.settings = record.at("settings");
  job.words = record.at("words").get<std::vector<std::string>>();
  job.folder = record.at("folder").get<std::string>();
  const auto state = record.at("state").get<std::string>();
  for (const auto& [known, name] : states)
    if (name == state) job.state = known;
  job.resumes = record.at("resumes").get<bool>();
  job.again = record.at("again").get<bool>();
  job.prints_results = record.at("prints_results").get<bool>();
  job.created = record.at("created").get<double>();
  job.started = record.at("started").get<double>();
  job.ended = record.at("ended").get<double>();
  if (!record.at("exit_code").is_null()) job.exit_code = record.at("exit_code").get<int>();
  job.message = record.at("message").get<std::string>();
  job.process = {record.at("pid").get<pid_t>(), record.at("process_start").get<std::uint64_t>()};
  return job;
} catch (const Json::exception&) {
  return std::nullopt;
}

Json read_progress(const std::string& path) {
  auto progress = parse_json<Json>(tail_of(path, 1024));
  return progress.is_object() && progress.contains("stage") ? progress : Json();
}

std::string error_in(const std::string& log) {
  constexpr std::string_view prefix = "sheaf: error: ";
  auto text = tail_of(log, 16384);
  while (text.ends_with('\n')) text.pop_back();
  const auto line = text.substr(text.rfind('\n') + 1);
  return line.starts_with(prefix) ? line.substr(prefix.size()) : std::string();
}

double now_in_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace sheaf::app
