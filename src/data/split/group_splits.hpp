// Splits that keep the rows of a group together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/splits.hpp>

#include "core/random.hpp"

namespace sheaf {

/// Streams of the seed: one for mixing rows before they are dealt, and one for each drawn split.
constexpr std::uint64_t mixing_stream = std::uint64_t{1} << 40;

/// Rows ordered by class (or group), and where each class begins.
struct Members {
  std::vector<std::int32_t> rows;
  std::vector<std::int64_t> begins;

  std::int64_t classes() const { return static_cast<std::int64_t>(begins.size()) - 1; }
  std::int64_t size(std::int64_t c) const { return end(c) - begin(c); }
  std::int64_t begin(std::int64_t c) const { return begins[static_cast<std::size_t>(c)]; }
  std::int64_t end(std::int64_t c) const { return begins[static_cast<std::size_t>(c) + 1]; }
  std::span<const std::int32_t> of(std::int64_t c) const {
    return std::span(rows).subspan(static_cast<std::size_t>(begin(c)), static_cast<std::size_t>(size(c)));
  }
};
Members members_of(std::span<const std::int32_t> classes);

/// Whether splits of a kind keep the rows of a group together; custom ones are the caller's own.
bool keeps_groups(SplitKind kind);

/// The fold that tests each row: each group goes to the fold that has the fewest rows so far.
std::vector<std::int32_t> deal_groups(const Members& groups, const SplitOptions& options);

/// The same, but to the fold that has the least of the group's classes so far.
std::vector<std::int32_t> deal_stratified_groups(const Members& groups, std::span<const std::int32_t> classes,
                                                 const SplitOptions& options);

/// Errors of drawing groups: fewer than 2 of them.
void check_group_shuffle(const Members& groups);

/// 0 for the rows of the groups that are left out, else 1. In random order, a group is left out, or taken back, if
/// that brings the shares left out of the classes nearer to `fraction`, until none does; every class keeps rows to
/// train on, so far as it is in two groups, and one group at least is left out.
std::vector<std::uint8_t> draw_groups(Random random, const Members& groups, std::span<const std::int32_t> classes,
                                      double fraction);

}  // namespace sheaf
