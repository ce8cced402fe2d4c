// Survival as people and scripts meet it: times and events in columns, fits, searches, predictions, refusals.
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/random.hpp"
#include "devices.hpp"
#include "golden.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace survival_cli_test {

using Json = nlohmann::json;

bool holds(const std::string& text, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const auto& part) { return text.find(part) != std::string::npos; });
}

class SurvivalCli : public ProgramTest {
 protected:
  const std::string lung = golden("survival/lung.csv") + " --label time --event event";

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

TEST_F(SurvivalCli, ACoxModelIsFittedAndKept) {
  for (const Device device : devices()) {
    const auto with = " --precision double --device " + to_string(device);
    const auto fit = shell("sheaf fit " + lung + " --model glm --output m" + with);
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_TRUE(holds(fit.out, {"family cox, link log, ties by Efron", "times, ", "with an event",
                                "likelihood-ratio test", "Wald test", "score test", "concordance", "ph.ecog"}))
        << fit.out;
    EXPECT_TRUE(holds(file("m"), {"glm cox log newton together\n", "ties efron\n", "events ", "bias 0 free\n"}));
    const auto predict = shell("sheaf predict " + lung + " --model-file m --output p.csv" + with);
    ASSERT_EQ(predict.code, 0) << predict.err;
    EXPECT_TRUE(holds(predict.out, {"concordance", "partial likelihood deviance"})) << predict.out;
    EXPECT_EQ(file("p.csv").substr(0, file("p.csv").find('\n')), "log hazard,hazard");
    const auto logs = column("p.csv", 0), hazards = column("p.csv", 1);
    for (std::size_t i = 0; i < logs.size(); ++i) EXPECT_NEAR(std::log(hazards[i]), logs[i], 1e-6);
  }
}

TEST_F(SurvivalCli, ElasticNetsAreSearchedByTheirDeviance) {
  for (const Device device : devices()) {
    const auto with = " --device " + to_string(device);
    const auto search = shell("sheaf search " + lung +
                              " --model elastic-net --standardise --alpha-count 6 --output s --quiet --json" + with);
    ASSERT_EQ(search.code, 0) << search.err;
    EXPECT_EQ(Json::parse(search.out)["score"], "partial-likelihood-deviance");
    EXPECT_TRUE(holds(file("s/model.txt"), {"solver ELASTIC_NET_COX\n", "ties breslow\n"}));
    EXPECT_EQ(shell("sheaf predict " + lung + " --model-file s/model.txt" + with).code, 0);
    const auto ranked = shell("sheaf search " + lung +
                              " --model glm --score concordance --alpha 0.01,0.1 --output t --quiet --json" + with);
    ASSERT_EQ(ranked.code, 0) << ranked.err;
    EXPECT_EQ(Json::parse(ranked.out)["score"], "concordance");
    ASSERT_EQ(shell("rm -r s t").code, 0);
  }
}

/// Expected are the numbers of R's coxph(Surv(entry, time, event) ~ a + b + strata(site)).
TEST_F(SurvivalCli, StrataAndEntriesAreColumns) {
  write("t.csv",
        "a,b,entry,time,event,site\n1.2,0,0,3,1,x\n0.4,1,1,5,1,y\n-0.7,1,0,8,0,x\n0.9,0,2,4,1,y\n1.5,1,3,6,1,x\n"
        "-1.1,0,0,9,0,y\n0.3,1,1,2,1,x\n-0.2,0,4,7,1,y\n0.8,0,0,4,1,x\n-0.9,1,2,10,1,y\n0.1,0,5,8,0,x\n"
        "1.9,1,0,1,1,y\n-0.4,1,3,6,0,x\n0.6,0,1,5,1,y\n");
  const std::string roles = " --label time --event event --entry entry --strata site ";
  ASSERT_EQ(shell("sheaf convert t.csv t.sheaf" + roles).code, 0);
  for (const Device device : devices())
    for (const std::string& data : {"t.csv" + roles, std::string("t.sheaf ")}) {
      const auto fit =
          shell("sheaf fit " + data + "--model glm --precision double --output m --json --device " + to_string(device));
      ASSERT_EQ(fit.code, 0) << fit.err;
      const auto answer = Json::parse(fit.out);
      EXPECT_NEAR(answer["coefficients"][0]["estimate"], 1.92483711682, 1e-7) << fit.out;
      EXPECT_NEAR(answer["coefficients"][1]["estimate"], 0.01964576724, 1e-7);
      EXPECT_NEAR(answer["coefficients"][0]["standard_error"], 0.8883067567, 1e-7);
      EXPECT_NEAR(answer["coefficients"][1]["standard_error"], 0.9519890786, 1e-7);
      EXPECT_NEAR(answer["log_likelihood"], -6.619956027, 1e-8);
      EXPECT_NEAR(answer["null_log_likelihood"], -11.654425027, 1e-8);
      EXPECT_NEAR(answer["concordance"], 0.875, 1e-12);
      EXPECT_EQ(answer["coefficients"].size(), 2U) << "entries and strata are no features";
    }
  const auto search = shell("sheaf search t.csv" + roles + "--model glm --alpha 0.1,1 --folds 2 --output s --quiet");
  EXPECT_EQ(search.code, 0) << search.err;
}

TEST_F(SurvivalCli, TiesAreTreatedAsAsked) {
  for (const char* ties : {"breslow", "efron"}) {
    const auto end = std::string(" --ties ") + ties;
    ASSERT_EQ(shell("sheaf fit " + lung + " --model glm --output a --quiet" + end).code, 0);
    ASSERT_EQ(shell("sheaf fit " + lung + " --model lasso --alpha 0.05 --output b --quiet" + end).code, 0);
    for (const char* model : {"a", "b"}) EXPECT_TRUE(holds(file(model), {std::string("ties ") + ties + "\n"}));
  }
}

TEST_F(SurvivalCli, WeightsWithoutAnEndAreSaid) {
  std::string table = "a,b,time,event\n";
  Random random(4);
  for (int i = 0; i < 40; ++i)  // all with a = 1 die before all others
    table += fmt::format("{},{:.3f},{},{}\n", i < 20 ? 1 : 0, random.normal(), i + 1, i % 3 > 0 ? 1 : 0);
  write("t.csv", table);
  const auto fit = shell("sheaf fit t.csv --label time --event event --model glm --precision double --output m");
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_TRUE(holds(fit.err, {"likelihood rises without end"})) << fit.err;
  EXPECT_TRUE(holds(file("m"), {"separated\n"}));
}

TEST_F(SurvivalCli, DependentFeaturesAreSaid) {
  std::string table = "a,b,c,time,event\n";
  Random random(6);
  for (int i = 0; i < 60; ++i) {
    const double a = random.normal();
    table +=
        fmt::format("{:.3f},{:.3f},{:.3f},{:.4f},{}\n", a, random.normal(), 2 * std::stod(fmt::format("{:.3f}", a)),
                    -std::log(random.uniform()) * std::exp(-a), i % 4 > 0 ? 1 : 0);
  }
  write("t.csv", table);
  const auto fit = shell("sheaf fit t.csv --label time --event event --model glm --precision double --output m");
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_TRUE(holds(fit.err, {"1 weights are not determined", "c"})) << fit.err;
}

TEST_F(SurvivalCli, DefectsAreNamed) {
  const auto fit = [&](const std::string& table, const std::string& options) {
    write("t.csv", table);
    return shell("sheaf fit t.csv --label time --output m " + options);
  };
  const std::string cox = "--event event --model glm";
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,-3,0\n", cox), 1, {"t.csv:3:3", "a time must be", "-3"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,3,2\n", cox), 1, {"t.csv:3:5", "an event must be 1", "2"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,soon,0\n", cox), 1, {"t.csv:3:3", "soon"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,0\n2,3,0\n3,5,0\n", cox), 1, {"t.csv", "no row has an event"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,3,0\n", "--event status --model glm"), 2, {"status"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,3,0\n", "--event time --model glm"), 2, {"both the event"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,3,0\n", "--event event"), 1, {"--event", "Cox models"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,3,0\n", "--event event --model svm"), 1, {"Cox models"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,3,0\n", "--model elastic-net-cox --alpha 1"), 1, {"--event"}));
  EXPECT_TRUE(complains(fit("a,time,event\n1,2,1\n2,3,0\n", "--model glm --family cox"), 1, {"--event"}));
  EXPECT_TRUE(
      complains(shell("sheaf search " + lung + " --model glm --score r2 --output s"), 2, {"r2", "concordance"}));
  EXPECT_TRUE(complains(shell("sheaf convert " + lung + " t.svm"), 1, {"--event"}));
  const std::string late = cox + " --entry from";
  EXPECT_TRUE(complains(fit("a,from,time,event\n1,0,2,1\n2,3,3,0\n", late), 1, {"t.csv:3:3", "entry", "below"}));
  EXPECT_TRUE(complains(fit("a,from,time,event\n1,0,2,1\n2,now,3,0\n", late), 1, {"t.csv:3:3", "entry", "now"}));
  EXPECT_TRUE(complains(fit("a,from,time,event\n1,0,2,1\n2,,3,0\n", late), 1, {"t.csv:3:3", "entry", "missing"}));
  EXPECT_TRUE(complains(fit("a,from,time,event\n1,0,2,1\n", "--entry from"), 2, {"--event"}));
  EXPECT_TRUE(complains(fit("a,from,time,event\n1,0,2,1\n", cox + " --strata time"), 2, {"both the label"}));
}

}  // namespace survival_cli_test
}  // namespace sheaf::test
