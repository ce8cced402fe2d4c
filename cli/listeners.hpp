// Several listeners to the progress of the same work.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <sheaf/solvers/progress.hpp>

namespace sheaf::cli {

class Listeners : public Progress {
 public:
  void add(std::unique_ptr<Progress> listener) { list_.push_back(std::move(listener)); }
  void clear() { list_.clear(); }

 private:
  void on_begin(std::string_view stage, std::int64_t total) override {
    for (const auto& one : list_) one->begin(stage, total);
  }
  void on_advance(std::int64_t by) override {
    for (const auto& one : list_) one->advance(by);
  }
  void on_end() override {
    for (const auto& one : list_) one->end();
  }

  std::vector<std::unique_ptr<Progress>> list_;
};

}  // namespace sheaf::cli
