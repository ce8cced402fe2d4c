// A team whose messages go through MPI.
#include <cstdio>
#include <limits>

#include <mpi.h>

#include <sheaf/solvers/team.hpp>

namespace {

int place() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int count() {
  int size = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// Errors of MPI end all processes, as MPI does by itself; so do messages that its counts cannot express.
class MpiTeam final : public sheaf::Team {
 public:
  MpiTeam() : Team(place(), count()) {}

  void gather(std::span<const double> mine, std::span<double> all) override {
    const int numbers = number_of(mine.size());
    MPI_Allgather(mine.data(), numbers, MPI_DOUBLE, all.data(), numbers, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  void exchange(std::span<const double> sent, std::span<double> received) override {
    const int numbers = number_of(sent.size() / static_cast<std::size_t>(size()));
    MPI_Alltoall(sent.data(), numbers, MPI_DOUBLE, received.data(), numbers, MPI_DOUBLE, MPI_COMM_WORLD);
  }

 private:
  static int number_of(std::size_t numbers) {
    if (numbers <= static_cast<std::size_t>(std::numeric_limits<int>::max())) return static_cast<int>(numbers);
    std::fputs("sheaf: error: a message of over 2^31 numbers; start more processes\n", stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return 0;
  }
};

}  // namespace

extern "C" {

/// Before any other call; the team lives until the process ends.
__attribute__((visibility("default"))) sheaf::Team* sheaf_join_team() {
  int threads = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &threads);
  static MpiTeam team;
  return &team;
}

/// 0: waits for all processes; else ends them all.
__attribute__((visibility("default"))) void sheaf_leave_team(int code) {
  if (code != 0)
    MPI_Abort(MPI_COMM_WORLD, code);
  else
    MPI_Finalize();
}
}
