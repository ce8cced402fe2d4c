// The place of this process among those that mpirun or srun started together, from the environment: no MPI is needed.
#pragma once

#include <string>

namespace sheaf::queue {

struct Ranks {
  int rank = 0;           ///< of this process
  int count = 1;          ///< of all processes
  int here = 1;           ///< on this machine
  int local = 0;          ///< place of this process among those
  bool launched = false;  ///< by mpirun or srun; mpirun -n 1 too

  bool several() const { return count > 1; }
};

/// Reads the variables of Open MPI, MPICH (and its descendants) and Slurm; one process alone if none of them is set.
Ranks launched_ranks();

/// Threads for each of the processes on this machine: what it is bound to, and no more than its share of the cores.
int threads_of_rank(const Ranks& ranks);

/// The numbers of its GPUs, separated by commas: its share of those of the machine, or one that it shares with others.
std::string gpus_of_rank(const Ranks& ranks, int gpus);
/// Lets this process see these alone, unless the launcher or the user has chosen (CUDA_VISIBLE_DEVICES). Before any GPU
/// is used.
void take_gpus(const Ranks& ranks);

}  // namespace sheaf::queue
