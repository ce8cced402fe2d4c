// From the ones that two bit planes share to sums of c log2 c. Counts of the last state of either side are the
// remainder of a row, of a column, or of all.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define SHEAF_BOTH_SIDES __host__ __device__
#else
#define SHEAF_BOTH_SIDES
#endif

namespace sheaf::information {

/// The planes of one side of a pair and how many rows each has in one class.
struct PlaneSide {
  int planes;
  const std::uint32_t* counts;  ///< of plane p at p * apart
  int apart;
  SHEAF_BOTH_SIDES std::uint32_t count(int plane) const { return counts[static_cast<std::int64_t>(plane) * apart]; }
};

/// The rows in state s of the partner and x of the candidate; `shared` holds those of both planes, [s * planes +
/// x]. Unsigned numbers come out right whatever the order of additions and subtractions.
SHEAF_BOTH_SIDES inline std::uint32_t count_of_cell(const PlaneSide& partner, const PlaneSide& candidate,
                                                    const std::uint32_t* shared, std::uint32_t all, int s, int x) {
  const bool last_s = s == partner.planes;
  const bool last_x = x == candidate.planes;
  if (!last_s && !last_x) return shared[s * candidate.planes + x];
  std::uint32_t rest = last_s ? (last_x ? all : candidate.count(x)) : partner.count(s);
  if (!last_s) {
    for (int q = 0; q < candidate.planes; ++q) rest -= shared[s * candidate.planes + q];
    return rest;
  }
  for (int p = 0; p < partner.planes; ++p) {
    if (!last_x) {
      rest -= shared[p * candidate.planes + x];
      continue;
    }
    rest -= partner.count(p);
    for (int q = 0; q < candidate.planes; ++q) rest += shared[p * candidate.planes + q];
  }
  for (int q = 0; last_x && q < candidate.planes; ++q) rest -= candidate.count(q);
  return rest;
}

}  // namespace sheaf::information
