#include "app/jobs/jobs.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>

#include <sheaf/version.hpp>

#include "app/files/listing.hpp"
#include "core/fail.hpp"
#include "core/files/small_file.hpp"
#include "data/bytes/sink.hpp"

namespace sheaf::app {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds interval{1000};  // after which a failed write is tried again
constexpr std::size_t most_ended = 500;
constexpr std::size_t most_queued = 1000;
constexpr int signal_codes = 128;

bool is_active(const Job& job) { return job.state == JobState::running || job.state == JobState::stopping; }
bool has_ended_state(const Job& job) { return !is_active(job) && job.state != JobState::queued; }

}  // namespace

Jobs::Jobs(const Folder& folder, Options options) : folder_(folder), options_(std::move(options)) {
  load();
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

Jobs::~Jobs() = default;

void Jobs::load() {
  const auto path = options_.state + "/jobs.json";
  if (!facts_of(path).there()) return;
  const auto saved = parse_json<Json>(small_file(path).value_or(""));
  if (!saved.is_object() || !saved.contains("jobs") || !saved["jobs"].is_array())
    fail("{}/jobs.json: is damaged; remove it to begin with an empty list of jobs", options_.state);
  last_id_ = saved.value("last", std::int64_t{0});
  for (const auto& record : saved["jobs"])
    if (auto job = job_from(record)) jobs_.push_back(std::move(*job));
  for (auto& job : jobs_)
    if (is_active(job) && job.process.pid == 0)  // the server ended while it started the job
      if (const auto found = find_process_with("SHEAF_PROGRESS=" + progress_of(job.id))) job.process = *found;
}

void Jobs::save() {
  ++revision_;
  if (options_.read_only) return;
  Json records = Json::array();
  for (const auto& job : jobs_) records.push_back(to_record(job));
  write_file(options_.state + "/jobs.json", text_of({{"last", last_id_}, {"jobs", std::move(records)}}) + "\n",
             Links::replace);
}

void Jobs::watch(const std::stop_token& stop) {
  const std::stop_callback wake(stop, [this] { ends_.wake(); });
  while (!stop.stop_requested()) ends_.wait(look_and_save(), interval);
}

/// The processes of the jobs that run.
std::vector<pid_t> Jobs::look_and_save() {
  const std::lock_guard lock(mutex_);
  try {
    if (look()) save();
  } catch (const std::exception&) {  // a full disk: it is tried again
  }
  std::vector<pid_t> processes;
  for (const auto& job : jobs_)
    if (is_active(job)) processes.push_back(job.process.pid);
  return processes;
}

/// Notices what has ended and starts what is next; whether something changed.
bool Jobs::look() {
  bool changed = false;
  int active = 0;
  for (auto& job : jobs_) {
    if (!is_active(job)) continue;
    if (has_ended(job)) {
      settle(job);
      changed = true;
    } else {
      ++active;
    }
  }
  if (options_.read_only) return changed;
  for (auto& job : jobs_) {
    if (active >= options_.at_once) break;
    if (job.state != JobState::queued) continue;
    launch(job);
    changed = true;
    if (is_active(job)) ++active;
  }
  return changed;
}

bool Jobs::has_ended(Job& job) {
  if (job.process.pid == 0) return true;
  const auto end = options_.read_only ? ChildEnd{.ended = false, .lost = true} : child_end(job.process.pid);
  if (end.ended) job.exit_code = end.code;
  return end.ended || (end.lost && !is_running(job.process));
}

/// The outcome of an ended job. Without its exit code, which only its parent learns, its files decide.
void Jobs::settle(Job& job) {
  job.ended = now_in_seconds();
  const auto folder = folder_.root() + "/" + job.folder;
  const auto results = facts_of(folder + (job.task == "neighbors" ? "/neighbors.csv" : "/results.json"));
  const bool complete = results.there() && results.modified >= job.started - 1;
  job.message = error_in(log_of(job.id));
  if (job.exit_code ? *job.exit_code == 0 : complete)
    job.state = JobState::done;
  else if (!job.message.empty() && job.state != JobState::stopping)
    job.state = JobState::failed;
  else
    job.state = JobState::stopped;
  if (job.state == JobState::stopped && job.exit_code && *job.exit_code > signal_codes && job.message.empty())
    job.message = fmt::format("ended by signal {}", *job.exit_code - signal_codes);
  std::error_code ignored;
  fs::remove(progress_of(job.id), ignored);
}

/// The list on the disk says that it starts before it does, so that no process is ever forgotten.
void Jobs::launch(Job& job) {
  job.state = JobState::running;
  job.started = now_in_seconds();
  job.ended = 0;
  job.exit_code.reset();
  job.message.clear();
  job.process = {};
  save();
  try {
    const auto log = log_of(job.id);
    auto words = job.words;
    words.insert(words.begin(), options_.program);
    if (job.again && job.resumes) words.emplace_back("--resume");
    if (!job.resumes) write_settings(job);
    const auto out = job.prints_results ? folder_.root() + "/" + job.folder + "/results.json" : log;
    const auto pid = start_process({.words = words,
                                    .folder = folder_.root(),
                                    .out = out,
                                    .err = log,
                                    .append = !job.prints_results && job.again,
                                    .environment = {"SHEAF_PROGRESS=" + progress_of(job.id)}});
    job.process = find_process(pid).value_or(ProcessName{pid, 0});
  } catch (const std::exception& error) {
    job.state = JobState::failed;
    job.ended = now_in_seconds();
    job.message = error.what();
  }
}

/// Commands that have no folder of results of their own get one here.
void Jobs::write_settings(const Job& job) const {
  const auto folder = folder_.root() + "/" + job.folder;
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail("{}: the folder cannot be made: {}", job.folder, error.message());
  const Json settings{{"sheaf", SHEAF_VERSION},
                      {"task", job.task},
                      {"command", command_text(job.words)},
                      {"data", {{"path", job.datasets.front()}}},
                      {"settings", job.settings}};
  write_file(folder + "/settings.json", settings.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
             Links::replace);
}

/// Old jobs that have ended; their results stay.
void Jobs::forget_old() {
  const auto ended = std::count_if(jobs_.begin(), jobs_.end(), has_ended_state);
  auto surplus = ended - static_cast<std::ptrdiff_t>(most_ended);
  std::erase_if(jobs_, [&](const Job& job) { return has_ended_state(job) && surplus-- > 0; });
}

std::vector<Job> Jobs::list() const {
  const std::lock_guard lock(mutex_);
  std::vector<Job> sorted;
  for (const auto& job : jobs_)
    if (is_active(job)) sorted.push_back(job);
  for (const auto& job : jobs_)
    if (job.state == JobState::queued) sorted.push_back(job);
  const auto active = sorted.size();
  for (const auto& job : jobs_)
    if (has_ended_state(job)) sorted.push_back(job);
  std::stable_sort(sorted.begin() + static_cast<std::ptrdiff_t>(active), sorted.end(),
                   [](const Job& a, const Job& b) { return a.ended > b.ended; });
  return sorted;
}

Job& Jobs::locate(const std::string& id) {
  for (auto& job : jobs_)
    if (job.id == id) return job;
  throw Refusal{404, "not_found", "there is no such job"};
}

Job Jobs::find(const std::string& id) const {
  const std::lock_guard lock(mutex_);
  return const_cast<Jobs*>(this)->locate(id);
}

std::optional<Job> Jobs::find_by_folder(const std::string& folder) const {
  const std::lock_guard lock(mutex_);
  for (auto job = jobs_.rbegin(); job != jobs_.rend(); ++job)
    if (job->folder == folder) return *job;
  return std::nullopt;
}

std::string Jobs::free_name(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(folder_.root() + "/" + name, ignored)) ||
           std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.folder == name; });
  };
  const std::lock_guard lock(mutex_);
  auto name = wanted;
  for (int k = 2; taken(name); ++k) name = fmt::format("{}-{}", wanted, k);
  return name;
}

Job Jobs::start(const Design& design) {
  const std::lock_guard lock(mutex_);
  if (std::count_if(jobs_.begin(), jobs_.end(), [](const Job& job) { return job.state == JobState::queued; }) >=
      static_cast<std::ptrdiff_t>(most_queued))
    throw Refusal{429, "too_many_requests", "a thousand jobs wait already"};
  Job job;
  job.id = fmt::format("j{}", ++last_id_);
  job.task = design.task->name;
  job.datasets = design.datasets;
  job.settings = design.settings;
  job.words = words_with_output(design);
  job.folder = design.name;
  job.resumes = design.task->resumes;
  job.prints_results = job.task == "select";
  job.created = now_in_seconds();
  forget_old();
  jobs_.push_back(job);
  look();
  save();
  ends_.wake();
  return locate(job.id);
}

Job Jobs::stop(const std::string& id) {
  const std::lock_guard lock(mutex_);
  auto& job = locate(id);
  if (job.state == JobState::queued) {
    job.state = JobState::stopped;
    job.ended = now_in_seconds();
  } else if (is_active(job)) {
    job.state = JobState::stopping;
    signal_process(job.process, SIGINT);
  } else {
    throw Refusal{409, "conflict", "the job has ended already"};
  }
  save();
  return job;
}

Job Jobs::resume(const std::string& id) {
  const std::lock_guard lock(mutex_);
  auto& found = locate(id);
  if (found.state != JobState::stopped && found.state != JobState::failed)
    throw Refusal{409, "conflict", "only a job that was stopped or has failed can go on"};
  auto job = found;
  job.again = job.again || job.started > 0;
  job.state = JobState::queued;
  job.ended = 0;
  std::erase_if(jobs_, [&](const Job& one) { return one.id == id; });
  jobs_.push_back(job);
  look();
  save();
  ends_.wake();
  return locate(id);
}

Job Jobs::move(const std::string& id, std::size_t position) {
  const std::lock_guard lock(mutex_);
  const auto job = locate(id);
  if (job.state != JobState::queued) throw Refusal{409, "conflict", "only a job that waits can be moved"};
  std::erase_if(jobs_, [&](const Job& one) { return one.id == id; });
  auto at = jobs_.begin();
  for (std::size_t before = 0; at != jobs_.end(); ++at)
    if (at->state == JobState::queued && before++ == position) break;
  jobs_.insert(at, job);
  save();
  return job;
}

void Jobs::remove(const std::string& id) {
  const std::lock_guard lock(mutex_);
  const auto& job = locate(id);
  if (is_active(job)) throw Refusal{409, "conflict", "the job runs: stop it first"};
  std::erase_if(jobs_, [&](const Job& one) { return one.id == id; });
  save();
  std::error_code ignored;
  fs::remove(log_of(id), ignored);
}

}  // namespace sheaf::app
