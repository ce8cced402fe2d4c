// Formats of whole matrices through the program itself: a dataset gives the same models whatever its file.
#include <string>
#include <vector>

#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace formats_cli_test {

class FormatsCli : public ProgramTest {
 protected:
  static bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  static std::string golden_file(const std::string& name) { return "'" + golden("formats/" + name) + "'"; }

  /// 60 samples of six features, of which the first two decide; ids, a label and a group.
  void write_table() const {
    std::string text = "id,a,b,c,d,e,f,subject,disease\n";
    for (int i = 0; i < 60; ++i) {
      const int a = i * 7 % 13 - 6;
      const int b = i * 5 % 11 - 5;
      text += "s" + std::to_string(i) + "," + std::to_string(a) + "," + std::to_string(b);
      for (int j = 0; j < 4; ++j) text += "," + std::to_string((i * (j + 3) + j) % 5 == 0 ? 0.25 * (i % 9) : 0.0);
      text += ",p" + std::to_string(i / 3) + (a + b > 0 ? ",sick\n" : ",healthy\n");
    }
    write("table.csv", text);
  }
  /// The files of formats that this build writes.
  std::vector<std::string> written() const {
    std::vector<std::string> names{"table.npz", "table.mtx", "table.mtx.gz"};
    for (const std::string name : {"table.h5ad", "table.biom"}) {
      const auto outcome = shell("sheaf convert table.csv " + name + " --label disease --group subject --id id");
      if (outcome.code == 0)
        names.push_back(name);
      else
        EXPECT_TRUE(holds(outcome.err, "libhdf5")) << outcome.err;
    }
    return names;
  }
};

TEST_F(FormatsCli, ADatasetGivesTheSameModelFromEveryFormat) {
  write_table();
  const std::string columns = " --label disease --group subject --id id";
  const auto fitted = shell("sheaf fit table.csv --output csv.model" + columns);
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  const auto expected = shell("sheaf predict table.csv --model-file csv.model --decisions --output - --id id");
  for (const auto& name : written()) {
    SCOPED_TRACE(name);
    ASSERT_EQ(shell("sheaf convert table.csv " + name + columns).code, 0);
    const std::string flags =
        std::string(" --label ") + (name == "table.npz" ? "y" : "disease") + " --group group --storage dense";
    const auto outcome = shell("sheaf fit " + name + " --output other.model" + flags);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto predicted = shell("sheaf predict table.csv --model-file other.model --decisions --output - --id id");
    EXPECT_EQ(predicted.out, expected.out) << predicted.err;
    const auto crossed =
        shell("sheaf predict " + name + " --model-file csv.model --decisions --output - --storage dense");
    EXPECT_EQ(crossed.out, expected.out) << crossed.err;
  }
}

TEST_F(FormatsCli, ASearchTakesItsLabelFromMetadata) {
  write_table();
  for (const auto& name : written())
    ASSERT_EQ(shell("sheaf convert table.csv " + name + " --ignore subject --label none --id id").code, 0);
  std::string metadata = "sample\tage\toutcome\n";
  for (int i = 59; i >= 1; --i)
    metadata += "s" + std::to_string(i) + "\t" + std::to_string(20 + i) + (i % 2 == 0 ? "\tyes\n" : "\tno\n");
  write("m.tsv", metadata);
  for (const auto& name : written()) {
    if (name == "table.npz") continue;
    ASSERT_EQ(shell("sheaf convert table.csv " + name + " --ignore subject,disease --label none --id id").code, 0);
    const auto outcome =
        shell("sheaf search " + name + " --metadata m.tsv --id sample --label outcome --folds 3 --seed 1 --json");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_TRUE(holds(outcome.err, "1 of 60 rows have no line in m.tsv and are left out: s0")) << outcome.err;
  }
  EXPECT_TRUE(complains(shell("sheaf search table.mtx --metadata m.tsv --id sample --label outcom"), 2,
                        {"'outcom'", "did you mean 'outcome'"}));
  EXPECT_TRUE(complains(shell("sheaf search table.mtx --metadata none.tsv --label outcome"), 1,
                        {"none.tsv", "cannot be opened"}));
  EXPECT_TRUE(complains(shell("sheaf convert table.mtx m.tsv --metadata m.tsv --label outcome"), 2, {"m.tsv"}));
}

TEST_F(FormatsCli, InfoDescribesFilesOfTheField) {
  for (const auto& [name, flags] : std::vector<std::pair<std::string, std::string>>{
           {"dense.npz", ""},
           {"table1.biom", "--label disease"},
           {"tenx", "--metadata " + golden_file("metadata.tsv") + " --label disease"},
           {"table.xlsx", "--sheet 'data & more' --label disease"}}) {
    const auto outcome = shell("sheaf info " + golden_file(name) + " --json " + flags);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto described = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(described["rows"], name == "tenx" ? 5 : 6) << name;
  }
}

TEST_F(FormatsCli, ConvertMakesOneFeatureOfEachLevelForFilesOfNumbers) {
  write("t.csv", "id,colour,x,label\na,red,1,u\nb,blue,2,v\nc,red,3,u\n");
  const auto outcome = shell("sheaf convert t.csv t.npz --id id && sheaf convert t.npz back.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto back = file("back.csv");
  EXPECT_TRUE(holds(back, "colour=red")) << back;
  EXPECT_TRUE(holds(back, "a,")) << back;
  EXPECT_FALSE(exists("t.npz.features")) << "an archive has names";
}

}  // namespace formats_cli_test
}  // namespace sheaf::test
