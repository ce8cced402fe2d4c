// Searches of SVMs: every score is that of a single fit, and a search that was ended goes on to the same
// end.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/report.hpp>
#include <sheaf/solvers/svm.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"
#include "program.hpp"

namespace sheaf::test {
namespace svm_search_test {

using Json = nlohmann::json;

/// Trains without the rows of each split and predicts them, one model at a time.
void expect_single_fits(const Context& context, const Dataset<double>& dataset, const SearchSpace& family,
                        const SearchOptions& options) {
  const auto result = search(context, dataset, family, options);
  SplitOptions split;
  split.kind = *result.options.split;
  split.count = options.folds;
  split.seed = context.seed();
  std::vector<std::int32_t> classes;  // as the model numbers them, which puts +1 before -1
  for (const auto c : dataset.target.classes) {
    const auto& name = dataset.target.class_names[static_cast<std::size_t>(c)];
    const auto found = std::find(result.class_names.begin(), result.class_names.end(), name);
    classes.push_back(static_cast<std::int32_t>(found - result.class_names.begin()));
  }
  const auto splits = make_splits(dataset.rows(), classes, {}, split);
  const auto metric =
      is_regression(family.get<SvmOptions>().kind.value_or(SvmKind::c_svc)) ? Metric::rmse : Metric::accuracy;
  ASSERT_EQ(result.splits, splits.count());
  for (std::size_t p = 0; p < result.points.size(); ++p)
    for (std::int32_t s = 0; s < splits.count(); ++s) {
      auto svm = result.space.get<SvmOptions>();  // with the epsilon that follows from all rows
      svm.cost = result.value(result.points[p], "cost");
      svm.gamma = result.value(result.points[p], "gamma");
      if (svm.kernel == KernelType::polynomial) svm.degree = static_cast<int>(result.value(result.points[p], "degree"));
      const auto table = splits.weights(s, 1);
      const std::vector<float> weights(table.weights.begin(), table.weights.end());
      const auto model = train_svm(context, dataset, svm, weights);
      const auto predictions = predict_svm(context, model, dataset);
      const auto score = result.scores(result.level, p, metric)[static_cast<std::size_t>(s)];
      double sum = 0;
      const auto rows = splits.test_rows(s);
      for (const auto row : rows) {
        const auto i = static_cast<std::size_t>(row);
        if (metric == Metric::accuracy) {
          const auto& name = model.class_names[static_cast<std::size_t>(predictions.classes[i])];
          sum += name == dataset.target.class_names[static_cast<std::size_t>(dataset.target.classes[i])] ? 1 : 0;
        } else {
          sum += std::pow(predictions.decisions[i] - dataset.target.values[i], 2);
        }
      }
      const double mean = sum / static_cast<double>(rows.size());
      EXPECT_NEAR(score, metric == Metric::accuracy ? mean : std::sqrt(mean), 1e-4) << p << " " << s;
      EXPECT_EQ(result.level.models[p * static_cast<std::size_t>(result.splits) + static_cast<std::size_t>(s)].size,
                static_cast<double>(model.support_vectors()))
          << p << " " << s;
    }
}

TEST(SvmSearch, ScoresAreThoseOfSingleFits) {
  for (const Device device : devices())
    for (const int classes : {2, 4, 0}) {
      SCOPED_TRACE(fmt::format("{} classes {}", classes, to_string(device)));
      const auto dataset = dataset_of<double>(make_table(120, 6, classes, 21), 6, false);
      SearchSpace family(SvmOptions{});
      SearchOptions options;
      if (classes == 0) family.get<SvmOptions>().kind = SvmKind::epsilon_svr;
      family["cost"] = {0.5, 8};
      options.folds = 3;
      family["gamma"] = {0.02, 0.3};
      expect_single_fits(on(device, 7), dataset, family, options);
    }
}

TEST(SvmSearch, OneAgainstTheRestAndBalancedWeightsToo) {
  const auto dataset = dataset_of<double>(make_table(120, 6, 3, 22), 6, true);
  SearchSpace family(SvmOptions{});
  SearchOptions options;
  family.get<SvmOptions>().multi_class = MultiClass::one_vs_rest;
  family.get<SvmOptions>().balanced = true;
  family["cost"] = {1, 4};
  options.folds = 3;
  family.get<SvmOptions>().kernel = KernelType::polynomial;
  family.get<SvmOptions>().coef0 = 1;
  family["gamma"] = {0.1};
  family["degree"] = {1, 2};
  const Context context;
  const auto result = search(context, dataset, family, options);
  EXPECT_EQ(result.points.size(), 4U);
  expect_single_fits(context, dataset, family, options);
}

TEST(SvmSearch, BatchesDoNotChangeScores) {
  const auto dataset = dataset_of<double>(make_table(100, 5, 3, 23), 5, false);
  SearchSpace family(SvmOptions{});
  SearchOptions options;
  family["cost"] = {0.1, 1, 10};
  family["gamma"] = {0.1, 1};
  const auto whole = search(Context(), dataset, family, options);
  options.batch = 3;
  const auto cut = search(Context(), dataset, family, options);
  for (std::size_t p = 0; p < whole.points.size(); ++p)
    EXPECT_EQ(whole.scores(whole.level, p, Metric::accuracy), cut.scores(cut.level, p, Metric::accuracy)) << p;
}

/// Kernels go to whichever device is free; what comes out is the same.
TEST(SvmSearch, SeveralDevicesGiveTheSame) {
  const auto dataset = dataset_of<double>(make_table(140, 6, 3, 25), 6, false);
  SearchSpace family(SvmOptions{});
  SearchOptions options;
  family["cost"] = {0.5, 4, 32};
  family["gamma"] = {0.01, 0.03, 0.1, 0.3, 1, 3};
  options.outer = 2;
  const auto one = search(Context(), dataset, family, options);
  options.extra_devices = {Device::cpu(), Device::cpu()};
  const auto three = search(Context(), dataset, family, options);
  EXPECT_EQ(search_csv(one), search_csv(three));
  EXPECT_EQ(one.model->text(), three.model->text());
  EXPECT_EQ(one.counts.computed, three.counts.computed);
  EXPECT_EQ(one.outer.size(), three.outer.size());
}

/// Three classes are small pairs, which the CPU solves whole.
TEST(SvmSearch, CostsAndFoldsShareKernelValues) {
  for (const Device device : devices()) {
    SearchSpace family(SvmOptions{});
    SearchOptions options;
    family["cost"] = {0.5, 1, 2, 4, 8};
    family["gamma"] = {0.1};
    const auto dataset = dataset_of<double>(make_table(150, 6, 3, 5), 6, false);
    Context::Options surroundings;
    surroundings.device = device;
    const auto counts = search(Context(surroundings), dataset, family, options).counts;
    EXPECT_GT(counts.unshared, 4 * counts.computed) << to_string(device) << ": 25 models of one kernel";
  }
}

TEST(SvmSearch, TheBestIsChosenAndTrainedAgain) {
  const auto dataset = dataset_of<double>(make_table(150, 6, 3, 24), 6, false);
  SearchSpace family(SvmOptions{});
  SearchOptions options;
  options.folds = 3;
  options.outer = 2;
  const auto result = search(Context(), dataset, family, options);
  double best = 0;
  for (std::size_t p = 0; p < result.level.points.size(); ++p)
    best = std::max(best, result.summary(p, Metric::accuracy).mean);
  EXPECT_EQ(result.summary(result.level.chosen.chosen, Metric::accuracy).mean, best);
  ASSERT_EQ(result.outer.size(), 2U);
  auto svm = family.get<SvmOptions>();
  svm.cost = result.value(result.chosen(), "cost");
  svm.gamma = result.value(result.chosen(), "gamma");
  EXPECT_EQ(fit(Context(), dataset, svm).text(), result.model->text());
}

class SvmSearchCli : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    ASSERT_EQ(shell("sheaf generate classification t.csv --rows 150 --features 5 --classes 3 --seed 3 --quiet").code,
              0);
  }
};

TEST_F(SvmSearchCli, LeavesOneFolderWithEverything) {
  const auto outcome = shell("sheaf search t.csv --model svm --output d --cost 1,10 --gamma 0.01:1:3 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, file("d/results.json"));
  const auto json = Json::parse(outcome.out);
  EXPECT_EQ(json["points"].size(), 6U);
  const auto page = file("d/report.html");
  for (const char* title : {"of each point", "support vectors", "Confusion matrix", "All scores"})
    EXPECT_NE(page.find(title), std::string::npos) << title;
  for (const char* word : {"src=", "href=", "<script ", "@import", "url("})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  EXPECT_EQ(shell("wc -l <d/scores.csv").out, "31\n") << "a head, and 6 points x 5 splits";
  const auto line = "sheaf fit t.csv --model svm --output alone --quiet --cost " + json["chosen"]["cost"].dump() +
                    " --gamma " + json["chosen"]["gamma"].dump();
  ASSERT_EQ(shell(line).code, 0);
  EXPECT_EQ(file("alone"), file("d/model.txt"));
  EXPECT_EQ(shell("sheaf predict t.csv --model-file d/model.txt --quiet --output a.csv").code, 0);
}

TEST_F(SvmSearchCli, ATornJournalGoesOnToTheSameEnd) {
  const std::string command =
      "sheaf search t.csv --model svm --folds 3 --outer 2 --batch 20 --memory 500M --quiet --output ";
  ASSERT_EQ(shell(command + "whole").code, 0);
  const auto journal = file("whole/journal.txt");
  const auto results = file("whole/results.json");
  for (const double share : {0.1, 0.5, 0.9}) {
    ASSERT_EQ(shell("rm -rf torn; cp -r whole torn; rm torn/results.json").code, 0);
    write("torn/journal.txt", journal.substr(0, static_cast<std::size_t>(share * static_cast<double>(journal.size()))));
    const auto resumed = shell(command + "torn --resume --threads 1");
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(file("torn/results.json"), results) << share;
    EXPECT_EQ(file("torn/model.txt"), file("whole/model.txt"));
    EXPECT_EQ(file("torn/journal.txt"), journal);
  }
}

TEST_F(SvmSearchCli, MistakesAreToldBeforeTheWork) {
  const std::string command = "sheaf search t.csv --model svm --output d ";
  EXPECT_TRUE(complains(shell("sheaf search t.csv --output d --model svmm"), 2, {"did you mean svm?"}));
  EXPECT_TRUE(complains(shell(command + "--type one-class"), 2, {"one-class"}));
  EXPECT_TRUE(complains(shell(command + "--kernel linear --gamma 1"), 2, {"no gamma"}));
  EXPECT_TRUE(complains(shell(command + "--degree 2,3"), 2, {"no degree to try"}));
  EXPECT_TRUE(complains(shell(command + "--easy --cost 1"), 2, {"easy is a grid of its own"}));
  EXPECT_TRUE(complains(shell(command + "--gamma 1:2"), 2, {"gamma takes numbers"}));
  EXPECT_TRUE(complains(shell(command + "--score rmse"), 2, {"rmse is a score of a numeric target"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --output x --gamma 1"), 2, {"--gamma is for --model svm"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model svm --output x --loss svm"), 2,
                        {"--loss is for --model linear, not for svm"}));
  EXPECT_FALSE(exists("d"));
}

}  // namespace svm_search_test
}  // namespace sheaf::test
