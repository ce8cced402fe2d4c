// A log in memory that breaks a search off.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <sheaf/error.hpp>
#include <sheaf/search.hpp>

namespace sheaf::test {

/// Ends after some batches, as a kill does.
class Forgetful : public SearchLog {
 public:
  explicit Forgetful(int left) : left_(left) {}
  BatchPlan agree(const BatchPlan& proposed) override {
    if (plan_.sizes.empty()) plan_ = proposed;
    return plan_;
  }
  std::optional<std::vector<ModelScores>> recall(std::int32_t batch) override {
    const auto found = batches_.find(batch);
    if (found == batches_.end()) return std::nullopt;
    return found->second;
  }
  void keep(std::int32_t batch, const std::vector<ModelScores>& models) override {
    if (left_-- == 0) throw Error("killed");
    batches_[batch] = models;
  }
  void go_on() { left_ = 1000; }

 private:
  int left_;
  BatchPlan plan_;
  std::map<std::int32_t, std::vector<ModelScores>> batches_;
};

}  // namespace sheaf::test
