// Elastic nets of counts and of several classes in one model, as people and scripts meet them.
#include <cmath>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/random.hpp"
#include "devices.hpp"
#include "model_text.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace net_families_cli_test {

using Json = nlohmann::json;

bool holds(const std::string& text, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const auto& part) { return text.find(part) != std::string::npos; });
}

class NetFamiliesCli : public ProgramTest {
 protected:
  /// Twelve features; counts of mean exp(1 + a - 0.5 b), and three classes by a and b.
  void SetUp() override {
    ProgramTest::SetUp();
    Random random(9);
    std::string counts = "a,b,c,d,e,f,g,h,i,j,k,l,label\n";
    std::string classes = counts;
    for (int row = 0; row < 150; ++row) {
      std::string line;
      std::vector<double> x;
      for (int j = 0; j < 12; ++j) line += fmt::format("{:.4f},", x.emplace_back(random.normal()));
      const double mean = std::exp(1 + x[0] - 0.5 * x[1]);
      double left = random.uniform();
      int count = 0;
      for (double chance = std::exp(-mean); left > chance && count < 200; chance *= mean / ++count) left -= chance;
      counts += line + fmt::format("{}\n", count);
      const double noise = 0.3 * random.normal();
      classes += line + (x[0] + noise > 0.5 ? "red\n" : x[1] + noise > 0 ? "green\n" : "blue\n");
    }
    write("counts.csv", counts);
    write("classes.csv", classes);
  }

  /// The numbers of a column of a CSV file.
  std::vector<double> column(const std::string& path, std::size_t number) const {
    std::istringstream lines(file(path));
    std::vector<double> values;
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream cells(line);
      std::string cell;
      for (std::size_t k = 0; k <= number; ++k) std::getline(cells, cell, ',');
      values.push_back(std::stod(cell));
    }
    return values;
  }
};

/// Features explain all but 4e-6 of the target: alphas that are close must not pass for each other. Expected: LassoCV
/// of scikit-learn 1.2.1 with tol 1e-12, PredefinedSplit and the same alphas, on the same numbers.
TEST_F(NetFamiliesCli, AlphasAreToldApartWhereNearlyAllIsExplained) {
  std::int64_t state = 1;
  const auto draw = [&] {
    state = (state * 1103515245 + 12345) % (std::int64_t{1} << 31);
    return static_cast<int>((state >> 10) % 2001) - 1000;
  };
  const std::vector<int> weights{30, -20, 10, 5, -40, 0, 0, 0};
  std::string rows = "a,b,c,d,e,f,g,h,fold,y\n";
  for (int i = 0; i < 200; ++i) {
    int sum = 0;
    for (const int weight : weights) {
      const int k = draw();
      rows += fmt::format("{:.3f},", k / 1000.0);
      sum += 10 * weight * k;
    }
    rows += fmt::format("f{},{:.4f}\n", i % 5, (sum + draw()) / 10000.0);
  }
  write("explained.csv", rows);
  std::string alphas;
  for (int k = 0; k < 80; ++k) alphas += fmt::format("{}{:.6g}", k > 0 ? "," : "", 10 * std::pow(10.0, -k / 20.0));
  for (const std::string precision : {"double", "float"}) {
    const auto found = shell(
        "sheaf search explained.csv --label y --group fold --model elastic-net --scale none --l1-ratio 1 --alpha " +
        alphas + " --score mean-squared-error --output " + precision + " --precision " + precision);
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_TRUE(holds(found.out, {"alpha = 0.00125893"})) << found.out;
    const auto scores = column(precision + "/scores.csv", 6);  // the splits of an alpha are rows in turn
    ASSERT_EQ(scores.size(), 400U);
    std::vector<double> means;
    for (std::size_t k = 0; k < 80; ++k)
      means.push_back(std::accumulate(scores.begin() + static_cast<std::ptrdiff_t>(5 * k),
                                      scores.begin() + static_cast<std::ptrdiff_t>(5 * k + 5), 0.0) /
                      5);
    EXPECT_EQ(std::set<double>(means.begin(), means.end()).size(), 80U);
    for (const auto& [k, expected] : std::vector<std::pair<std::size_t, double>>{{0, 717.828001917028},
                                                                                 {20, 19.96381970029545},
                                                                                 {40, 0.20192036453298629},
                                                                                 {60, 0.005149102996032565},
                                                                                 {70, 0.0034284666038266525},
                                                                                 {78, 0.0033397766923507896}})
      EXPECT_NEAR(means[k], expected, 2e-3 * expected) << precision << ", alpha " << k;
  }
}

TEST_F(NetFamiliesCli, CountsArePredictedByMeans) {
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    const auto fit = shell("sheaf fit counts.csv --model elastic-net-poisson --alpha 0.05 --output m" + on);
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_TRUE(holds(fit.out, {"elastic-net Poisson regression, alpha = 0.05", "converged", "Largest weights"}))
        << fit.out;
    EXPECT_TRUE(holds(file("m"), {"solver ELASTIC_NET_POISSON\n", "classes 0\n"}));
    ASSERT_EQ(shell("sheaf predict counts.csv --model-file m --output p.csv" + on).code, 0);
    const auto means = column("p.csv", 0);
    const auto counts = column("counts.csv", 12);
    double predicted = 0, counted = 0;
    for (std::size_t i = 0; i < means.size(); ++i) {
      EXPECT_GT(means[i], 0);
      predicted += means[i];
      counted += counts[i];
    }
    EXPECT_NEAR(predicted, counted, 1e-3 * counted) << "the intercept makes the sums equal";
  }
}

TEST_F(NetFamiliesCli, ExposuresAreWhatCountsWereMadeOver) {
  std::string doubled, exposures;
  std::istringstream lines(file("counts.csv"));
  std::string line;
  std::getline(lines, line);
  doubled = line + "\n";
  for (int row = 0; std::getline(lines, line); ++row) {
    const auto comma = line.rfind(',');
    doubled += line.substr(0, comma + 1) + std::to_string(4 * std::stoi(line.substr(comma + 1))) + "\n";
    exposures += "4\n";
  }
  write("doubled.csv", doubled);
  write("e.txt", exposures);
  ASSERT_EQ(shell("sheaf fit counts.csv --model elastic-net-poisson --alpha 0 --tolerance 1e-9 --output a").code, 0);
  ASSERT_EQ(shell("sheaf fit doubled.csv --model elastic-net-poisson --alpha 0 --tolerance 1e-9 --exposure e.txt "
                  "--output b")
                .code,
            0);
  ASSERT_EQ(shell("sheaf predict counts.csv --model-file a --output a.csv").code, 0);
  ASSERT_EQ(shell("sheaf predict counts.csv --model-file b --output b.csv").code, 0);
  const auto once = column("a.csv", 0);
  const auto per_exposure = column("b.csv", 0);
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(once[i], per_exposure[i], 1e-3 * once[i]);
  EXPECT_TRUE(complains(shell("sheaf fit counts.csv --model elastic-net --alpha 1 --exposure e.txt --output x"), 2,
                        {"elastic-net-poisson"}));
}

TEST_F(NetFamiliesCli, SeveralClassesAreOneModel) {
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    const auto fit = shell("sheaf fit classes.csv --model elastic-net-multinomial --alpha 0.01 --output m" + on);
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_TRUE(holds(fit.out, {"elastic-net multinomial logistic regression", "converged"})) << fit.out;
    EXPECT_TRUE(holds(file("m"), {"solver ELASTIC_NET_MULTINOMIAL\n", "classes 3\n"}));
    const auto predict = shell("sheaf predict classes.csv --model-file m --output p.csv --probabilities" + on);
    ASSERT_EQ(predict.code, 0) << predict.err;
    EXPECT_TRUE(holds(predict.out, {"accuracy"}));
    const auto red = column("p.csv", 1), green = column("p.csv", 2), blue = column("p.csv", 3);
    for (std::size_t i = 0; i < red.size(); ++i) EXPECT_NEAR(red[i] + green[i] + blue[i], 1, 1e-6);
  }
  ASSERT_EQ(shell("sheaf generate classification two.csv --rows 60 --features 8 --quiet").code, 0);
  ASSERT_EQ(shell("sheaf fit two.csv --model elastic-net-multinomial --alpha 0.1 --output t --quiet").code, 0);
  EXPECT_TRUE(holds(file("t"), {"solver ELASTIC_NET_LOGISTIC\n"})) << "two classes are a logistic model";
}

TEST_F(NetFamiliesCli, GroupedPenaltiesChooseFeaturesForAllClasses) {
  for (const Device device : devices()) {
    const auto on = " --quiet --device " + to_string(device);
    const std::string model = " --model elastic-net-multinomial --grouped";
    ASSERT_EQ(shell("sheaf fit classes.csv --alpha 0.05 --l1-ratio 0.9 --output g" + model + on).code, 0);
    EXPECT_TRUE(holds(file("g"), {"\npenalties grouped\n"})) << file("g");
    const auto of_file = shell("sheaf predict classes.csv --model-file g --json" + on);
    EXPECT_EQ(of_file.code, 0) << of_file.err;
    const auto search = shell("sheaf search classes.csv --output s --alpha-count 8 --json" + model + on);
    ASSERT_EQ(search.code, 0) << search.err;
    EXPECT_TRUE(holds(file("s/model.txt"), {"\npenalties grouped\n"}));
    ASSERT_EQ(shell("rm -r s").code, 0);
  }
  EXPECT_TRUE(complains(shell("sheaf fit classes.csv --model elastic-net --grouped --alpha 1 --output x"), 2,
                        {"grouped", "elastic-net-multinomial"}));
  write("damaged",
        std::regex_replace(without_checksum(file("g")), std::regex("penalties grouped"), "penalties paired"));
  EXPECT_TRUE(complains(shell("sheaf predict classes.csv --model-file damaged"), 1, {"damaged", "paired"}));
}

TEST_F(NetFamiliesCli, LimitsHoldInEveryClass) {
  const std::string fit = "sheaf fit classes.csv --model elastic-net-multinomial --alpha 0.01 --quiet";
  const auto has_negative = [&](const std::string& options) {
    EXPECT_EQ(shell(fit + options + " --output m").code, 0);
    const auto text = file("m");
    return text.substr(text.find("\nweights ")).find(" -0.") != std::string::npos;
  };
  for (const Device device : devices())
    for (const std::string penalties : {"", " --grouped"}) {
      const auto on = penalties + " --device " + to_string(device);
      EXPECT_TRUE(has_negative(on)) << "there are negative weights without limits";
      EXPECT_FALSE(has_negative(on + " --lower-limit 0")) << file("m");
    }
}

TEST_F(NetFamiliesCli, SearchesScoreWhatIsPredicted) {
  for (const Device device : devices()) {
    const auto on = " --quiet --json --device " + to_string(device);
    const auto counts = shell("sheaf search counts.csv --model elastic-net-poisson --output c --alpha-count 8" + on);
    ASSERT_EQ(counts.code, 0) << counts.err;
    const auto of_counts = Json::parse(counts.out);
    EXPECT_EQ(of_counts["score"], "mean-poisson-deviance") << counts.out.substr(0, 400);
    const auto classes =
        shell("sheaf search classes.csv --model elastic-net-multinomial --output k --alpha-count 8" + on);
    ASSERT_EQ(classes.code, 0) << classes.err;
    const auto predict = shell("sheaf predict classes.csv --model-file k/model.txt --json" + on);
    EXPECT_EQ(predict.code, 0) << predict.err;
    ASSERT_EQ(shell("rm -r c k").code, 0);
  }
}

/// Offsets of all classes that favour one of them are made up for by the others' intercepts: if every row has the same
/// offsets, probabilities with them are those of the model without.
TEST_F(NetFamiliesCli, OffsetsAreOneForEachClass) {
  std::string offsets, short_line = "1 2 3\n1 2\n", too_few;
  for (int row = 0; row < 150; ++row) {
    offsets += "1 -2 0.5\n";
    too_few += "1\n";
  }
  write("o.txt", offsets);
  write("short.txt", short_line);
  write("few.txt", too_few);
  const std::string kinds[] = {"elastic-net-multinomial --alpha 0.01 --tolerance 1e-9",
                               "multinomial --alpha 0.01 --tolerance 1e-9"};
  for (const auto& kind : kinds) {
    ASSERT_EQ(shell("sheaf fit classes.csv --model " + kind + " --output a").code, 0);
    const auto fit = shell("sheaf fit classes.csv --model " + kind + " --offset o.txt --output b");
    ASSERT_EQ(fit.code, 0) << fit.err;
    ASSERT_EQ(shell("sheaf predict classes.csv --model-file a --probabilities --output a.csv").code, 0);
    const auto with = shell("sheaf predict classes.csv --model-file b --probabilities --offset o.txt --output b.csv");
    ASSERT_EQ(with.code, 0) << with.err;
    ASSERT_EQ(shell("sheaf predict classes.csv --model-file b --probabilities --output c.csv").code, 0);
    for (std::size_t k = 1; k <= 3; ++k) {
      const auto plain = column("a.csv", k), shifted = column("b.csv", k), without = column("c.csv", k);
      double largest = 0;
      for (std::size_t i = 0; i < plain.size(); ++i) {
        EXPECT_NEAR(plain[i], shifted[i], 1e-3);
        largest = std::max(largest, std::abs(plain[i] - without[i]));
      }
      EXPECT_GT(largest, 0.1) << "predictions without the offsets are others";
    }
    EXPECT_TRUE(complains(shell("sheaf fit classes.csv --model " + kind + " --offset few.txt --output x"), 1,
                          {"150 offsets for 150 rows", "one for each row and class"}));
    EXPECT_TRUE(complains(shell("sheaf fit classes.csv --model " + kind + " --offset short.txt --output x"), 1,
                          {"short.txt:2:", "first row has 3"}));
    EXPECT_TRUE(complains(shell("sheaf predict classes.csv --model-file b --offset few.txt"), 1,
                          {"one for each row and class"}));
  }
  const auto search = shell(
      "sheaf search classes.csv --model elastic-net-multinomial --offset o.txt --alpha-count 4 --output s --quiet");
  EXPECT_EQ(search.code, 0) << search.err;
  EXPECT_TRUE(complains(shell("sheaf fit counts.csv --model elastic-net --alpha 1 --offset few.txt --output x"), 2,
                        {"elastic-net-poisson"}));
}

TEST_F(NetFamiliesCli, QuantileNetsAreFittedSearchedAndApplied) {
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    const auto high =
        shell("sheaf fit counts.csv --model elastic-net-quantile --quantile 0.9 --alpha 0.01 --output h" + on);
    ASSERT_EQ(high.code, 0) << high.err;
    EXPECT_TRUE(holds(file("h"), {"solver ELASTIC_NET_QUANTILE\n", "quantile 0.9\n"})) << file("h");
    ASSERT_EQ(shell("sheaf predict counts.csv --model-file h --output h.csv" + on).code, 0);
    const auto predicted = column("h.csv", 0), counts = column("counts.csv", 12);
    double below = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) below += counts[i] <= predicted[i] ? 1 : 0;
    EXPECT_NEAR(below / 150, 0.9, 0.1);
    const auto search = shell(
        "sheaf search counts.csv --model elastic-net-quantile --quantile 0.9 --alpha-count 5 "
        "--output s --quiet --json" +
        on);
    ASSERT_EQ(search.code, 0) << search.err;
    EXPECT_EQ(Json::parse(search.out)["score"], "mean-pinball-loss");
    ASSERT_EQ(shell("rm -r s").code, 0);
  }
}

TEST_F(NetFamiliesCli, RobustNetsAreFittedSearchedAndApplied) {
  for (const Device device : devices()) {
    const auto on = " --device " + to_string(device);
    const auto huber = shell("sheaf fit counts.csv --model elastic-net-huber --alpha 0.01 --output r" + on);
    ASSERT_EQ(huber.code, 0) << huber.err;
    EXPECT_TRUE(holds(file("r"), {"solver ELASTIC_NET_HUBER\n", "threshold "})) << file("r");
    const auto robust =
        shell("sheaf search counts.csv --model elastic-net-huber --alpha-count 5 --output u --quiet --json" + on);
    ASSERT_EQ(robust.code, 0) << robust.err;
    EXPECT_EQ(Json::parse(robust.out)["score"], "mean-absolute-error");
    ASSERT_EQ(shell("rm -r u").code, 0);
  }
  EXPECT_TRUE(complains(shell("sheaf fit counts.csv --model elastic-net --quantile 0.9 --alpha 1 --output x"), 2,
                        {"elastic-net-quantile"}));
  EXPECT_TRUE(complains(shell("sheaf fit counts.csv --model elastic-net-quantile --quantile 1 --alpha 1 --output x"), 2,
                        {"quantile"}));
  EXPECT_TRUE(complains(shell("sheaf fit classes.csv --model elastic-net-huber --alpha 1 --output x"), 1,
                        {"classes.csv", "numbers"}));
  write("same.csv", "a,label\n1,0\n2,0\n3,0\n4,0\n5,0\n6,7.5\n");
  EXPECT_TRUE(complains(shell("sheaf fit same.csv --model elastic-net-huber --alpha 1 --output x"), 1,
                        {"same.csv", "--huber-threshold"}));
}

TEST_F(NetFamiliesCli, TargetsThatDoNotSuitAreRefused) {
  write("below.csv", "a,label\n1,0\n2,3\n3,-2\n4,1\n");
  EXPECT_TRUE(complains(shell("sheaf fit below.csv --model elastic-net-poisson --alpha 1 --output x"), 1,
                        {"below.csv", "row 3 is -2", "numbers of 0 or more"}));
  EXPECT_TRUE(complains(shell("sheaf fit classes.csv --model elastic-net-poisson --alpha 1 --output x"), 1,
                        {"classes.csv", "counts"}));
  write("zero.csv", "a,label\n1,0\n2,0\n3,0\n");
  EXPECT_TRUE(complains(shell("sheaf fit zero.csv --model elastic-net-poisson --alpha 1 --output x"), 1, {"all 0"}));
  write("one.csv", "a,label\n1,x\n2,x\n3,x\n");
  EXPECT_TRUE(complains(shell("sheaf fit one.csv --model elastic-net-multinomial --alpha 1 --output x"), 1,
                        {"one.csv", "at least two classes"}));
}

TEST_F(NetFamiliesCli, LiblinearHasNoSuchModels) {
  EXPECT_TRUE(complains(
      shell("sheaf fit counts.csv --model elastic-net-poisson --alpha 0.1 --model-format liblinear --output l"), 2,
      {"Poisson", "Sheaf's own format"}));
}

}  // namespace net_families_cli_test
}  // namespace sheaf::test
