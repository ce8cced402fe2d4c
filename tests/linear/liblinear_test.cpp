// The commands that stand for LIBLINEAR's programs, beside the programs themselves if they are installed: the same
// optimum, each other's model files, the same predictions. Real tables are taken if they lie beside the checkout.
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "linear_objective.hpp"
#include "peer_program.hpp"

namespace sheaf::test {
namespace liblinear_test {

struct Case {
  std::string data;  // of shared/data, or KIND:OPTIONS of sheaf generate
  std::string flags;
  Costs costs = {};
};

const std::vector<Case> cases{
    {"classification:--rows 300 --features 20", "-s 0"},
    {"classification:--rows 300 --features 20", "-s 2 -c 0.25 -B 1", {0.25}},
    {"classification:--rows 400 --features 15 --classes 4", "-s 0 -c 2 -w1 3 -w2 0.5", {2, 0.1, {{1, 3}, {2, 0.5}}}},
    {"classification:--rows 400 --features 15 --classes 4", "-s 2"},
    {"text:--rows 200 --features 3000", "-s 0 -w1 4", {1, 0.1, {{1, 4}}}},
    {"text:--rows 200 --features 3000", "-s 2 -B 0.5"},
    {"regression:--rows 300 --features 20", "-s 11 -p 0.3 -B 1", {1, 0.3}},
    {"heart_scale", "-s 0 -B 1"},
    {"heart_scale", "-s 2 -w1 5 -w-1 2", {1, 0.1, {{1, 5}, {-1, 2}}}},
    {"iris", "-s 0"},
    {"iris", "-s 2 -B 1 -c 0.5", {0.5}},
    {"a9a", "-s 0"},
    {"a9a", "-s 2 -c 0.1", {0.1}},
    {"abalone", "-s 11"},
    {"cpusmall", "-s 11 -c 0.01 -p 1", {0.01, 1}},
};

/// Cases of the solvers that descend on the dual.
const std::vector<Case> dual_cases{
    {"classification:--rows 300 --features 20", "-s 1 -c 0.25 -B 1", {0.25}},
    {"classification:--rows 300 --features 20", "-s 3 -c 0.01", {0.01}},
    {"classification:--rows 400 --features 15 --classes 4", "-s 1 -c 0.1 -w1 3", {0.1, 0.1, {{1, 3}}}},
    {"classification:--rows 400 --features 15 --classes 4", "-s 7 -c 0.5", {0.5}},
    {"text:--rows 200 --features 3000", "-s 1 -w1 4", {1, 0.1, {{1, 4}}}},
    {"text:--rows 200 --features 3000", "-s 3 -B 0.5"},
    {"text:--rows 200 --features 3000", "-s 7"},
    {"regression:--rows 300 --features 20", "-s 12 -c 0.1 -p 0.3 -B 1", {0.1, 0.3}},
    {"regression:--rows 300 --features 20", "-s 13 -c 0.01 -p 0.3", {0.01, 0.3}},
    {"heart_scale", "-s 1 -c 0.25 -B 1", {0.25}},
    {"heart_scale", "-s 3 -c 0.01", {0.01}},
    {"iris", "-s 7 -B 1 -c 0.5", {0.5}},
    {"classification:--rows 300 --features 20", "-s 4 -c 0.05 -w1 3", {0.05, 0.1, {{1, 3}}}},
    {"classification:--rows 400 --features 15 --classes 4", "-s 4 -c 0.02 -B 1", {0.02}},
    {"text:--rows 200 --features 3000", "-s 4"},
    {"iris", "-s 4 -c 0.01", {0.01}},
    {"glass", "-s 4 -c 0.0001", {0.0001}},
    {"abalone", "-s 12 -c 0.01", {0.01}},
    {"housing_scale", "-s 13 -c 0.1 -B 1", {0.1}},
};

/// Cases of the solvers with an L1 penalty.
const std::vector<Case> l1_cases{
    {"classification:--rows 300 --features 20", "-s 5 -c 0.25 -B 1", {0.25}},
    {"classification:--rows 300 --features 20", "-s 6 -w1 3", {1, 0.1, {{1, 3}}}},
    {"classification:--rows 400 --features 15 --classes 4", "-s 5 -c 0.1 -w1 3", {0.1, 0.1, {{1, 3}}}},
    {"classification:--rows 400 --features 15 --classes 4", "-s 6 -c 0.5 -B 1", {0.5}},
    {"text:--rows 200 --features 3000", "-s 5 -B 0.5"},
    {"text:--rows 200 --features 3000", "-s 6 -c 10", {10}},
    {"heart_scale", "-s 5"},
    {"iris", "-s 6 -B 1"},
};

class Liblinear : public PeerTest {
 protected:
  void SetUp() override {
    PeerTest::SetUp();
    need({"liblinear-train", "liblinear-predict"}, "liblinear-tools");
  }

  template <class Check>
  void for_cases(Check&& check) const {
    for_each(cases, check);
  }
};

/// Both at a tolerance where the objective shows the same digits; ours no higher than theirs by more than a millionth.
TEST_F(Liblinear, FindsTheSameOptimum) {
  double largest = -1;
  for_cases([&](const Case& one, const std::string& device) {
    run("sheaf liblinear-train -q -e 1e-6 " + one.flags + " data ours" + device);
    run("liblinear-train -q -e 1e-6 " + one.flags + " data theirs");
    const auto table = plain_table(file("data"));
    const auto ours = plain_model(file("ours"));
    const auto theirs = plain_model(file("theirs"));
    EXPECT_EQ(ours.solver, theirs.solver);
    EXPECT_EQ(ours.labels, theirs.labels);
    EXPECT_EQ(ours.features, theirs.features);
    EXPECT_EQ(ours.bias, theirs.bias);
    ASSERT_EQ(ours.w.size(), theirs.w.size());
    for (std::size_t c = 0; c < ours.columns; ++c) {
      const double mine = measure(table, ours, one.costs, c).objective;
      const double other = measure(table, theirs, one.costs, c).objective;
      EXPECT_LE(mine, other * (1 + 1e-6)) << c;
      largest = std::max(largest, mine / other - 1);
    }
  });
  RecordProperty("largest_excess", std::to_string(largest * 1e6) + " millionths");
}

/// Both by the same rule of stopping; rows are visited in other orders.
TEST_F(Liblinear, DualSolversFindTheSameOptimum) {
  for_each(dual_cases, [&](const Case& one, const std::string& device) {
    run("sheaf liblinear-train -q -e 1e-4 " + one.flags + " data ours" + device);
    run("liblinear-train -q -e 1e-4 " + one.flags + " data theirs");
    const auto table = plain_table(file("data"));
    const auto ours = plain_model(file("ours"));
    const auto theirs = plain_model(file("theirs"));
    EXPECT_EQ(ours.solver, theirs.solver);
    EXPECT_EQ(ours.labels, theirs.labels);
    ASSERT_EQ(ours.w.size(), theirs.w.size());
    const auto found = objectives(table, ours, one.costs);
    const auto wanted = objectives(table, theirs, one.costs);
    for (std::size_t c = 0; c < wanted.size(); ++c) EXPECT_NEAR(found[c], wanted[c], 1e-4 * wanted[c]) << c;
  });
}

TEST_F(Liblinear, L1SolversFindTheSameOptimum) {
  for_each(l1_cases, [&](const Case& one, const std::string& device) {
    run("sheaf liblinear-train -q -e 1e-5 " + one.flags + " data ours" + device);
    run("liblinear-train -q -e 1e-6 " + one.flags + " data theirs");
    const auto table = plain_table(file("data"));
    const auto ours = plain_model(file("ours"));
    const auto theirs = plain_model(file("theirs"));
    EXPECT_EQ(ours.solver, theirs.solver);
    EXPECT_EQ(ours.labels, theirs.labels);
    ASSERT_EQ(ours.w.size(), theirs.w.size());
    const auto found = objectives(table, ours, one.costs);
    const auto wanted = objectives(table, theirs, one.costs);
    for (std::size_t c = 0; c < wanted.size(); ++c) EXPECT_LE(found[c], wanted[c] * (1 + 1e-6)) << c;
  });
}

/// The number of passes is that of LIBLINEAR, to a half: the same shrinking and stopping, in another order of rows.
TEST_F(Liblinear, DualSolversTakeAboutAsManyPasses) {
  const auto count = [](const std::string& text, const std::string& before) {
    return std::stod(text.substr(text.find(before) + before.size()));
  };
  ASSERT_TRUE(make("text:--rows 600 --features 3000"));
  for (const std::string solver : {"1", "3", "4", "7"}) {
    const auto ours = shell("sheaf liblinear-train --device cpu -s " + solver + " data ours").out;
    const auto theirs = shell("liblinear-train -s " + solver + " data theirs").out;
    const double wanted = count(theirs, "#iter = ");
    EXPECT_NEAR(count(ours, ": iter "), wanted, wanted / 2 + 2) << solver;
  }
}

TEST_F(Liblinear, TheDefaultIsTheDualOfTheSquaredHinge) {
  ASSERT_TRUE(make("classification:--rows 100 --features 5"));
  run("sheaf liblinear-train -q data ours");
  EXPECT_EQ(plain_model(file("ours")).solver, "L2R_L2LOSS_SVC_DUAL");
}

TEST_F(Liblinear, OtherSolversCrossValidateLikeTheirs) {
  ASSERT_TRUE(make("classification:--rows 600 --features 10 --classes 3"));
  for (const std::string solver : {"1", "3", "4", "5", "6", "7"}) {
    const auto rate = [&](const std::string& program) {
      const auto text = shell(program + " -v 5 -s " + solver + " data").out;
      return std::stod(text.substr(text.find("Accuracy = ") + 11));
    };
    EXPECT_NEAR(rate("sheaf liblinear-train"), rate("liblinear-train -q"), 10) << solver;
  }
}

/// LIBLINEAR before 2.40 takes trust-region steps. By the same rule we end at the same model, even if training stops
/// early.
TEST_F(Liblinear, TakesTheSameTrustRegionSteps) {
  if (shell("liblinear-train").out.find("-R") != std::string::npos)
    GTEST_SKIP() << "the LIBLINEAR installed is 2.40 or later, which searches along lines";
  for_cases([&](const Case& one, const std::string& device) {
    run("sheaf liblinear-train -q --rule trust-region " + one.flags + " data ours" + device);
    run("liblinear-train -q " + one.flags + " data theirs");
    const auto table = plain_table(file("data"));
    const auto ours = plain_model(file("ours"));
    const auto theirs = plain_model(file("theirs"));
    for (std::size_t c = 0; c < ours.columns; ++c) {
      const double other = measure(table, theirs, one.costs, c).objective;
      EXPECT_NEAR(measure(table, ours, one.costs, c).objective, other, 1e-6 * other) << c;
    }
  });
}

/// With LIBLINEAR's default tolerance the iterates of other steps differ, but both stop by the same rule.
TEST_F(Liblinear, StopsByTheSameRule) {
  for_cases([&](const Case& one, const std::string& device) {
    run("sheaf liblinear-train -q " + one.flags + " data ours" + device);
    const auto table = plain_table(file("data"));
    const auto ours = plain_model(file("ours"));
    auto start = ours;
    std::fill(start.w.begin(), start.w.end(), 0.0);
    for (std::size_t c = 0; c < ours.columns; ++c) {
      double rarer = 1;
      double positive = 0;
      const auto rows = static_cast<double>(table.rows.size());
      for (const double label : table.labels) positive += !ours.labels.empty() && label == ours.labels[c] ? 1 : 0;
      if (!ours.labels.empty()) rarer = std::max(1.0, std::min(positive, rows - positive)) / rows;
      const double eps = ours.labels.empty() ? 1e-4 : 0.01;
      const double limit = eps * rarer * measure(table, start, one.costs, c).gradient;
      EXPECT_LE(measure(table, ours, one.costs, c).gradient, limit * (1 + 1e-6)) << c;
    }
  });
}

/// The numbers of a regression have 17 digits, of which the order of the sum leaves about 13.
void expect_same_numbers(const std::string& ours, const std::string& theirs) {
  const auto a = lines_of(ours);
  const auto b = lines_of(theirs);
  ASSERT_EQ(a.size(), b.size());
  double largest = 0;
  for (const auto& line : b) largest = std::max(largest, std::abs(std::stod(line)));
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(std::stod(a[i]), std::stod(b[i]), 1e-11 * largest) << i;
}

TEST_F(Liblinear, EachReadsTheOthersModelsAndPredictsAlike) {
  auto all = cases;
  all.insert(all.end(), dual_cases.begin(), dual_cases.end());
  all.insert(all.end(), l1_cases.begin(), l1_cases.end());
  for_each(all, [&](const Case& one, const std::string& device) {
    const bool regression = one.flags.starts_with("-s 1") && one.flags.size() > 4 && one.flags[4] != ' ';
    run("sheaf liblinear-train -q " + one.flags + " data ours" + device);
    run("liblinear-train -q " + one.flags + " data theirs");
    for (const std::string model : {"ours", "theirs"}) {
      const auto mine = shell("sheaf liblinear-predict data " + model + " mine.out" + device);
      const auto other = shell("liblinear-predict data " + model + " other.out");
      ASSERT_EQ(mine.code, 0) << mine.err;
      ASSERT_EQ(other.code, 0) << other.err;
      EXPECT_EQ(mine.out, other.out) << model;
      if (regression)
        expect_same_numbers(file("mine.out"), file("other.out"));
      else
        EXPECT_EQ(file("mine.out"), file("other.out")) << model;
    }
  });
}

TEST_F(Liblinear, ProbabilitiesAreTheSame) {
  for_cases([&](const Case& one, const std::string& device) {
    if (one.flags.find("-s 0") == std::string::npos) return;
    run("liblinear-train -q " + one.flags + " data theirs");
    run("sheaf liblinear-predict -b 1 -q data theirs mine.out" + device);
    run("liblinear-predict -b 1 -q data theirs other.out");
    const auto mine = lines_of(file("mine.out"));
    const auto other = lines_of(file("other.out"));
    ASSERT_EQ(mine.size(), other.size());
    ASSERT_EQ(mine[0], other[0]) << "the labels";
    for (std::size_t i = 1; i < mine.size(); ++i) {
      std::istringstream a(mine[i]);
      std::istringstream b(other[i]);
      double x = 0;
      double y = 0;
      while (b >> y) {
        ASSERT_TRUE(a >> x) << mine[i];
        ASSERT_NEAR(x, y, 1e-6) << i;
      }
      ASSERT_FALSE(a >> x) << mine[i];
    }
  });
}

TEST_F(Liblinear, AppliesTheModelsOfAllSolvers) {
  ASSERT_TRUE(make("classification:--rows 200 --features 8"));
  for (const char* solver : {"0", "1", "2", "3", "4", "5", "6", "7"}) {
    run("liblinear-train -q -s " + std::string(solver) + " data theirs");
    run("liblinear-predict -q data theirs other.out && sheaf liblinear-predict -q data theirs mine.out");
    EXPECT_EQ(file("mine.out"), file("other.out")) << solver;
  }
  ASSERT_TRUE(make("regression:--rows 200 --features 8"));
  for (const char* solver : {"11", "12", "13"}) {
    run("liblinear-train -q -s " + std::string(solver) + " data theirs");
    run("liblinear-predict -q data theirs other.out && sheaf liblinear-predict -q data theirs mine.out");
    expect_same_numbers(file("mine.out"), file("other.out"));
  }
}

TEST_F(Liblinear, TestTablesMayHaveOtherFeatures) {
  write("train", "+1 1:1 2:0.5 3:2\n-1 1:-1 2:1 3:-1\n+1 1:0.5 3:1\n-1 2:2 3:-2\n");
  run("liblinear-train -q -s 0 -B 1 train model");
  write("fewer", "+1 1:1\n-1 2:3\n+1\n");
  write("more", "+1 1:1 4:100 9:-100\n-1 2:3 7:50\n+1 3:-1 4:9\n");
  for (const std::string test : {"fewer", "more"}) {
    run("liblinear-predict -b 1 " + test + " model other.out && sheaf liblinear-predict -b 1 " + test +
        " model mine.out");
    EXPECT_EQ(file("mine.out"), file("other.out")) << test;
  }
}

TEST_F(Liblinear, CrossValidationComesCloseToTheirs) {
  ASSERT_TRUE(make("classification:--rows 600 --features 10"));
  const auto rate = [&](const std::string& program, const std::string& flags) {
    const auto text = shell(program + " -s 0 " + flags + " data").out;
    const auto at = text.find("Cross Validation Accuracy = ");
    EXPECT_NE(at, std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("%\n")) << text;
    return at == std::string::npos ? 0 : std::stod(text.substr(at + 28));
  };
  // Folds are drawn differently: a tenth of the rows is far more than that can change.
  EXPECT_NEAR(rate("sheaf liblinear-train", "-v 5"), rate("liblinear-train -q", "-v 5"), 10);
}

/// The same epsilons and, at each, the same first cost; folds are drawn differently.
TEST_F(Liblinear, ARegressionSearchesTheSameParameters) {
  ASSERT_TRUE(make("regression:--rows 120 --features 5"));
  const auto epsilons = [&](const std::string& line) {
    std::vector<std::string> found;  // "log2c= -34.00\tp=  47.50" where p changes
    std::string last;
    for (const auto& text : lines_of(shell(line).out)) {
      const auto at = text.find("p=");
      if (!text.starts_with("log2c=") || at == std::string::npos) continue;
      const auto p = text.substr(at, text.find('\t', at) - at);
      if (p != std::exchange(last, p)) found.push_back(text.substr(0, text.find("\tMean")));
    }
    return found;
  };
  const auto ours = epsilons("sheaf liblinear-train -s 11 -C -v 3 data");
  EXPECT_EQ(ours.size(), 20U);
  EXPECT_EQ(ours, epsilons("liblinear-train -s 11 -C -v 3 data"));
  EXPECT_EQ(epsilons("sheaf liblinear-train -s 11 -C -v 3 -c 4 -p 0.4 data"),
            epsilons("liblinear-train -s 11 -C -v 3 -c 4 -p 0.4 data"));
}

}  // namespace liblinear_test
}  // namespace sheaf::test
