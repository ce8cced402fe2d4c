// The log of a search whose models' rows several processes share: the first process keeps it, and tells the others what
// it knows, so that all of them train the same batches.
#pragma once

#include <sheaf/search.hpp>

namespace sheaf::engine {

class TeamLog final : public SearchLog {
 public:
  /// `kept`: of the first process; nullptr: the search is kept nowhere.
  TeamLog(Team& team, SearchLog* kept) : team_(team), kept_(team.rank() == 0 ? kept : nullptr) {}

  BatchPlan agree(const BatchPlan& proposed) override;
  std::optional<std::vector<ModelScores>> recall(std::int32_t batch) override;
  void keep(std::int32_t batch, const std::vector<ModelScores>& models) override;
  bool agree_to_end(std::int32_t next, bool over) override;

 private:
  Team& team_;
  SearchLog* kept_;
};

}  // namespace sheaf::engine
