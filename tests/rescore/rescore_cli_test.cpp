// The commands percolator and rescore as people run them.
#include <sstream>

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

TEST_F(RescoreProgram, AKilledRunIsResumedToTheSameResult) {
  ASSERT_EQ(shell("sheaf rescore run.pin --output whole --iterations 100 --quiet").code, 0);
  // Killed as soon as something is saved (the program, not the shell around it); where the run was faster, what it
  // saved is put back.
  ASSERT_EQ(shell("\"$program\" rescore run.pin --output out --iterations 100 --quiet & run=$!; "
                  "while kill -0 $run 2>/dev/null && ! cp out/unfinished.json saved.json 2>/dev/null; do :; done; "
                  "kill -9 $run; wait $run; cp saved.json out/unfinished.json")
                .code,
            0);
  EXPECT_TRUE(complains(shell("sheaf rescore run.pin --output out --iterations 100"), 1, {"--resume"}));
  const auto resumed = shell("sheaf rescore run.pin --output out --iterations 100 --quiet --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_FALSE(exists("out/unfinished.json"));
  for (const auto* name : {"psms.tsv", "peptides.tsv", "model.txt", "results.json"})
    EXPECT_EQ(file(std::string("out/") + name), file(std::string("whole/") + name)) << name;
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
