// The finished batches of a search in its journal (see queue/journal.hpp): a batch is a unit, its result a list of
// scores.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <sheaf/search.hpp>

#include "queue/journal.hpp"

namespace sheaf::engine {

inline constexpr queue::JournalKind search_journal{"search", 7, 7, "begin again (--force), or name another folder"};

class SearchJournal {
 public:
  explicit SearchJournal(std::string path, queue::Journal::Access access = queue::Journal::Access::alone)
      : file_(search_journal, std::move(path), access) {}

  bool is_new() const { return file_.is_new(); }
  bool is_journal() const { return file_.is_journal(); }
  /// Takes in what an earlier run has finished.
  void read();

  /// No search has begun in it, or it was not read.
  bool empty() const { return file_.work().empty(); }
  /// Batches that were found finished.
  std::size_t found() const { return file_.found(); }
  const std::string& work() const { return file_.work(); }
  const std::optional<nlohmann::json>& plan() const { return file_.plan(); }
  void clear();

  void begin(const std::string& work) { file_.begin(work); }
  BatchPlan agree(const BatchPlan& proposed);
  std::optional<std::vector<ModelScores>> recall(std::int32_t batch) const;
  void keep(std::int32_t batch, const std::vector<ModelScores>& models);
  /// Batches of another run of the same search, in the order of their numbers.
  void add(const std::map<std::int64_t, nlohmann::json>& batches);
  /// The bytes of the journal of a run that read this one, finished these batches too and has ended.
  std::string text_with(const std::string& work, const nlohmann::json& plan,
                        std::map<std::int64_t, nlohmann::json> batches) const;
  /// All results of the search were written.
  bool ended() const { return file_.ended(); }
  void end() { file_.end(); }
  /// Whether nobody else has it open; for one that was opened for reading.
  bool is_alone() { return file_.is_alone(); }

 private:
  std::map<std::int64_t, std::vector<ModelScores>> batches_;
  queue::Journal file_;
};

/// Wrong ones are a Json::exception.
nlohmann::json to_json(const BatchPlan& plan);
BatchPlan plan_from(const nlohmann::json& json);
nlohmann::json to_json(const std::vector<ModelScores>& models);
std::vector<ModelScores> models_from(const nlohmann::json& json);

}  // namespace sheaf::engine
