// The commands percolator and rescore as people run them.
#include <chrono>
#include <sstream>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace rescore_cli_test {

class RescoreProgram : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const auto made = shell("sheaf generate psms run.pin --spectra 4000 --separate --files 2 --seed 3 --quiet");
    ASSERT_EQ(made.code, 0) << made.err;
  }
  /// Compares the results in two folders, except for the journal.
  void expect_same_results(const std::string& a, const std::string& b) const {
    for (const auto* name : {"psms.tsv", "peptides.tsv", "model.txt", "results.json", "report.html"})
      EXPECT_TRUE(file(a + "/" + name) == file(b + "/" + name)) << name << " of " << a;
  }
  std::size_t count_lines(const std::string& name) const {
    const auto text = file(name);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
};

TEST_F(RescoreProgram, PercolatorWritesItsTables) {
  const auto done = shell(
      "sheaf percolator -Y -i 2 -m psms.tsv -M decoy_psms.tsv -r peptides.tsv -B decoy_peptides.tsv -w weights.txt "
      "run.pin");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(done.out.empty());
  EXPECT_NE(done.err.find("Iteration 2:\tEstimated "), std::string::npos);
  const std::string head = "PSMId\tfilename\tscore\tq-value\tposterior_error_prob\tpeptide\tproteinIds\n";
  for (const auto* name : {"psms.tsv", "decoy_psms.tsv", "peptides.tsv", "decoy_peptides.tsv"})
    EXPECT_TRUE(file(name).starts_with(head)) << name;
  EXPECT_EQ(count_lines("psms.tsv") + count_lines("decoy_psms.tsv"), 4000U + 2);  // one for each spectrum
  std::istringstream psms(file("psms.tsv"));
  std::string line;
  std::getline(psms, line);
  double before = 1e9;
  while (std::getline(psms, line)) {
    std::istringstream fields(line);
    std::string id, name;
    double score = 0;
    fields >> id >> name >> score;
    EXPECT_LE(score, before);
    before = score;
    EXPECT_FALSE(id.ends_with("_decoy"));
  }
  EXPECT_EQ(count_lines("weights.txt"), 3U + 9);
}

TEST_F(RescoreProgram, PercolatorTakesWeightsAndPipes) {
  ASSERT_EQ(shell("sheaf percolator -v 0 -i 1 -w weights.txt -U -m psms.tsv run.pin").code, 0);
  const auto fixed = shell("sheaf percolator -v 0 --static -W weights.txt -U run.pin");
  ASSERT_EQ(fixed.code, 0) << fixed.err;
  EXPECT_TRUE(fixed.err.empty()) << fixed.err;
  EXPECT_TRUE(fixed.out.starts_with("PSMId\t"));
  const auto piped = shell("cat run.pin | sheaf percolator -v 0 -i 1 -U --stdinput-tab");
  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(piped.out, file("psms.tsv"));
  ASSERT_EQ(shell("gzip -k run.pin && sheaf percolator -v 0 -i 1 -U run.pin.gz >packed.tsv").code, 0);
  EXPECT_EQ(file("packed.tsv"), file("psms.tsv"));
}

TEST_F(RescoreProgram, ScaledFeaturesAreAPinFileAgain) {
  ASSERT_EQ(shell("sheaf percolator -v 0 -i 1 -U -m first.tsv -J scaled.pin run.pin").code, 0);
  const auto again = shell("sheaf percolator -v 0 -i 1 -U -m second.tsv scaled.pin");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(count_lines("scaled.pin"), count_lines("run.pin"));
  EXPECT_EQ(count_lines("first.tsv"), count_lines("second.tsv"));
}

TEST_F(RescoreProgram, SameBytesForAnyNumberOfThreads) {
  ASSERT_EQ(shell("sheaf percolator -v 0 -i 2 --num-threads 1 -r one.tsv run.pin").code, 0);
  ASSERT_EQ(shell("sheaf percolator -v 0 -i 2 --num-threads 3 -r three.tsv run.pin").code, 0);
  EXPECT_EQ(file("one.tsv"), file("three.tsv"));
}

TEST_F(RescoreProgram, PercolatorEndsWithOneForAllThatIsWrong) {
  EXPECT_TRUE(complains(shell("sheaf percolator -v 0 missing.pin"), 1, {"missing.pin"}));
  EXPECT_TRUE(complains(shell("sheaf percolator -v 0"), 1, {"no PIN file"}));
  EXPECT_TRUE(complains(shell("sheaf percolator -v 0 -Y -y run.pin"), 1, {"-Y", "-y"}));
  EXPECT_TRUE(complains(shell("sheaf percolator -v 0 --static run.pin"), 1, {"-W"}));
  EXPECT_TRUE(complains(shell("sheaf percolator -v 0 -V nothing run.pin"), 1, {"nothing"}));
  write("bad.pin", "SpecId\tLabel\tScanNr\tx\tPeptide\tProteins\na\t1\t1\tlow\tP\tQ\n");
  EXPECT_TRUE(complains(shell("sheaf rescore bad.pin --output out"), 1, {"bad.pin:2:7", "'low'"}));
  EXPECT_FALSE(exists("out"));
}

TEST_F(RescoreProgram, RescoreFillsAFolder) {
  const auto done = shell("sheaf rescore run.pin --output out --iterations 2 --decoys");
  ASSERT_EQ(done.code, 0) << done.err;
  for (const auto* name :
       {"psms.tsv", "peptides.tsv", "decoy_psms.tsv", "decoy_peptides.tsv", "model.txt", "results.json", "report.html"})
    EXPECT_TRUE(exists(std::string("out/") + name)) << name;
  const auto results = nlohmann::json::parse(file("out/results.json"));
  EXPECT_EQ(results["search"], "separate");
  EXPECT_EQ(results["iterations"].size(), 2U);
  EXPECT_GT(results["psms"]["accepted"], 100);
  EXPECT_NE(file("out/report.html").find("<svg"), std::string::npos);
  for (const auto* part : {"Accepted targets", "Scores", "Posterior error probabilities", "Iterations", "Weights",
                           "Files", "against the first direction"})
    EXPECT_NE(file("out/report.html").find(part), std::string::npos) << part;
  EXPECT_TRUE(complains(shell("sheaf rescore run.pin --output out"), 1, {"--force"}));
  const auto again = shell("sheaf rescore run.pin --output other --model out/model.txt --json --quiet");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_GT(nlohmann::json::parse(again.out)["psms"]["accepted"], 100);
}

/// Killed at any moment from its start to its end, and a moment behind it.
TEST_F(RescoreProgram, AKilledRunIsResumedToTheSameResult) {
  const std::string command = "rescore run.pin --iterations 40 --threads 1 --quiet --output ";
  const auto start = std::chrono::steady_clock::now();
  ASSERT_EQ(shell("sheaf " + command + "whole").code, 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  Random random(20);
  for (int k = 0; k < 12; ++k) {
    const auto name = "killed" + std::to_string(k);
    const double moment = took.count() * 1.1 * (k + random.uniform()) / 12;
    const auto killed = shell("\"$program\" " + command + name + " & run=$!; sleep " + std::to_string(moment) +
                              "; kill -9 $run 2>/dev/null; wait $run; true");
    ASSERT_EQ(killed.code, 0) << killed.err;
    const auto resumed = shell("sheaf " + command + name + " --resume");
    ASSERT_EQ(resumed.code, 0) << k << ", after " << moment << " s: " << resumed.err;
    expect_same_results(name, "whole");
    EXPECT_EQ(shell("ls " + name + " | grep -c part").out, "0\n");
  }
}

TEST_F(RescoreProgram, ARunThatHadEndedIsResumedToTheSameResult) {
  const std::string command = "sheaf rescore run.pin --iterations 6 --output out";
  ASSERT_EQ(shell(command + " --quiet && cp -r out whole").code, 0);
  EXPECT_TRUE(complains(shell(command), 1, {"out", "--resume", "--force"}));
  EXPECT_EQ(shell(command + " --force --resume").code, 2);
  const auto again = shell("rm out/psms.tsv; " + command + " --resume");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_NE(again.err.find("out: the run had ended already"), std::string::npos) << again.err;
  expect_same_results("out", "whole");
  EXPECT_TRUE(complains(shell(command + " --seed 2 --resume --quiet"), 1, {"out/journal.txt", "other options"}));
  expect_same_results("out", "whole");
}

TEST_F(RescoreProgram, OneRunAtATimeIsAtWorkInAFolder) {
  const auto both = shell(
      "\"$program\" rescore run.pin --iterations 200 --output out --quiet & run=$!; "
      "until [ -s out/journal.txt ]; do sleep 0.01; done; kill -STOP $run; "
      "sheaf rescore run.pin --iterations 200 --output out --quiet --resume; echo $? >codes; "
      "sheaf rescore run.pin --iterations 200 --output out --quiet --force; echo $? >>codes; "
      "kill -9 $run; kill -CONT $run; wait $run; true");
  EXPECT_EQ(file("codes"), "1\n1\n");
  EXPECT_NE(both.err.find("out/journal.txt: another process is at work there"), std::string::npos) << both.err;
  const auto resumed = shell("sheaf rescore run.pin --iterations 200 --output out --quiet --resume");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
}

/// A new run that cannot be leaves the results of the old one; one that can leaves nothing of it.
TEST_F(RescoreProgram, ForceReplacesResultsOnceTheRunIsPossible) {
  ASSERT_EQ(shell("sheaf rescore run.pin --iterations 2 --output out --decoys --quiet && cp -r out before").code, 0);
  EXPECT_TRUE(complains(shell("sheaf rescore none.pin --output out --force"), 1, {"none.pin"}));
  EXPECT_TRUE(complains(shell("sheaf rescore run.pin --output out --force --group nothing"), 2, {"nothing"}));
  expect_same_results("out", "before");
  EXPECT_EQ(shell("sheaf rescore run.pin --iterations 2 --decoys --output out --quiet --resume").code, 0);
  ASSERT_EQ(shell("sheaf rescore run.pin --iterations 3 --output out --force --quiet").code, 0);
  EXPECT_FALSE(exists("out/decoy_psms.tsv"));
  write("other.txt", "");
  ASSERT_EQ(shell("mkdir diary && echo 'dear diary' >diary/journal.txt").code, 0);
  EXPECT_TRUE(complains(shell("sheaf rescore run.pin --output diary --force --quiet"), 1, {"diary/journal.txt"}));
  EXPECT_EQ(file("diary/journal.txt"), "dear diary\n");
}

TEST_F(RescoreProgram, PercolatorRefusesNumbersOutOfRange) {
  for (const auto* flag :
       {"-t", "-F", "--train-fdr-initial", "-i", "-p", "-n", "--nested-xval-bins", "-N", "-S", "-v", "--num-threads"})
    for (const auto* value : {"nan", "-nan", "inf", "-inf", "-1", "1e999", "1e200", "", "x", "1x", "0x1p3"}) {
      const auto done =
          shell("timeout 20 \"$program\" percolator -U -i 1 run.pin " + std::string(flag) + " '" + value + "'");
      EXPECT_EQ(done.code, 2) << flag << " " << value << ": " << done.err;
      EXPECT_NE(done.err.find("takes a "), std::string::npos) << flag << " " << value << ": " << done.err;
    }
  for (const auto* flag : {"-i", "--nested-xval-bins", "-N", "-S", "-v", "--num-threads"})
    EXPECT_TRUE(
        complains(shell("sheaf percolator -U run.pin " + std::string(flag) + " 2.5"), 2, {"whole number", "2.5"}));
}

TEST_F(RescoreProgram, RescoreKnowsGroupsAndOtherNames) {
  const auto done = shell("sheaf rescore run.pin --output out --iterations 1 --group charge --mokapot-names --quiet");
  ASSERT_EQ(done.code, 0) << done.err;
  EXPECT_TRUE(file("out/psms.tsv").starts_with("SpecId\tfilename\tLabel\tPeptide\tmokapot score\t"));
  EXPECT_EQ(nlohmann::json::parse(file("out/results.json"))["groups"].size(), 4U);
  EXPECT_EQ(shell("sheaf rescore run.pin --output other --group nothing").code, 2);
}

}  // namespace rescore_cli_test
}  // namespace sheaf::test
