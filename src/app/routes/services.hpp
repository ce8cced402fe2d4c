// The services that all answers use.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "app/files/folder.hpp"
#include "app/files/listing.hpp"
#include "app/forms/forms.hpp"
#include "app/jobs/jobs.hpp"
#include "app/predictions/predictions.hpp"
#include "app/process/work.hpp"
#include "app/runs/runs.hpp"
#include "app/tables/tables.hpp"

namespace sheaf::app {

struct ServiceOptions {
  std::string folder;
  std::string program;  ///< the path of this program, which jobs and short work run
  std::string state;    ///< a folder of this server alone
  int jobs_at_once = 1;
  bool read_only = false;
};

/// Rows and features of datasets that were described.
class Sizes {
 public:
  using Size = std::pair<std::int64_t, std::int64_t>;
  void keep(const DataFile& file, Size size) {
    const std::lock_guard lock(mutex_);
    known_[file.path] = {file.facts, size};
  }
  std::optional<Size> find(const DataFile& file) const {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(file.path);
    if (found == known_.end() || found->second.first != file.facts) return std::nullopt;
    return found->second.second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::pair<FileFacts, Size>> known_;
};

struct Services {
  Services(const ServiceOptions& given, Commands commands)
      : options(given),
        folder(given.folder),
        forms(std::move(commands)),
        work(given.program, folder.root(), given.state),
        jobs(folder, {given.program, given.state, given.jobs_at_once, given.read_only}),
        lister(folder),
        runs(folder, lister, jobs),
        predictions(work, tables, given.state) {}

  ServiceOptions options;
  Folder folder;
  Forms forms;
  Work work;
  Jobs jobs;
  Lister lister;
  Runs runs;
  Tables tables;
  Sizes sizes;
  Predictions predictions;
  std::mutex reading_mutex;  ///< of the file of kept reading options
};

}  // namespace sheaf::app
