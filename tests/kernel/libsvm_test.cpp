// The commands that stand for LIBSVM's programs, beside the programs themselves if they are installed: the same lines,
// each other's model and range files, the same predictions. Real tables are taken if they lie beside the checkout.
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "peer_program.hpp"

namespace sheaf::test {
namespace libsvm_test {

struct Case {
  std::string data;  // of shared/data, or KIND:OPTIONS of sheaf generate
  std::string flags;
};

const std::vector<Case> cases{
    {"classification:--rows 200 --features 8", "-g 0.05"},
    {"classification:--rows 200 --features 8 --classes 4", "-c 4 -g 0.02 -w1 3"},
    {"classification:--rows 150 --features 6 --classes 3", "-s 1 -n 0.3 -g 0.05"},
    {"classification:--rows 150 --features 6", "-s 2 -n 0.2 -g 0.01"},
    {"text:--rows 150 --features 400", "-t 0"},
    {"regression:--rows 150 --features 6", "-s 3 -p 0.3 -g 0.05"},
    {"regression:--rows 150 --features 6", "-s 4 -n 0.4 -t 1 -d 2 -r 1 -g 0.05"},
    {"heart_scale", "-t 3 -g 0.02"},
    {"heart_scale", "-c 8 -g 0.1 -w1 2 -w-1 0.5"},
    {"iris", ""},
    {"glass", "-c 32 -g 0.5"},
    {"wine", "-c 16 -g 0.0001"},
    {"vowel", "-c 16 -g 1"},
    {"sonar_scale", "-c 16 -g 0.1"},
    {"diabetes", "-c 4 -g 0.0001"},
};

class Libsvm : public PeerTest {
 protected:
  void SetUp() override {
    PeerTest::SetUp();
    need({"svm-train", "svm-predict", "svm-scale"}, "libsvm-tools");
  }

  template <class Check>
  void for_cases(Check&& check) const {
    for_each(cases, check);
  }
};

bool is_regression(const Case& one) {
  return one.flags.find("-s 3") != std::string::npos || one.flags.find("-s 4") != std::string::npos;
}

void expect_near(const std::string& ours, const std::string& theirs, double tolerance) {
  const auto a = lines_of(ours);
  const auto b = lines_of(theirs);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::istringstream mine(a[i]);
    std::istringstream other(b[i]);
    for (std::string x, y; other >> y;) {
      ASSERT_TRUE(mine >> x) << a[i];
      if (x == y) continue;
      ASSERT_NEAR(std::stod(x), std::stod(y), tolerance) << i;
    }
  }
}

TEST_F(Libsvm, EachReadsTheOthersModelsAndPredictsAlike) {
  for_cases([&](const Case& one, const std::string& device) {
    run("sheaf svm-train -q " + one.flags + " data ours" + device);
    run("svm-train -q " + one.flags + " data theirs");
    for (const std::string model : {"ours", "theirs"}) {
      const auto mine = shell("sheaf svm-predict data " + model + " mine.out" + device);
      const auto other = shell("svm-predict data " + model + " other.out");
      ASSERT_EQ(mine.code, 0) << mine.err;
      ASSERT_EQ(other.code, 0) << other.err;
      if (is_regression(one)) {
        expect_near(file("mine.out"), file("other.out"), 1e-4);
        continue;
      }
      EXPECT_EQ(mine.out, other.out) << model;
      EXPECT_EQ(file("mine.out"), file("other.out")) << model;
    }
  });
}

/// The keywords of a model file up to the support vectors, and how many of these.
TEST_F(Libsvm, ModelFilesHaveTheSameShape) {
  for_cases([&](const Case& one, const std::string& device) {
    run("sheaf svm-train -q " + one.flags + " data ours" + device);
    run("svm-train -q " + one.flags + " data theirs");
    const auto ours = lines_of(file("ours"));
    const auto theirs = lines_of(file("theirs"));
    for (std::size_t i = 0; i < theirs.size() && theirs[i] != "SV"; ++i) {
      const auto word = theirs[i].substr(0, theirs[i].find(' '));
      ASSERT_LT(i, ours.size());
      EXPECT_EQ(ours[i].substr(0, ours[i].find(' ')), word);
      if (word == "svm_type" || word == "kernel_type" || word == "degree" || word == "nr_class" || word == "label") {
        EXPECT_EQ(ours[i], theirs[i]);
      }
      if (word == "gamma" || word == "coef0")  // Debian's programs round the values of flags to single precision
        expect_near(ours[i], theirs[i], 1e-6);
    }
    EXPECT_NEAR(static_cast<double>(ours.size()), static_cast<double>(theirs.size()),
                2 + 0.01 * static_cast<double>(theirs.size()));
  });
}

/// Folds are dealt alike, so that the accuracy is the same but for rows on the border.
TEST_F(Libsvm, CrossValidationPrintsTheSameNumber) {
  const auto number = [](const std::string& text) {
    const auto lines = lines_of(text);
    const auto& last = lines.back();
    EXPECT_TRUE(last.starts_with("Cross Validation ")) << text;
    return std::stod(last.substr(last.rfind("= ") + 2));
  };
  for_cases([&](const Case& one, const std::string& device) {
    for (const std::string more : {"-v 5 ", "-v 3 -b 1 "}) {
      if (one.flags.find("-s 2") != std::string::npos && more.find("-b") != std::string::npos) continue;
      const auto mine = shell("sheaf svm-train -q " + more + one.flags + " data" + device);
      const auto other = shell("svm-train -q " + more + one.flags + " data");
      ASSERT_EQ(mine.code, 0) << mine.err;
      EXPECT_NEAR(number(mine.out), number(other.out), is_regression(one) ? 1e-3 : 1.01) << more;
    }
  });
}

TEST_F(Libsvm, ProbabilitiesAreTheSame) {
  for_cases([&](const Case& one, const std::string& device) {
    if (one.flags.find("-s 2") != std::string::npos) return;
    run("svm-train -q -b 1 " + one.flags + " data theirs");
    run("sheaf svm-predict -b 1 -q data theirs mine.out" + device);
    run("svm-predict -b 1 -q data theirs other.out");
    expect_near(file("mine.out"), file("other.out"), 1e-4);
    run("sheaf svm-train -q -b 1 " + one.flags + " data ours" + device);
    const auto mine = shell("sheaf svm-predict -b 1 data ours mine.out" + device);
    const auto other = shell("svm-predict -b 1 data ours other.out");
    if (!is_regression(one)) {
      EXPECT_EQ(mine.out, other.out);
    }
    expect_near(file("mine.out"), file("other.out"), 1e-4);
  });
}

/// Training draws the same folds for its sigmoids, so that they agree to the solver's tolerance.
TEST_F(Libsvm, TrainedSigmoidsAreClose) {
  ASSERT_TRUE(make("classification:--rows 300 --features 6 --classes 3"));
  run("sheaf svm-train -q -b 1 -g 0.05 data ours && svm-train -q -b 1 -g 0.05 data theirs");
  for (const std::string key : {"probA", "probB"}) {
    const auto line = [&](const std::string& name) {
      for (const auto& one : lines_of(file(name)))
        if (one.starts_with(key)) return one.substr(key.size());
      return std::string();
    };
    expect_near(line("ours"), line("theirs"), 0.01);
  }
}

TEST_F(Libsvm, PrecomputedKernelsGoBySerial) {
  write("train",
        "+1 0:2 1:1 2:0.5 3:0.1 4:0\n-1 0:4 1:0 2:0.2 3:0.3 4:1\n+1 0:1 1:1 2:1 3:0.2 4:0\n-1 0:3 1:0.2 2:0.1 3:1 "
        "4:0.3\n");
  run("sheaf svm-train -q -t 4 train ours && svm-train -q -t 4 train theirs");
  for (const std::string model : {"ours", "theirs"}) {
    run("sheaf svm-predict -q train " + model + " mine.out && svm-predict -q train " + model + " other.out");
    EXPECT_EQ(file("mine.out"), file("other.out"));
  }
  write("bad", "+1 1:1 2:0.5\n-1 0:2 1:0 2:0.2\n");
  EXPECT_TRUE(complains(shell("sheaf svm-train -q -t 4 bad m"), 1, {"row 1 must begin with 0:sample_serial_number"}));
}

TEST_F(Libsvm, ScalesToTheSameBytes) {
  std::vector<std::string> tables{"small", "constant"};
  write("small", "1234567.89 1:2 4:3 5:0.123456789\n-1 1:3 2:1 5:0 6:5\n2 6:-1\n");
  write("constant", "1 2:5\n2 2:5\n");
  for (const std::string name : {"glass", "wine", "heart_scale"})
    if (make(name)) {
      run("mv data " + name);
      tables.push_back(name);
    }
  for (const auto& table : tables)
    for (const std::string flags : {"", "-l 0", "-l -3 -u 7.5 -y -1 1", "-y 0 10"}) {
      SCOPED_TRACE(table + " " + flags);
      const auto mine = shell("sheaf svm-scale " + flags + " -s mine.range " + table);
      const auto other = shell("svm-scale " + flags + " -s other.range " + table);
      ASSERT_EQ(mine.code, 0) << mine.err;
      EXPECT_EQ(mine.out, other.out);
      EXPECT_EQ(mine.err, other.err) << "warnings";
      EXPECT_EQ(file("mine.range"), file("other.range"));
      const auto restored = shell("sheaf svm-scale -r other.range small");
      const auto theirs = shell("svm-scale -r mine.range small");
      EXPECT_EQ(restored.out, theirs.out);
    }
}

TEST_F(Libsvm, EasyFindsWhatTheGridFinds) {
  if (!std::filesystem::exists("/usr/bin/svm-grid")) GTEST_SKIP() << "svm-grid is not installed";
  ASSERT_TRUE(make("classification:--rows 80 --features 4"));
  run("sheaf svm-easy data data");
  const auto grid = shell(
      "mkdir g; cd g; svm-scale ../data >data.scale; svm-grid -gnuplot null -svmtrain /usr/bin/svm-train data.scale");
  if (grid.code != 0) GTEST_SKIP() << "svm-grid does not run: " << grid.err;
  EXPECT_EQ(file("data.scale"), file("g/data.scale"));
  const auto ours = lines_of(file("data.scale.out"));
  const auto theirs = lines_of(file("g/data.scale.out"));
  ASSERT_EQ(ours.size(), theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const auto at = theirs[i].find(" rate=");
    EXPECT_EQ(ours[i].substr(0, at), theirs[i].substr(0, at)) << "the same pairs in the same order";
    EXPECT_NEAR(std::stod(ours[i].substr(at + 6)), std::stod(theirs[i].substr(at + 6)), 2.6) << theirs[i];
  }
  run("svm-predict data.scale data.model other.out");
  EXPECT_EQ(file("data.predict"), file("other.out"));
}

TEST_F(Libsvm, MistakesLeaveNothing) {
  write("data", "1 1:1\n-1 1:2\n");
  write("words", "a 1:1\nb 1:2\n");
  write("range", "x\n-1 1\n1 0 z\n");
  const auto before = listing();
  EXPECT_TRUE(complains(shell("sheaf svm-train -s 7 data m"), 2, {"-s takes a whole number, 0 to 4"}));
  EXPECT_TRUE(complains(shell("sheaf svm-train -c 0 data m"), 2, {"-c takes a number above 0"}));
  EXPECT_TRUE(complains(shell("sheaf svm-train -n 2 data m"), 2, {"-n"}));
  EXPECT_TRUE(complains(shell("sheaf svm-train -v 1 data"), 2, {"-v"}));
  EXPECT_TRUE(complains(shell("sheaf svm-train -z 1 data m"), 2, {"unknown option '-z'"}));
  EXPECT_TRUE(complains(shell("sheaf svm-train nothing m"), 1, {"nothing"}));
  EXPECT_TRUE(complains(shell("sheaf svm-train words m"), 1, {"class 'a' is no integer"}));
  EXPECT_TRUE(complains(shell("sheaf svm-train -s 3 words m"), 1, {"not numbers"}));
  EXPECT_TRUE(complains(shell("sheaf svm-predict data data out"), 1, {"data:1:1", "svm_type"}));
  EXPECT_TRUE(complains(shell("sheaf svm-scale -r range data"), 1, {"range:3:5: expected a number"}));
  EXPECT_TRUE(complains(shell("sheaf svm-scale -l 1 -u 0 data"), 2, {"inconsistent lower/upper specification"}));
  EXPECT_TRUE(complains(shell("sheaf svm-scale words"), 1, {"some labels are not numbers"}));
  EXPECT_EQ(listing(), before);
}

}  // namespace libsvm_test
}  // namespace sheaf::test
