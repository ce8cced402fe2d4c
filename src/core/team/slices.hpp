// Rows in slices. A sum over rows is the sum over slices in the order of a binary tree; each process of a team has
// slices that follow one another. So the number of processes changes no bit of a sum, as long as that of the slices
// stays.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <sheaf/solvers/team.hpp>

#include "core/parallel.hpp"

namespace sheaf {

class Slices {
 public:
  /// Sixteen slices, or more if there are more processes: a power of two. Some are empty if rows are few.
  /// Each begins at a multiple of 32 rows. So its part of a block of examples has the same alignment in every process,
  /// and cuBLAS, which chooses its kernels by alignment, sums in the same order.
  Slices(std::int64_t rows, int team_size);

  std::int32_t count() const { return count_; }
  Range rows_of(std::int32_t slice) const { return {begin_of(slice), begin_of(slice + 1)}; }
  /// The slices of a process.
  Range of_rank(int rank) const {
    return {std::int64_t{rank} * count_ / team_size_, (std::int64_t{rank} + 1) * count_ / team_size_};
  }
  Range rows_of_rank(int rank) const;

 private:
  std::int64_t begin_of(std::int32_t slice) const {
    constexpr std::int64_t step = 32;
    return slice == count_ ? rows_ : slice * rows_ / count_ / step * step;
  }

  std::int64_t rows_;
  std::int32_t count_;
  int team_size_;
};

/// Sums over the slices of all processes.
class SliceSums {
 public:
  SliceSums(Team& team, const Slices& slices);

  /// total = the sum of the vectors of all slices. add(slice, to) adds that of a slice of this process to `to`, which
  /// is zeros. All processes receive the same bits.
  void sum(std::span<double> total, const std::function<void(std::int32_t slice, std::span<double> to)>& add);

 private:
  /// Slices first .. first + size, a subtree.
  struct Node {
    std::int32_t first, size;
    bool operator==(const Node&) const = default;
  };
  using Values = std::function<std::span<const double>(const Node&)>;

  static void cover(Node node, Range slices, std::vector<Node>& nodes);
  void sum_node(Node node, std::span<double> total, const std::function<void(std::int32_t, std::span<double>)>& add);
  void add_up(Node node, std::span<double> total, const Values& values) const;
  std::vector<Node> nodes_of(int rank) const;

  Team& team_;
  Slices slices_;
  std::vector<Node> own_;
  std::size_t most_nodes_ = 0;  // of a process
};

}  // namespace sheaf
