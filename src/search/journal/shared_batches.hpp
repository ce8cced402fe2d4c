// The batches of a search that several processes share, in a folder beside its journal (see queue/claims.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <sheaf/search.hpp>

#include "queue/claims.hpp"

namespace sheaf::engine {

class SharedBatches {
 public:
  SharedBatches(const std::string& folder, const Joining& joining);

  nlohmann::json agree(const BatchPlan& proposed);
  bool agree_to_end(std::int32_t next, bool over);
  std::optional<std::vector<ModelScores>> recall(std::int32_t batch) const;
  bool claim(std::int32_t batch);
  void keep(std::int32_t batch, const std::vector<ModelScores>& models);
  SearchEnding claim_ending();
  /// Whether this process still publishes the results.
  bool is_publisher() const;
  bool is_over() const { return claims_.is_over(); }
  void end() { claims_.end(); }

 private:
  using Clock = queue::Claims::Clock;

  std::string folder_;
  bool follows_;
  Clock::duration lease_;
  std::optional<Clock::time_point> waits_since_;  // for another process to publish the results
  queue::Claims claims_;
};

/// The batches that a folder holds.
struct FinishedBatches {
  std::optional<nlohmann::json> plan;
  std::map<std::int64_t, nlohmann::json> batches;
};
FinishedBatches finished_batches(const std::string& folder);

}  // namespace sheaf::engine
