// A team whose processes are threads of the test.
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include <sheaf/solvers/team.hpp>

namespace sheaf::test {

class ThreadTeam final : public Team {
 public:
  /// What the threads of a team share.
  struct Shared {
    explicit Shared(int size) : sent(static_cast<std::size_t>(size)), barrier(size) {}
    std::vector<std::span<const double>> sent;
    std::barrier<> barrier;
  };

  ThreadTeam(Shared& shared, int rank) : Team(rank, static_cast<int>(shared.sent.size())), shared_(shared) {}

  void gather(std::span<const double> mine, std::span<double> all) override {
    pass(mine, all, [](std::span<const double> whole) { return whole; });
  }
  void exchange(std::span<const double> sent, std::span<double> received) override {
    const auto part = received.size() / static_cast<std::size_t>(size());
    pass(sent, received,
         [&](std::span<const double> whole) { return whole.subspan(static_cast<std::size_t>(rank()) * part, part); });
  }

 private:
  template <class Part>
  void pass(std::span<const double> mine, std::span<double> to, const Part& part) {
    shared_.sent[static_cast<std::size_t>(rank())] = mine;
    shared_.barrier.arrive_and_wait();
    auto next = to.begin();
    for (const auto whole : shared_.sent) {
      const auto from = part(whole);
      next = std::copy(from.begin(), from.end(), next);
    }
    shared_.barrier.arrive_and_wait();
  }

  Shared& shared_;
};

/// work(team) in as many threads, each with a place in the team. It must not throw before all have ended.
inline void as_team(int size, const std::function<void(Team&)>& work) {
  ThreadTeam::Shared shared(size);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&shared, &work, rank] {
      ThreadTeam team(shared, rank);
      work(team);
    });
}

}  // namespace sheaf::test
