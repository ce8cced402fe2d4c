// Texts about features (taxonomy, gene symbol) from files to results: with the formats that hold them, and from a file
// of their own.
#include <string>
#include <vector>

#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace annotations_cli_test {

class Annotations : public ProgramTest {
 protected:
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  /// 80 rows of six features, of which OTU_1 and OTU_2 decide.
  void write_table() const {
    std::string text = "id,OTU_1,OTU_2,OTU_3,OTU_4,OTU_5,OTU_6,disease\n";
    for (int i = 0; i < 80; ++i) {
      const int a = i * 7 % 13;
      const int b = i * 5 % 11;
      text += "s" + std::to_string(i) + "," + std::to_string(a) + "," + std::to_string(b);
      for (int j = 0; j < 4; ++j) text += "," + std::to_string((i * (j + 3) + j) % 5);
      text += a + b > 11 ? ",sick\n" : ",healthy\n";
    }
    write("table.csv", text);
    write("taxa.tsv",
          "Feature ID\ttaxonomy\tnote\n"
          "OTU_1\tk__Bacteria; p__Firmicutes\ta, b\n"
          "OTU_2\tk__Bacteria; p__Bacteroidetes\t\n"
          "OTU_3\tk__Archaea; p__Euryarchaeota\tc\n"
          "OTU_4\tk__Bacteria; p__Other\t\"said \"\"so\"\"\"\n"
          "OTU_6\tk__Bacteria; p__Last\td\n"
          "OTU_9\tk__Nobody\te\n");
  }
  void read_fine(const std::string& command) const {
    const auto outcome = shell(command);
    ASSERT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
  }
  /// The line of a file that begins with `begin`.
  std::string line_of(const std::string& name, const std::string& begin) const {
    for (const auto& line : lines_of(file(name)))
      if (line.starts_with(begin)) return line;
    return {};
  }
};

TEST_F(Annotations, StandInTablesOfFeatures) {
  write_table();
  const auto selected =
      shell("sheaf select table.csv --id id --count 6 --annotations taxa.tsv --csv s.csv --json --report s.html");
  ASSERT_EQ(selected.code, 0) << selected.err;
  EXPECT_TRUE(holds(selected.err, "1 of 6 features have no annotation in taxa.tsv: OTU_5")) << selected.err;
  const auto table = file("s.csv");
  EXPECT_TRUE(lines_of(table).front().ends_with(",redundancy,taxonomy,note")) << table;
  for (const auto& line : lines_of(table)) {
    if (holds(line, ",OTU_1,")) {
      EXPECT_TRUE(line.ends_with(",\"k__Bacteria; p__Firmicutes\",\"a, b\"")) << line;
    }
    if (holds(line, ",OTU_4,")) {
      EXPECT_TRUE(line.ends_with(R"("said ""so""")")) << line;
    }
    if (holds(line, ",OTU_5,")) {
      EXPECT_TRUE(line.ends_with(",,")) << line;
    }
  }
  EXPECT_TRUE(holds(file("s.html"), "<td>k__Archaea; p__Euryarchaeota</td>"));
  EXPECT_TRUE(holds(selected.out, "\"taxonomy\": \"k__Bacteria; p__Firmicutes\""));
}

TEST_F(Annotations, StayWithAModelAndItsResults) {
  write_table();
  read_fine(
      "sheaf search table.csv --id id --model elastic-net --annotations taxa.tsv --folds 3 --seed 1 "
      "--permutation-importance 2 --output found");
  const auto model = file("found/model.txt");
  EXPECT_TRUE(model.starts_with("sheaf-model 3\n")) << model;
  EXPECT_TRUE(holds(model, "about OTU_1\ntext k__Bacteria; p__Firmicutes\ntext a, b\n")) << model;
  EXPECT_TRUE(holds(line_of("found/coefficients.csv", "OTU_1,"), ",\"k__Bacteria; p__Firmicutes\",\"a, b\""));
  EXPECT_TRUE(holds(line_of("found/importance.csv", "OTU_2,"), ",\"k__Bacteria; p__Bacteroidetes\","));
  EXPECT_TRUE(holds(file("found/report.html"), "k__Bacteria; p__Firmicutes"));
  EXPECT_TRUE(holds(file("found/results.json"), "k__Bacteria; p__Firmicutes"));
  const auto fields = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  EXPECT_EQ(fields(line_of("found/coefficients.csv", "(intercept)")),
            fields(line_of("found/coefficients.csv", "feature")));

  // The dataset that is predicted says nothing: the texts are the model's.
  read_fine("sheaf predict table.csv --id id --model-file found/model.txt --output p.csv --explain why.csv");
  EXPECT_TRUE(lines_of(file("why.csv")).front().ends_with(",contribution,taxonomy,note"));
  EXPECT_TRUE(holds(file("why.csv"), "k__Bacteria; p__Firmicutes"));
}

TEST_F(Annotations, StandBesideTheLargestWeightsOfADescribedModel) {
  write_table();
  read_fine(
      "sheaf search table.csv --id id --model elastic-net --annotations taxa.tsv --folds 3 --seed 1 --output found");
  const auto text = shell("sheaf info found/model.txt");
  ASSERT_EQ(text.code, 0) << text.err;
  std::string line;
  for (const auto& one : lines_of(text.out))
    if (holds(one, " OTU_1 ")) line = one;
  EXPECT_TRUE(holds(line, "k__Bacteria; p__Firmicutes ") && line.ends_with(" a, b")) << text.out;
  EXPECT_TRUE(holds(text.out, "elastic-net: 6 features, 2 classes (sick, healthy)")) << text.out;

  const auto answer = nlohmann::json::parse(shell("sheaf info found/model.txt --json").out);
  EXPECT_EQ(answer["annotations"], (nlohmann::json{"taxonomy", "note"}));
  EXPECT_EQ(answer["label"], "disease");
  // The weights are those of the table that the search wrote: feature,weight ...
  const auto& weights = answer["largest_weights"][0]["weights"];
  ASSERT_GE(weights.size(), 2U);
  for (const auto& weight : weights) {
    const auto name = weight["name"].get<std::string>();
    const auto row = line_of("found/coefficients.csv", name + ",");
    EXPECT_DOUBLE_EQ(weight["weight"].get<double>(), std::stod(row.substr(name.size() + 1))) << row;
    EXPECT_EQ(weight.contains("annotations"), name != "OTU_5") << weight;
    if (name == "OTU_2") {
      EXPECT_EQ(weight["annotations"], (nlohmann::json{{"taxonomy", "k__Bacteria; p__Bacteroidetes"}})) << weight;
    }
  }
  EXPECT_TRUE(complains(shell("sheaf info found/model.txt --label disease"), 2, {"--label", "model"}));
  EXPECT_TRUE(complains(shell("head -c 200 found/model.txt >cut; sheaf info cut"), 1, {"cut"}));
}

TEST_F(Annotations, StandBesideWeightsOfFeaturesInADistance) {
  write_table();
  write("weights", "1\n2\n0\n0\n0.5\n0\n");
  read_fine(
      "sheaf fit table.csv --id id --model knn --k 3 --feature-weights weights --annotations taxa.tsv --output near");
  const auto answer = nlohmann::json::parse(shell("sheaf info near --json").out);
  EXPECT_EQ(answer["model"], "neighbors");
  const auto expected = nlohmann::json::parse(R"([
      {"position": 2, "name": "OTU_2", "weight": 2.0, "annotations": {"taxonomy": "k__Bacteria; p__Bacteroidetes"}},
      {"position": 1, "name": "OTU_1", "weight": 1.0,
       "annotations": {"taxonomy": "k__Bacteria; p__Firmicutes", "note": "a, b"}},
      {"position": 5, "name": "OTU_5", "weight": 0.5}])");
  EXPECT_EQ(answer["largest_weights"][0]["weights"], expected);
}

TEST_F(Annotations, OfASearchWithoutThemLeaveModelFilesAsTheyWere) {
  write_table();
  read_fine("sheaf fit table.csv --id id --output m");
  EXPECT_TRUE(file("m").starts_with("sheaf-model 2\n"));
}

TEST_F(Annotations, AreInTheFilesOfTheField) {
  write_table();
  read_fine("sheaf select table.csv --id id --count 3 --annotations taxa.tsv --csv expected.csv");
  std::vector<std::string> names{"table.sheaf"};
  if (shell("sheaf convert table.csv try.h5ad --id id").code == 0) names.insert(names.end(), {"t.h5ad", "t.biom"});
  for (const auto& name : names) {
    SCOPED_TRACE(name);
    read_fine("sheaf convert table.csv " + name + " --id id --annotations taxa.tsv");
    read_fine("sheaf select " + name + " --label disease --count 3 --storage dense --csv again.csv");
    auto expected = lines_of(file("expected.csv"));
    auto again = lines_of(file("again.csv"));
    ASSERT_EQ(again.size(), expected.size());
    for (std::size_t k = 1; k < expected.size(); ++k) {
      for (const std::string text : {"k__Bacteria; p__Firmicutes", "k__Bacteria; p__Bacteroidetes", "a, b"})
        EXPECT_EQ(holds(again[k], text), holds(expected[k], text)) << again[k];
    }
  }
  read_fine("sheaf convert table.csv t.mtx --id id --annotations taxa.tsv");
  EXPECT_EQ(line_of("t_features.tsv", "OTU_3"), "OTU_3\tk__Archaea; p__Euryarchaeota\tFeature");
}

TEST_F(Annotations, ThatDoNotFitAreErrors) {
  write_table();
  write("other.tsv", "gene\tsymbol\ng1\tA\ng2\tB\n");
  EXPECT_TRUE(complains(shell("sheaf select table.csv --annotations other.tsv --id id"), 1,
                        {"other.tsv", "none of its ids (gene: g1, g2)", "OTU_1"}));
  write("twice.tsv", "gene\tsymbol\nOTU_1\tA\nOTU_1\tB\n");
  EXPECT_TRUE(
      complains(shell("sheaf select table.csv --annotations twice.tsv --id id"), 1, {"twice.tsv:3", "stands twice"}));
  EXPECT_TRUE(complains(shell("sheaf select table.csv --annotations none.tsv --id id"), 1, {"none.tsv"}));
  EXPECT_TRUE(complains(shell("sheaf convert table.csv taxa.tsv --annotations taxa.tsv --id id"), 2, {"taxa.tsv"}));
}

}  // namespace annotations_cli_test
}  // namespace sheaf::test
