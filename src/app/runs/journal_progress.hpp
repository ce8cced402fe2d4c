// How far a search is and how long it still takes, by its journal alone: of searches that another program started.
#pragma once

#include <cstdint>
#include <optional>

#include "app/http/json.hpp"

namespace sheaf::app {

/// Seconds since 1970.
struct SearchTimes {
  double now = 0;
  double process_began = 0;
  double settings_written = 0;  ///< by the process that began the search
  double last_record = 0;       ///< when the journal last grew
};

class JournalProgress {
 public:
  /// The plan of a journal, which says how many models there will be.
  void take_plan(const Json& plan);
  void take_models(std::int64_t count) { done_ += count; }
  void restart() { *this = {}; }

  /// As in the file of the variable SHEAF_PROGRESS; null: the journal has begun nothing. The time left is not known of
  /// a search that was resumed until the first batch after this was asked first: records have no times.
  Json json(const SearchTimes& times);

 private:
  struct Begin {
    double time = 0;
    std::int64_t done = 0;
  };
  std::int64_t done_ = 0, total_ = 0;
  bool planned_ = false;
  std::optional<Begin> begin_;  // from which the time of a model is measured
};

}  // namespace sheaf::app
