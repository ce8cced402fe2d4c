// The place of a process among those that a launcher started, and its share of the machine.
#include <cstdlib>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "queue/ranks.hpp"

namespace sheaf::queue {
namespace ranks_test {

std::string gpus(int local, int here, int count) {
  Ranks ranks;
  ranks.local = local;
  ranks.here = here;
  return gpus_of_rank(ranks, count);
}

TEST(Ranks, GpusOfAMachineAreDivided) {
  EXPECT_EQ(gpus(0, 1, 8), "0,1,2,3,4,5,6,7");
  EXPECT_EQ(gpus(3, 4, 8), "6,7");
  EXPECT_EQ(gpus(3, 8, 8), "3");
  EXPECT_EQ(gpus(0, 4, 1), "0");
  EXPECT_EQ(gpus(3, 4, 1), "0");
  EXPECT_EQ(gpus(1, 4, 2), "0");
  EXPECT_EQ(gpus(2, 4, 2), "1");
  for (int count = 1; count <= 9; ++count)  // each GPU has somebody, and nobody has none
    for (int here = 1; here <= 9; ++here) {
      std::set<std::string> used;
      for (int local = 0; local < here; ++local) {
        std::istringstream list(gpus(local, here, count));
        bool some = false;
        for (std::string one; std::getline(list, one, ',');) {
          EXPECT_LT(std::stoi(one), count);
          used.insert(one);
          some = true;
        }
        EXPECT_TRUE(some);
      }
      EXPECT_EQ(used.size(), static_cast<std::size_t>(count));
    }
}

TEST(Ranks, EveryLaunchersVariablesAreRead) {
  struct Case {
    const char *rank, *count, *here, *local;
  };
  for (const Case& names :
       {Case{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
             "OMPI_COMM_WORLD_LOCAL_RANK"},
        Case{"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
        Case{"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE", "SLURM_LOCALID"}}) {
    setenv(names.rank, "5", 1);
    setenv(names.count, "6", 1);
    setenv(names.here, "3(x2)", 1);
    setenv(names.local, "2", 1);
    const auto ranks = launched_ranks();
    EXPECT_EQ(ranks.rank, 5) << names.rank;
    EXPECT_EQ(ranks.count, 6);
    EXPECT_EQ(ranks.here, 3);
    EXPECT_EQ(ranks.local, 2);
    EXPECT_TRUE(ranks.launched);
    for (const char* name : {names.rank, names.count, names.here, names.local}) unsetenv(name);
  }
  EXPECT_FALSE(launched_ranks().launched);
  for (const char* count : {"SLURM_STEP_NUM_TASKS", "PMI_SIZE"}) setenv(count, "1", 1);  // srun -n 1
  for (const char* rank : {"SLURM_PROCID", "PMI_RANK"}) setenv(rank, "0", 1);
  EXPECT_FALSE(launched_ranks().launched);
  unsetenv("SLURM_STEP_NUM_TASKS");  // mpirun -n 1
  EXPECT_TRUE(launched_ranks().launched);
  for (const char* name : {"PMI_SIZE", "SLURM_PROCID", "PMI_RANK"}) unsetenv(name);
}

}  // namespace ranks_test
}  // namespace sheaf::queue
