// sheaf neighbors, sheaf distances, and models of neighbours, as people and scripts meet them.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "devices.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace neighbors_cli_test {

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
    // A run that fails at its end leaves its settings: while it waits for its rows, the name of the matrix becomes that
    // of a folder.
    ASSERT_EQ(shell("mkfifo in; { exec 3>in; mkdir d.npy; cat t.csv >&3; } & ! sheaf distances in d.npy --format csv" +
                    flags + " && wait && rmdir d.npy && rm in")
                  .code,
              0);
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

/// Killed without warning while it writes, then resumed.
TEST_F(NeighborsCli, DistancesOfAKilledRunGoOnToTheSameBytes) {
  std::string table = "a,b\n";
  for (int i = 0; i < 3000; ++i) table += std::to_string(i * 37 % 1009) + "," + std::to_string(i * 91 % 769) + "\n";
  write("t.csv", table);
  ASSERT_EQ(shell("sheaf distances t.csv whole.npy --label none --memory 64M").code, 0);
  const auto killed = shell(
      "\"$program\" distances t.csv d.npy --label none --memory 64M & run=$!; "
      "while [ ! -s d.npy.partial ] && [ ! -e d.npy ]; do :; done; kill -9 $run; wait $run; true");
  ASSERT_EQ(killed.code, 0);
  if (exists("d.npy")) GTEST_SKIP() << "the run ended before it could be killed";
  const auto resumed = shell("sheaf distances t.csv d.npy --label none --memory 64M --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(shell("cmp whole.npy d.npy").code, 0);
}

/// A device may be named once; several share the work to the same bytes.
TEST_F(NeighborsCli, DistancesAreSharedByDevices) {
  write("t.csv", corners);
  ASSERT_EQ(shell("sheaf distances t.csv d.npy").code, 0);
  EXPECT_TRUE(complains(shell("sheaf distances t.csv e.npy --device cpu+cpu"), 2, {"cpu twice"}));
  for (const Device device : devices()) {
    if (device.is_cpu()) continue;
    ASSERT_EQ(shell("sheaf distances t.csv e.npy --device cpu+" + to_string(device)).code, 0);
    EXPECT_TRUE(file("e.npy") == file("d.npy"));
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
    for (const std::string model : {"knn", "hknn", "alh", "cknn", "local-svm", "falk-svm"}) {
      const auto fit = shell("sheaf fit t.csv --model " + model + " --k 3 --output m" + on);
      ASSERT_EQ(fit.code, 0) << fit.err;
      EXPECT_TRUE(file("m").starts_with("sheaf-model 2\nfamily neighbors\n"));
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
    EXPECT_TRUE(file("found/model.txt").starts_with("sheaf-model 2\nfamily neighbors\n"));
    // A plot for each metric, with a curve for each vote.
    const auto page = file("found/report.html");
    for (const auto* part : {"Accuracy of each k, metric euclidean", "Accuracy of each k, metric cosine",
                             "curve,k,mean,", "\nuniform,1,", "\ngaussian,3,"})
      EXPECT_NE(page.find(part), std::string::npos) << part;
  }
}

TEST_F(NeighborsCli, LocalSvmsAreSearchedOverKCostAndGamma) {
  write("t.csv", "east,north,kind\n0,0,a\n1,0,a\n0,1,a\n1,1,a\n9,9,b\n9,8,b\n8,9,b\n8,8,b\n");
  for (const Device device : devices()) {
    const auto found = shell(
        "sheaf search t.csv --model falk-svm --kernel rbf --k 2,4,100 --cost 0.1,10 --gamma 0.1,1 --folds 2 --force "
        "--output found --json --device " +
        to_string(device));
    ASSERT_EQ(found.code, 0) << found.err;
    const auto answer = Json::parse(found.out);
    EXPECT_EQ(answer["points"].size(), 12U);
    EXPECT_EQ(answer["chosen"]["accuracy"]["mean"], 1.0);
    EXPECT_TRUE(answer["chosen"].contains("cost"));
    EXPECT_TRUE(answer["chosen"].contains("gamma"));
    EXPECT_NE(file("found/model.txt").find("\nrule falk-svm\n"), std::string::npos);
  }
  // A threshold of 0 leaves the model's own decision.
  ASSERT_EQ(shell("sheaf fit t.csv --model local-svm --k 4 --output m").code, 0);
  ASSERT_EQ(shell("sheaf predict t.csv --model-file m --output p && sheaf predict t.csv --model-file m --threshold 0 "
                  "--output q && cmp p q")
                .code,
            0);
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model knn --cost 2"), 2,
                        {"cost is for the models local-svm and falk-svm, not knn"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model local-svm --vote gaussian"), 2,
                        {"vote is for the models knn", "not local-svm"}));
  EXPECT_TRUE(complains(shell("sheaf search t.csv --model local-svm --gamma 1,2 --output f"), 2, {"gamma", "linear"}));
}

/// The rows that determine a prediction, compared with votes counted by hand.
TEST_F(NeighborsCli, PredictionsNameTheRowsThatDecide) {
  write("t.csv", "east,north,kind\n0,0,a\n3,0,a\n0,4,b\n9,9,b\n");
  write("q.csv", "id,east,north\nx,0,0\n\"y,z\",3,4\n");
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    ASSERT_EQ(shell("sheaf fit t.csv --model knn --k 3 --output m" + on).code, 0);
    const auto run = shell("sheaf predict q.csv --model-file m --keep id --explain why.csv" + on);
    ASSERT_EQ(run.code, 0) << run.err;
    const std::string third = "0.3333333333333333";
    EXPECT_EQ(file("why.csv"), "id,row,prediction,neighbour,label,distance,vote\nx,1,a,1,a,0," + third +
                                   "\nx,1,a,2,a,3," + third + "\nx,1,a,3,b,4," + third + "\n\"y,z\",2,a,3,b,3," +
                                   third + "\n\"y,z\",2,a,2,a,4," + third + "\n\"y,z\",2,a,1,a,5," + third + "\n");
    ASSERT_EQ(shell("sheaf predict q.csv --model-file m --keep id --explain why.csv --explain-count 1" + on).code, 0);
    EXPECT_EQ(file("why.csv"), "id,row,prediction,neighbour,label,distance,vote\nx,1,a,1,a,0," + third +
                                   "\n\"y,z\",2,a,3,b,3," + third + "\n");
    ASSERT_EQ(shell("sheaf fit t.csv --model knn --k 2 --vote inverse-distance --output m" + on).code, 0);
    ASSERT_EQ(shell("sheaf predict q.csv --model-file m --keep id --explain why.csv" + on).code, 0);
    // 1/3 and 1/4 of their sum.
    EXPECT_NE(file("why.csv").find("x,1,a,1,a,0,1\nx,1,a,2,a,3,0\n"), std::string::npos) << file("why.csv");
    EXPECT_NE(file("why.csv").find("2,b,3,b,3,0.571428571428571"), std::string::npos) << file("why.csv");
    for (const std::string model : {"hknn", "cknn", "local-svm", "falk-svm"}) {
      ASSERT_EQ(shell("sheaf fit t.csv --model " + model + " --k 2 --output m" + on).code, 0);
      ASSERT_EQ(shell("sheaf predict q.csv --model-file m --explain why.csv" + on).code, 0);
      EXPECT_TRUE(file("why.csv").starts_with("row,prediction,neighbour,label,distance,vote\n1,a,1,a,0,\n1,a,2,a,3,\n"))
          << model << "\n"
          << file("why.csv");
    }
  }
  // By features: the share of votes for the predicted class, against that of the mean row (3, 3.25). Votes of three
  // rows for a: of the mean row 1 2 3 (a a b), as of both queries, whose features then add nothing.
  ASSERT_EQ(shell("sheaf fit t.csv --model knn --k 3 --scale none --output m").code, 0);
  ASSERT_EQ(shell("sheaf predict q.csv --model-file m --explain why.csv --explain-by features").code, 0);
  EXPECT_EQ(file("why.csv"),
            "row,prediction,decision for,feature,value,contribution\n1,a,a,(intercept),,0.6666666666666666\n"
            "1,a,a,(others),,0\n2,a,a,(intercept),,0.6666666666666666\n2,a,a,(others),,0\n");
}

/// Without the weight of 0 for the north, the first query is nearer to another row, of another class.
TEST_F(NeighborsCli, ExplanationsSayWhatFeatureWeightsChange) {
  write("t.csv", "east,north,kind\n0,0,a\n3,0,a\n0,4,b\n9,9,b\n");
  write("q.csv", "east,north,kind\n0,3,b\n3,0,a\n");
  write("w", "1\n0\n");
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    ASSERT_EQ(shell("sheaf fit t.csv --model knn --k 1 --weighting given --feature-weights w --output m" + on).code, 0);
    const auto run = shell("sheaf predict q.csv --model-file m --explain why.csv" + on);
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(file("why.csv"),
              "row,prediction,neighbour,label,distance,vote,rank without weights,prediction without weights\n"
              "1,a,1,a,0,1,,b\n2,a,2,a,0,1,1,a\n");
    EXPECT_NE(run.out.find("the feature weights changed 1 of 2 predictions; 1 of 2 neighbours would decide without "
                           "them too\n"),
              std::string::npos)
        << run.out;
    const auto json = Json::parse(shell("sheaf predict q.csv --model-file m --explain why.csv --json" + on).out);
    EXPECT_EQ(json["feature_weights"], (Json{{"neighbours", 2}, {"neighbours_kept", 1}, {"predictions_changed", 1}}));
  }
}

/// Each row by all others, and reported; folds if they are requested.
TEST_F(NeighborsCli, ASearchOverVotesLeavesOneOut) {
  write("t.csv", "east,north,kind\n0,0,a\n1,0,a\n0,1,a\n1,1,a\n5,5,a\n9,9,b\n9,8,b\n8,9,b\n8,8,b\n4,4,b\n");
  const auto found = shell("sheaf search t.csv --model knn --scale none --k 1 --output found --json");
  ASSERT_EQ(found.code, 0) << found.err;
  const auto answer = Json::parse(found.out);
  EXPECT_EQ(answer["split"], "loo");
  EXPECT_EQ(answer["chosen"]["accuracy"]["mean"], 0.8) << "the two in the middle are each other's nearest";
  EXPECT_NE(answer["notes"].dump().find("each row is predicted by all others"), std::string::npos);
  const auto folds =
      Json::parse(shell("sheaf search t.csv --model knn --scale none --k 1 --folds 5 --output folds --json").out);
  EXPECT_EQ(folds["split"], "stratified");
  // Parts of two rows, each predicted by nine: the correction of Nadeau and Bengio is 1 / 5 + 2 / 9.
  ASSERT_EQ(shell("sheaf search t.csv --model knn --scale none --k 9 --output more").code, 0);
  const auto compared = Json::parse(shell("sheaf compare found more --json").out);
  std::vector<double> apart;
  double mean = 0, squares = 0;
  for (std::size_t part = 0; part < 5; ++part) {
    apart.push_back(compared["first"][part].get<double>() - compared["second"][part].get<double>());
    mean += apart.back() / 5;
  }
  for (const double one : apart) squares += (one - mean) * (one - mean);
  ASSERT_GT(squares, 0);
  EXPECT_NEAR(compared["standard_error"].get<double>(), std::sqrt((1.0 / 5 + 2.0 / 9) * squares / 4), 1e-12);
  EXPECT_TRUE(complains(shell("sheaf compare found folds"), 1, {"split"}));
}

}  // namespace neighbors_cli_test
}  // namespace sheaf::test
