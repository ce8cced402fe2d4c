// Folders of results as a list: what they are of, how far they are, how good the best model is.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/listing.hpp"
#include "app/http/json.hpp"
#include "app/jobs/jobs.hpp"

namespace sheaf::app {

/// The contents of a folder's files; read once for each of their versions.
struct RunSummary {
  std::string kind = "unknown";  ///< search, study, rescore, select, neighbors
  std::string source, model, title, score, verdict;
  std::optional<double> value, standard_error;
  bool nested = false;
};

struct Run {
  RunFolder folder;
  std::shared_ptr<const RunSummary> about;  ///< shared: a folder may have ten thousand
  std::string_view state;
  std::optional<Job> job;
  std::optional<ProcessName> process;  ///< of one that runs, whoever started it; find() alone looks for it
};

class Runs {
 public:
  Runs(const Folder& folder, Lister& lister, const Jobs& jobs) : folder_(folder), lister_(lister), jobs_(jobs) {}

  /// With jobs that have not made their folders yet.
  std::vector<Run> list();
  /// A 404 Refusal if it is none.
  Run find(const std::string& id);
  Json json(const Run& run) const;
  /// Written by its process, whoever started it; null: not known.
  Json progress_of(const Run& run) const;
  bool truncated() { return lister_.list()->truncated; }

 private:
  struct Known {
    FileFacts settings, journal, results;
    std::shared_ptr<const RunSummary> summary;
  };
  std::shared_ptr<const RunSummary> summary_of(const RunFolder& run);
  RunSummary read(const RunFolder& run) const;

  const Folder& folder_;
  Lister& lister_;
  const Jobs& jobs_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

}  // namespace sheaf::app
