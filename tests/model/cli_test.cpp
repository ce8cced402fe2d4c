// The program as people and scripts meet it: exit codes, messages, JSON, and that nothing is left behind.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/io.hpp>

#include "program.hpp"

namespace sheaf::test {
namespace cli_test {

using Json = nlohmann::json;
using Names = std::vector<std::string>;
using testing::AssertionResult;

class Cli : public ProgramTest {};

const std::string small_csv = "a,b,species\n1,0,cat\n2,5,dog\n3,0,cat\n4,7,dog\n";

/// The command that a search records is one that a shell repeats, whatever the name of the file.
TEST_F(Cli, RecordsACommandThatAShellRepeats) {
  write("o'k $x.csv", "a,label\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n");
  ASSERT_EQ(shell("sheaf search \"o'k \\$x.csv\" --model linear --cost 1 --folds 3 --output s --quiet").code, 0);
  EXPECT_NE(file("s/settings.json").find("'o'\\\\''k $x.csv'"), std::string::npos) << file("s/settings.json");
}

TEST_F(Cli, HelpAndVersionSucceed) {
  for (const char* line : {"sheaf --help", "sheaf -h", "sheaf help", "sheaf help info", "sheaf --version"}) {
    const auto outcome = shell(line);
    EXPECT_EQ(outcome.code, 0) << line;
    EXPECT_FALSE(outcome.out.empty()) << line;
    EXPECT_TRUE(outcome.err.empty()) << line;
  }
}

TEST_F(Cli, EveryCommandHasHelpWithExamples) {
  for (const char* name : {"info", "convert", "scale", "generate", "devices"}) {
    const auto outcome = shell(std::string("sheaf ") + name + " --help");
    EXPECT_EQ(outcome.code, 0) << name;
    EXPECT_NE(outcome.out.find("Usage: sheaf " + std::string(name)), std::string::npos) << outcome.out;
    EXPECT_NE(outcome.out.find("Examples:"), std::string::npos) << outcome.out;
  }
}

TEST_F(Cli, HelpOfCommandsWithManyOptionsIsOnePage) {
  const auto holds = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  for (const std::string name : {"fit", "search", "select"}) {
    const auto page = shell("sheaf " + name + " --help").out;
    EXPECT_LT(std::count(page.begin(), page.end(), '\n'), 80) << name;
    const auto all = shell("sheaf " + name + " --help all").out;
    for (const std::string flag : {"--label", "--device"}) EXPECT_TRUE(holds(page, "\n  " + flag)) << name << page;
    for (const std::string flag : {"--label", "--max-epochs", "--delimiter", "--threads"})
      EXPECT_TRUE(holds(all, "\n  " + flag)) << name << all;
    EXPECT_FALSE(holds(page, "--max-epochs")) << name;
    EXPECT_EQ(shell("sheaf help " + name).out, page);
    EXPECT_EQ(shell("sheaf help " + name + " all").out, all);
  }
  const auto svm = shell("sheaf search --model svm --help").out;
  EXPECT_TRUE(holds(svm, "--gamma") && holds(svm, "--cost")) << svm;
  EXPECT_FALSE(holds(svm, "--alpha") || holds(svm, "--delimiter")) << svm;
  const auto reading = shell("sheaf search --help reading").out;
  EXPECT_TRUE(holds(reading, "--delimiter") && !holds(reading, "--gamma")) << reading;
  EXPECT_TRUE(complains(shell("sheaf search --help raeding"), 2, {"'raeding'", "did you mean reading?"}));
}

TEST_F(Cli, TheManualIsUpToDate) {
  const auto outcome = shell("sheaf --manual | diff - '" SHEAF_TESTS_DIR "/../docs/commands.md'");
  EXPECT_EQ(outcome.code, 0) << "run: make docs\n" << outcome.out;
}

TEST_F(Cli, MistakesOnTheCommandLineAreAnsweredWithTheNearestName) {
  write("t.csv", small_csv);
  EXPECT_TRUE(complains(shell("sheaf"), 2, {"no command"}));
  EXPECT_TRUE(complains(shell("sheaf inof t.csv"), 2, {"'inof'", "info, convert", "did you mean info?"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv --treads 2"), 2, {"'--treads'", "did you mean --threads?"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv --quite"), 2, {"did you mean --quiet?"}));
  EXPECT_TRUE(
      complains(shell("sheaf info t.csv --storage spares"), 2, {"auto, dense and sparse", "did you mean sparse?"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv --format exel"), 2, {"unknown format 'exel'", "libsvm"}));
  EXPECT_TRUE(complains(shell("sheaf scale t.csv o.csv --method standrad"), 2, {"maxabs", "did you mean standard?"}));
  EXPECT_TRUE(complains(shell("sheaf generate microbe o.csv"), 2, {"did you mean microbes?"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv extra"), 2, {"'extra'"}));
  EXPECT_TRUE(complains(shell("sheaf info"), 2, {"FILE is missing"}));
  EXPECT_TRUE(complains(shell("sheaf convert t.csv"), 2, {"OUT is missing"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv --threads"), 2, {"--threads needs a value"}));
}

TEST_F(Cli, ValuesOutOfRangeSayWhatWasExpected) {
  EXPECT_TRUE(complains(shell("sheaf info t.csv --threads 0"), 2, {"0 given", "1 to 4096"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv --threads many"), 2, {"whole number", "'many'"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv --memory lots"), 2, {"'lots'", "512M"}));
  EXPECT_TRUE(complains(shell("sheaf generate microbes o.csv --rows -3"), 2, {"-3"}));
  EXPECT_TRUE(complains(shell("sheaf generate microbes o.csv --noise x"), 2, {"takes a number"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output m --device cuda:999"), 2, {"cuda:999"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output m --device gpu"), 2, {"'gpu'", "cpu, cuda"}));
  EXPECT_TRUE(listing().empty());
}

TEST_F(Cli, BadFilesAreTheUsersInput) {
  write("bad.csv", "a,b,y\n1,2,cat\n1,x,dog\n");
  write("empty.csv", "");
  EXPECT_TRUE(complains(shell("sheaf info missing.csv"), 1, {"missing.csv"}));
  EXPECT_TRUE(complains(shell("sheaf info ."), 1, {"."}));
  EXPECT_TRUE(complains(shell("sheaf info empty.csv"), 1, {"empty.csv"}));
  EXPECT_TRUE(complains(shell("sheaf info bad.csv"), 1, {"bad.csv:3:3", "'x'"}));
  EXPECT_TRUE(complains(shell("sheaf convert bad.csv out.svm"), 1, {"bad.csv:3:3"}));
  EXPECT_TRUE(complains(shell("sheaf scale bad.csv out.csv --load missing.txt"), 1, {"missing.txt"}));
  EXPECT_EQ(listing(), (Names{"bad.csv", "empty.csv"}));
}

TEST_F(Cli, OutputThatCannotBeWrittenLeavesNothingBehind) {
  write("t.csv", small_csv);
  EXPECT_TRUE(complains(shell("sheaf convert t.csv no/such/folder/o.svm"), 1, {"no/such/folder/o.svm"}));
  EXPECT_TRUE(complains(shell("sheaf convert t.csv /proc/o.svm --label species"), 1, {"/proc/o.svm"}));
  EXPECT_TRUE(
      complains(shell("sheaf convert t.csv /dev/full --to csv --label species"), 1, {"/dev/full", "No space left"}));
  EXPECT_TRUE(complains(shell("sheaf convert t.csv - --to csv --quiet >/dev/full"), 1, {"No space left"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv >/dev/full"), 1, {"standard output", "No space left"}));
  EXPECT_TRUE(complains(shell("sheaf info t.csv --report no/r.html"), 1, {"no/r.html"}));
  EXPECT_EQ(listing(), Names{"t.csv"});
  EXPECT_EQ(shell("test -c /dev/full").code, 0) << "a device must be written, never replaced";
}

TEST_F(Cli, AnInterruptLeavesNothingBehind) {
  for (const auto& [signal, code] : {std::pair{"INT", "130\n"}, {"TERM", "143\n"}, {"HUP", "129\n"}}) {
    // With job control (set -m), since shells make background work deaf to interrupts otherwise.
    const auto outcome = shell(
        "set -m; exec 3>&2 2>/dev/null; \"$program\" generate text big.csv --rows 20000 --features 3000 --quiet & "
        "p=$!\n"
        "for i in $(seq 500); do ls | grep -q part && break; sleep 0.01; done\n"
        "ls | grep -c part; kill -" +
        std::string(signal) + " $p; wait $p; echo $?");
    EXPECT_EQ(outcome.out, std::string("1\n") + code) << signal;
    EXPECT_TRUE(listing().empty()) << signal;
  }
}

/// `line` runs in the background as $p until `until` succeeds; then come `signals`. With job control, since shells make
/// background work deaf to interrupts otherwise; the shell's own messages about jobs are dropped.
std::string interrupted(const std::string& line, const std::string& until, const std::string& signals) {
  return "set -m; exec 3>&2 2>/dev/null; \"$program\" " + line + " 2>&3 & p=$!\nfor i in $(seq 1000); do " + until +
         " && break; sleep 0.01; done\n" + signals + "\nwait $p; echo $?";
}

TEST_F(Cli, ASignalStopsTheWorkInOrder) {
  ASSERT_EQ(shell("sheaf generate genes t.csv --rows 600 --features 4000 --quiet").code, 0);
  struct Case {
    const char *line, *until;
  };
  for (const auto& [line, until] :
       {Case{"select t.csv --count 3000 --csv picked.csv --quiet", "sleep 0.7"},
        Case{"convert t.csv big.csv --quiet", "ls | grep -q part"},
        Case{"fit t.csv --model elastic-net-logistic --alpha 1e-7 --tolerance 1e-12 --output m --quiet", "sleep 0.7"},
        Case{"info - --quiet <&4", "sleep 0.3"}})
    for (const auto& [signal, code] : {std::pair{"INT", "130\n"}, {"TERM", "143\n"}}) {
      // 4 is a pipe into which nothing is written.
      const auto outcome = shell("mkfifo pipe; exec 4<>pipe; rm pipe; " +
                                 interrupted(line, until, std::string("kill -") + signal + " $p"));
      EXPECT_EQ(outcome.out, code) << line << ": " << outcome.err;
      EXPECT_EQ(outcome.err, "sheaf: stopped; no file was left half written\n") << line;
      EXPECT_EQ(listing(), Names{"t.csv"}) << line;
    }
}

TEST_F(Cli, ASecondSignalEndsAtOnce) {
  // Its output is not read: it can't react to the first signal. It waits once it sleeps and takes no processor time.
  ASSERT_EQ(shell("mkfifo f").code, 0);
  const auto field = [](int k) { return fmt::format("$(cut -d' ' -f{} /proc/$p/stat)", k); };
  const auto waiting =
      fmt::format("[ {0} = S ] && used={1} && sleep 0.5 && [ $used = {1} ] && [ {0} = S ]", field(3), field(14));
  const auto outcome =
      shell("sleep 60 <f & reader=$!\n" +
            interrupted("generate text - --rows 20000 --features 3000 --to csv --quiet >f", waiting,
                        "kill -INT $p; sleep 0.5; kill -0 $p && echo there; kill -INT $p; kill $reader"));
  EXPECT_EQ(outcome.out, "there\n130\n") << outcome.err;
}

TEST_F(Cli, AReaderThatGoesAwayIsNoError) {
  const auto outcome =
      shell("set -o pipefail; sheaf generate classification - --rows 200000 --to csv --quiet | head -1");
  EXPECT_EQ(outcome.code, 141) << "what SIGPIPE gives every program";
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
}

TEST_F(Cli, InfoAnswersInJson) {
  write("t.csv", small_csv);
  const auto outcome = shell("sheaf info t.csv --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto answer = Json::parse(outcome.out);
  EXPECT_EQ(answer["rows"], 4);
  EXPECT_EQ(answer["features"], 2);
  EXPECT_EQ(answer["nonzeros"], 6);
  EXPECT_EQ(answer["label"]["name"], "species");
  EXPECT_EQ(answer["label"]["classes"][0], (Json{{"name", "dog"}, {"count", 2}}));
  EXPECT_EQ(answer["strongest"][0]["name"], "b");
  EXPECT_EQ(answer["strongest"][0]["auc"], 1.0);
  EXPECT_EQ(answer["memory"]["devices"][0]["device"], "cpu");
  EXPECT_GT(answer["memory"]["devices"][0]["models"], 0);
  EXPECT_TRUE(answer["findings"].is_array());
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
}

TEST_F(Cli, InfoWarnsOfWhatAStatisticianWouldAsk) {
  write("t.csv", "x,w,big,zero,y\n1,1,1000000,0,a\n2,1,2000000,0,a\n0,1,5000000,0,a\n0,0,0,0,a\n");
  const auto answer = Json::parse(shell("sheaf info t.csv --json --storage sparse").out);
  Names codes;
  for (const auto& finding : answer["findings"]) codes.push_back(finding["code"]);
  for (const char* code : {"one-class", "tiny-classes", "empty-rows", "constant-features", "unscaled"})
    EXPECT_EQ(std::count(codes.begin(), codes.end(), code), 1) << code;
}

TEST_F(Cli, InfoTellsClassesOnTheTerminal) {
  write("t.csv", small_csv);
  const auto outcome = shell("sheaf info t.csv");
  EXPECT_EQ(outcome.code, 0);
  for (const char* part : {"4 rows x 2 features", "Label species", "cat", "Memory to train", "cpu"})
    EXPECT_NE(outcome.out.find(part), std::string::npos) << part << "\n" << outcome.out;
  EXPECT_EQ(outcome.out.find('\033'), std::string::npos) << "no colours into a pipe";
}

TEST_F(Cli, TheReportNeedsNothingElse) {
  ASSERT_EQ(shell("sheaf generate microbes t.arff --rows 60 --features 300 --quiet").code, 0);
  const auto outcome = shell("sheaf info t.arff --report r.html --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  auto page = file("r.html");
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  // The name of SVG's elements is no address that is loaded; the one script stands in the page.
  const std::string_view svg = "http://www.w3.org/2000/svg";
  for (auto at = page.find(svg); at != std::string::npos; at = page.find(svg)) page.erase(at, svg.size());
  for (const char* loads : {"http://", "https://", "src=", "href=", "url(", "@import", "<script ", "<link", "fetch("})
    EXPECT_EQ(page.find(loads), std::string::npos) << loads;
  EXPECT_EQ(page.find("<script>"), page.rfind("<script>"));
  EXPECT_NE(page.find("<svg"), std::string::npos);
  EXPECT_EQ(page.find("nan"), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
}

TEST_F(Cli, NamesInTheReportAreText) {
  write("t.csv", "\"<script>alert(1)</script>\",b,y\n1,2,<b>\n2,1,c\n3,1,<b>\n4,5,c\n");
  ASSERT_EQ(shell("sheaf info t.csv --report r.html --quiet").code, 0);
  EXPECT_EQ(file("r.html").find("<script>alert"), std::string::npos);
  EXPECT_NE(file("r.html").find("&lt;script&gt;alert"), std::string::npos);
}

TEST_F(Cli, OddTablesHaveReportsToo) {
  write("regression.csv", "a,b,y\n1.5,2,0.1\n2,-1,0.7\n3,1,1.9\n4,5,2.25\n");
  write("one.csv", "a,y\n1,x\n");
  write("zeros.csv", "a,b,y\n0,0,p\n0,0,q\n");
  for (const std::string name : {"regression", "one", "zeros"}) {
    const auto outcome = shell("sheaf info " + name + ".csv --report " + name + ".html");
    EXPECT_EQ(outcome.code, 0) << name << outcome.err;
    EXPECT_TRUE(file(name + ".html").ends_with("</html>\n")) << name;
    EXPECT_EQ(file(name + ".html").find("nan"), std::string::npos) << name;
    EXPECT_EQ(file(name + ".html").find("inf\""), std::string::npos) << name;
  }
  EXPECT_EQ(shell("sheaf info regression.csv --label none --report u.html").code, 0);
}

TEST_F(Cli, TheSameSeedGivesTheSameBytes) {
  for (const char* kind : {"microbes", "classification", "text", "regression", "genes"}) {
    const auto line = "sheaf generate " + std::string(kind) +
                      " %.arff --rows 40 --features 50 --informative 5 --quiet --truth %.truth";
    const auto with = [&](const std::string& name, const std::string& options) {
      auto text = line;
      while (text.find('%') != std::string::npos) text.replace(text.find('%'), 1, name);
      return shell(text + options);
    };
    ASSERT_EQ(with("a", " --seed 7 --threads 1").code, 0) << kind;
    ASSERT_EQ(with("b", " --seed 7 --threads 3").code, 0) << kind;
    ASSERT_EQ(with("c", " --seed 8").code, 0) << kind;
    EXPECT_EQ(file("a.arff"), file("b.arff")) << kind;
    EXPECT_EQ(file("a.truth"), file("b.truth")) << kind;
    EXPECT_NE(file("a.arff"), file("c.arff")) << kind;
  }
}

TEST_F(Cli, AnswersDoNotDependOnThreads) {
  ASSERT_EQ(shell("sheaf generate microbes t.svm --rows 80 --features 3000 --quiet").code, 0);
  auto one = Json::parse(shell("sheaf info t.svm --json --threads 1").out);
  auto four = Json::parse(shell("sheaf info t.svm --json --threads 4").out);
  one.erase("memory");  // what is free changes from run to run
  four.erase("memory");
  EXPECT_EQ(one, four);
}

TEST_F(Cli, TablesGoThroughPipesAndCompression) {
  write("t.csv", small_csv);
  ASSERT_EQ(shell("sheaf convert - - --format csv --to csv --quiet <t.csv").out, small_csv);
  ASSERT_EQ(shell("cat t.csv | sheaf convert - t.svm.gz --format csv").code, 0);
  EXPECT_TRUE(file("t.svm.gz").starts_with("\x1f\x8b"));
  const std::map<std::string_view, std::string_view> magic{
      {".gz", "\x1f\x8b"}, {".xz", "\xfd\x37zXZ"}, {".zst", "\x28\xb5\x2f\xfd"}};
  for (const std::string_view ending : compressions()) {
    const std::string name = "u.svm" + std::string(ending);
    ASSERT_EQ(shell("sheaf convert t.svm.gz " + name).code, 0);
    EXPECT_TRUE(file(name).starts_with(magic.at(ending))) << name;
    const auto answer = Json::parse(shell("sheaf info - --json <" + name).out);
    EXPECT_EQ(answer["rows"], 4);
    EXPECT_EQ(answer["nonzeros"], 6);
  }
}

TEST_F(Cli, OptionsMayStandBeforeFiles) {
  write("t.csv", small_csv);
  const auto behind = Json::parse(shell("sheaf info t.csv --json --threads 2 --seed 3").out);
  const auto before = Json::parse(shell("sheaf info --threads 2 --seed 3 --json t.csv").out);
  EXPECT_EQ(before["rows"], behind["rows"]);
  EXPECT_EQ(shell("sheaf convert --digits 4 --format csv t.csv t.svm").code, 0);
}

TEST_F(Cli, ConvertAnswersInJsonUnlessThatWouldMix) {
  write("t.csv", small_csv);
  const auto answer = Json::parse(shell("sheaf convert t.csv t.svm --json").out);
  EXPECT_EQ(answer["output"], "t.svm");
  EXPECT_EQ(answer["rows"], 4);
  EXPECT_TRUE(complains(shell("sheaf convert t.csv - --json --to csv"), 2, {"--json"}));
}

TEST_F(Cli, ScalingIsSavedAndLoaded) {
  write("train.csv", "a,b,y\n0,10,p\n5,20,q\n10,30,p\n");
  write("test.csv", "a,b,y\n20,20,q\n");
  ASSERT_EQ(shell("sheaf scale train.csv s.csv --method 01 --save r.txt --quiet").code, 0);
  EXPECT_EQ(file("s.csv"), "a,b,y\n0,0,p\n0.5,0.5,q\n1,1,p\n");
  ASSERT_EQ(shell("sheaf scale test.csv o.csv --load r.txt --quiet").code, 0);
  EXPECT_EQ(file("o.csv"), "a,b,y\n2,0.5,q\n");
  ASSERT_EQ(shell("sheaf scale train.csv n.csv --method -11 --quiet").code, 0);
  EXPECT_EQ(file("n.csv"), "a,b,y\n-1,-1,p\n0,0,q\n1,1,p\n");
  EXPECT_TRUE(complains(shell("sheaf scale test.csv o.csv --load r.txt --method 01"), 2, {"--load"}));
}

TEST_F(Cli, DevicesAreListedWithReasons) {
  const auto answer = Json::parse(shell("sheaf devices --json").out);
  ASSERT_GE(answer["devices"].size(), 1U);
  EXPECT_EQ(answer["devices"][0]["device"], "cpu");
  EXPECT_EQ(answer["devices"][0]["usable"], true);
  for (const auto& device : answer["devices"])
    EXPECT_TRUE(device["usable"] || !device["why_not"].get<std::string>().empty());
}

TEST_F(Cli, AutoSaysWhichDeviceItTook) {
  write("t.csv", small_csv);
  EXPECT_TRUE(shell("sheaf fit t.csv --label species --output m --device auto")
                  .err.starts_with("device: cpu"));  // the work is small
  EXPECT_TRUE(shell("sheaf fit t.csv --output m --device auto --quiet").err.empty());
  EXPECT_TRUE(shell("sheaf fit t.csv --label species --output m").err.empty());
}

TEST_F(Cli, QuietIsQuiet) {
  const auto outcome = shell("sheaf generate microbes t.svm --rows 20 --features 30 --quiet");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(outcome.out.empty());
  EXPECT_TRUE(outcome.err.empty()) << outcome.err;
}

}  // namespace cli_test
}  // namespace sheaf::test
