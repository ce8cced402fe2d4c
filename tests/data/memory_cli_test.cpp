// Commands hold the dataset once: neither its text nor a second copy beside it. Read from the system's figure of the
// largest memory that a process had.
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <sys/resource.h>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace memory_cli_test {

constexpr std::int64_t rows = 20000, features = 100;
constexpr std::int64_t mebi = 1 << 20;
constexpr std::int64_t matrix = rows * features * 8;

class MemoryCli : public ProgramTest {
 protected:
  /// A line at a time, since what this process holds counts for those that it starts.
  void write_table() const {
    ASSERT_EQ(shell("pwd").code, 0);
    std::ofstream file(shell("pwd").out.substr(0, shell("pwd").out.find('\n')) + "/t.csv");
    Random random(7);
    for (std::int64_t j = 0; j < features; ++j) file << 'f' << j << ',';
    file << "kind\n";
    for (std::int64_t i = 0; i < rows; ++i) {
      std::string line;
      for (std::int64_t j = 0; j < features; ++j) line += fmt::format("{:.17f},", random.normal());
      file << line << (random.uniform() < 0.5 ? "a\n" : "b\n");
    }
  }

  /// Memory of the largest process so far.
  static std::int64_t largest() {
    rusage usage{};
    getrusage(RUSAGE_CHILDREN, &usage);
    return usage.ru_maxrss * 1024;
  }
};

TEST_F(MemoryCli, CommandsHoldTheDatasetOnce) {
  write_table();
  const auto program = largest();  // of a shell
  ASSERT_LT(program, 40 * mebi) << "this process is too large to see what those that it starts take";
  // The text has 40 MiB, the matrix 15.3 MiB, and the program with its libraries and buffers less than 32.
  const std::int64_t limit = matrix * 5 / 4 + 32 * mebi;
  for (const std::string command :
       {"convert t.csv out.csv", "scale t.csv out.csv", "bin t.csv out.csv", "info t.csv",
        "fit t.csv --model linear --scale none --output m", "predict t.csv --model-file m --output p.csv"}) {
    const auto outcome = shell("sheaf " + command + " --memory 24M --threads 2 --quiet");
    ASSERT_EQ(outcome.code, 0) << command << outcome.err;
    ASSERT_LE(largest(), limit) << command;
  }
  // A model of neighbours holds the rows again, and so does a search for them.
  for (const std::string command : {"fit t.csv --model knn --scale none --output m", "neighbors t.csv --output n.csv",
                                    "search t.csv --model linear --cost 1 --folds 2 --scale none --output a",
                                    "search t.csv --model knn --k 5 --folds 2 --scale none --output b"}) {
    const auto outcome = shell("sheaf " + command + " --memory 32M --threads 2 --quiet");
    ASSERT_EQ(outcome.code, 0) << command << outcome.err;
    ASSERT_LE(largest(), limit + matrix) << command;
  }
  const std::int64_t lists = 2 * rows * 51 * 12;  // neighbours of each row, and their distances
  // Steps before neighbours are applied to a copy of all rows, and to another one for each split that learns them.
  for (const std::string folds : {"", "--folds 2 "}) {
    const auto command = "sheaf search t.csv --model knn " + folds + "--output c --force --threads 2 --quiet --memory ";
    ASSERT_TRUE(complains(shell(command + "32M"), 1, {"the steps before the model", "46 MiB", "--memory 46M"}));
    ASSERT_FALSE(exists("c"));
    const auto outcome = shell(command + "48M");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    ASSERT_LE(largest(), (48 + 32) * mebi + lists) << folds;
    ASSERT_EQ(shell("rm -r c").code, 0);
  }
}

/// Before anything is done: what is needed, what was allowed, and what to do.
TEST_F(MemoryCli, ADatasetThatDoesNotFitIsRefusedAtOnce) {
  write_table();
  for (const std::string command : {"convert t.csv out.csv", "scale t.csv out.csv", "bin t.csv out.csv", "info t.csv",
                                    "fit t.csv --output m", "search t.csv --output found", "select t.csv --count 2",
                                    "neighbors t.csv --output n.csv", "distances t.csv d.npy"}) {
    const auto outcome = shell("sheaf " + command + " --memory 10M --quiet");
    EXPECT_TRUE(
        complains(outcome, 1, {"20,000 rows of 100 features take 16 MiB", "budget is 10.0 MiB", "--memory 16M"}))
        << command;
    EXPECT_EQ(shell("ls | grep -v t.csv").out, "") << command;
  }
}

/// Pages of a mapped file are the system's to take back: they do not count.
TEST_F(MemoryCli, LinearModelsTrainOnAMappedFileThatIsLargerThanTheBudget) {
  write_table();
  ASSERT_EQ(shell("sheaf convert t.csv t.sheaf --quiet").code, 0);
  for (const std::string model : {"linear", "glm"}) {
    for (const std::string budget : {"8M", "1G"}) {
      const auto outcome = shell("sheaf fit t.sheaf --scale none --quiet --memory " + budget + " --output " + budget +
                                 " --model " + model);
      ASSERT_EQ(outcome.code, 0) << model << ' ' << budget << outcome.err;
    }
    EXPECT_EQ(file("8M"), file("1G")) << model;
  }
  EXPECT_TRUE(
      complains(shell("sheaf fit t.csv --scale none --output m --memory 8M --quiet"), 1, {"budget is 8.0 MiB"}));
}

}  // namespace memory_cli_test
}  // namespace sheaf::test
