// The commands that stand for LIBSVM's programs, beside what those programs wrote (tests/golden/libsvm): objectives,
// support vectors, decision values, predictions, probabilities, cross-validation, model files and scaling.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "devices.hpp"
#include "golden.hpp"
#include "libsvm_model.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace libsvm_golden_test {

bool has(const GoldenCase& one, const std::string& flag) { return one.flags.find(flag) != std::string::npos; }
bool is_precomputed(const GoldenCase& one) { return has(one, "-t 4"); }
bool is_regression(const GoldenCase& one) { return has(one, "-s 3") || has(one, "-s 4"); }

struct Trained {
  double objective = 0;
  std::int64_t support_vectors = 0;
};

/// The SVM of each pair of classes, as svm-train prints it.
std::vector<Trained> trained_of(const std::string& log) {
  std::vector<Trained> trained;
  for (const auto& line : lines_of(log)) {
    if (line.starts_with("obj = ")) trained.push_back({std::stod(line.substr(6)), 0});
    if (line.starts_with("nSV = ")) trained.back().support_vectors = std::stoll(line.substr(6));
  }
  return trained;
}

class LibsvmGolden : public ProgramTest {
 protected:
  static std::string theirs(const GoldenCase& one, const std::string& what) {
    return golden("libsvm/" + one.name + "/" + what);
  }

  /// Calls check(case, "--device ...") for every case that `applies`.
  template <class Applies, class Check>
  void for_cases(Applies&& applies, Check&& check) const {
    int checked = 0;
    for (const auto& one : golden_cases("libsvm/cases.txt"))
      for (const Device device : devices()) {
        if (!applies(one)) continue;
        SCOPED_TRACE(one.name + " on " + to_string(device));
        check(one, " --device " + to_string(device));
        ++checked;
      }
    EXPECT_GT(checked, 0);
  }

  Outcome run(const std::string& line) const {
    auto outcome = shell(line);
    EXPECT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
    return outcome;
  }

  static std::string quoted(const std::string& path) { return "'" + path + "'"; }

  Outcome train(const GoldenCase& one, const std::string& more) const {
    return run("sheaf svm-train " + one.flags + " " + quoted(find_data(one.data)) + " ours " + more);
  }
};

bool trains_once(const GoldenCase& one) { return !has(one, "-b 1"); }

/// LIBSVM keeps kernel values in single precision and prints six decimals. A row at the edge of the margin may count as
/// a support vector on one side alone.
TEST_F(LibsvmGolden, SameObjectivesAndSupportVectors) {
  for_cases(trains_once, [&](const GoldenCase& one, const std::string& device) {
    const auto ours = trained_of(train(one, device).out);
    const auto peer = trained_of(contents(theirs(one, "log")));
    ASSERT_EQ(ours.size(), peer.size());
    for (std::size_t pair = 0; pair < peer.size(); ++pair) {
      EXPECT_NEAR(ours[pair].objective, peer[pair].objective, 1e-5 * (1 + std::abs(peer[pair].objective))) << pair;
      EXPECT_NEAR(static_cast<double>(ours[pair].support_vectors), static_cast<double>(peer[pair].support_vectors),
                  1 + 0.01 * static_cast<double>(peer[pair].support_vectors))
          << pair;
    }
  });
}

/// How far decision values at these tolerances can be apart, as a share of the largest.
constexpr double decision_error = 1e-4;

/// LIBSVM's decision values of all rows, from its model file.
struct Decisions {
  std::vector<std::vector<double>> values;
  double largest = 1;

  Decisions(const PlainSvm& model, const PlainTable& table) {
    for (const auto& row : table.rows) values.push_back(decisions_of(model, dense_row(row)));
    for (const auto& row : values)
      for (const double value : row) largest = std::max(largest, std::abs(value));
  }

  /// Whether the label of a row rests on a decision value that is 0 but for rounding. The free support vectors of a
  /// one-class SVM all lie there.
  bool at_the_boundary(std::size_t row) const {
    return std::any_of(values[row].begin(), values[row].end(),
                       [&](double value) { return std::abs(value) < decision_error * largest; });
  }
};

void expect_labels(const std::string& ours, const std::string& theirs, const Decisions& decisions) {
  const auto found = lines_of(ours);
  const auto wanted = lines_of(theirs);
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (decisions.at_the_boundary(i)) continue;
    ASSERT_EQ(found[i], wanted[i]) << "row " << i;
  }
}

TEST_F(LibsvmGolden, SameDecisionValuesAndLabels) {
  for_cases(trains_once, [&](const GoldenCase& one, const std::string& device) {
    train(one, "-q" + device);
    run("sheaf svm-predict -q " + quoted(find_data(one.data)) + " ours predictions" + device);
    const auto their_labels = contents(theirs(one, "predictions"));
    if (is_precomputed(one)) {
      EXPECT_EQ(file("predictions"), their_labels);
      return;
    }
    const auto table = plain_table(contents(find_data(one.data)));
    const Decisions found(plain_svm(file("ours")), table);
    const Decisions wanted(plain_svm(contents(theirs(one, "model"))), table);
    for (std::size_t i = 0; i < wanted.values.size(); ++i) {
      ASSERT_EQ(found.values[i].size(), wanted.values[i].size());
      for (std::size_t k = 0; k < wanted.values[i].size(); ++k)
        ASSERT_NEAR(found.values[i][k], wanted.values[i][k], decision_error * wanted.largest)
            << "row " << i << ", pair " << k;
    }
    if (!is_regression(one)) expect_labels(file("predictions"), their_labels, wanted);
  });
}

TEST_F(LibsvmGolden, ModelFilesHaveTheSameHeader) {
  for_cases(trains_once, [&](const GoldenCase& one, const std::string& device) {
    train(one, "-q" + device);
    auto ours = plain_svm(file("ours"));
    auto peer = plain_svm(contents(theirs(one, "model")));
    for (const std::string counted : {"total_sv", "nr_sv", "rho"}) {
      EXPECT_EQ(ours.header.contains(counted), peer.header.contains(counted)) << counted;
      ours.header.erase(counted);
      peer.header.erase(counted);
    }
    EXPECT_EQ(ours.header, peer.header);
    EXPECT_EQ(ours.rho.size(), peer.rho.size());
  });
}

TEST_F(LibsvmGolden, ReadsModelFilesAndPredictsTheSame) {
  for_cases(trains_once, [&](const GoldenCase& one, const std::string& device) {
    run("sheaf svm-predict -q " + quoted(find_data(one.data)) + " " + quoted(theirs(one, "model")) + " predictions" +
        device);
    const auto their_labels = contents(theirs(one, "predictions"));
    if (is_precomputed(one)) {
      EXPECT_EQ(file("predictions"), their_labels);
      return;
    }
    const Decisions decisions(plain_svm(contents(theirs(one, "model"))), plain_table(contents(find_data(one.data))));
    if (!is_regression(one)) return expect_labels(file("predictions"), their_labels, decisions);
    const auto found = numbers_of<double>(file("predictions"));
    const auto wanted = numbers_of<double>(their_labels);
    ASSERT_EQ(found.size(), wanted.size());
    // Our kernel values are in single precision.
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-6 * decisions.largest) << i;
  });
}

TEST_F(LibsvmGolden, CrossValidationPrintsTheSameNumber) {
  const auto number = [](const std::string& text) { return std::stod(text.substr(text.rfind("= ") + 2)); };
  for_cases(trains_once, [&](const GoldenCase& one, const std::string& device) {
    const auto line = run("sheaf svm-train -q -v 5 " + one.flags + " " + quoted(find_data(one.data)) + device).out;
    const auto rows = static_cast<double>(plain_table(contents(find_data(one.data))).rows.size());
    // The folds are the same; a row at the boundary may fall to either side.
    EXPECT_NEAR(number(line), number(contents(theirs(one, "validation"))), is_regression(one) ? 1e-5 : 100.5 / rows);
  });
}

TEST_F(LibsvmGolden, ProbabilitiesOfTheirModelsAreTheSame) {
  for_cases([](const GoldenCase& one) { return has(one, "-b 1"); },
            [&](const GoldenCase& one, const std::string& device) {
              run("sheaf svm-predict -q -b 1 " + quoted(find_data(one.data)) + " " + quoted(theirs(one, "model")) +
                  " predictions" + device);
              const auto ours = lines_of(file("predictions"));
              const auto peer = lines_of(contents(theirs(one, "predictions")));
              ASSERT_EQ(ours.size(), peer.size());
              EXPECT_EQ(ours[0].starts_with("labels"), peer[0].starts_with("labels"));
              for (std::size_t i = 0; i < peer.size(); ++i) {
                if (peer[i].starts_with("labels")) {
                  EXPECT_EQ(ours[i], peer[i]);
                  continue;
                }
                const auto found = numbers_of<double>(ours[i]);
                const auto wanted = numbers_of<double>(peer[i]);
                ASSERT_EQ(found.size(), wanted.size());
                for (std::size_t k = 0; k < wanted.size(); ++k)
                  ASSERT_NEAR(found[k], wanted[k], 2e-6 * std::max(1.0, std::abs(wanted[k]))) << "row " << i;
              }
            });
}

/// Training draws the same folds for its sigmoids, so that they agree as the decision values do.
TEST_F(LibsvmGolden, TrainedProbabilitiesAreClose) {
  for_cases([](const GoldenCase& one) { return has(one, "-b 1"); },
            [&](const GoldenCase& one, const std::string& device) {
              train(one, "-q" + device);
              const auto ours = plain_svm(file("ours"));
              const auto peer = plain_svm(contents(theirs(one, "model")));
              for (const std::string key : {"probA", "probB"}) {
                ASSERT_EQ(ours.header.contains(key), peer.header.contains(key));
                if (!peer.header.contains(key)) continue;
                const auto found = numbers_of<double>(ours.header.at(key));
                const auto wanted = numbers_of<double>(peer.header.at(key));
                ASSERT_EQ(found.size(), wanted.size());
                for (std::size_t k = 0; k < wanted.size(); ++k)
                  EXPECT_NEAR(found[k], wanted[k], decision_error * std::max(1.0, std::abs(wanted[k]))) << key;
              }
            });
}

TEST_F(LibsvmGolden, ScalesToTheSameBytes) {
  for (const auto& one : golden_cases("libsvm/scale/cases.txt")) {
    SCOPED_TRACE(one.name);
    const auto own = golden("libsvm/scale/" + one.data + ".libsvm");
    const auto table = quoted(std::filesystem::exists(own) ? own : find_data(one.data));
    EXPECT_EQ(run("sheaf svm-scale " + one.flags + " -s range " + table).out,
              contents(golden("libsvm/scale/" + one.name + ".scaled")));
    EXPECT_EQ(file("range"), contents(golden("libsvm/scale/" + one.name + ".range")));
    const auto restored =
        run("sheaf svm-scale -r " + quoted(golden("libsvm/scale/" + one.name + ".range")) + " " + table);
    EXPECT_EQ(restored.out, contents(golden("libsvm/scale/" + one.name + ".scaled")));
  }
}

}  // namespace libsvm_golden_test
}  // namespace sheaf::test
