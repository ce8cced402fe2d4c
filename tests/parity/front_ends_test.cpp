// The same dataset and the same settings give the same model, to the last byte, from the command line and from C++:
// neither has defaults of its own. parity/front_ends.py does the same with Python and R.
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sheaf/io.hpp>
#include <sheaf/search.hpp>

#include "core/random.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace {

/// Four features, and as label a class, a number, a count or a time with an event.
std::string table_of(const std::string& label) {
  Random random(5);
  std::string text = label == "survival" ? "a,b,c,d,t,e\n" : "a,b,c,d,y\n";
  for (int i = 0; i < 60; ++i) {
    double signal = 0;
    for (int j = 0; j < 4; ++j) {
      const double value = std::round(random.normal() * 1000) / 1000;
      signal += j == 0 ? value : j == 1 ? -value : 0;
      text += fmt::format("{},", value);
    }
    signal += 0.3 * random.normal();
    if (label == "class") text += signal < -0.7 ? "low\n" : signal < 0.7 ? "middle\n" : "high\n";
    if (label == "number") text += fmt::format("{:.4f}\n", 3 * signal + 1);
    if (label == "survival") text += fmt::format("{:.3f},{}\n", 10 * std::exp(-signal), random.uniform() < 0.7 ? 1 : 0);
    if (label == "count") text += fmt::format("{}\n", static_cast<int>(std::exp(0.5 * signal + 1)));
  }
  return text;
}

struct KindAndLabel {
  std::string kind, label;
  std::vector<std::pair<std::string, std::string>> settings;  ///< what must be given
};

std::vector<KindAndLabel> cases() {
  std::vector<KindAndLabel> list;
  for (const auto& row : model_kinds()) {
    const std::string kind(row.name);
    const bool net = row.family == "elastic-net";
    const std::vector<std::pair<std::string, std::string>> settings =
        net ? std::vector<std::pair<std::string, std::string>>{{"alpha", "0.05"}}
            : std::vector<std::pair<std::string, std::string>>{};
    if (kind == "elastic-net-cox" || kind == "glm" || kind == "lasso") list.push_back({kind, "survival", settings});
    if (kind == "elastic-net-cox") continue;
    if (kind == "elastic-net-poisson") {
      list.push_back({kind, "count", settings});
      continue;
    }
    const bool numbers_only = kind == "elastic-net-huber" || kind == "elastic-net-quantile";
    const bool classes_only = kind == "elastic-net-logistic" || kind == "elastic-net-multinomial" ||
                              kind == "multinomial" || kind == "alh" || kind == "cknn" || kind == "hknn" ||
                              kind == "local-svm" || kind == "falk-svm";
    if (!numbers_only) list.push_back({kind, "class", settings});
    if (!classes_only) list.push_back({kind, "number", settings});
  }
  return list;
}

class FrontEnds : public ProgramTest {
 protected:
  ModelOptions options_of(const KindAndLabel& one) {
    auto options = find_model_kind(one.kind).options;
    for (const auto& [name, value] : one.settings) set_parameter(options, name, value);
    return options;
  }
};

TEST_F(FrontEnds, FitGivesTheSameModelFromCppAndCommandLine) {
  const Context context;
  for (const auto& one : cases()) {
    SCOPED_TRACE(one.kind + ", " + one.label);
    write("d.csv", table_of(one.label));
    std::string flags = one.label == "survival" ? " --label t --event e" : "";
    for (const auto& [name, value] : one.settings) flags += " --" + name + " " + value;
    const auto outcome =
        shell("sheaf fit d.csv --model " + one.kind + flags + " --scale none --output m.txt --quiet; pwd");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    const auto folder = outcome.out.substr(0, outcome.out.find('\n'));
    ReadOptions reading;
    if (one.label == "survival") {
      reading.label = "t";
      reading.event = "e";
    }
    const auto dataset = read_dataset<double>(context, folder + "/d.csv", reading);
    EXPECT_EQ(fit(context, dataset, options_of(one)).text(), file("m.txt"));
  }
}

/// Transforms of named columns, by one flag or by several, in searches too.
TEST_F(FrontEnds, TransformsOfNamedColumnsGiveTheSameModel) {
  const Context context;
  write("d.csv", table_of("class"));
  const auto outcome = shell(
      "sed -i s/-//g d.csv && sheaf fit d.csv --scale none --transform log1p:a,b --transform sqrt:c --output m.txt "
      "--quiet && sheaf fit d.csv --scale none --transform log1p:a,b,sqrt:c --output n.txt --quiet && sheaf search "
      "d.csv --model linear --cost 1 --scale none --transform log1p:a,b,sqrt:c --output found --quiet; pwd");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto dataset = read_dataset<double>(context, outcome.out.substr(0, outcome.out.find('\n')) + "/d.csv");
  const PipelineOptions steps{.transforms = {{RowTransform::log1p, {"a", "b"}}, {RowTransform::sqrt, {"c"}}}};
  const auto text = fit(context, dataset, find_model_kind("linear").options, {}, steps).text();
  EXPECT_EQ(file("m.txt"), text);
  EXPECT_EQ(file("n.txt"), text);
  EXPECT_EQ(file("found/model.txt"), text);
  EXPECT_NE(text.find("\nstep transform log1p 2 1 2\nstep transform sqrt 1 3\n"), std::string::npos) << text;
  EXPECT_TRUE(complains(shell("sheaf fit d.csv --transform log1p:a,weight --output x.txt"), 2,
                        {"transform log1p", "no feature 'weight'"}));
}

}  // namespace
}  // namespace sheaf::test
