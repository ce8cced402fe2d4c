// sheaf select and sheaf bin as people and scripts meet them: what they write, their errors, and FEAST's own choices.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <sheaf/selection.hpp>

#include "devices.hpp"
#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace select_cli_test {

using Json = nlohmann::json;
using Names = std::vector<std::string>;
using Indices = std::vector<std::int64_t>;

class SelectCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(shell("sheaf generate genes g.arff --rows 60 --features 80 --informative 6 --seed 3 --quiet").code, 0);
  }
  Json selected(const std::string& arguments) const {
    const auto outcome = shell("sheaf select --quiet --json " + arguments);
    EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
    return outcome.code == 0 ? Json::parse(outcome.out) : Json{{"selected", Json::array()}};
  }
  static Indices indices(const Json& json) {
    Indices result;
    for (const auto& row : json["selected"]) result.push_back(row["index"].get<std::int64_t>());
    return result;
  }
};

TEST_F(SelectCli, TellsTheSameEverywhere) {
  const auto outcome = shell("sheaf select g.arff --count 12 --csv s.csv --report s.html");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto json = Json::parse(shell("sheaf select g.arff --count 12 --json").out);
  EXPECT_EQ(json["rows"], 60);
  EXPECT_EQ(json["features"], 80);
  EXPECT_EQ(json["asked"]["criterion"], "jmi");
  EXPECT_EQ(json["asked"]["count"], 12);
  EXPECT_EQ(json["binning"]["method"], "automatic");
  EXPECT_EQ(json["binning"]["bins"], 3);
  EXPECT_EQ(json["binning"]["automatic"], true);
  ASSERT_EQ(json["selected"].size(), 12U);
  std::istringstream csv(file("s.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_EQ(line, "rank,index,name,score,gain,relevance,redundancy");
  std::set<std::int64_t> seen;
  for (const auto& row : json["selected"]) {
    EXPECT_TRUE(seen.insert(row["index"].get<std::int64_t>()).second);
    const auto name = row["name"].get<std::string>();
    EXPECT_NE(outcome.out.find(name), std::string::npos);
    std::getline(csv, line);
    EXPECT_EQ(line.substr(line.find(',') + 1).rfind(row["index"].dump() + "," + name + ",", 0), 0U) << line;
    EXPECT_GE(row["relevance"].get<double>(), 0);
    EXPECT_GE(row["redundancy"].get<double>(), 0);
  }
  EXPECT_EQ(listing(), (Names{"g.arff", "s.csv", "s.html"}));
}

TEST_F(SelectCli, TheReportLoadsNothing) {
  ASSERT_EQ(shell("sheaf select g.arff --count 5 --report one.html --quiet").code, 0);
  ASSERT_EQ(shell("sheaf select g.arff --count 5 --resamples 4 --report many.html --quiet").code, 0);
  for (const char* name : {"one.html", "many.html"}) {
    const auto page = file(name);
    EXPECT_TRUE(page.ends_with("</html>\n"));
    for (const char* title : {"Relevance and redundancy", "Information they share", "All selected", "tumour"})
      EXPECT_NE(page.find(title), std::string::npos) << title;
    for (const char* word : {"src=", "href=", "<script ", "@import", "url(", ">nan", ">inf"})
      EXPECT_EQ(page.find(word), std::string::npos) << word;
  }
  EXPECT_NE(file("one.html").find("Score of each pick"), std::string::npos);
  EXPECT_NE(file("many.html").find("stability"), std::string::npos);
}

TEST_F(SelectCli, AppliesTheChoiceInTheFormatOfTheInput) {
  ASSERT_EQ(shell("sheaf convert g.arff g.csv --quiet && sheaf convert g.arff g.svm --quiet").code, 0);
  for (const std::string ending : {"arff", "csv", "svm"}) {
    const auto json = selected("g." + ending + " --count 3 --apply reduced." + ending);
    ASSERT_EQ(shell("sheaf select g." + ending + " --count 3 --apply reduced --quiet").code, 0);
    EXPECT_EQ(file("reduced"), file("reduced." + ending)) << "without an ending: as the input";
    const auto info = Json::parse(shell("sheaf info --json reduced." + ending).out);
    EXPECT_EQ(info["rows"], 60);
    EXPECT_EQ(info["features"].get<int>() - info["zero_features"].get<int>(), 3) << "LIBSVM keeps their indices";
    EXPECT_EQ(info["label"]["classes"], Json::parse(shell("sheaf info --json g." + ending).out)["label"]["classes"]);
    if (ending == "svm") continue;
    ASSERT_EQ(shell("sheaf convert reduced." + ending + " r.csv --quiet").code, 0);
    std::string head;
    for (const auto& row : json["selected"]) head += row["name"].get<std::string>() + ",";
    EXPECT_EQ(file("r.csv").substr(0, head.size()), head) << "in the order of their ranks";
  }
}

TEST_F(SelectCli, ReducedTablesHoldTheColumnsOfTheOriginal) {
  write("t.arff",
        "@relation t\n@attribute a numeric\n@attribute 'b b' {red,'pale blue'}\n@attribute c numeric\n"
        "@attribute y {yes,no}\n@data\n1,red,5,no\n2,'pale blue',?,yes\n3,red,7,no\n4,'pale blue',8,yes\n");
  ASSERT_EQ(shell("sheaf select t.arff --missing bin --count 3 --apply r.arff --csv - --quiet >list").code, 0);
  const auto table = file("r.arff");
  EXPECT_NE(table.find("@attribute 'b b' {red,'pale blue'}\n"), std::string::npos) << table;
  EXPECT_NE(table.find("@attribute y {yes,no}\n"), std::string::npos) << table;
  EXPECT_NE(table.find("?"), std::string::npos) << "missing values stay missing\n" << table;
  EXPECT_EQ(shell("sheaf select t.arff --missing bin --apply - --quiet").out, table);
}

TEST_F(SelectCli, SparseDenseAndAnyNumberOfThreadsChooseAlike) {
  ASSERT_EQ(shell("sheaf generate text t.svm --rows 300 --features 400 --nonzeros 6000 --seed 3 --quiet").code, 0);
  for (const std::string binning :
       {"--bins 64", "--bins 5 --binning equal-frequency", "--binning mdlp", "--bins as-given"})
    for (const std::string criterion : {"jmi", "mrmr", "cmim"}) {
      const auto arguments = "t.svm --criterion " + criterion + " " + binning;
      const auto one = selected(arguments + " --storage sparse --threads 1");
      EXPECT_EQ(one["selected"], selected(arguments + " --storage sparse --threads 2")["selected"]) << arguments;
      const auto dense = selected(arguments + " --storage dense");
      ASSERT_EQ(indices(one), indices(dense)) << arguments;
      for (std::size_t k = 0; k < dense["selected"].size(); ++k)
        EXPECT_NEAR(one["selected"][k]["score"].get<double>(), dense["selected"][k]["score"].get<double>(), 1e-12);
    }
}

TEST_F(SelectCli, SavedCutsGiveTheSameStates) {
  for (const std::string method : {"--bins 7", "--bins 7 --binning equal-frequency", "--binning mdlp"}) {
    const auto learnt = selected("g.arff --save-cuts cuts.txt " + method);
    const auto loaded = selected("g.arff --load-cuts cuts.txt");
    EXPECT_EQ(learnt["selected"], loaded["selected"]) << method;
    EXPECT_EQ(learnt["binning"]["method"], loaded["binning"]["method"]);
    ASSERT_EQ(shell("sheaf bin g.arff a.csv --quiet --save again.txt " + method).code, 0);
    EXPECT_EQ(file("again.txt"), file("cuts.txt"));
    ASSERT_EQ(shell("sheaf bin g.arff b.csv --quiet --load cuts.txt").code, 0);
    EXPECT_EQ(file("a.csv"), file("b.csv"));
    EXPECT_EQ(selected("a.csv --bins as-given")["selected"].size(), 10U);
  }
  ASSERT_EQ(shell("sheaf bin g.arff a.csv --quiet --bins 7").code, 0);
  EXPECT_EQ(selected("a.csv --bins as-given")["selected"], selected("g.arff --bins 7")["selected"]);
  write("bad.txt", "sheaf-cuts 1\nmethod equal-width\nmissing error\nfeatures 80\nnames no\nwidth 64 3 2\n");
  EXPECT_TRUE(complains(shell("sheaf select g.arff --load-cuts bad.txt"), 1, {"bad.txt:6:12: the highest value 2"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --load-cuts cuts.txt --bins 4"), 2, {"--load-cuts takes the bins"}));
}

TEST_F(SelectCli, BinWritesStates) {
  write("t.csv", "a,b,y\n0,?,1\n10,4,0\n5,2,1\n2,2,0\n");
  EXPECT_EQ(shell("sheaf bin t.csv - --bins 2 --missing bin --to csv --quiet").out,
            "a,b,y\n0,2,1\n1,1,0\n1,0,1\n0,0,0\n");
  EXPECT_EQ(shell("sheaf bin t.csv - --bins as-given --missing zero --to csv --quiet").out,
            "a,b,y\n0,0,1\n10,4,0\n5,2,1\n2,2,0\n");
  EXPECT_TRUE(complains(shell("sheaf bin t.csv out.csv"), 1, {"t.csv:2:3", "is missing"}));
  EXPECT_TRUE(complains(shell("sheaf bin t.csv out.csv --missing bun"), 2, {"did you mean bin?"}));
  EXPECT_TRUE(
      complains(shell("sheaf bin t.csv out.csv --bins as-given --binning equal-width"), 2, {"leave out --binning"}));
  write("sparse.svm", "1 2:-1\n-1 1:1\n1\n");
  EXPECT_EQ(shell("sheaf bin sparse.svm - --bins as-given --to csv --quiet").out,
            "\"1\",\"2\",label\n0,0,1\n1,1,-1\n0,1,1\n");
}

TEST_F(SelectCli, PreselectedFeaturesAreIn) {
  const auto first = selected("g.arff --count 3");
  const auto name = first["selected"][0]["name"].get<std::string>();
  const auto rest = selected("g.arff --count 2 --apply r.csv --preselected " + name);
  EXPECT_EQ(rest["selected"][0]["index"], first["selected"][1]["index"]) << "picks go on from there";
  EXPECT_EQ(rest["selected"][1]["index"], first["selected"][2]["index"]);
  EXPECT_EQ(rest["asked"]["preselected"], Json::array({name}));
  EXPECT_EQ(file("r.csv").rfind(name + ",", 0), 0U) << "and they stay in the table";
  const auto position = std::to_string(first["selected"][0]["index"].get<int>() + 1);
  EXPECT_EQ(selected("g.arff --count 2 --preselected " + position)["selected"], rest["selected"]);
  EXPECT_TRUE(complains(shell("sheaf select g.arff --preselected Otu7"), 2, {"there is no feature 'Otu7'", "1 to 80"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --preselected 81"), 2, {"there is no feature '81'"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --preselected 3,3"), 2, {"named twice"}));
}

TEST_F(SelectCli, StopsWhenTheGainFallsAndSaysSo) {
  const auto all = selected("g.arff --criterion mim --count 10");
  const auto limit = all["selected"][4]["gain"].get<double>() - 1e-9;
  const auto few = selected("g.arff --criterion mim --count 10 --min-gain " + std::to_string(limit + 1e-6));
  EXPECT_LT(few["selected"].size(), 10U);
  ASSERT_FALSE(few["notes"].empty());
  EXPECT_NE(few["notes"].back().get<std::string>().find("stopped after"), std::string::npos);
  EXPECT_TRUE(complains(shell("sheaf select g.arff --min-gain 100 --apply r.csv --csv s.csv"), 1,
                        {"no feature was selected", "stopped after 0"}));
  EXPECT_EQ(listing(), Names{"g.arff"});
}

TEST_F(SelectCli, AmountsAreBinnedOnRequest) {
  ASSERT_EQ(shell("sheaf generate regression r.csv --rows 200 --features 10 --informative 2 --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf select r.csv"), 1, {"numeric target", "--target-bins 5"}));
  const auto json =
      selected("r.csv --target-bins 4 --target-binning equal-frequency --bins 4 --binning equal-frequency");
  EXPECT_EQ(json["classes"].size(), 4U);
  EXPECT_EQ(json["classes"][0]["count"], 50);
  EXPECT_EQ(json["binning"]["target_bins"], 4);
  EXPECT_TRUE(complains(shell("sheaf select r.csv --target-binning equal-width"), 2, {"--target-bins"}));
}

TEST_F(SelectCli, EnsemblesCombineSelections) {
  const auto json = selected("g.arff --count 5 --criteria jmi,mrmr,cmim --combine borda");
  ASSERT_EQ(json["ensemble"]["members"].size(), 3U);
  EXPECT_EQ(json["ensemble"]["combine"], "borda");
  ASSERT_EQ(json["selected"].size(), 5U);
  for (std::size_t k = 1; k < 5; ++k)
    EXPECT_GE(json["selected"][k - 1]["borda"].get<double>(), json["selected"][k]["borda"].get<double>());
  const auto alone = indices(selected("g.arff --count 5 --criterion mrmr"));
  EXPECT_EQ(json["ensemble"]["members"][1]["selected"].get<Indices>(), alone);
  const auto bootstrap = selected("g.arff --count 5 --resamples 10 --combine frequency --seed 4");
  EXPECT_EQ(bootstrap["ensemble"]["members"].size(), 10U);
  EXPECT_EQ(bootstrap, selected("g.arff --count 5 --resamples 10 --combine frequency --seed 4 --threads 1"));
  EXPECT_LE(bootstrap["ensemble"]["stability"].get<double>(), 1);
  const auto text = shell("sheaf select g.arff --count 5 --resamples 10");
  EXPECT_NE(text.out.find("stability"), std::string::npos) << text.out;
}

/// relief and relieff work on the table itself, the others on its states; one run holds them all.
TEST_F(SelectCli, EnsemblesHoldCriteriaThatWorkOnNumbers) {
  const auto json = selected("g.arff --count 5 --criteria relief,jmi,relieff --neighbours 4");
  ASSERT_EQ(json["ensemble"]["members"].size(), 3U);
  const auto member = [&](std::size_t m) { return json["ensemble"]["members"][m]["selected"].get<Indices>(); };
  EXPECT_EQ(member(0), indices(selected("g.arff --count 5 --criterion relief")));
  EXPECT_EQ(member(1), indices(selected("g.arff --count 5 --criterion jmi")));
  EXPECT_EQ(member(2), indices(selected("g.arff --count 5 --criterion relieff --neighbours 4")));
  EXPECT_NE(member(2), indices(selected("g.arff --count 5 --criterion jmi"))) << "the members differ";
  EXPECT_TRUE(
      complains(shell("sheaf select g.arff --criteria jmi,relief --resamples 3"), 2, {"relief takes no resamples"}));
}

/// 60 rows of two classes: 1 + log4(30), rounded down, is 3.
TEST_F(SelectCli, BinsFollowTheRowsAndClassesWhereverFeaturesAreSelected) {
  EXPECT_NE(
      shell("sheaf select g.arff")
          .out.find(
              "3 bins of equal width, for skewed features of equal frequency, a number that follows from the rows"),
      std::string::npos);
  const auto given = selected("g.arff --bins 64");
  EXPECT_EQ(given["binning"]["bins"], 64);
  EXPECT_EQ(given["binning"]["automatic"], false);
  EXPECT_EQ(shell("sheaf select g.arff --bins 64").out.find("follows"), std::string::npos);
  const auto fit = [&](const std::string& arguments) {
    const auto outcome = shell("sheaf fit g.arff --output m --json --select jmi:5 " + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto json = Json::parse(outcome.out);
    return std::pair(
        json["selection"],
        outcome.err.find("3 bins of equal width, for skewed features of equal frequency, a number that follows"));
  };
  EXPECT_EQ(fit("").first,
            (Json{{"criterion", "jmi"}, {"counts", {5}}, {"binning", "automatic"}, {"bins", 3}, {"automatic", true}}));
  EXPECT_NE(fit("").second, std::string::npos);
  EXPECT_EQ(fit("--bins 7 --binning equal-frequency").first["bins"], 7);
  EXPECT_EQ(fit("--bins 7").second, std::string::npos);
  EXPECT_EQ(fit("--binning mdlp").first["bins"], nullptr);
  const std::string search = "sheaf search g.arff --folds 3 --cost 1 --select jmi:5 ";
  ASSERT_EQ(shell(search + "--output a --quiet").code, 0);
  EXPECT_EQ(Json::parse(file("a/results.json"))["selection"]["bins"], 3);
  EXPECT_EQ(Json::parse(file("a/results.json"))["selection"]["automatic"], true);
  ASSERT_EQ(shell(search + "--output b --quiet --bins 64 --binning equal-frequency").code, 0);
  EXPECT_EQ(Json::parse(file("b/results.json"))["selection"]["bins"], 64);
  EXPECT_EQ(Json::parse(file("b/results.json"))["selection"]["binning"], "equal-frequency");
  EXPECT_EQ(Json::parse(file("b/results.json"))["selection"]["automatic"], false);
  const auto study = shell(
      "sheaf select g.arff --model elastic-net-logistic --splits 3 --folds 2 --alpha 0.1 --select jmi:5 --bins 4 "
      "--json "
      "--quiet");
  ASSERT_EQ(study.code, 0) << study.err;
  EXPECT_EQ(Json::parse(study.out)["selection"]["bins"], 4);
  EXPECT_TRUE(complains(shell("sheaf fit g.arff --output n --bins 5"), 2, {"--bins is for --select"}));
  EXPECT_TRUE(complains(shell("sheaf search g.arff --output n --binning mdlp"), 2, {"--binning is for --select"}));
  EXPECT_TRUE(
      complains(shell("sheaf fit g.arff --output n --select jmi:5 --bins 5 --binning mdlp"), 2, {"leave out --bins"}));
  // A numeric target is binned for the selection alone, on the training rows of each fold.
  ASSERT_EQ(shell("sheaf generate regression r.csv --rows 90 --features 12 --informative 3 --seed 2 --quiet").code, 0);
  EXPECT_TRUE(complains(shell("sheaf search r.csv --output c --select jmi:3"), 1, {"--target-bins 5"}));
  EXPECT_EQ(shell("sheaf search r.csv --output d --select jmi:3 --target-bins 4 --quiet").code, 0);
}

TEST_F(SelectCli, StabilityIsComparedWithChance) {
  const auto plain = selected("g.arff --count 5 --resamples 8 --seed 1");
  EXPECT_EQ(plain["ensemble"]["stability_by_chance"], nullptr);
  const auto json = selected("g.arff --count 5 --resamples 8 --seed 1 --stability-permutations 3");
  EXPECT_EQ(json["ensemble"]["stability"], plain["ensemble"]["stability"]);
  EXPECT_EQ(json["selected"], plain["selected"]);
  const auto& chance = json["ensemble"]["stability_by_chance"];
  ASSERT_EQ(chance["values"].size(), 3U);
  EXPECT_EQ(chance["permutations"], 3);
  EXPECT_LT(chance["largest"].get<double>(), json["ensemble"]["stability"].get<double>());
  EXPECT_GT(chance["mean"].get<double>(), 0.02) << "resamples share rows";
  EXPECT_EQ(selected("g.arff --count 5 --resamples 8 --seed 1 --stability-permutations 3"), json);
  const auto text = shell("sheaf select g.arff --count 5 --resamples 8 --stability-permutations 3").out;
  EXPECT_NE(text.find("chance gives"), std::string::npos) << text;
  const auto without = shell("sheaf select g.arff --count 5 --resamples 8").out;
  EXPECT_NE(without.find("--stability-permutations"), std::string::npos) << without;
  EXPECT_TRUE(complains(shell("sheaf select g.arff --stability-permutations 3"), 2, {"ensembles and studies"}));
}

TEST_F(SelectCli, FlagsThatNothingReadsAreRefused) {
  const auto refuses = [&](const std::string& arguments, const std::string& said) {
    return complains(shell("sheaf select g.arff " + arguments), 2, {said});
  };
  EXPECT_TRUE(refuses("--beta 0.5", "--beta is for mifs and betagamma; jmi does not use it"));
  EXPECT_TRUE(refuses("--criterion mifs --gamma 1", "--gamma is for betagamma; mifs does not use it"));
  EXPECT_TRUE(refuses("--criteria jmi,mrmr --threshold 0.1", "--threshold is for fcbf; jmi,mrmr does not use it"));
  EXPECT_TRUE(refuses("--criterion relief --neighbours 3", "--neighbours is for relieff; relief does not use it"));
  EXPECT_EQ(indices(selected("g.arff --count 3 --criteria jmi,mifs --beta 0.5")).size(), 3U);
}

TEST_F(SelectCli, MistakesAreToldAndLeaveNothing) {
  write("one.csv", "a,label\n1,x\n2,x\n3,x\n");
  write("bad.csv", "a,label\n1,x\n?,y\n");
  const auto before = listing();
  const std::string outputs = " --csv s.csv --report s.html --apply s.arff --save-cuts s.txt";
  EXPECT_TRUE(complains(shell("sheaf select"), 2, {"FILE is missing"}));
  EXPECT_TRUE(complains(shell("sheaf select none.csv" + outputs), 1, {"none.csv", "No such file"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --count 0" + outputs), 2, {"count", "0 given"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --count 81" + outputs), 2, {"81 features are asked for", "80"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --bins 1" + outputs), 2, {"bins", "2 to 65535"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --bins many" + outputs), 2, {"bins", "many"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --bins 5 --binning mdlp" + outputs), 2, {"leave out --bins"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --criterion mmr" + outputs), 2, {"did you mean mrmr?"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --criteria jmi,mmr" + outputs), 2, {"did you mean mrmr?"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --criteria jmi --criterion mim" + outputs), 2, {"--criteria"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --combine borda" + outputs), 2, {"--resamples"}));
  EXPECT_TRUE(complains(shell("sheaf select one.csv" + outputs), 1, {"class x", "two classes"}));
  EXPECT_TRUE(complains(shell("sheaf select bad.csv" + outputs), 1, {"bad.csv:3:1", "missing"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --label none" + outputs), 1, {"no label"}) ||
              complains(shell("sheaf select g.arff --label none" + outputs), 1, {"label"}));
  EXPECT_TRUE(
      complains(shell("sheaf select g.arff --report no/s.html --csv s.csv"), 1, {"the folder no is not there"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --json --csv -"), 2, {"would mix"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --report -"), 2, {"takes a file"}));
  EXPECT_TRUE(complains(shell("sheaf select g.arff --device cpu+cpu" + outputs), 2, {"cpu twice"}));
  EXPECT_EQ(listing(), before);
}

TEST_F(SelectCli, SaysWhatIsOdd) {
  write("constant.csv", "a,b,label\n1,2,x\n1,2,y\n1,2,x\n");
  const auto text = shell("sheaf select constant.csv --bins 64").out;
  EXPECT_NE(text.find("2 of 2 features are constant"), std::string::npos) << text;
  EXPECT_NE(text.find("64 bins are more than the 3 rows"), std::string::npos) << text;
  const auto notes = selected("constant.csv --bins 64")["notes"];
  EXPECT_EQ(notes.size(), 3U) << notes;
}

/// FEAST repeats itself, or names feature -1, once nothing scores above 0: there Sheaf stops. Its relief divides 0 by 0
/// for constant features and puts them first: Sheaf's weight for them is 0.
class SelectOracle : public SelectCli {
 protected:
  static std::string folder() { return golden("feast/"); }

  static std::pair<Indices, std::vector<double>> sensible(const Json& result) {
    Indices picks;
    std::vector<double> scores;
    std::set<std::int64_t> seen;
    for (std::size_t k = 0; k < result["selected"].size(); ++k) {
      const auto index = result["selected"][k].get<std::int64_t>();
      if (index < 0 || !seen.insert(index).second) break;
      if (result["scores"][k].is_null()) continue;
      picks.push_back(index);
      scores.push_back(result["scores"][k].get<double>());
    }
    return {picks, scores};
  }

  static bool undefined(const Json& result, const Json& index) {
    const auto& picks = result["selected"];
    const auto at = std::find(picks.begin(), picks.end(), index) - picks.begin();
    return at < std::ssize(picks) && result["scores"][static_cast<std::size_t>(at)].is_null();
  }

  void compare(const std::string& oracle, const std::string& data, const std::string& bins) const {
    const auto expected = Json::parse(std::ifstream(oracle));
    for (const auto& [criterion, result] : expected["results"].items()) {
      for (const Device device : devices()) {
        SCOPED_TRACE(oracle + " " + criterion + " " + to_string(device));
        const auto& info = find_criterion(criterion);
        const auto json = selected("'" + data + "' --bins " + bins + " --criterion " + criterion + " --count " +
                                   expected["k"].dump() + (info.uses_beta ? " --beta 0.5" : "") +
                                   (info.uses_gamma ? " --gamma 0.25" : "") +
                                   (info.uses_threshold ? " --threshold 0" : "") + " --device " + to_string(device));
        const auto [picks, scores] = sensible(result);
        auto rows = json["selected"].get<std::vector<Json>>();
        if (criterion == "relief") {
          std::erase_if(rows, [&](const Json& row) { return undefined(result, row["index"]); });
          rows.resize(std::min(rows.size(), picks.size()));
        }
        EXPECT_EQ(indices({{"selected", rows}}), Indices(picks.begin(), picks.begin() + std::ssize(rows)));
        EXPECT_GE(rows.size() + 4, picks.size());
        for (std::size_t k = 0; k < rows.size(); ++k) EXPECT_NEAR(rows[k]["score"].get<double>(), scores[k], 1e-12);
      }
    }
  }
};

TEST_F(SelectOracle, ChoosesAsFeastOnStates) {
  for (const char* name : {"a_300x40_c2_b5", "b_97x500_c2_b64", "c_1000x60_c5_b16"})
    compare(folder() + name + ".json", folder() + name + ".csv", "as-given");
}

TEST_F(SelectOracle, ChoosesAsFeastOnRealData) { compare(folder() + "digits8x8.json", find_data("digits8x8"), "17"); }

TEST_F(SelectOracle, ChoosesAsFeastOnLargerRealData) {
  const std::string results = SHEAF_TESTS_DIR "/../../shared/oracles/information/real/";
  if (!std::filesystem::exists(results)) GTEST_SKIP() << "shared/ is not beside this checkout";
  const std::vector<std::pair<std::string, std::string>> sets{
      {"colon-cancer", "64"}, {"leukemia", "64"}, {"srbct_khan", "16"}, {"madelon", "20"}, {"mushrooms", "4"}};
  for (const auto& [name, bins] : sets) compare(results + name + ".json", find_data(name), bins);
}

}  // namespace select_cli_test
}  // namespace sheaf::test
