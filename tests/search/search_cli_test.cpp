// sheaf search as people and scripts meet it: its folder, its errors, and that a killed search goes on to the same end.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "program.hpp"

namespace sheaf::test {
namespace search_cli_test {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

class SearchCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(shell("sheaf generate text t.svm --rows 300 --features 400 --nonzeros 6000 --seed 3 --quiet").code, 0);
  }
};

TEST_F(SearchCli, LeavesOneFolderWithEverything) {
  const auto outcome = shell("sheaf search t.svm --output found --cost 0.1,1,10 --seed 5");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("Chosen: C = "), std::string::npos) << outcome.out;
  for (const char* name : {"settings.json", "journal.txt", "results.json", "scores.csv", "coefficients.csv",
                           "curves.csv", "confusion.csv", "report.html", "model.txt", "model.liblinear"})
    EXPECT_TRUE(exists("found/" + std::string(name))) << name;
  EXPECT_EQ(shell("ls found | wc -l").out, "10\n") << "and nothing else";
  const auto settings = Json::parse(file("found/settings.json"));
  EXPECT_EQ(shell("sha256sum t.svm | cut -d' ' -f1").out, settings["data"]["sha256"].get<std::string>() + "\n");
  EXPECT_EQ(shell("wc -c <t.svm").out, std::to_string(settings["data"]["bytes"].get<int>()) + "\n");
  EXPECT_EQ(settings["seed"], 5);
  EXPECT_NE(settings["command"].get<std::string>().find("search t.svm --output found"), std::string::npos);
}

TEST_F(SearchCli, JsonTableAndModelTellTheSame) {
  const auto outcome = shell("sheaf search t.svm --output found --cost 0.1,1,10 --score auc --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, file("found/results.json"));
  const auto json = Json::parse(outcome.out);
  EXPECT_EQ(json["score"], "auc");
  ASSERT_EQ(json["points"].size(), 3U);
  double best = 0;
  for (const auto& cost : json["points"]) {
    double sum = 0;
    for (const auto& score : cost["auc"]["by_split"]) sum += score.get<double>() / 5;
    EXPECT_NEAR(sum, cost["auc"]["mean"].get<double>(), 1e-12);
    best = std::max(best, cost["auc"]["mean"].get<double>());
  }
  EXPECT_EQ(json["chosen"]["auc"]["mean"], best);
  const auto cost = json["chosen"]["cost"].dump();
  ASSERT_EQ(shell("sheaf fit t.svm --output alone.txt --quiet --cost " + cost).code, 0);
  EXPECT_EQ(file("alone.txt"), file("found/model.txt"));
  EXPECT_EQ(shell("wc -l <found/scores.csv").out, "16\n") << "a head, and 3 costs x 5 splits";
}

TEST_F(SearchCli, TheReportLoadsNothing) {
  ASSERT_EQ(shell("sheaf search t.svm --output found --cost 0.1,1,10 --outer 3 --quiet").code, 0);
  const auto page = file("found/report.html");
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* title : {"Accuracy of each C", "ROC curve", "Confusion matrix", "The largest weights",
                            "Nested validation", "All scores"})
    EXPECT_NE(page.find(title), std::string::npos) << title;
  for (const char* word : {"src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest"})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
}

/// The lines of a CSV file, split at commas.
std::vector<Names> lines_of(const std::string& text) {
  std::vector<Names> lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    lines.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) lines.back().push_back(field);
  }
  return lines;
}

TEST_F(SearchCli, ThresholdsAreChosenKeptAndFollowed) {
  const std::string command = "sheaf search t.svm --cost 1 --quiet --output ";
  ASSERT_EQ(shell(command + "plain --predictions").code, 0);
  const auto chosen = shell("sheaf search t.svm --cost 1 --output found --threshold sensitivity:0.95");
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_NE(chosen.out.find("by sensitivity:0.95"), std::string::npos) << chosen.out;
  const auto json = Json::parse(file("found/results.json"));
  const auto& threshold = json["threshold"];
  EXPECT_EQ(threshold["rule"], "sensitivity:0.95");
  EXPECT_GE(threshold["sensitivity"].get<double>(), 0.95);
  EXPECT_NE(file("found/report.html").find("<h2>Threshold</h2>"), std::string::npos);
  EXPECT_FALSE(exists("found/model.liblinear")) << "which holds none";
  // By hand from the predictions for held-out rows.
  const auto positive = json["positive_class"].get<std::string>();
  const double sign = json["positive_decisions_speak_for"] == positive ? 1 : -1;
  double found = 0, positives = 0;
  for (const auto& line : lines_of(file("plain/predictions.csv"))) {
    if (line[0] == "row" || line[2] != positive) continue;
    ++positives;
    found += sign * std::stod(line[4]) >= threshold["decision"].get<double>() ? 1 : 0;
  }
  EXPECT_NEAR(found / positives, threshold["sensitivity"].get<double>(), 1e-12);
  const auto applied = shell("sheaf predict t.svm --model-file found/model.txt --output p.csv --decisions");
  EXPECT_NE(applied.err.find("the threshold of the model (sensitivity:0.95)"), std::string::npos) << applied.err;
  for (const auto& line : lines_of(file("p.csv"))) {
    if (line[0] == "prediction") continue;
    EXPECT_EQ(line[0] == positive, sign * std::stod(line[1]) >= threshold["decision"].get<double>()) << line[1];
  }
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output x --threshold best"), 2, {"youden", "cost:FP:FN"}));
}

TEST_F(SearchCli, WritesWhatElseIsAskedForAsFiles) {
  const auto outcome = shell(
      "sheaf search t.svm --cost 0.1,1 --output found --learning-curve --permutation-importance 2 --calibrate "
      "isotonic");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const char* title : {"Learning curve", "Permutation importance"})
    EXPECT_NE(outcome.out.find(title), std::string::npos) << outcome.out;
  const auto page = file("found/report.html");
  for (const char* title : {"Learning curve", "Permutation importance", "Reliability of the probabilities"})
    EXPECT_NE(page.find("<h2>" + std::string(title)), std::string::npos) << title;
  EXPECT_EQ(lines_of(file("found/learning_curve.csv")).size(), 1U + 5 * 5 * 2) << "shares x splits x kinds of rows";
  EXPECT_EQ(lines_of(file("found/importance.csv")).size(), 401U);
  EXPECT_EQ(lines_of(file("found/reliability.csv")).size(), 11U);
  double rows = 0;
  for (const auto& line : lines_of(file("found/confusion.csv"))) rows += line[0] == "split" ? 0 : std::stod(line[3]);
  EXPECT_EQ(rows, 300) << "each row is held out once";
  const auto coefficients = file("found/coefficients.csv");
  EXPECT_EQ(lines_of(coefficients)[1].size(), 3U) << "feature, weight, standardised weight";
  EXPECT_EQ(std::count(coefficients.begin(), coefficients.end(), ','), 2 * 402) << "in every line";
  const auto json = Json::parse(file("found/results.json"));
  EXPECT_EQ(json["learning_curve"].size(), 5U);
  EXPECT_EQ(json["importance"].size(), 400U);
  EXPECT_EQ(json["reliability"].size(), 10U);
  EXPECT_EQ(json["learning_curve"][4]["held_out"]["mean"], json["chosen"]["accuracy"]["mean"]);
}

/// Against the probabilities of each row, which its split's calibration was not learnt on.
TEST_F(SearchCli, ScoresCalibratedProbabilities) {
  const auto outcome = shell("sheaf search t.svm --cost 0.1,1 --output found --calibrate isotonic --predictions");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("calibrated without their split"), std::string::npos) << outcome.out;
  const auto lines = lines_of(file("found/predictions.csv"));
  const auto column_of = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(lines[0].begin(), lines[0].end(), name) - lines[0].begin());
  };
  std::map<std::string, std::vector<double>> log_losses, brier_scores;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto& line = lines[i];
    const double right = std::stod(line[column_of("\"probability of " + line[column_of("truth")] + "\"")]);
    const auto& split = line[column_of("split")];
    log_losses[split].push_back(-std::log(std::max(right, 2.220446049250313e-16)));
    brier_scores[split].push_back((1 - right) * (1 - right));
  }
  const auto mean_of_means = [](const auto& values) {
    double sum = 0;
    for (const auto& [split, of] : values)
      sum += std::accumulate(of.begin(), of.end(), 0.0) / static_cast<double>(of.size());
    return sum / static_cast<double>(values.size());
  };
  const auto json = Json::parse(file("found/results.json"))["calibrated"];
  EXPECT_EQ(log_losses.size(), 5U);
  EXPECT_NEAR(json["log_loss"]["mean"].get<double>(), mean_of_means(log_losses), 1e-9);
  EXPECT_NEAR(json["brier_score"]["mean"].get<double>(), mean_of_means(brier_scores), 1e-9);
}

TEST_F(SearchCli, TakesFewerFoldsForSmallClasses) {
  std::string rows = "x,z,kind\n", grouped = "x,z,patient,kind\n";
  for (int i = 0; i < 40; ++i) {
    const std::string kind = i < 3 ? "rare" : "common";
    rows += std::to_string(i * 7 % 11) + ".5," + std::to_string(i) + ".25," + kind + "\n";
    grouped += std::to_string(i * 7 % 11) + ".5," + std::to_string(i) + ".25," + std::to_string(i % 20) + "," +
               (i % 20 < 4 ? "rare" : "common") + "\n";
  }
  write("few.csv", rows);
  write("groups.csv", grouped);
  const auto few = shell("sheaf search few.csv --model linear --output few");
  ASSERT_EQ(few.code, 0) << few.err;
  EXPECT_EQ(Json::parse(file("few/results.json"))["splits"], 3);
  EXPECT_NE(few.out.find("3 folds, not 5"), std::string::npos) << few.out;
  const auto groups = shell("sheaf search groups.csv --model linear --output groups");
  ASSERT_EQ(groups.code, 0) << groups.err;
  EXPECT_EQ(Json::parse(file("groups/results.json"))["splits"], 4);
  EXPECT_TRUE(complains(shell("sheaf search few.csv --model linear --folds 5 --output x"), 2, {"folds"}));
}

/// Waits for some records in the journal, kills the program, and goes on.
TEST_F(SearchCli, KilledAndResumedEndsWithTheSameBytes) {
  const std::string command =
      "sheaf search t.svm --cost 1e-3:1e3:40 --tolerance 1e-8 --batch 2 --outer 3 --memory 500M --output ";
  ASSERT_EQ(shell(command + "whole --quiet").code, 0);
  for (const char* records : {"1", "3", "40"})
    kill_and_resume(command, records,
                    {"/results.json", "/scores.csv", "/model.txt", "/model.liblinear", "/report.html", "/journal.txt"});
}

TEST_F(SearchCli, ATornOrDamagedJournalIsCutWhereItEndsWell) {
  const std::string command = "sheaf search t.svm --cost 0.1,1,10 --batch 5 --memory 500M --quiet --output ";
  ASSERT_EQ(shell(command + "whole").code, 0);
  const auto journal = file("whole/journal.txt");
  const auto results = file("whole/results.json");
  ASSERT_EQ(shell("cp -r whole torn").code, 0);
  const auto resumes_as_whole = [&](const std::string& bytes) {
    write("torn/journal.txt", bytes);
    const auto outcome = shell("rm -f torn/results.json; " + command + "torn --resume");
    return outcome.code == 0 && file("torn/results.json") == results && file("torn/journal.txt") == journal;
  };
  const auto last = journal.rfind('\n', journal.size() - 2) + 1;
  for (const auto size : {std::size_t{0}, std::size_t{1}, std::size_t{20}, last - 1, last, last + 1, last + 17,
                          journal.size() - 1, journal.size()})
    EXPECT_TRUE(resumes_as_whole(journal.substr(0, size))) << size << " of " << journal.size() << " bytes";
  auto damaged = journal;
  damaged[journal.size() / 2] = static_cast<char>(damaged[journal.size() / 2] ^ 1);
  EXPECT_TRUE(resumes_as_whole(damaged));
}

/// A limit on the size of files stands for the full disk.
TEST_F(SearchCli, AFullDiskLosesNothing) {
  const std::string command = "sheaf search t.svm --cost 1e-3:1e3:10 --batch 5 --output ";
  ASSERT_EQ(shell(command + "whole --quiet").code, 0);
  const auto full = shell("trap '' XFSZ; ulimit -f 16; " + command + "full");
  EXPECT_TRUE(complains(full, 1, {"full/journal.txt: cannot be written", "--resume goes on from there"}));
  EXPECT_FALSE(exists("full/results.json"));
  const auto resumed = shell(command + "full --resume");
  ASSERT_EQ(resumed.code, 0);
  EXPECT_NE(resumed.err.find("batches were finished before"), std::string::npos) << resumed.err;
  EXPECT_TRUE(file("full/results.json") == file("whole/results.json"));
}

TEST_F(SearchCli, OnlyTheSameSearchGoesOn) {
  const std::string command = "sheaf search t.svm --output d --cost 1,10 ";
  ASSERT_EQ(shell(command + "--quiet").code, 0);
  const auto results = file("d/results.json");
  EXPECT_TRUE(complains(shell(command), 1, {"d: exists already", "--resume", "--force"}));
  EXPECT_TRUE(complains(shell(command + "--resume --folds 4"), 1, {"options/folds was 5 then and is 4 now"}));
  EXPECT_TRUE(complains(shell(command + "--resume --seed 4"), 1, {"seed was 0 then and is 4 now"}));
  EXPECT_TRUE(complains(shell(command + "--resume --loss svm"), 1, {"another one", "loss"}));
  EXPECT_TRUE(complains(shell(command + "--resume --force"), 2, {"give one of them"}));
  EXPECT_EQ(shell(command + "--resume --quiet").code, 0) << "a finished search is finished again";
  EXPECT_EQ(file("d/results.json"), results);
  ASSERT_EQ(shell("cp t.svm copy.svm && sheaf search copy.svm --output d --cost 1,10 --resume --quiet").code, 0)
      << "the same data under another name";
  EXPECT_TRUE(complains(shell("sed -i '1s/^+1/-1/; 1t; 1s/^-1/+1/' t.svm; " + command + "--resume"), 1,
                        {"data/", "then and is"}));
  EXPECT_EQ(shell(command + "--force --quiet --folds 4").code, 0);
  EXPECT_EQ(Json::parse(file("d/results.json"))["splits"], 4);
}

TEST_F(SearchCli, ResumeBeginsWhereNothingIs) {
  EXPECT_EQ(shell("sheaf search t.svm --output d --cost 1,10 --resume --quiet").code, 0);
  ASSERT_EQ(shell("sheaf search t.svm --output e --cost 1,10 --quiet").code, 0);
  EXPECT_EQ(file("d/results.json"), file("e/results.json"));
}

TEST_F(SearchCli, MistakesAreToldBeforeTheWorkAndLeaveNothing) {
  write("one.csv", "a,label\n1,x\n2,x\n3,x\n4,x\n5,x\n");
  write("bad.csv", "a,label\n1,x\n?,y\n");
  write("words.csv", "a,label\n1,x\n2,y\n3,x\n4,y\n");
  ASSERT_EQ(shell("mkdir other && touch other/thing").code, 0);
  const auto before = listing();
  EXPECT_TRUE(complains(shell("sheaf search - <t.svm"), 2, {"--output DIR is missing"}));
  EXPECT_TRUE(complains(shell("sheaf search - --output d <t.svm"), 2, {"not standard input"}));
  EXPECT_TRUE(complains(shell("sheaf search none.svm --output d"), 1, {"none.svm", "No such file"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output t.svm"), 1, {"t.svm: is no folder"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output t.svm/d"), 1, {"t.svm/d", "cannot be made"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output other --resume"), 1, {"no search"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output other --force"), 1, {"no search"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --score acuracy"), 2, {"did you mean accuracy?"}));
  EXPECT_TRUE(
      complains(shell("sheaf search t.svm --output d --score rmse"), 2, {"rmse is a score of a numeric target"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --loss svm --score log-loss"), 2, {"probabilities"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --cost 1:2"), 2, {"LOW:HIGH:COUNT"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --split sideways"), 2, {"sideways", "stratified"}));
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --outer 1"), 2, {"2 outer folds"}));
  EXPECT_TRUE(complains(shell("sheaf search one.csv --output d"), 1, {"all rows have class x"}));
  EXPECT_TRUE(complains(shell("sheaf search bad.csv --impute none --output d"), 1, {"bad.csv:3:1"}));
  EXPECT_TRUE(complains(shell("sheaf search words.csv --output d --loss svr"), 1, {"not numbers"}));
  EXPECT_EQ(listing(), before);
}

TEST_F(SearchCli, OneSearchAtATime) {
  const auto outcome = shell(
      "mkdir d && touch d/journal.txt && flock d/journal.txt -c '\"'\"$program\"'\" search t.svm --output d --resume'");
  EXPECT_TRUE(complains(outcome, 1, {"another process is at work"}));
}

/// Names and bytes of all files of a folder.
std::map<std::string, std::string> files_of(const std::filesystem::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    all[entry.path().filename().string()] = std::string{std::istreambuf_iterator<char>(file), {}};
  }
  return all;
}

/// Nothing is lost by --force before the new search trains.
TEST_F(SearchCli, ForceThatIsRefusedKeepsTheResults) {
  ASSERT_EQ(shell("sheaf search t.svm --output d --cost 1,10 --quiet").code, 0);
  write("one.csv", "a,label\n1,x\n2,x\n3,x\n4,x\n5,x\n");
  write("words.csv", "a,label\n1,x\n2,y\n3,x\n4,y\n");
  write("few.csv", "a,label\n1,x\n2,x\n3,x\n4,x\n5,y\n");
  const auto before = files_of(path("d"));
  for (const std::string command :
       {"none.svm", "t.svm --cost 1:2", "t.svm --score acuracy", "t.svm --score rmse", "t.svm --outer 1", "one.csv",
        "few.csv --folds 3", "t.svm --row-weights none.txt", "words.csv --loss svr", "t.svm --device cuda:99"}) {
    const auto outcome = shell("sheaf search " + command + " --output d --force --quiet");
    EXPECT_NE(outcome.code, 0) << command;
    EXPECT_TRUE(files_of(path("d")) == before) << command;
  }
  ASSERT_EQ(shell("sheaf search t.svm --output d --cost 1 --force --quiet").code, 0);
  EXPECT_NE(file("d/results.json"), before.at("results.json"));
}

TEST_F(SearchCli, ARunningSearchLosesNothingToOthers) {
  ASSERT_EQ(shell("sheaf search t.svm --output d --cost 1,10 --quiet").code, 0);
  write("d/results.json.0123456789abcdef.part", "under construction");
  const auto before = files_of(path("d"));
  for (const std::string how : {"--force", "--resume"}) {
    const auto outcome =
        shell("flock d/journal.txt -c '\"'\"$program\"'\" search t.svm --cost 1,10 --output d " + how + "'");
    EXPECT_TRUE(complains(outcome, 1, {"another process is at work"}));
    EXPECT_TRUE(files_of(path("d")) == before) << how;
  }
}

TEST_F(SearchCli, OnlyItsOwnLeftoversAreRemoved) {
  const std::string command = "sheaf search t.svm --output d --cost 1,10 --quiet";
  ASSERT_EQ(shell(command).code, 0);
  for (const char* name : {"d/film.part", "d/results.json.part", "d/x.0123456789abcdef.part"}) write(name, "theirs");
  for (const char* name : {"d/results.json.0123456789abcdef.part", "d/settings.json.fedcba9876543210.part"})
    write(name, "ours");
  for (const char* how : {" --resume", " --force"}) {
    ASSERT_EQ(shell(command + how).code, 0);
    EXPECT_EQ(file("d/film.part") + file("d/results.json.part") + file("d/x.0123456789abcdef.part"),
              "theirstheirstheirs");
    EXPECT_FALSE(exists("d/results.json.0123456789abcdef.part"));
    EXPECT_FALSE(exists("d/settings.json.fedcba9876543210.part"));
  }
}

TEST_F(SearchCli, AForeignJournalIsLeftAsItIs) {
  const std::string diary = "Dear diary,\ntoday I searched.\n";
  ASSERT_EQ(shell("mkdir d; printf '" + diary + "' >d/journal.txt").code, 0);
  for (const char* how : {" --resume", " --force"})
    EXPECT_TRUE(complains(shell("sheaf search t.svm --output d" + std::string(how)), 1, {"d: holds other things"}));
  EXPECT_EQ(files_of(path("d")), (std::map<std::string, std::string>{{"journal.txt", diary}}));
  write("d/journal.txt", "word");
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --resume"), 1, {"d: holds other things"}));
  EXPECT_EQ(file("d/journal.txt"), "word");
  // Beside settings that are ours, and settings that are not.
  const std::string command = "sheaf search t.svm --output e --cost 1,10 --quiet";
  ASSERT_EQ(shell(command).code, 0);
  write("e/journal.txt", diary);
  EXPECT_TRUE(complains(shell(command + " --resume"), 1, {"e/journal.txt: is no journal of a search"}));
  EXPECT_EQ(file("e/journal.txt"), diary);
  ASSERT_EQ(shell("mkdir f; echo '{\"editor\": {\"tab\": 4}}' >f/settings.json").code, 0);
  for (const char* how : {" --resume", " --force"})
    EXPECT_TRUE(complains(shell("sheaf search t.svm --output f" + std::string(how)), 1, {"f: holds other things"}));
  EXPECT_EQ(shell("ls f").out, "settings.json\n");
}

/// Settings decide whether a journal is cut: one of another search stays whole, damaged or not.
TEST_F(SearchCli, TheJournalOfAnotherSearchIsNotCut) {
  ASSERT_EQ(shell("sheaf search t.svm --output d --cost 1,10 --batch 5 --quiet").code, 0);
  const auto damaged = file("d/journal.txt") + "0123456789abcdef {\"batch\"";
  write("d/journal.txt", damaged);
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --cost 1,100 --batch 5 --resume"), 1, {"another one"}));
  EXPECT_EQ(file("d/journal.txt"), damaged);
  ASSERT_EQ(shell("rm d/settings.json").code, 0);
  EXPECT_TRUE(complains(shell("sheaf search t.svm --output d --cost 1,10 --resume"), 1, {"settings.json: is missing"}));
  EXPECT_EQ(file("d/journal.txt"), damaged);
}

TEST_F(SearchCli, DeepSettingsAreRefused) {
  const std::string command = "sheaf search t.svm --output d --cost 1,10 --quiet";
  ASSERT_EQ(shell(command).code, 0);
  const auto deep = std::string(1000000, '[') + std::string(1000000, ']');
  const auto deep_object = "{\"sheaf\":1,\"journal\":" + deep + "}";
  for (const auto& text : {deep, deep_object}) {
    write("d/settings.json", text);
    EXPECT_TRUE(complains(shell(command + " --resume"), 1, {"d/settings.json: is damaged"}));
    EXPECT_TRUE(complains(shell("rm -rf e; cp -r d e; sheaf compare d e"), 1, {"damaged"}));
  }
  write("t.svm.made.json", deep);
  EXPECT_EQ(shell(command + " --force").code, 0);
}

/// How many splits make a batch is a part of the plan: a run with other memory goes on in the same batches.
TEST_F(SearchCli, OtherMemoryGoesOnWithTheSameBatches) {
  ASSERT_EQ(shell("sheaf generate classification m.svm --rows 2000 --features 3 --to libsvm --quiet").code, 0);
  const std::string command =
      "sheaf search m.svm --cost 1e-3:1e3:6 --split shuffle --folds 30 --test-fraction 0.3 --batch 60 --quiet "
      "--output ";
  ASSERT_EQ(shell(command + "whole --memory 3M").code, 0);
  ASSERT_EQ(shell(command + "wide --memory 6M").code, 0);
  const auto lines = [&](const std::string& name) {
    const auto text = file(name);
    return std::count(text.begin(), text.end(), '\n');
  };
  ASSERT_NE(lines("wide/journal.txt"), lines("whole/journal.txt")) << "the memory decides about batches";
  ASSERT_EQ(shell("cp -r whole d; rm d/results.json; head -n 3 whole/journal.txt >d/journal.txt").code, 0);
  ASSERT_EQ(shell(command + "d --resume --memory 6M").code, 0);
  EXPECT_TRUE(file("d/results.json") == file("whole/results.json"));
  EXPECT_TRUE(file("d/journal.txt") == file("whole/journal.txt"));
}

TEST_F(SearchCli, TasksThatDoNotConvergeAreNamed) {
  const auto outcome =
      shell("sheaf search t.svm --output d --cost 100 --folds 2 --tolerance 1e-9 --max-iterations 1 --json");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("warning: C = 100, split 2, class"), std::string::npos) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["warnings"].size(), 3U) << "2 splits and the final model";
}

}  // namespace search_cli_test
}  // namespace sheaf::test
