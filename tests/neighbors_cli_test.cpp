// sheaf neighbors, sheaf distances, and models of neighbours, as people and scripts meet them.
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "devices.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace {

using Json = nlohmann::json;

class NeighborsCli : public ProgramTest {
 protected:
  std::vector<double> doubles(const std::string& name) const {
    const auto bytes = file(name);
    const auto header = bytes.find('\n') + 1;
    std::vector<double> values((bytes.size() - header) / sizeof(double));
    std::memcpy(values.data(), bytes.data() + header, values.size() * sizeof(double));
    return values;
  }
};

const std::string corners = "east,north,kind\n0,0,a\n3,0,a\n0,4,b\n3,4,b\n";

TEST_F(NeighborsCli, ListsAsCsvJsonAndNumPy) {
  write("t.csv", corners);
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    const auto csv = shell("sheaf neighbors t.csv --k 2" + on);
    ASSERT_EQ(csv.code, 0) << csv.err;
    EXPECT_EQ(csv.out,
              "query,rank,index,distance\n0,1,1,3\n0,2,2,4\n1,1,0,3\n1,2,3,4\n2,1,3,3\n2,2,0,4\n3,1,2,3\n3,2,1,4\n");
    const auto json = Json::parse(shell("sheaf neighbors t.csv --radius 3 --output-format json" + on).out);
    EXPECT_EQ(json[2]["indices"], Json{3});
    EXPECT_EQ(json[2]["distances"], Json{3.0});
    ASSERT_EQ(shell("sheaf neighbors t.csv --k 1 --include-self --output n.npy" + on).code, 0);
    const auto bytes = file("n.npy");
    EXPECT_TRUE(bytes.starts_with("\x93NUMPY"));
    EXPECT_NE(bytes.find("('query', '<i4'), ('index', '<i4'), ('distance', '<f8')"), std::string::npos);
    EXPECT_EQ((bytes.find('\n') + 1) % 64, 0U);
    EXPECT_EQ(bytes.size() - bytes.find('\n') - 1, 4U * 16U);
  }
}

TEST_F(NeighborsCli, BinaryFilesAreAsDocumented) {
  write("t.csv", corners);
  ASSERT_EQ(shell("sheaf neighbors t.csv --k 1 --output n.bin").code, 0);
  const auto bytes = file("n.bin");
  ASSERT_EQ(bytes.substr(0, 8), "SHEAFNN1");
  std::int64_t numbers[7];
  std::memcpy(numbers, bytes.data() + 8, sizeof numbers);
  EXPECT_EQ(std::vector<std::int64_t>(numbers, numbers + 7), (std::vector<std::int64_t>{4, 4, 0, 1, 2, 3, 4}));
  std::int32_t indices[4];
  std::memcpy(indices, bytes.data() + 8 + sizeof numbers, sizeof indices);
  EXPECT_EQ(indices[3], 2);
  double distances[4];
  std::memcpy(distances, bytes.data() + 8 + sizeof numbers + sizeof indices, sizeof distances);
  EXPECT_EQ(distances[3], 3);
  EXPECT_EQ(bytes.size(), 8 + sizeof numbers + sizeof indices + sizeof distances);
}

TEST_F(NeighborsCli, OtherQueriesAndWeights) {
  write("t.csv", corners);
  write("q.csv", "east,north,kind\n3,1,a\n");
  write("w", "0\n1\n");
  const auto near =
      shell("sheaf neighbors t.csv --queries q.csv --label kind --k 1 --metric manhattan --feature-weights w");
  EXPECT_EQ(near.out, "query,rank,index,distance\n0,1,0,1\n") << near.err;
}

TEST_F(NeighborsCli, DistancesAreWrittenWholeOrAboveTheDiagonal) {
  write("t.csv", corners);
  ASSERT_EQ(shell("sheaf distances t.csv d.npy").code, 0);
  EXPECT_EQ(doubles("d.npy"), (std::vector<double>{0, 3, 4, 5, 3, 0, 5, 4, 4, 5, 0, 3, 5, 4, 3, 0}));
  EXPECT_NE(file("d.npy").find("'shape': (4, 4)"), std::string::npos);
  ASSERT_EQ(shell("sheaf distances t.csv u.npy --upper").code, 0);
  EXPECT_EQ(doubles("u.npy"), (std::vector<double>{3, 4, 5, 5, 4, 3}));
  EXPECT_NE(file("u.npy").find("'shape': (6,)"), std::string::npos);
  EXPECT_EQ(listing(), (std::vector<std::string>{"d.npy", "t.csv", "u.npy"}));
}

/// Whatever prefix an ended run left behind, torn in the middle of a number too.
TEST_F(NeighborsCli, DistancesGoOnToTheSameBytes) {
  write("t.csv", corners);
  for (const std::string flags : {"", " --upper"}) {
    ASSERT_EQ(shell("sheaf distances t.csv whole.npy" + flags).code, 0);
    const auto whole = file("whole.npy");
    // A run that fails at its end leaves its settings: the name that it would take is that of a folder.
    ASSERT_EQ(shell("mkdir d.npy && ! sheaf distances t.csv d.npy" + flags + "; rmdir d.npy").code, 0);
    for (const auto bytes : {std::size_t{0}, std::size_t{5}, whole.size() - 21, whole.size()}) {
      ASSERT_EQ(shell("cp d.npy.settings s").code, 0);
      write("d.npy.partial", whole.substr(0, bytes));
      const auto resumed = shell("sheaf distances t.csv d.npy --resume" + flags);
      ASSERT_EQ(resumed.code, 0) << resumed.err;
      EXPECT_TRUE(file("d.npy") == whole) << bytes;
      ASSERT_EQ(shell("rm d.npy; cp s d.npy.settings").code, 0);
    }
    write("d.npy.partial", whole);
    EXPECT_TRUE(complains(shell("sheaf distances t.csv d.npy --resume --metric manhattan" + flags), 1,
                          {"d.npy.partial", "was begun with other rows or another distance"}));
    ASSERT_EQ(shell("rm d.npy.*").code, 0);
  }
}

TEST_F(NeighborsCli, MistakesAreAnsweredInOneLine) {
  write("t.csv", corners);
  EXPECT_TRUE(complains(shell("sheaf neighbors t.csv --k 4"), 2, {"4 neighbours", "only 3 others"}));
  EXPECT_TRUE(complains(shell("sheaf neighbors t.csv --k 1 --radius 2"), 2, {"give one of them"}));
  EXPECT_TRUE(complains(shell("sheaf neighbors t.csv --metric euclid"), 2, {"unknown metric 'euclid'", "euclidean"}));
  EXPECT_TRUE(complains(shell("sheaf neighbors t.csv --output-format xml"), 2, {"unknown format of lists 'xml'"}));
  EXPECT_TRUE(complains(shell("sheaf distances t.csv -"), 2, {"to a file"}));
  EXPECT_TRUE(complains(shell("sheaf distances t.csv d.npy --upper --queries t.csv"), 2, {"among themselves"}));
  write("w", "1\n-2\n");
  EXPECT_TRUE(complains(shell("sheaf neighbors t.csv --k 1 --feature-weights w"), 1, {"w:2", "0 or more"}));
}

TEST_F(NeighborsCli, FitPredictAndSearch) {
  write("t.csv", "east,north,kind\n0,0,a\n1,0,a\n0,1,a\n1,1,a\n9,9,b\n9,8,b\n8,9,b\n8,8,b\n");
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    for (const std::string model : {"knn", "hknn", "alh", "cknn"}) {
      const auto fit = shell("sheaf fit t.csv --model " + model + " --k 3 --output m" + on);
      ASSERT_EQ(fit.code, 0) << fit.err;
      EXPECT_TRUE(file("m").starts_with("sheaf-model 1\nfamily neighbors\n"));
      EXPECT_TRUE(shell("sheaf predict t.csv --model-file m" + on).out.starts_with("accuracy 100 % (8 of 8)\n"));
    }
    const auto found = shell(
        "sheaf search t.csv --model knn --k 1:3 --vote uniform,gaussian --metric euclidean,cosine "
        "--folds 2 --force --output found --json" +
        on);
    ASSERT_EQ(found.code, 0) << found.err;
    const auto answer = Json::parse(found.out);
    EXPECT_EQ(answer["model"], "neighbors");
    EXPECT_EQ(answer["points"].size(), 12U);
    EXPECT_EQ(answer["chosen"]["metric"], "euclidean");
    EXPECT_EQ(answer["chosen"]["accuracy"]["mean"], 1.0);
    EXPECT_TRUE(file("found/model.txt").starts_with("sheaf-model 1\nfamily neighbors\n"));
  }
}

}  // namespace
}  // namespace sheaf::test
