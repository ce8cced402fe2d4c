// Brings the processes together that mpirun or srun started, so that they share the rows of each model.
#pragma once

#include <cstdint>

#include <sheaf/solvers/team.hpp>

#include "queue/ranks.hpp"

namespace sheaf::queue {

/// Joins the team of these processes, or returns the one that was joined; once it is, leave_team() is to be called.
/// Processes that would not compute the same bits are an Error.
Team& join_team(const Ranks& ranks);

/// The least of the numbers of all processes.
std::int64_t least_of(Team& team, std::int64_t number);

/// The first process reports an error of all processes, and then ends them; the others wait for that.
void let_first_speak() noexcept;

/// This process has ended its work: with 0 it waits for the others, else it ends them all. Nothing without a team.
void leave_team(int code) noexcept;

}  // namespace sheaf::queue
