// The finished batches of a search on disk (see data/write/record_file.hpp): the plan, then one record for each batch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sheaf/search.hpp>

#include "data/write/record_file.hpp"

namespace sheaf::engine {

class Journal : public SearchLog {
 public:
  /// Opens or makes the file and locks it: another search in the same place is an Error. Nothing is read or changed.
  explicit Journal(std::string path) : path_(path), file_(std::move(path)) {}

  bool is_new() const { return file_.is_new(); }
  bool is_journal() const { return file_.is_record_file(); }
  /// Takes in what an earlier run has finished.
  void read();

  bool empty() const { return !planned_ && batches_.empty(); }
  /// Batches that were found finished.
  std::size_t found() const { return found_; }
  /// Forgets everything.
  void clear();

  BatchPlan agree(const BatchPlan& proposed) override;
  const std::vector<ModelScores>* recall(std::int32_t batch) override;
  void keep(std::int32_t batch, const std::vector<ModelScores>& models) override;

 private:
  void take(const nlohmann::json& record);

  bool planned_ = false;
  BatchPlan plan_;
  std::map<std::int32_t, std::vector<ModelScores>> batches_;
  std::size_t found_ = 0;
  std::string path_;
  RecordFile file_;
};

nlohmann::json to_json(const ModelScores& model);
void from_json(const nlohmann::json& json, ModelScores& model);

}  // namespace sheaf::engine
