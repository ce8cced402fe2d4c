// A job: a task that runs in a process of its own, whether or not this server does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/http/json.hpp"
#include "app/process/process.hpp"

namespace sheaf::app {

enum class JobState { queued, running, stopping, stopped, done, failed };
std::string_view to_string(JobState state);

struct Job {
  std::string id;
  std::string task;
  std::vector<std::string> datasets;  ///< paths below the folder
  Json settings;
  std::vector<std::string> words;  ///< of the command, the program left out
  std::string folder;              ///< of results, below the folder
  JobState state = JobState::queued;
  bool resumes = false;                        ///< an interrupted one can go on
  bool again = false;                          ///< it ran before, and goes on
  bool prints_results = false;                 ///< what it prints is results.json
  double created = 0, started = 0, ended = 0;  ///< seconds since 1970; 0: not yet
  std::optional<int> exit_code;
  std::string message;
  ProcessName process;  ///< none while it is being started
};

Json to_record(const Job& job);
/// Nothing if the record is damaged.
std::optional<Job> job_from(const Json& record);

/// How far a process is, as it writes it to a file (docs/app.md); null: not known.
Json read_progress(const std::string& path);
/// The message of the error that a log ends with; empty: it ends with none.
std::string error_in(const std::string& log);
double now_in_seconds();

}  // namespace sheaf::app
