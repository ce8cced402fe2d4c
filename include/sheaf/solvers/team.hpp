// Processes that train the same models together, each on rows of its own.
#pragma once

#include <span>

namespace sheaf {

/// Messages between the processes of a team. All of them make the same calls in the same order.
class Team {
 public:
  Team(int rank, int size) : rank_(rank), size_(size) {}
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  virtual ~Team() = default;

  int rank() const { return rank_; }  ///< of this process, from 0
  int size() const { return size_; }  ///< of the team

  /// all = the numbers of all processes, in the order of their ranks; each gives as many as the others.
  virtual void gather(std::span<const double> mine, std::span<double> all) = 0;
  /// received = part rank() of what each process sends, which is size() parts of one length.
  virtual void exchange(std::span<const double> sent, std::span<double> received) = 0;

 private:
  int rank_, size_;
};

}  // namespace sheaf
