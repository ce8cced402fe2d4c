#include "app/runs/runs.hpp"

#include <algorithm>
#include <fstream>

#include <sheaf/scores.hpp>

#include "app/runs/locks.hpp"
#include "app/runs/summary.hpp"
#include "queue/progress_name.hpp"

namespace sheaf::app {
namespace {

using Values = std::map<std::string, Json>;

Values shallow_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return file ? read_shallow(file) : Values();
}

std::string text(const Values& values, const std::string& place) {
  const auto found = values.find(place);
  return found != values.end() && found->second.is_string() ? found->second.get<std::string>() : std::string();
}

std::optional<double> number(const Values& values, const std::string& place) {
  const auto found = values.find(place);
  if (found == values.end() || !found->second.is_number()) return std::nullopt;
  return found->second.get<double>();
}

/// A search or a study: the nested estimate if there is one.
void take_search(const Values& results, RunSummary& run) {
  run.source = text(results, "source");
  run.model = text(results, "model");
  run.title = text(results, "title");
  run.score = text(results, "score");
  run.verdict = text(results, "verdict");
  const bool outer = results.contains("outer/" + run.score + "/mean");
  const auto place = (outer ? "outer/" : "chosen/") + run.score;
  run.value = number(results, place + "/mean");
  run.standard_error = number(results, place + "/standard_error");
  run.nested = outer;
  if (results.contains("stability/value")) run.kind = "study";
}

void take_rescore(const Values& results, RunSummary& run) {
  run.score = "accepted PSMs";
  run.value = number(results, "psms/accepted");
}

void take_selection(const Values& results, RunSummary& run) {
  run.source = text(results, "source");
  run.model = text(results, "asked/criterion");
  run.title = "selection by " + run.model;
}

std::string_view state_of(const RunFolder& folder, const RunSummary& summary, const std::optional<Job>& job,
                          const std::map<std::uint64_t, pid_t>& locked) {
  if (folder.journal.there() && locked.contains(folder.journal.inode)) return "running";
  if (job) return job->state == JobState::stopping ? "running" : to_string(job->state);
  if (folder.results.there() || summary.kind == "neighbors") return "done";
  return "stopped";
}

std::optional<ProcessName> process_of(const Run& run, const std::map<std::uint64_t, pid_t>& locked) {
  if (run.job && is_running(run.job->process)) return run.job->process;
  const auto found = locked.find(run.folder.journal.inode);
  return found == locked.end() ? std::nullopt : find_process(found->second);
}

/// "AUC" for "auc"; what is no metric is its own title.
std::string title_of(const std::string& score) {
  for (const auto& row : metrics())
    if (row.name == score) return std::string(row.title);
  return score;
}

Json text_or_null(const std::string& value) { return value.empty() ? Json() : Json(value); }
Json number_or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

}  // namespace

RunSummary Runs::read(const RunFolder& folder) const {
  RunSummary run;
  const auto path = folder_.root() + "/" + folder.path;
  const auto settings = shallow_of(path + "/settings.json");
  const auto results = folder.results.there() ? shallow_of(path + "/results.json") : Values();
  run.source = text(settings, "data/path");
  if (settings.contains("task")) run.kind = text(settings, "task");
  if (settings.contains("journal")) {
    const auto full = settings.find("full");
    run.kind = full != settings.end() && full->second == false ? "study" : "search";
    run.model = text(settings, "model/family");
  }
  if (results.contains("psms/accepted") || (settings.empty() && folder.journal.there())) run.kind = "rescore";
  if (run.kind == "search" || run.kind == "study") {
    if (!results.empty()) take_search(results, run);
  } else if (run.kind == "rescore") {
    take_rescore(results, run);
  } else if (run.kind == "select" && !results.empty()) {
    take_selection(results, run);
  }
  return run;
}

std::shared_ptr<const RunSummary> Runs::summary_of(const RunFolder& run) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(run.path);
    if (found != known_.end() && found->second.settings == run.settings && found->second.results == run.results &&
        found->second.journal.there() == run.journal.there())
      return found->second.summary;
  }
  auto summary = std::make_shared<const RunSummary>(read(run));
  const std::lock_guard lock(mutex_);
  known_[run.path] = {run.settings, run.journal, run.results, summary};
  return summary;
}

std::vector<Run> Runs::list() {
  const auto listing = lister_.list();
  const auto locked = locked_inodes();
  std::map<std::string, Job> by_folder;
  for (auto& job : jobs_.list()) by_folder.try_emplace(job.folder, job);
  std::vector<Run> runs;
  runs.reserve(listing->runs.size() + by_folder.size());
  for (const auto& folder : listing->runs) {
    Run run{.folder = folder, .about = summary_of(folder), .state = {}, .job = {}, .process = {}};
    if (const auto job = by_folder.find(folder.path); job != by_folder.end()) {
      run.job = job->second;
      by_folder.erase(job);
    }
    run.state = state_of(folder, *run.about, run.job, locked);
    runs.push_back(std::move(run));
  }
  for (const auto& [path, job] : by_folder) {
    if (job.state == JobState::done) continue;  // its folder was removed
    RunSummary about;
    about.kind = job.task;
    about.source = job.datasets.front();
    Run run{.folder = {path, {}, {}, {}},
            .about = std::make_shared<const RunSummary>(std::move(about)),
            .state = {},
            .job = job,
            .process = {}};
    run.state = state_of(run.folder, *run.about, run.job, locked);
    runs.push_back(std::move(run));
  }
  {
    const std::lock_guard lock(mutex_);
    if (known_.size() > 2 * listing->runs.size() + 100) known_.clear();
  }
  return runs;
}

Run Runs::find(const std::string& id) {
  const auto path = Folder::path_of(id);
  if (!path || !is_plain_path(*path)) throw Refusal{404, "not_found", "there is no run of that id"};
  Run run{.folder = {*path, {}, {}, {}}, .about = {}, .state = {}, .job = jobs_.find_by_folder(*path), .process = {}};
  try {
    const auto folder = folder_.find(*path);
    run.folder = {*path, facts_of(folder + "/settings.json"), facts_of(folder + "/journal.txt"),
                  facts_of(folder + "/results.json")};
  } catch (const Refusal&) {
    if (!run.job) throw;
  }
  const auto& files = run.folder;
  if (!run.job && !files.settings.there() && !files.journal.there() && !files.results.there())
    throw Refusal{404, "not_found", "there is no run of that id"};
  auto about = *summary_of(files);
  if (run.job && about.kind == "unknown") about.kind = run.job->task;
  if (run.job && about.source.empty()) about.source = run.job->datasets.front();
  const auto locked = locked_inodes();
  run.state = state_of(files, about, run.job, locked);
  if (run.state == "running") run.process = process_of(run, locked);
  run.about = std::make_shared<const RunSummary>(std::move(about));
  return run;
}

Json Runs::progress_of(const Run& run) const {
  auto progress = run.job ? read_progress(jobs_.progress_of(run.job->id)) : Json();
  if (!progress.is_null()) return progress;
  return read_progress(folder_.root() + "/" + run.folder.path + "/" + queue::progress_name);
}

Json Runs::json(const Run& run) const {
  const auto& files = run.folder;
  const auto& summary = *run.about;
  const double begun = files.settings.there() ? files.settings.modified
                       : run.job              ? run.job->started
                                              : files.journal.modified;
  const double modified = std::max(
      {files.settings.modified, files.journal.modified, files.results.modified, run.job ? run.job->created : 0.0});
  std::optional<double> seconds;
  if (run.job && run.job->started > 0)
    seconds = (run.job->ended > 0 ? run.job->ended : now_in_seconds()) - run.job->started;
  else if (files.settings.there() && modified > begun)
    seconds = modified - begun;
  Json dataset;
  if (!summary.source.empty()) {
    try {
      dataset = Folder::id_of(folder_.relative(folder_.find(folder_.relative(summary.source))));
    } catch (const Refusal&) {  // elsewhere, or gone
    }
  }
  return {{"id", Folder::id_of(files.path)},
          {"path", files.path},
          {"name", files.path.substr(files.path.rfind('/') + 1)},
          {"kind", summary.kind},
          {"state", run.state},
          {"source", text_or_null(summary.source)},
          {"dataset", std::move(dataset)},
          {"model", text_or_null(summary.model)},
          {"title", text_or_null(summary.title)},
          {"score", text_or_null(summary.score)},
          {"score_title", text_or_null(title_of(summary.score))},
          {"value", number_or_null(summary.value)},
          {"standard_error", number_or_null(summary.standard_error)},
          {"nested", summary.nested},
          {"verdict", text_or_null(summary.verdict)},
          {"begun", begun > 0 ? Json(begun) : Json()},
          {"modified", modified},
          {"seconds", number_or_null(seconds)},
          {"job", run.job ? Json(run.job->id) : Json()}};
}

}  // namespace sheaf::app
