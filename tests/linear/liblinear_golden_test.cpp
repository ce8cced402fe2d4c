// The commands that stand for LIBLINEAR's programs, beside what those programs wrote (tests/golden/liblinear):
// objectives, weights, predictions, probabilities and model files.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "devices.hpp"
#include "golden.hpp"
#include "linear_objective.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace liblinear_golden_test {

/// The costs that the flags of liblinear-train name.
Costs costs_of(const std::string& flags) {
  Costs costs;
  std::istringstream words(flags);
  for (std::string flag, value; words >> flag >> value;) {
    if (flag == "-c") costs.c = std::stod(value);
    if (flag == "-p") costs.epsilon = std::stod(value);
    if (flag.starts_with("-w")) costs.class_weights[std::stod(flag.substr(2))] = std::stod(value);
  }
  return costs;
}

bool is_read_only(const GoldenCase& one) { return one.name.find("_read_") != std::string::npos; }
bool is_early(const GoldenCase& one) { return one.name.ends_with("_early"); }
bool is_dual(const GoldenCase& one) { return one.name.find("_dual_") != std::string::npos; }
bool is_l1(const GoldenCase& one) { return one.name.find("_l1_") != std::string::npos; }
bool is_regression(const GoldenCase& one) {
  return one.flags.starts_with("-s 1") && one.flags.size() > 4 && one.flags[4] != ' ';
}

class LiblinearGolden : public ProgramTest {
 protected:
  static std::string theirs(const GoldenCase& one, const std::string& what) {
    return golden("liblinear/" + one.name + "/" + what);
  }

  /// Calls check(case, "--device ...") for every case that `applies`.
  template <class Applies, class Check>
  void for_cases(Applies&& applies, Check&& check) const {
    int checked = 0;
    for (const auto& one : golden_cases("liblinear/cases.txt"))
      for (const Device device : devices()) {
        if (!applies(one)) continue;
        SCOPED_TRACE(one.name + " on " + to_string(device));
        check(one, " --device " + to_string(device));
        ++checked;
      }
    EXPECT_GT(checked, 0);
  }

  void run(const std::string& line) const {
    const auto outcome = shell(line);
    ASSERT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
  }

  PlainModel train(const GoldenCase& one, const std::string& more) const {
    run("sheaf liblinear-train -q " + one.flags + " '" + find_data(one.data) + "' ours" + more);
    return plain_model(file("ours"));
  }
};

void expect_same_shape(const PlainModel& ours, const PlainModel& peer) {
  EXPECT_EQ(ours.solver, peer.solver);
  EXPECT_EQ(ours.labels, peer.labels);
  EXPECT_EQ(ours.features, peer.features);
  EXPECT_EQ(ours.bias, peer.bias);
  ASSERT_EQ(ours.w.size(), peer.w.size());
}

TEST_F(LiblinearGolden, SameObjectivesAndWeights) {
  const auto applies = [](const GoldenCase& one) {
    return !is_read_only(one) && !is_early(one) && !is_dual(one) && !is_l1(one);
  };
  for_cases(applies, [&](const GoldenCase& one, const std::string& device) {
    const auto ours = train(one, device);
    const auto peer = plain_model(contents(theirs(one, "model")));
    ASSERT_NO_FATAL_FAILURE(expect_same_shape(ours, peer));
    const auto table = plain_table(contents(find_data(one.data)));
    for (std::size_t c = 0; c < peer.columns; ++c) {
      const double wanted = measure(table, peer, costs_of(one.flags), c).objective;
      EXPECT_NEAR(measure(table, ours, costs_of(one.flags), c).objective, wanted, 1e-10 * wanted) << c;
    }
    double largest = 0;
    for (const double weight : peer.w) largest = std::max(largest, std::abs(weight));
    for (std::size_t j = 0; j < peer.w.size(); ++j) ASSERT_NEAR(ours.w[j], peer.w[j], 1e-6 * largest) << "weight " << j;
  });
}

void expect_same_objectives(const PlainModel& ours, const PlainModel& peer, const GoldenCase& one, double tolerance) {
  ASSERT_NO_FATAL_FAILURE(expect_same_shape(ours, peer));
  const auto table = plain_table(contents(find_data(one.data)));
  const auto found = objectives(table, ours, costs_of(one.flags));
  const auto wanted = objectives(table, peer, costs_of(one.flags));
  for (std::size_t c = 0; c < wanted.size(); ++c) EXPECT_NEAR(found[c], wanted[c], tolerance * wanted[c]) << c;
}

TEST_F(LiblinearGolden, DualSolversHaveTheSameObjectives) {
  for_cases(is_dual, [&](const GoldenCase& one, const std::string& device) {
    expect_same_objectives(train(one, device), plain_model(contents(theirs(one, "model"))), one, 1e-5);
  });
}

/// Weights at 0 may be a little off it if a feature is all but worth one.
TEST_F(LiblinearGolden, L1SolversHaveTheSameObjectivesAndWeights) {
  for_cases(is_l1, [&](const GoldenCase& one, const std::string& device) {
    const auto ours = train(one, device);
    const auto peer = plain_model(contents(theirs(one, "model")));
    expect_same_objectives(ours, peer, one, 1e-7);
    double largest = 0;
    for (const double weight : peer.w) largest = std::max(largest, std::abs(weight));
    for (std::size_t j = 0; j < peer.w.size(); ++j) EXPECT_NEAR(ours.w[j], peer.w[j], 1e-3 * largest) << j;
  });
}

/// LIBLINEAR before 2.40 takes trust-region steps. The same rule ends at the same model even if training stops early.
TEST_F(LiblinearGolden, SameTrustRegionSteps) {
  for_cases(is_early, [&](const GoldenCase& one, const std::string& device) {
    const auto ours = train(one, " --rule trust-region" + device);
    const auto peer = plain_model(contents(theirs(one, "model")));
    ASSERT_NO_FATAL_FAILURE(expect_same_shape(ours, peer));
    const auto table = plain_table(contents(find_data(one.data)));
    for (std::size_t c = 0; c < peer.columns; ++c) {
      const double wanted = measure(table, peer, costs_of(one.flags), c).objective;
      EXPECT_NEAR(measure(table, ours, costs_of(one.flags), c).objective, wanted, 1e-6 * wanted) << c;
    }
  });
}

void expect_near(const std::string& ours, const std::string& theirs, double tolerance) {
  const auto a = lines_of(ours);
  const auto b = lines_of(theirs);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (b[i].starts_with("labels")) {
      EXPECT_EQ(a[i], b[i]);
      continue;
    }
    std::istringstream found(a[i]);
    std::istringstream wanted(b[i]);
    for (double x = 0, y = 0; wanted >> y;) {
      ASSERT_TRUE(found >> x) << a[i];
      ASSERT_NEAR(x, y, tolerance * std::max(1.0, std::abs(y))) << "row " << i;
    }
  }
}

TEST_F(LiblinearGolden, ReadsModelFilesAndPredictsTheSame) {
  for_cases([](const GoldenCase&) { return true; },
            [&](const GoldenCase& one, const std::string& device) {
              run("sheaf liblinear-predict -q '" + find_data(one.data) + "' '" + theirs(one, "model") +
                  "' predictions" + device);
              if (is_regression(one))
                expect_near(file("predictions"), contents(theirs(one, "predictions")), 1e-12);
              else
                EXPECT_EQ(file("predictions"), contents(theirs(one, "predictions")));
            });
}

/// They are printed with six digits.
TEST_F(LiblinearGolden, ProbabilitiesAreTheSame) {
  for_cases([](const GoldenCase& one) { return std::filesystem::exists(theirs(one, "probabilities")); },
            [&](const GoldenCase& one, const std::string& device) {
              run("sheaf liblinear-predict -b 1 -q '" + find_data(one.data) + "' '" + theirs(one, "model") +
                  "' probabilities" + device);
              expect_near(file("probabilities"), contents(theirs(one, "probabilities")), 1.1e-6);
            });
}

TEST_F(LiblinearGolden, PredictsTheSameLabelsAfterTraining) {
  for_cases(
      [](const GoldenCase& one) {
        return !is_read_only(one) && !is_early(one) && !is_dual(one) && !is_regression(one);
      },
      [&](const GoldenCase& one, const std::string& device) {
        train(one, device);
        run("sheaf liblinear-predict -q '" + find_data(one.data) + "' ours predictions" + device);
        EXPECT_EQ(file("predictions"), contents(theirs(one, "predictions")));
      });
}

}  // namespace liblinear_golden_test
}  // namespace sheaf::test
