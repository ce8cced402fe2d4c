#include "queue/ranks.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include <sheaf/context.hpp>

namespace sheaf::queue {
namespace {

constexpr const char* visible_gpus = "CUDA_VISIBLE_DEVICES";

/// How a launcher names the place of a process. An MPI may run below Slurm, so that Slurm comes last; batch scripts,
/// which are no step of srun, have no SLURM_STEP_NUM_TASKS.
struct Launcher {
  const char* rank;
  const char* count;
  const char* here;
  const char* local;
};
constexpr std::array<Launcher, 3> launchers{{
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"},
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
int first_number(const char* Launcher::*variable, int least) {
  for (const auto& launcher : launchers)
    if (const int number = number_in(launcher.*variable); number >= least) return number;
  return least;
}

/// The GPUs of this machine, by the names of the driver's files.
int count_gpus() {
  int count = 0;
  while (::access(fmt::format("/dev/nvidia{}", count).c_str(), F_OK) == 0) ++count;
  return count;
}

}  // namespace

Ranks launched_ranks() {
  for (const auto& launcher : launchers) {
    const Ranks ranks{number_in(launcher.rank), number_in(launcher.count), first_number(&Launcher::here, 1),
                      first_number(&Launcher::local, 0), true};
    if (ranks.rank < 0 || ranks.rank >= ranks.count) continue;
    // srun starts every program of a cluster, also those that are one process and nothing else.
    if (!ranks.several() && std::getenv(launchers.back().count) != nullptr) return {};
    return ranks;
  }
  return {};
}

int threads_of_rank(const Ranks& ranks) {
  const auto cores = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  return std::clamp(cores / ranks.here, 1, std::max(available_threads(), 1));
}

std::string gpus_of_rank(const Ranks& ranks, int gpus) {
  const int first = ranks.local * gpus / ranks.here;
  const int end = std::max((ranks.local + 1) * gpus / ranks.here, first + 1);
  std::string list;
  for (int gpu = first; gpu < end; ++gpu) list += fmt::format("{}{}", list.empty() ? "" : ",", gpu);
  return list;
}

void take_gpus(const Ranks& ranks) {
  const int gpus = count_gpus();
  if (ranks.here > 1 && gpus > 1 && std::getenv(visible_gpus) == nullptr)
    ::setenv(visible_gpus, gpus_of_rank(ranks, gpus).c_str(), 1);
}

}  // namespace sheaf::queue
