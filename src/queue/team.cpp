#include "queue/team.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include <sheaf/version.hpp>

#include "core/fail.hpp"
#include "core/instruction_sets.hpp"
#include "core/team/alone.hpp"

#ifndef SHEAF_TEAMS_FROM_PROGRAM
#define SHEAF_TEAMS_FROM_PROGRAM "../lib/sheaf"
#endif

namespace sheaf::queue {
namespace {

namespace fs = std::filesystem;

using Join = Team*();
using Leave = void(int);

struct Joined {
  Team* team = nullptr;
  Leave* leave = nullptr;
};
Joined joined;

/// The kinds of MPI, that of the launcher first: its variables say which MPI reads them.
std::vector<std::string> kinds() {
  const bool open = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMIX_RANK") != nullptr;
  return open ? std::vector<std::string>{"openmpi"} : std::vector<std::string>{"mpich", "openmpi"};
}

/// Beside the program or library, or in the folder of the installed ones.
std::vector<fs::path> folders() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&leave_team), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  auto file = fs::canonical(info.dli_fname, error);
  if (error) file = fs::read_symlink("/proc/self/exe", error);  // a program that was found by PATH has no folder
  const auto folder = file.parent_path();
  return {folder, folder / SHEAF_TEAMS_FROM_PROGRAM, folder / "sheaf"};
}

Joined open_team(const Ranks& ranks) {
  std::string tried;
  for (const auto& kind : kinds())
    for (const auto& folder : folders()) {
      const auto path = (folder / ("sheaf-" + kind + ".so")).string();
      if (std::error_code error; !fs::exists(path, error)) continue;
      // MPI opens parts of its own, which look for its names among those of the program.
      void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
      if (library == nullptr) {
        tried += fmt::format("; {}", dlerror());
        continue;
      }
      auto* const join = reinterpret_cast<Join*>(dlsym(library, "sheaf_join_team"));
      auto* const leave = reinterpret_cast<Leave*>(dlsym(library, "sheaf_leave_team"));
      if (join == nullptr || leave == nullptr) fail("{}: is not of this version of Sheaf", path);
      const Joined result{join(), leave};
      if (result.team->size() == ranks.count) return result;
      leave(0);
      fail(
          "{} processes were started together, and {} counts {}; start them with the mpirun of an MPI that Sheaf was "
          "built with, or with srun --mpi=pmix",
          ranks.count, kind == "openmpi" ? "Open MPI" : "MPICH", result.team->size());
    }
  fail(
      "{} processes were started together, and Sheaf's file for {} is not there; install the package sheaf-mpi, or "
      "build with Open MPI or MPICH{}",
      ranks.count, kinds().front() == "openmpi" ? "Open MPI" : "MPICH", tried);
}

/// Whoever decides otherwise than the others would wait for a message for ever.
void check_equal(Team& team) {
  const std::vector<double> mine{static_cast<double>(std::hash<std::string>()(SHEAF_VERSION) % (1U << 30U)),
                                 static_cast<double>(instruction_set())};
  std::vector<double> all(mine.size() * static_cast<std::size_t>(team.size()));
  team.gather(mine, all);
  for (int rank = 1; rank < team.size(); ++rank) {
    const auto place = static_cast<std::size_t>(rank) * mine.size();
    if (all[place] != all[0]) fail("process {} runs another version of Sheaf than process 0", rank);
    if (all[place + 1] != all[1])
      fail(
          "process {} computes with {}, and process 0 with {}: sums would differ; set SHEAF_INSTRUCTION_SET to the "
          "same "
          "name for all of them",
          rank, name_of(static_cast<InstructionSet>(all[place + 1])), name_of(static_cast<InstructionSet>(all[1])));
  }
}

}  // namespace

Team& join_team(const Ranks& ranks) {
  if (joined.team != nullptr) return *joined.team;
  if (ranks.several()) {
    joined = open_team(ranks);
    check_equal(*joined.team);
  } else {
    static TeamOfOne one;
    joined.team = &one;
  }
  return *joined.team;
}

std::int64_t least_of(Team& team, std::int64_t number) {
  const std::vector<double> mine{static_cast<double>(number)};  // exact below 2^53
  std::vector<double> all(static_cast<std::size_t>(team.size()));
  team.gather(mine, all);
  return static_cast<std::int64_t>(*std::min_element(all.begin(), all.end()));
}

void let_first_speak() noexcept {
  constexpr unsigned seconds = 5;  // launchers take a while to end processes
  if (joined.team == nullptr || joined.team->rank() == 0) return;
  if (::sleep(seconds) > 0) std::_Exit(EXIT_FAILURE);  // by a signal of the launcher: the first one has spoken
}

void leave_team(int code) noexcept {
  // Launchers pass messages on after a while, and lose them once they end all processes.
  if (joined.leave != nullptr && code != 0) ::sleep(1);
  if (joined.leave != nullptr) joined.leave(code);
  joined = {};
}

}  // namespace sheaf::queue
