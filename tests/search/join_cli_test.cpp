// sheaf search --join: any number of processes share a search, come, go and die, and its folder holds the same bytes.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "program.hpp"

namespace sheaf::test {
namespace join_cli_test {

using Json = nlohmann::json;

class JoinCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(shell("sheaf generate text t.svm --rows 200 --features 120 --nonzeros 4000 --seed 3 --quiet && "
                    "sheaf generate classification c.csv --rows 90 --features 6 --seed 4 --quiet && "
                    "sheaf generate regression r.csv --rows 80 --features 8 --seed 5 --quiet")
                  .code,
              0);
  }

  /// All files of a folder; of the settings all but the command, which is not compared either.
  std::map<std::string, std::string> files_of(const std::string& folder) const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path(folder)))
      all[entry.path().lexically_relative(path(folder)).string()] =
          entry.is_directory() ? "a folder" : file(entry.path().lexically_relative(path("")).string());
    auto settings = Json::parse(all.at("settings.json"));
    settings.erase("command");
    all["settings.json"] = settings.dump();
    return all;
  }
  void expect_same(const std::string& folder, const std::string& whole, const std::string& what) const {
    const auto found = files_of(folder);
    const auto wanted = files_of(whole);
    for (const auto& [name, bytes] : wanted) {
      ASSERT_TRUE(found.contains(name)) << what << ": " << name;
      EXPECT_TRUE(found.at(name) == bytes) << what << ": " << name;
    }
    for (const auto& [name, bytes] : found) EXPECT_TRUE(wanted.contains(name)) << what << ": " << name;
  }
  /// `count` processes at once; all must end well.
  Outcome join(const std::string& command, const std::string& folder, int count, const std::string& flags = "") const {
    std::string line = "pids=\n";
    for (int k = 0; k < count; ++k)
      line += "sheaf " + command + " --threads 1 --join " + folder + flags + " >" + std::to_string(k) +
              ".out 2>&1 & pids=\"$pids $!\"\n";
    return shell(line + "code=0; for p in $pids; do wait $p || { code=1; cat *.out; }; done; exit $code");
  }

  static constexpr const char* long_search =
      "search t.svm --model linear --cost 1e-3:1e3:20 --tolerance 1e-8 --batch 2 --outer 3 --memory 500M --quiet";
};

TEST_F(JoinCli, AnyNumberOfProcessesGiveTheBytesOfOne) {
  const std::vector<std::string> commands{
      "search t.svm --model linear --cost 1e-3:1e3:7 --batch 3",
      "search c.csv --model svm --cost 0.1,1,10 --gamma 0.01,0.1 --batch 2",
      "search c.csv --model knn --k 1,3,5,9 --outer 3 --batch 4",
      "search r.csv --model elastic-net --batch 20",
      "search c.csv --model linear --strategy refine --batch 2",
      "search c.csv",
      "select c.csv --model elastic-net --splits 6 --batch 4",
  };
  int number = 0;
  for (const auto& command : commands) {
    const auto whole = "whole" + std::to_string(++number);
    const auto quiet = command + " --memory 500M --quiet";
    ASSERT_EQ(shell("sheaf " + quiet + " --output " + whole).code, 0) << command;
    for (const int count : {1, 2, 3}) {
      const auto folder = whole + "-" + std::to_string(count);
      const auto outcome = join(quiet, folder, count);
      ASSERT_EQ(outcome.code, 0) << command << outcome.out << outcome.err;
      expect_same(folder, whole, command + ", processes: " + std::to_string(count));
    }
  }
}

/// Workers are killed at any moment, others come; in the end two finish.
TEST_F(JoinCli, KilledWorkersLoseNothing) {
  const std::string command(long_search);
  ASSERT_EQ(shell("sheaf " + command + " --output whole").code, 0);
  for (int round = 0; round < 3; ++round) {
    const auto folder = "killed" + std::to_string(round);
    const auto outcome = shell("victim() { \"$program\" " + command + " --threads 1 --lease 0.4 --join " + folder +
                               " & local pid=$!; sleep 0.$((RANDOM % 35 + 5)); kill -9 $pid; wait $pid; }\n"
                               "for k in 1 2 3 4; do victim & victim & wait; done 2>victims\n"
                               "sheaf " +
                               command + " --lease 0.4 --join " + folder + " & sheaf " + command +
                               " --lease 0.4 --join " + folder + " && wait $!");
    ASSERT_EQ(outcome.code, 0) << outcome.err << file("victims");
    expect_same(folder, "whole", "round " + std::to_string(round));
  }
}

/// A lease that expires while its holder lives: the unit stands in the result once.
TEST_F(JoinCli, AStoppedWorkerIsReplacedAndChangesNothing) {
  const std::string command(long_search);
  ASSERT_EQ(shell("sheaf " + command + " --output whole").code, 0);
  for (const std::string unit : {"batch-0", "batch-9", "results"}) {
    const auto folder = "stopped-" + unit;
    const auto outcome = shell("\"$program\" " + command + " --threads 1 --lease 0.4 --join " + folder +
                               " & first=$!\n"
                               "until [ -e " +
                               folder + "/units/" + unit + ".lease-0 ] || [ -e " + folder +
                               "/results.json ]; do :; done\n"
                               "kill -STOP $first\n"
                               "sheaf " +
                               command + " --lease 0.4 --join " + folder +
                               " || exit 1\n"
                               "kill -CONT $first; wait $first");
    ASSERT_EQ(outcome.code, 0) << unit << outcome.err;
    expect_same(folder, "whole", unit);
  }
}

TEST_F(JoinCli, GoesOnWithWhatOthersBegan) {
  const std::string command(long_search);
  ASSERT_EQ(shell("sheaf " + command + " --output whole").code, 0);
  const auto killed = [&](const std::string& how, const std::string& until) {
    const auto outcome = shell("\"$program\" " + command + how + " & victim=$!\nuntil " + until +
                               "; do sleep 0.002; done; kill -9 $victim; wait $victim");
    EXPECT_EQ(outcome.code, 137) << outcome.err;
  };
  // A search of one process is joined, torn as it is.
  killed(" --output a", "[ -e a/journal.txt ] && [ $(wc -l <a/journal.txt) -ge 9 ]");
  ASSERT_EQ(shell("printf '0123456789abcdef {\"unit\"' >>a/journal.txt").code, 0);
  ASSERT_EQ(join(command, "a", 2).code, 0);
  expect_same("a", "whole", "joined");
  // Joined processes that were killed are continued by one process alone.
  killed(" --join b", "[ -e b/units/batch-8 ]");
  EXPECT_TRUE(complains(shell("sheaf " + command + " --output b"), 1, {"b: exists already", "--resume"}));
  const auto resumed = shell("sheaf " + command.substr(0, command.find(" --quiet")) + " --output b --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("batches were finished before"), std::string::npos) << resumed.err;
  EXPECT_TRUE(file("b/results.json") == file("whole/results.json"));
  EXPECT_FALSE(exists("b/units"));
  // One that is finished is finished again.
  ASSERT_EQ(join(command, "a", 2).code, 0);
  expect_same("a", "whole", "again");
  ASSERT_EQ(shell("sheaf " + command + " --output a --force").code, 0);
  expect_same("a", "whole", "begun again");
}

TEST_F(JoinCli, OnlyTheSameSearchIsJoined) {
  const std::string command = "sheaf search t.svm --model linear --cost 1,10 --quiet --join d ";
  ASSERT_EQ(shell(command).code, 0);
  EXPECT_TRUE(complains(shell(command + "--folds 4"), 1, {"options/folds was 5 then and is 4 now"}));
  EXPECT_TRUE(complains(shell(command + "--output e"), 2, {"--join", "leave out --output"}));
  EXPECT_TRUE(complains(shell(command + "--resume"), 2, {"--join", "leave out --resume"}));
  EXPECT_TRUE(complains(shell(command + "--lease 0"), 2, {"lease", "0.1"}));
  EXPECT_TRUE(
      complains(shell("flock d/journal.txt -c '\"'\"$program\"'\" search t.svm --model linear --cost 1,10 --join d'"),
                1, {"another process is at work"}));
  EXPECT_TRUE(complains(
      shell(
          "flock -s d/journal.txt -c '\"'\"$program\"'\" search t.svm --model linear --cost 1,10 --output d --force'"),
      1, {"another process is at work"}));
  ASSERT_EQ(shell("mkdir other && touch other/thing").code, 0);
  EXPECT_TRUE(complains(shell("sheaf search t.svm --join other"), 1, {"no search"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --join new --score rmse"), 2, {"rmse"}));
  EXPECT_FALSE(exists("new")) << "a process that fails alone leaves nothing";
}

/// The disk of one worker is full; the others finish.
TEST_F(JoinCli, AWorkerThatFailsGivesItsBatchBack) {
  const std::string command(long_search);
  ASSERT_EQ(shell("sheaf " + command + " --output whole").code, 0);
  const auto outcome = shell("(trap '' XFSZ; ulimit -f 1; exec \"$program\" " + command +
                             " --join d 2>failed) & first=$!\n"
                             "sheaf " +
                             command +
                             " --join d || exit 2\n"
                             "wait $first; echo $?");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  expect_same("d", "whole", file("failed"));
}

/// All processes end the search after the same round.
TEST_F(JoinCli, TimeIsOverForAll) {
  const std::string command = "search c.csv --model svm --strategy refine --time 0.001 --memory 500M --quiet";
  ASSERT_EQ(join(command, "d", 3).code, 0);
  const auto results = Json::parse(file("d/results.json"));
  EXPECT_FALSE(exists("d/units"));
  EXPECT_NE(results["notes"].dump().find("was over before the search was"), std::string::npos);
}

/// The variables of launchers are enough; only the first rank prints.
TEST_F(JoinCli, ProcessesOfOneLaunchShareTheFolderOfOutput) {
  const std::string command = "search c.csv --model svm --cost 0.1,1,10 --gamma 0.01,0.1 --batch 2 --memory 500M";
  ASSERT_EQ(shell("sheaf " + command + " --output whole").code, 0);
  const std::vector<std::vector<std::string>> launchers{
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE"}};
  for (const auto& names : launchers) {
    const auto& folder = names.front();
    std::string line = "pids=\n";
    for (const std::string rank : {"2", "1", "0"})
      line += names[0] + "=" + rank + " " + names[1] + "=3 " + names[2] + "=3 \"$program\" " + command + " --output " +
              folder + " >" + rank + ".out 2>" + rank + ".err & pids=\"$pids $!\"\n";
    ASSERT_EQ(shell(line + "for p in $pids; do wait $p || exit 1; done").code, 0)
        << file("0.err") << file("1.err") << file("2.err");
    expect_same(folder, "whole", folder);
    EXPECT_EQ(file("1.out") + file("1.err") + file("2.out") + file("2.err"), "");
    EXPECT_NE(file("0.out") + file("0.err"), "");
  }
  // One that a launcher starts after the others have ended finds the results, and leaves nothing.
  const auto late = shell("PMI_RANK=2 PMI_SIZE=3 MPI_LOCALNRANKS=3 \"$program\" " + command + " --output PMI_RANK");
  EXPECT_EQ(late.code, 0) << late.err;
  expect_same("PMI_RANK", "whole", "late");
  const std::string two = "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 ";
  EXPECT_TRUE(complains(shell(two + "\"$program\" search c.csv"), 2, {"2 processes", "--output DIR"}));
  EXPECT_TRUE(
      complains(shell(two + "\"$program\" search c.csv --output x --force"), 2, {"--force is for one process"}));
}

}  // namespace join_cli_test
}  // namespace sheaf::test
