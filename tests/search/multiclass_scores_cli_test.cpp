// Scores of three classes or more are those of the probabilities, or decision values, that are written: computed again
// from the files, by the definition of the area under a ROC curve.
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "devices.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace multiclass_scores_cli_test {

using Json = nlohmann::ordered_json;

class MulticlassScoresCli : public ProgramTest {
 protected:
  struct Table {
    std::vector<std::string> heading;
    std::vector<std::vector<std::string>> rows;

    std::size_t column(const std::string& name) const {
      for (std::size_t c = 0; c < heading.size(); ++c)
        if (heading[c] == name) return c;
      ADD_FAILURE() << "no column " << name;
      return 0;
    }
    bool has(const std::string& name) const { return std::find(heading.begin(), heading.end(), name) != heading.end(); }
  };

  Table table(const std::string& name) const {
    Table result;
    std::istringstream text(file(name));
    std::string line;
    while (std::getline(text, line)) {
      std::vector<std::string> fields;
      std::istringstream parts(line);
      std::string field;
      while (std::getline(parts, field, ',')) {
        std::erase(field, '"');
        fields.push_back(field);
      }
      (result.heading.empty() ? result.heading : result.rows.emplace_back()) = fields;
    }
    return result;
  }

  /// Four classes that overlap, or three.
  void write_classes(int classes) const {
    Random random(3);
    std::string text = "a,b,c,kind\n";
    for (int i = 0; i < 160; ++i) {
      const int kind = i % classes;
      const double x = kind % 2 + 0.8 * random.normal();
      const double y = static_cast<double>(kind) / 2 + 0.8 * random.normal();
      text += std::to_string(x) + ',' + std::to_string(y) + ',' + std::to_string(random.normal()) + ",k" +
              std::to_string(kind) + '\n';
    }
    write("t.csv", text);
  }

  /// The share of pairs of a row of the class and another one in which the former has the larger value, ties half; the
  /// mean over the classes.
  static double mean_auc(const Table& table, const std::vector<std::string>& truth,
                         const std::vector<std::size_t>& rows, const std::string& values) {
    const std::set<std::string> classes(truth.begin(), truth.end());
    double sum = 0;
    for (const auto& of : classes) {
      const auto column = table.column(values + of);
      double pairs = 0, ordered = 0;
      for (const auto i : rows)
        for (const auto j : rows) {
          if (truth[i] != of || truth[j] == of) continue;
          const double mine = std::stod(table.rows[i][column]), other = std::stod(table.rows[j][column]);
          pairs += 1;
          ordered += mine > other ? 1 : mine == other ? 0.5 : 0;
        }
      sum += ordered / pairs;
    }
    return sum / static_cast<double>(classes.size());
  }
};

TEST_F(MulticlassScoresCli, TheAucOfASearchIsThatOfThePredictionsItWrites) {
  for (const int classes : {3, 4}) {
    write_classes(classes);
    for (const Device device : devices())
      for (const std::string model :
           {"linear --cost 1", "linear --loss svm --cost 1", "elastic-net-logistic --alpha 0.01",
            "elastic-net-multinomial --alpha 0.01", "glm", "knn --k 7", "svm --cost 1 --gamma 0.3",
            "svm --multi-class one-vs-rest --cost 1 --gamma 0.3"}) {
        const auto run =
            shell("rm -rf found; sheaf search t.csv --folds 4 --predictions --output found --quiet --model " + model +
                  " --device " + to_string(device));
        ASSERT_EQ(run.code, 0) << model << run.err;
        const auto predictions = table("found/predictions.csv");
        const auto split = predictions.column("split"), label = predictions.column("truth");
        std::vector<std::string> truth;
        std::map<std::string, std::vector<std::size_t>> of_split;
        for (std::size_t i = 0; i < predictions.rows.size(); ++i) {
          truth.push_back(predictions.rows[i][label]);
          of_split[predictions.rows[i][split]].push_back(i);
        }
        const bool probabilities = predictions.has("probability of k0");
        double sum = 0;
        for (const auto& [name, rows] : of_split)
          sum += mean_auc(predictions, truth, rows, probabilities ? "probability of " : "decision for ");
        const auto results = Json::parse(file("found/results.json"));
        // Nets of a split are trained again for these predictions, to the tolerance of the solver.
        const double tolerance = model.starts_with("elastic-net") ? 2e-3 : 1e-9;
        EXPECT_NEAR(results["chosen"]["auc"]["mean"].get<double>(), sum / 4, tolerance) << model;
      }
  }
}

TEST_F(MulticlassScoresCli, TheAucOfPredictIsThatOfTheProbabilitiesItWrites) {
  for (const int classes : {3, 4}) {
    write_classes(classes);
    const auto labels = table("t.csv");
    std::vector<std::string> truth;
    std::vector<std::size_t> rows;
    for (const auto& row : labels.rows) {
      rows.push_back(rows.size());
      truth.push_back(row.back());
    }
    const auto check = [&](const std::string& model) {
      const auto run = shell("sheaf predict t.csv --model-file m --probabilities --output p.csv --json --quiet");
      ASSERT_EQ(run.code, 0) << model << run.err;
      const auto scores = Json::parse(run.out)["scores"];
      EXPECT_NEAR(scores["auc"].get<double>(), mean_auc(table("p.csv"), truth, rows, "probability of "), 1e-9) << model;
      EXPECT_GE(scores["top-2-accuracy"].get<double>(), scores["accuracy"].get<double>() - 0.02) << model;
    };
    for (const std::string model :
         {"linear", "elastic-net-logistic --alpha 0.01", "elastic-net-multinomial --alpha 0.01", "glm", "knn --k 7",
          "svm --gamma 0.3 --probability yes"}) {
      ASSERT_EQ(shell("sheaf fit t.csv --output m --quiet --model " + model).code, 0) << model;
      check(model);
    }
    for (const std::string model :
         {"linear --cost 1", "linear --loss svm --cost 1", "knn --k 7", "svm --cost 1 --gamma 0.3"})
      for (const std::string method : {"platt", "isotonic"}) {
        const auto run = shell("rm -rf found; sheaf search t.csv --folds 4 --output found --quiet --calibrate " +
                               method + " --model " + model + " && cp found/model.txt m");
        ASSERT_EQ(run.code, 0) << model << run.err;
        check(model + " calibrated by " + method);
      }
  }
}

/// Decision values of SVMs for pairs of classes are named by the pairs, also if there are as many as classes.
TEST_F(MulticlassScoresCli, DecisionsOfPairsAreNamedByThem) {
  write_classes(3);
  ASSERT_EQ(shell("sheaf fit t.csv --model svm --gamma 0.3 --output m --quiet").code, 0);
  ASSERT_EQ(shell("sheaf predict t.csv --model-file m --decisions --output p.csv --quiet").code, 0);
  EXPECT_EQ(file("p.csv").substr(0, file("p.csv").find('\n')),
            "prediction,decision for k0 against k1,decision for k0 against k2,decision for k1 against k2");
}

}  // namespace multiclass_scores_cli_test
}  // namespace sheaf::test
