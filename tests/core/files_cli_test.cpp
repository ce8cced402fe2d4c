// Files that the program writes: never over its input, with the right permissions, complete or not at all; and its
// output on the terminal.
#include <sys/stat.h>

#include "program.hpp"

namespace sheaf::test {
namespace {

class FilesCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    write("a.csv", "x,y,label\n1,2,p\n2,1,q\n3,5,p\n4,3,q\n5,9,p\n6,4,q\n");
    write("a.svm", "+1 1:1 2:2\n-1 1:2 2:1\n+1 1:3 2:5\n-1 1:4 2:3\n");
  }
  /// The names and contents of all files.
  std::string contents() const {
    std::string all;
    for (const auto& name : listing())
      if (!std::filesystem::is_directory(path(name))) all += name + "\n" + file(name) + "\n";
    return all;
  }
  /// Refused with one clear line, and everything stays as it was.
  void refuses(const std::string& command, const std::vector<std::string>& parts) const {
    const auto before = contents();
    EXPECT_TRUE(complains(shell(command), 2, parts)) << command;
    EXPECT_EQ(contents(), before) << command;
  }
  std::string mode(const std::string& name) const { return shell("stat -c %a " + name).out; }
};

TEST_F(FilesCli, OutputsNeverReplaceInputs) {
  ASSERT_EQ(shell("sheaf fit a.csv --output a.model --quiet && sheaf bin a.csv states.csv --save cuts.txt --quiet && "
                  "sheaf scale a.csv scaled.csv --save ranges.txt --quiet && sheaf svm-train -q a.svm s.model && "
                  "sheaf liblinear-train -q a.svm l.model && printf '1\\n1\\n1\\n1\\n1\\n1\\n' >w.txt && "
                  "printf '1\\n1\\n' >f.txt && sheaf generate psms run.pin --spectra 200 --quiet && "
                  "ln a.csv hard.csv && ln -s a.csv soft.csv && mkdir sub && ln -s .. sub/up && rm -f *.made.json")
                .code,
            0);
  const std::vector<std::string> same{"which the command reads", "one file"};
  refuses("sheaf fit a.csv --output a.csv", same);
  refuses("sheaf fit a.csv --output ./a.csv", same);
  refuses("sheaf fit a.csv --output sub/../a.csv", same);
  refuses("sheaf fit a.csv --output sub/up/a.csv", same);
  refuses("sheaf fit a.csv --output hard.csv", same);
  refuses("sheaf fit a.csv --output soft.csv", same);
  refuses("sheaf fit soft.csv --output a.csv", same);
  refuses("sheaf fit a.csv --output m --row-weights w.txt --model glm --covariance w.txt", same);
  refuses("sheaf fit - --output a.csv --format csv <a.csv", {"standard input", "one file"});
  refuses("sheaf info a.csv --report a.csv", same);
  refuses("sheaf convert a.csv a.csv", same);
  refuses("sheaf scale a.csv a.csv", same);
  refuses("sheaf scale a.csv b.csv --load ranges.txt --save a.csv", same);
  refuses("sheaf scale a.csv ranges.txt --load ranges.txt", same);
  refuses("sheaf bin a.csv a.csv", same);
  refuses("sheaf bin a.csv cuts.txt --load cuts.txt", same);
  refuses("sheaf predict a.csv --model-file a.model --output a.csv", same);
  refuses("sheaf predict a.csv --model-file a.model --output a.model", same);
  refuses("sheaf predict a.csv --model-file a.model --explain a.csv", same);
  refuses("sheaf select a.csv --apply a.csv", same);
  refuses("sheaf select a.csv --csv a.csv", same);
  refuses("sheaf select a.csv --report a.csv", same);
  refuses("sheaf select a.csv --save-cuts a.csv", same);
  refuses("sheaf neighbors a.csv --output a.csv", same);
  refuses("sheaf neighbors a.csv --queries states.csv --output states.csv", same);
  refuses("sheaf neighbors a.csv --feature-weights f.txt --output f.txt", same);
  refuses("sheaf distances a.csv a.csv", same);
  refuses("sheaf liblinear-train a.svm a.svm", same);
  refuses("sheaf svm-train a.svm a.svm", same);
  refuses("sheaf svm-predict a.svm s.model s.model", same);
  refuses("sheaf liblinear-predict a.svm l.model a.svm", same);
  refuses("sheaf svm-scale -s a.svm a.svm", same);
  refuses("sheaf percolator -m run.pin run.pin", same);
  refuses("sheaf percolator -J run.pin run.pin", same);
  refuses("sheaf percolator -w w.txt -W w.txt run.pin", same);
  // Files that are written beside the named one.
  ASSERT_EQ(
      shell("cp a.csv b.svm.labels && cp a.csv b.npy.partial && cp a.svm c.model && cp a.csv b.csv.made.json").code, 0);
  refuses("sheaf convert b.svm.labels b.svm --format csv", same);
  refuses("sheaf distances b.npy.partial b.npy --format csv", same);
  refuses("sheaf scale b.csv.made.json b.csv --format csv", same);
  ASSERT_EQ(shell("mkdir other && cp a.svm other/x && cp a.svm x.model").code, 0);
  refuses("sheaf svm-easy other/x x.model", same);
}

TEST_F(FilesCli, TwoOutputsHaveTwoNames) {
  const std::vector<std::string> same{"are one file"};
  refuses("sheaf generate classification g.csv --truth g.csv", same);
  refuses("sheaf scale a.csv o --to csv --save ./o", same);
  refuses("sheaf bin a.csv o --to csv --save o", same);
  refuses("sheaf select a.csv --csv o --report o", same);
  refuses("sheaf select a.csv --apply o.csv --report o.csv.made.json", same);
  refuses("sheaf fit a.csv --model glm --output o --covariance o", same);
  ASSERT_EQ(shell("sheaf fit a.csv --output a.model --quiet").code, 0);
  refuses("sheaf predict a.csv --model-file a.model --output o --explain o", same);
  refuses("sheaf percolator -m o -r o a.csv", same);
  EXPECT_EQ(shell("sheaf predict a.csv --model-file a.model --output /dev/null --explain /dev/null").code, 0);
}

TEST_F(FilesCli, FoldersOfResultsHoldNoOtherFilesOfTheCommand) {
  ASSERT_EQ(shell("sheaf search a.svm --output d --cost 1 --folds 2 --quiet").code, 0);
  ASSERT_EQ(shell("cp a.svm d/a.svm").code, 0);
  EXPECT_TRUE(complains(shell("sheaf search d/a.svm --output d --force"), 2, {"d/a.svm lies in --output d"}));
  EXPECT_TRUE(exists("d/results.json"));
}

TEST_F(FilesCli, OutputsThatCannotBeWrittenAreRefusedBeforeTheWork) {
  EXPECT_TRUE(
      complains(shell("sheaf fit missing.csv --output none/m"), 1, {"--output none/m", "folder none is not there"}));
  EXPECT_TRUE(complains(shell("mkdir d; sheaf fit missing.csv --output d"), 1, {"--output d: is a folder"}));
}

TEST_F(FilesCli, PermissionsAreKeptOrThoseOfTheUmask) {
  ASSERT_EQ(
      shell("umask 022; sheaf fit a.csv --output open --quiet; umask 027; sheaf fit a.csv --output group --quiet; "
            "touch secret; chmod 600 secret; touch shared; chmod 664 shared; umask 022; "
            "sheaf fit a.csv --output secret --quiet; sheaf fit a.csv --output shared --quiet")
          .code,
      0);
  EXPECT_EQ(mode("open"), "644\n");
  EXPECT_EQ(mode("group"), "640\n");
  EXPECT_EQ(mode("secret"), "600\n");
  EXPECT_EQ(mode("shared"), "664\n");
  EXPECT_EQ(file("secret"), file("open"));
  EXPECT_EQ(
      shell("chmod 600 d.npy 2>/dev/null; touch d.npy; chmod 600 d.npy; sheaf distances a.csv d.npy --quiet").code, 0);
  EXPECT_EQ(mode("d.npy"), "600\n");
}

TEST_F(FilesCli, LinksThatAreNamedAreFollowed) {
  ASSERT_EQ(shell("mkdir real; touch real/old; ln -s real/old old; ln -s real/new new; "
                  "sheaf fit a.csv --output old --quiet && sheaf fit a.csv --output new --quiet")
                .code,
            0);
  EXPECT_TRUE(std::filesystem::is_symlink(path("old")));
  EXPECT_TRUE(std::filesystem::is_symlink(path("new")));
  EXPECT_FALSE(file("real/old").empty());
  EXPECT_EQ(file("real/old"), file("real/new"));
  EXPECT_EQ(shell("ls real | wc -l").out, "2\n") << "nothing under construction is left";
}

/// A folder of results is its search's: a link there leads nowhere that the user named.
TEST_F(FilesCli, LinksInFoldersOfResultsAreReplaced) {
  const std::string command = "sheaf search a.svm --output d --cost 1 --folds 2 --quiet";
  ASSERT_EQ(shell(command).code, 0);
  write("precious", "keep");
  ASSERT_EQ(
      shell("ln -sf ../precious d/report.html; ln -sf ../precious d/settings.json.tmp; " + command + " --resume").code,
      0);
  EXPECT_EQ(file("precious"), "keep");
  EXPECT_FALSE(std::filesystem::is_symlink(path("d/report.html")));
  ASSERT_EQ(shell("ln -sf ../precious d/journal.txt").code, 0);
  EXPECT_TRUE(complains(shell(command + " --force"), 1, {"d/journal.txt", "symbolic link"}));
  EXPECT_EQ(file("precious"), "keep");
}

TEST_F(FilesCli, DescriptorsAreWrittenAsTheyAre) {
  ASSERT_EQ(shell("sheaf convert a.csv b.csv --quiet").code, 0);
  ASSERT_EQ(shell("{ echo first; sheaf convert a.csv /dev/stdout --to csv --quiet; echo last; } >all").code, 0);
  EXPECT_EQ(file("all"), "first\n" + file("b.csv") + "last\n");
  ASSERT_EQ(shell("sheaf convert a.csv /dev/fd/3 --to csv --quiet 3>three").code, 0);
  EXPECT_EQ(file("three"), file("b.csv"));
  EXPECT_EQ(shell("mkfifo pipe; cat pipe >read & sheaf convert a.csv pipe --to csv --quiet; wait; cmp read b.csv").code,
            0);
}

TEST_F(FilesCli, MessagesThatCannotBeWrittenEndNoWork) {
  for (const char* closed : {"2>&-", "2>/dev/full", "2> >(exec true)"}) {
    ASSERT_EQ(shell("rm -f m; sheaf fit a.csv --output m --cost 1 --tolerance 1e-300 --max-iterations 1 >/dev/null " +
                    std::string(closed))
                  .code,
              0)
        << closed;
    EXPECT_TRUE(file("m").starts_with("sheaf")) << closed << file("m").substr(0, 80);
    EXPECT_EQ(shell("sheaf fit missing.csv --output m2 " + std::string(closed)).code, 1) << closed;
  }
}

TEST_F(FilesCli, ResultsThatCannotBeWrittenAreAnError) {
  EXPECT_TRUE(complains(shell("sheaf info a.csv --json >/dev/full"), 1, {"standard output: cannot be written"}));
  EXPECT_TRUE(complains(shell("sheaf info a.csv >&-"), 1, {"standard output: cannot be written"}));
  EXPECT_TRUE(complains(shell("sheaf convert a.csv - --to csv --quiet >/dev/full"), 1, {"cannot be written"}));
  EXPECT_TRUE(complains(shell("sheaf --help >/dev/full"), 1, {"cannot be written"}));
  EXPECT_TRUE(complains(shell("sheaf info - --format csv <&-"), 1, {"cannot be read"}));
  EXPECT_EQ(
      shell("sheaf generate classification - --to csv --rows 20000 --quiet | head -1 >/dev/null; exit ${PIPESTATUS[0]}")
          .code,
      128 + SIGPIPE);
}

TEST_F(FilesCli, ALimitOnFilesIsAnErrorAndLeavesNothing) {
  const auto before = listing();
  EXPECT_TRUE(complains(shell("ulimit -f 8; sheaf generate classification g.csv --rows 5000 --quiet"), 1,
                        {"g.csv: cannot be written: File too large"}));
  EXPECT_EQ(listing(), before);
}

TEST_F(FilesCli, NamesSendNothingToTheTerminal) {
  const std::string name = "\033]0;title\007\033[2Jred\302\233bad\342\200\256";
  write("e.csv", name + ",b,label\n1,2," + name + "\n2,1,q\n3,5," + name + "\n4,3,q\n5,6," + name + "\n6,6,q\n");
  write("\033[31mf.csv", "a,label\nx,1\n?,2\n");
  for (const std::string command :
       {"sheaf info e.csv", "sheaf fit e.csv --output m", "sheaf select e.csv --count 2",
        "sheaf predict e.csv --model-file m", "sheaf search e.csv --output d --folds 2 --cost 1",
        "sheaf info $'\\e[31mnone'", "sheaf fit $'\\e[31mf.csv' --output o --label nothing",
        "sheaf fit e.csv --output m --label $'\\e[1mx'", "sheaf $'\\e[1m'", "sheaf fit --$'\\e'x",
        "sheaf convert e.csv e.svm"}) {
    const auto outcome = shell(command);
    for (const auto& text : {outcome.out, outcome.err})
      for (const char* code : {"\033", "\007", "\302\233", "\342\200\256"})
        EXPECT_EQ(text.find(code), std::string::npos) << command << "\n" << text;
  }
  EXPECT_NE(shell("sheaf info e.csv").out.find("\\x1b]0;title\\x07\\x1b[2Jred\\u009bbad\\u202e"), std::string::npos);
  ASSERT_EQ(shell("sheaf convert e.csv copy.csv --quiet").code, 0);
  EXPECT_NE(file("copy.csv").find(name), std::string::npos) << "data stay as they are";
  EXPECT_NE(shell("sheaf convert e.csv - --to csv --quiet").out.find(name), std::string::npos);
}

TEST_F(FilesCli, PipesServeWhereOneReadingIsEnough) {
  ASSERT_EQ(shell("sheaf fit a.csv --output m --quiet").code, 0);
  EXPECT_EQ(shell("sheaf fit <(cat a.csv) --format csv --output p --quiet && cmp m p").code, 0);
  EXPECT_EQ(shell("sheaf fit /dev/stdin --format csv --output p2 --quiet <a.csv && cmp m p2").code, 0);
  EXPECT_TRUE(
      complains(shell("mkfifo pipe; cat a.svm >pipe & sheaf search pipe --output d; code=$?; kill $!; exit $code"), 2,
                {"pipe: is a pipe", "must read a file"}));
  EXPECT_FALSE(exists("d"));
}

}  // namespace
}  // namespace sheaf::test
