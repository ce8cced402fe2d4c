// sheaf distances --join: any number of processes write one matrix, come late, go and die, and it has the bytes of one.
#include <string>
#include <vector>

#include "program.hpp"

namespace sheaf::test {
namespace joined_distances_cli_test {

class JoinedDistances : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    std::string table = "a,b\n";
    for (int i = 0; i < 2000; ++i) table += std::to_string(i * 37 % 1009) + "," + std::to_string(i * 91 % 769) + "\n";
    write("t.csv", table);
    ASSERT_EQ(shell("sheaf " + command + " whole.npy").code, 0);
  }

  /// `count` processes at once; all must end well.
  Outcome join(const std::string& path, int count, const std::string& flags = "") const {
    std::string line = "pids=\n";
    for (int k = 0; k < count; ++k)
      line += "sheaf " + command + " " + path + " --join --threads 1 --lease 1" + flags + " >" + std::to_string(k) +
              ".out 2>&1 & pids=\"$pids $!\"\n";
    return shell(line + "code=0; for p in $pids; do wait $p || { code=1; cat *.out; }; done; rm *.out; exit $code");
  }
  /// Begins, and is killed after some blocks.
  void begin_and_kill(const std::string& path) const {
    const auto outcome = shell("\"$program\" " + command + " " + path + " --join --lease 1 & victim=$!\nuntil [ $(ls " +
                               path + ".units 2>/dev/null | grep -c '^rows.*[0-9]$') -ge 3 ]; do sleep 0.001; " +
                               "done; kill -9 $victim; wait $victim");
    ASSERT_EQ(outcome.code, 137) << "it ended before it was killed: " << outcome.err;
  }
  void expect_whole(const std::string& path) const {
    EXPECT_TRUE(file(path) == file("whole.npy")) << path;
    EXPECT_EQ(shell("ls | grep " + path).out, path + "\n");
  }

  // Blocks of 64 rows.
  const std::string command = "distances t.csv --label none --memory 16M --quiet";
};

TEST_F(JoinedDistances, AnyNumberOfProcessesWriteTheBytesOfOne) {
  for (const int count : {1, 2, 3}) {
    const auto path = std::to_string(count) + ".npy";
    const auto joined = join(path, count);
    ASSERT_EQ(joined.code, 0) << joined.out;
    expect_whole(path);
  }
  ASSERT_EQ(shell("sheaf " + command + " upper.npy --upper").code, 0);
  ASSERT_EQ(join("shared.npy", 2, " --upper").code, 0);
  EXPECT_EQ(shell("cmp upper.npy shared.npy").code, 0);
}

TEST_F(JoinedDistances, KilledProcessesLoseNothing) {
  begin_and_kill("d.npy");
  const auto joined = join("d.npy", 2);
  ASSERT_EQ(joined.code, 0) << joined.out;
  expect_whole("d.npy");
}

/// A file system may lose what a process wrote before it died: the first block is damaged here.
TEST_F(JoinedDistances, BlocksThatWereLostAreComputedAgain) {
  begin_and_kill("d.npy");
  ASSERT_EQ(shell("printf damaged | dd of=d.npy.partial bs=1 seek=2000 conv=notrunc 2>/dev/null").code, 0);
  const auto joined = join("d.npy", 2);
  ASSERT_EQ(joined.code, 0) << joined.out;
  expect_whole("d.npy");
}

TEST_F(JoinedDistances, OneThatComesLateFindsTheMatrix) {
  ASSERT_EQ(join("d.npy", 1).code, 0);
  const auto written = shell("stat -c %i d.npy").out;
  ASSERT_EQ(join("d.npy", 1).code, 0);
  expect_whole("d.npy");
  EXPECT_EQ(shell("stat -c %i d.npy").out, written) << "it was written again";
  EXPECT_TRUE(complains(shell("sheaf " + command + " d.npy --join --metric manhattan"), 1,
                        {"d.npy", "exists already", "something else"}));
  expect_whole("d.npy");
}

TEST_F(JoinedDistances, OnlyTheSameMatrixIsShared) {
  begin_and_kill("d.npy");
  EXPECT_TRUE(complains(shell("sheaf " + command + " d.npy --join --metric manhattan"), 1,
                        {"d.npy", "of another distance", "d.npy.units"}));
  EXPECT_TRUE(complains(shell("sheaf " + command + " d.npy"), 1, {"d.npy", "go on with --join"}));
  EXPECT_TRUE(complains(shell("sheaf " + command + " d.npy --join --resume"), 2, {"leave out --resume"}));
  ASSERT_EQ(join("d.npy", 1).code, 0);
  expect_whole("d.npy");
  write("e.npy.settings", "");
  EXPECT_TRUE(complains(shell("sheaf " + command + " e.npy --join"), 1, {"e.npy.settings", "does not share"}));
  EXPECT_FALSE(exists("e.npy.units"));
}

/// The variables of launchers are enough; only the first rank prints.
TEST_F(JoinedDistances, ProcessesOfOneLaunchShareTheMatrix) {
  std::string line = "pids=\n";
  for (const std::string rank : {"0", "1", "2"})
    line += "PMI_RANK=" + rank +
            " PMI_SIZE=3 MPI_LOCALNRANKS=3 \"$program\" distances t.csv --label none --memory 48M " + "d.npy >" + rank +
            ".out 2>&1 & pids=\"$pids $!\"\n";
  ASSERT_EQ(shell(line + "for p in $pids; do wait $p || exit 1; done").code, 0) << file("0.out") << file("1.out");
  expect_whole("d.npy");
  EXPECT_NE(file("0.out"), "");
  EXPECT_EQ(file("1.out") + file("2.out"), "");
}

}  // namespace joined_distances_cli_test
}  // namespace sheaf::test
