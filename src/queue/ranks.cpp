#include "queue/ranks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <unistd.h>

#include <sheaf/context.hpp>

namespace sheaf::queue {
namespace {

/// How a launcher names the place of a process. An MPI may run below Slurm, so that Slurm comes last; batch scripts,
/// which are no step of srun, have no SLURM_STEP_NUM_TASKS.
struct Launcher {
  const char* rank;
  const char* count;
  const char* here;
};
constexpr std::array<Launcher, 3> launchers{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"},
}};

/// The first number of a variable ("2" of "2(x3),1"); -1: there is none.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return -1;
  const std::string_view view = text;
  int number = -1;
  const auto result = std::from_chars(view.data(), view.data() + view.size(), number);
  return result.ec == std::errc() && number >= 0 ? number : -1;
}

/// PMI's variables may be srun's, which names the processes of a machine its own way.
int processes_here() {
  for (const auto& launcher : launchers)
    if (const int here = number_in(launcher.here); here > 0) return here;
  return 1;
}

}  // namespace

Ranks launched_ranks() {
  for (const auto& launcher : launchers) {
    const Ranks ranks{number_in(launcher.rank), number_in(launcher.count), processes_here(), true};
    if (ranks.rank >= 0 && ranks.rank < ranks.count) return ranks;
  }
  return {};
}

int threads_of_rank(const Ranks& ranks) {
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::clamp(cores / ranks.here, 1, std::max(available_threads(), 1));
}

}  // namespace sheaf::queue
