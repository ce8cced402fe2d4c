// sheaf fit under mpirun: processes share the rows of a model.
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "program.hpp"

namespace sheaf::test {
namespace team_cli_test {

/// An MPI that is installed and that the program was built with.
struct Mpi {
  std::string name, run;
};

std::vector<Mpi> installed() {
  std::vector<Mpi> found;
  const auto folder = std::filesystem::path(SHEAF_PROGRAM).parent_path();
  for (const auto& mpi : {Mpi{"openmpi", "mpirun.openmpi --oversubscribe"}, Mpi{"mpich", "mpirun.mpich"}})
    if (std::filesystem::exists(folder / ("sheaf-" + mpi.name + ".so")) &&
        std::system(("command -v mpirun." + mpi.name + " > /dev/null").c_str()) == 0)
      found.push_back(mpi);
  return found;
}

class TeamCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    mpis_ = installed();
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    ::setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    if (mpis_.empty() && std::getenv("CI") != nullptr)
      FAIL() << "neither Open MPI nor MPICH is there, with its headers";
    if (mpis_.empty()) GTEST_SKIP() << "neither Open MPI nor MPICH is there, with its headers";
  }

  /// sheaf with these arguments, in so many processes.
  Outcome launch(const Mpi& mpi, int processes, const std::string& arguments) const {
    return shell(fmt::format("{} -n {} \"$program\" {}", mpi.run, processes, arguments));
  }

  std::vector<Mpi> mpis_;
};

TEST_F(TeamCli, AnyNumberOfProcessesWritesTheSameModel) {
  ASSERT_EQ(shell("sheaf generate classification d.csv --rows 3000 --features 8 --seed 1 --quiet && sheaf convert "
                  "d.csv d.sheaf --quiet")
                .code,
            0);
  const std::vector<std::string> models{"--model linear --loss logistic --stop suboptimality --tolerance 1e-8",
                                        "--model linear --scale standard", "--model glm",
                                        "--model multinomial --alpha 0.1"};
  for (std::size_t m = 0; m < models.size(); ++m) {
    std::string first;
    for (const auto& mpi : mpis_)
      for (const int processes : {1, 2, 4}) {
        const auto name = fmt::format("{}-{}-{}", m, mpi.name, processes);
        const auto outcome =
            launch(mpi, processes, fmt::format("fit d.sheaf {} --threads 1 --output {}", models[m], name));
        ASSERT_EQ(outcome.code, 0) << models[m] << "\n" << outcome.err;
        if (first.empty()) first = file(name);
        EXPECT_EQ(file(name), first) << name << ": not the bytes of one process";
        EXPECT_NE(outcome.out.find("3,000 rows"), std::string::npos);
        EXPECT_EQ(outcome.out.find("3,000 rows"), outcome.out.rfind("3,000 rows")) << "two processes speak";
      }
  }
}

TEST_F(TeamCli, SearchesThatShareRowsLeaveTheSameFiles) {
  ASSERT_EQ(shell("sheaf generate classification d.csv --rows 1500 --features 6 --seed 2 --quiet").code, 0);
  for (const auto& [model, extra] :
       {std::pair{"linear", "--outer 3"}, {"multinomial", "--strategy halving"}, {"glm", "--learning-curve"}}) {
    const auto arguments =
        fmt::format("search d.csv --model {} {} --share rows --threads 1 --memory 500M --output ", model, extra);
    std::string first;
    for (const auto& mpi : mpis_)
      for (const int processes : {1, 2, 4}) {
        const auto name = fmt::format("{}-{}-{}", model, mpi.name, processes);
        const auto outcome = launch(mpi, processes, arguments + name);
        ASSERT_EQ(outcome.code, 0) << outcome.err;
        for (const auto* part : {"model.txt", "results.json", "journal.txt"})
          EXPECT_TRUE(exists(name + "/" + part)) << name;
        const auto found = file(name + "/model.txt") + file(name + "/results.json");
        if (first.empty()) first = found;
        EXPECT_TRUE(found == first) << name << ": not the bytes of one process";
      }
  }
}

/// The launcher is told to stop, or one process is killed; any number of processes goes on, to the same bytes.
TEST_F(TeamCli, AnEndedSearchGoesOn) {
  ASSERT_EQ(shell("sheaf generate classification d.csv --rows 3000 --features 20 --seed 2 --quiet").code, 0);
  const std::string search =
      " search d.csv --model multinomial --alpha 1e-4:1:12 --batch 1 --share rows --threads 1 --memory 500M --output ";
  const std::string until_begun =
      "until [ -e $1/journal.txt ] && [ $(wc -l <$1/journal.txt) -ge 6 ]; do sleep 0.01; done\n";
  write("kill.sh",
        "folder=$1 victim=$2; shift 2\n[ ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = $victim ] || exec \"$@\"\n\"$@\" &\nset "
        "-- $folder\n" +
            until_begun + "kill -9 $!; wait $!\n");
  write("stop.sh", "victim=$2\n" + until_begun + "kill $victim; wait $victim\n");
  for (const auto& mpi : mpis_) {
    const auto whole = "whole-" + mpi.name;
    ASSERT_EQ(launch(mpi, 1, search.substr(1) + whole).code, 0);
    for (const std::string victim : {"launcher", "0", "2"}) {
      const auto folder = mpi.name + "-" + victim;
      const auto command =
          victim == "launcher"
              ? fmt::format("{} -n 3 \"$program\"{}{} & set -- {} $!; . ./stop.sh", mpi.run, search, folder, folder)
              : fmt::format("{} -n 3 sh kill.sh {} {} \"$program\"{}{}", mpi.run, folder, victim, search, folder);
      EXPECT_NE(shell(command).code, 0) << folder;
      EXPECT_FALSE(exists(folder + "/results.json")) << folder << ": it was to end in the middle";
      const auto resumed = launch(mpi, 2, search.substr(1) + folder + " --resume");
      ASSERT_EQ(resumed.code, 0) << folder << "\n" << resumed.err;
      EXPECT_TRUE(file(folder + "/model.txt") == file(whole + "/model.txt")) << folder;
      EXPECT_TRUE(file(folder + "/results.json") == file(whole + "/results.json")) << folder;
    }
  }
}

TEST_F(TeamCli, OneProcessTrainsEveryModel) {
  ASSERT_EQ(shell("sheaf generate classification d.csv --rows 200 --features 6 --seed 2 --quiet").code, 0);
  for (const auto* model : {"svm", "knn", "elastic-net-logistic"}) {
    const auto fit = fmt::format("fit d.csv --model {} --memory 500M --output ", model);
    ASSERT_EQ(
        shell("sheaf " + fit + (model == std::string("elastic-net-logistic") ? "plain --alpha 0.1" : "plain")).code, 0);
    for (const auto& mpi : mpis_) {
      const auto outcome = launch(mpi, 1, fit + (model == std::string("elastic-net-logistic") ? "m --alpha 0.1" : "m"));
      ASSERT_EQ(outcome.code, 0) << outcome.err;
      EXPECT_EQ(file("m"), file("plain")) << model;
    }
  }
}

TEST_F(TeamCli, WhatIsWrongForAllIsSaidOnce) {
  write("bad.csv", "a,b,y\n1,2,no\n3,oops\n");
  write("good.csv", "a,b,y\n1,2,no\n3,4,yes\n5,1,no\n2,2,yes\n1,1,no\n4,4,yes\n");
  for (const auto& mpi : mpis_)
    for (const auto& [arguments, expected] :
         {std::pair{"fit bad.csv --output m", "bad.csv:3"},
          {"fit good.csv --model svm --output m", "share the rows of each model"},
          {"fit good.csv --model glm --solver saga --output m", "share the rows of each model"}}) {
      const auto outcome = launch(mpi, 3, arguments);
      EXPECT_NE(outcome.code, 0);
      const auto place = outcome.err.find(expected);
      EXPECT_NE(place, std::string::npos) << outcome.err;
      EXPECT_EQ(outcome.err.find(expected, place + 1), std::string::npos) << outcome.err;
      EXPECT_FALSE(std::filesystem::exists(path("m")));
    }
}

}  // namespace team_cli_test
}  // namespace sheaf::test
