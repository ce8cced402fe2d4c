// Sums over slices: right, and the same bits for any number of processes that has as many slices.
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "core/random.hpp"
#include "core/team/slices.hpp"
#include "thread_team.hpp"

namespace sheaf {
namespace slices_test {

/// The vector of each slice.
std::vector<std::vector<double>> numbers_of(int slices, std::size_t size) {
  Random random(5, size);
  std::vector<std::vector<double>> result;
  for (int s = 0; s < slices; ++s)
    for (auto& one = result.emplace_back(); one.size() < size;)
      one.push_back(random.normal() * std::exp(20 * random.uniform()));
  return result;
}

std::vector<double> sum_of(int processes, const std::vector<std::vector<double>>& numbers) {
  const auto size = numbers.front().size();
  std::vector<std::vector<double>> sums(static_cast<std::size_t>(processes), std::vector<double>(size));
  test::as_team(processes, [&](Team& team) {
    const Slices slices(1000, processes);
    SliceSums(team, slices)
        .sum(sums[static_cast<std::size_t>(team.rank())], [&](std::int32_t slice, std::span<double> to) {
          for (std::size_t e = 0; e < size; ++e) to[e] += numbers[static_cast<std::size_t>(slice)][e];
        });
  });
  for (const auto& sum : sums) EXPECT_EQ(sum, sums.front()) << processes << " processes disagree";
  return sums.front();
}

TEST(Slices, SumsDoNotDependOnTheNumberOfProcesses) {
  for (const std::size_t size : {1U, 7U, 5000U, 30001U}) {  // gathered whole, and added up in parts
    const auto numbers = numbers_of(16, size);
    const auto alone = sum_of(1, numbers);
    for (const int processes : {2, 3, 4, 5, 7, 8, 13, 16}) EXPECT_EQ(sum_of(processes, numbers), alone) << processes;
    for (std::size_t e = 0; e < size; e += 97) {
      long double exact = 0;
      long double magnitude = 0;
      for (const auto& one : numbers) {
        exact += one[e];
        magnitude += std::abs(one[e]);
      }
      EXPECT_NEAR(alone[e], static_cast<double>(exact), 1e-15 * static_cast<double>(magnitude));
    }
  }
}

TEST(Slices, MoreProcessesThanSixteenHaveMoreSlices) {
  EXPECT_EQ(Slices(100, 1).count(), 16);
  EXPECT_EQ(Slices(100, 16).count(), 16);
  EXPECT_EQ(Slices(100, 17).count(), 32);
  const auto numbers = numbers_of(32, 9);
  EXPECT_EQ(sum_of(20, numbers), sum_of(32, numbers));
}

TEST(Slices, EveryRowIsOfOneProcess) {
  for (const std::int64_t rows : {0, 1, 15, 16, 17, 1000})
    for (const int processes : {1, 2, 3, 16, 20}) {
      const Slices slices(rows, processes);
      std::int64_t next = 0;
      for (int rank = 0; rank < processes; ++rank) {
        const auto own = slices.rows_of_rank(rank);
        EXPECT_EQ(own.begin, next);
        next = own.end;
      }
      EXPECT_EQ(next, rows);
    }
}

TEST(Slices, PartsOfABlockAreAlignedAlikeInEveryProcess) {
  for (const int processes : {1, 3, 4, 20}) {
    const Slices slices(900, processes);
    for (int rank = 0; rank < processes; ++rank) {
      const auto own = slices.of_rank(rank);
      for (auto slice = own.begin; slice < own.end; ++slice) {
        const auto first = slices.rows_of(static_cast<std::int32_t>(slice)).begin - slices.rows_of_rank(rank).begin;
        EXPECT_EQ(first % 32, 0) << "slice " << slice << " of " << processes << " processes";
      }
    }
  }
}

}  // namespace slices_test
}  // namespace sheaf
