// Searches of kernel machines: every score is that of a single fit, and a search that was ended goes on to the same
// end.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <sheaf/svm_search.hpp>

#include "devices.hpp"
#include "linear_tables.hpp"
#include "program.hpp"
#include "search/explorer.hpp"

namespace sheaf::test {
namespace {

using Json = nlohmann::json;

/// Trains without the rows of each split and predicts them, one model at a time.
void expect_single_fits(const Context& context, const Dataset<double>& dataset, const SvmSearchOptions& options) {
  const auto result = search_svm(context, dataset, options);
  SplitOptions split;
  split.kind = *result.options.common.split;
  split.count = options.common.folds;
  split.seed = context.seed();
  std::vector<std::int32_t> classes;  // as the model numbers them, which puts +1 before -1
  for (const auto c : dataset.target.classes) {
    const auto& name = dataset.target.class_names[static_cast<std::size_t>(c)];
    const auto found = std::find(result.class_names.begin(), result.class_names.end(), name);
    classes.push_back(static_cast<std::int32_t>(found - result.class_names.begin()));
  }
  const auto splits = make_splits(dataset.rows(), classes, {}, split);
  const auto metric = is_regression(options.svm.kind) ? Metric::rmse : Metric::accuracy;
  ASSERT_EQ(result.splits, splits.count());
  for (std::size_t p = 0; p < result.points.size(); ++p)
    for (std::int32_t s = 0; s < splits.count(); ++s) {
      auto svm = options.svm;
      svm.cost = result.points[p].cost;
      svm.gamma = result.points[p].gamma;
      svm.degree = result.points[p].degree;
      const auto table = splits.weights(s, 1);
      const std::vector<float> weights(table.weights.begin(), table.weights.end());
      const auto model = train_svm(context, dataset, svm, weights);
      const auto predictions = predict_svm(context, model, dataset);
      const auto score = result.scores(p, metric)[static_cast<std::size_t>(s)];
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
      EXPECT_EQ(result.models[p * static_cast<std::size_t>(result.splits) + static_cast<std::size_t>(s)].support,
                model.support_vectors())
          << p << " " << s;
    }
}

TEST(SvmSearch, ScoresAreThoseOfSingleFits) {
  for (const Device device : devices())
    for (const int classes : {2, 4, 0}) {
      SCOPED_TRACE(fmt::format("{} classes {}", classes, to_string(device)));
      const auto dataset = dataset_of<double>(make_table(120, 6, classes, 21), 6, false);
      SvmSearchOptions options;
      if (classes == 0) options.svm.kind = SvmKind::epsilon_svr;
      options.common.costs = {0.5, 8};
      options.common.folds = 3;
      options.gammas = {0.02, 0.3};
      expect_single_fits(on(device, 7), dataset, options);
    }
}

TEST(SvmSearch, OneAgainstTheRestAndBalancedWeightsToo) {
  const auto dataset = dataset_of<double>(make_table(120, 6, 3, 22), 6, true);
  SvmSearchOptions options;
  options.svm.multi_class = MultiClass::one_vs_rest;
  options.svm.balanced = true;
  options.common.costs = {1, 4};
  options.common.folds = 3;
  options.svm.kernel = KernelType::polynomial;
  options.svm.coef0 = 1;
  options.gammas = {0.1};
  options.degrees = {1, 2};
  const Context context;
  const auto result = search_svm(context, dataset, options);
  EXPECT_EQ(result.points.size(), 4U);
  expect_single_fits(context, dataset, options);
}

TEST(SvmSearch, BatchesDoNotChangeScores) {
  const auto dataset = dataset_of<double>(make_table(100, 5, 3, 23), 5, false);
  SvmSearchOptions options;
  options.common.costs = {0.1, 1, 10};
  options.gammas = {0.1, 1};
  const auto whole = search_svm(Context(), dataset, options);
  options.common.batch = 3;
  const auto cut = search_svm(Context(), dataset, options);
  for (std::size_t p = 0; p < whole.points.size(); ++p)
    EXPECT_EQ(whole.scores(p, Metric::accuracy), cut.scores(p, Metric::accuracy)) << p;
}

/// Kernels go to whichever device is free; what comes out is the same.
TEST(SvmSearch, SeveralDevicesGiveTheSame) {
  const auto dataset = dataset_of<double>(make_table(140, 6, 3, 25), 6, false);
  SvmSearchOptions options;
  options.common.costs = {0.5, 4, 32};
  options.gammas = {0.01, 0.03, 0.1, 0.3, 1, 3};
  options.common.outer = 2;
  const auto one = search_svm(Context(), dataset, options);
  options.also = {Device::cpu(), Device::cpu()};
  const auto three = search_svm(Context(), dataset, options);
  EXPECT_EQ(search_csv(one), search_csv(three));
  EXPECT_EQ(format_svm(one.model, SvmFormat::sheaf), format_svm(three.model, SvmFormat::sheaf));
  EXPECT_EQ(one.counts.computed, three.counts.computed);
  EXPECT_EQ(one.outer.size(), three.outer.size());
}

/// Three classes are small pairs, which the CPU solves whole.
TEST(SvmSearch, CostsAndFoldsShareKernelValues) {
  for (const Device device : devices()) {
    SvmSearchOptions options;
    options.common.costs = {0.5, 1, 2, 4, 8};
    options.gammas = {0.1};
    const auto dataset = dataset_of<double>(make_table(150, 6, 3, 5), 6, false);
    Context::Options surroundings;
    surroundings.device = device;
    const auto counts = search_svm(Context(surroundings), dataset, options).counts;
    EXPECT_GT(counts.unshared, 4 * counts.computed) << to_string(device) << ": 25 models of one kernel";
  }
}

TEST(SvmSearch, TheBestIsChosenAndTrainedAgain) {
  const auto dataset = dataset_of<double>(make_table(150, 6, 3, 24), 6, false);
  SvmSearchOptions options;
  options.common.folds = 3;
  options.common.outer = 2;
  const auto result = search_svm(Context(), dataset, options);
  double best = 0;
  for (std::size_t p = 0; p < result.points.size(); ++p)
    best = std::max(best, result.summary(p, Metric::accuracy).mean);
  EXPECT_EQ(result.summary(result.chosen.chosen, Metric::accuracy).mean, best);
  ASSERT_EQ(result.outer.size(), 2U);
  auto svm = options.svm;
  svm.cost = result.point().cost;
  svm.gamma = result.point().gamma;
  const auto alone = train_svm(Context(), dataset, svm);
  EXPECT_EQ(format_svm(alone, SvmFormat::sheaf), format_svm(result.model, SvmFormat::sheaf));
}

/// On a smooth hill the best of all places at the finest step is found, with a fraction of them tried.
TEST(SvmSearch, TheExplorerClimbs) {
  search::Region region;
  region.costs = {-4, 0, 4, 8};
  region.gammas = {-8, -4, 0, 4};
  region.low = {-8, -16};
  region.high = {16, 12};
  search::Explorer explorer(region);
  const auto hill = [](const search::Coordinates& at) {
    return -std::pow(at.cost - 10.5, 2) - std::pow(at.gamma + 10, 2) - (at.cost - 10.5) * (at.gamma + 10);
  };
  std::size_t tried = 0;
  search::Coordinates best{};
  double top = -1e9;
  for (auto places = explorer.propose(); !places.empty(); places = explorer.propose())
    for (const auto& at : places) {
      explorer.learn(at, hill(at));
      ++tried;
      if (hill(at) > top) {
        top = hill(at);
        best = at;
      }
    }
  EXPECT_EQ(best.cost, 10.5);
  EXPECT_EQ(best.gamma, -10);
  EXPECT_LT(tried, 100U);
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
  for (const char* title : {"of each C and", "Support vectors", "What is taken for what", "All scores"})
    EXPECT_NE(page.find(title), std::string::npos) << title;
  for (const char* word : {"src=", "href=", "<script", "@import", "url("})
    EXPECT_EQ(page.find(word), std::string::npos) << word;
  EXPECT_EQ(shell("wc -l <d/scores.csv").out, "31\n") << "a head, and 6 points x 5 splits";
  const auto line = "sheaf fit t.csv --model svm --output alone --quiet --cost " + json["chosen"]["cost"].dump() +
                    " --gamma " + json["chosen"]["gamma"].dump();
  ASSERT_EQ(shell(line).code, 0);
  EXPECT_EQ(file("alone"), file("d/model.txt"));
  EXPECT_EQ(shell("sheaf predict t.csv --model d/model.txt --quiet --output a.csv").code, 0);
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
  EXPECT_TRUE(complains(shell(command + "--degree 2,3"), 2, {"polynomial"}));
  EXPECT_TRUE(complains(shell(command + "--easy --cost 1"), 2, {"--easy"}));
  EXPECT_TRUE(complains(shell(command + "--gamma 1:2"), 2, {"gamma takes numbers"}));
  EXPECT_TRUE(complains(shell(command + "--score rmse"), 2, {"rmse is a score of amounts"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model x --gamma 1"), 2, {"--gamma is for kernel machines"}));
  EXPECT_TRUE(complains(shell("sheaf fit t.csv --model svm --output x --loss svm"), 2, {"not for --model svm"}));
  EXPECT_FALSE(exists("d"));
}

}  // namespace
}  // namespace sheaf::test
