// Predictions that were asked for: each is work of another process, whose tables stay for a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/http/json.hpp"
#include "app/process/work.hpp"
#include "app/tables/tables.hpp"

namespace sheaf::app {

struct PredictionRequest {
  std::string model;                 ///< path of the model file below the folder
  std::string input;                 ///< path of the table
  std::vector<std::string> options;  ///< of sheaf predict
  bool explain = true;
  std::int64_t explain_count = 10;
};

class Predictions {
 public:
  /// `state`: a folder of this server alone.
  Predictions(Work& work, Tables& tables, std::string state) : work_(work), tables_(tables), state_(std::move(state)) {}

  /// A file for rows that were typed.
  std::string keep_rows(const std::vector<std::string>& columns, const std::vector<std::vector<std::string>>& rows);
  /// Its id.
  std::string start(const PredictionRequest& request, const std::string& key);
  /// The answer as docs/api/openapi.json defines it; waits so long at most. A 404 Refusal if there is none of that id.
  Json page(const std::string& id, std::int64_t from, std::int64_t count, std::chrono::milliseconds wait);
  std::string file_of(const std::string& id);

 private:
  struct Kept {
    PredictionRequest request;
    bool probabilities = true;  ///< are asked for; not all models have them
  };
  Kept find(const std::string& id);
  Work::Result run(const std::string& id, std::chrono::milliseconds wait);
  std::string path_of(const std::string& id, const char* what) const { return state_ + "/" + id + what; }
  Json explanations(const std::string& path, std::int64_t from, std::int64_t rows);

  Work& work_;
  Tables& tables_;
  std::string state_;
  std::mutex mutex_;
  std::map<std::string, Kept> kept_;
};

}  // namespace sheaf::app
