// A team of one process, and work without a team.
#pragma once

#include <algorithm>

#include <sheaf/context.hpp>

namespace sheaf {

class TeamOfOne final : public Team {
 public:
  TeamOfOne() : Team(0, 1) {}
  void gather(std::span<const double> mine, std::span<double> all) override {
    std::copy(mine.begin(), mine.end(), all.begin());
  }
  void exchange(std::span<const double> sent, std::span<double> received) override {
    std::copy(sent.begin(), sent.end(), received.begin());
  }
};

/// For work that every process of a team does by itself, to its end: the others would wait for one that stopped.
inline Context without_team(const Context& context) {
  return context.team() == nullptr ? context : context.with({.stop = std::stop_token(), .team = nullptr});
}

}  // namespace sheaf
