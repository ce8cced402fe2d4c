// Whole workflows beside scikit-learn pipelines that do the same on the same folds (tests/golden/workflows): every
// score of every fold, and the decision values of all held-out rows.
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sheaf/memory.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/svm.hpp>

#include "devices.hpp"
#include "golden.hpp"

namespace sheaf::test {
namespace workflows_golden_test {

using Json = nlohmann::json;

struct Workflow {
  Dataset<double> dataset;
  SearchSpace family;
  PipelineOptions steps;
};

Context context_on(Device device) { return Context({.device = device, .threads = 2, .seed = 1}); }

Dataset<double> table(const std::string& name, const std::string& group = {}) {
  ReadOptions options;
  options.group = group;
  options.missing = Missing::keep;
  return read_dataset<double>(Context(), golden("workflows/" + name), options);
}

Dataset<double> data(const std::string& name) {
  return read_dataset<double>(Context(), golden("data/" + name + ".libsvm"));
}

SearchSpace linear(double cost, Loss loss = Loss::logistic) {
  SearchSpace search(LinearOptions{});
  search["cost"] = {cost};
  search.get<LinearOptions>().loss = loss;
  search.get<LinearOptions>().tolerance = 1e-18;
  search.get<LinearOptions>().penalise_bias = true;  // as scikit-learn's solver liblinear does
  return search;
}

SearchSpace svm(double cost, KernelType kernel, double gamma, SvmKind kind = SvmKind::c_svc) {
  SearchSpace search(SvmOptions{});
  search["cost"] = {cost};
  if (kernel == KernelType::rbf) search["gamma"] = {gamma};
  search.get<SvmOptions>().kernel = kernel;
  search.get<SvmOptions>().kind = kind;
  search.get<SvmOptions>().tolerance = 1e-10;
  return search;
}

PipelineOptions scaled(ScaleMethod method) {
  PipelineOptions steps;
  steps.scale = method;
  return steps;
}

Workflow clinical(ScaleMethod method, const SearchSpace& family) {
  Workflow flow{table("clinical.csv", "clinic"), family, scaled(method)};
  flow.steps.impute = Imputation::median;
  return flow;
}

/// Each by its name in workflows.json.
const std::map<std::string, std::function<Workflow(const Json&)>>& workflows() {
  static const std::map<std::string, std::function<Workflow(const Json&)>> all{
      {"clinical", [](const Json&) { return clinical(ScaleMethod::standard, linear(0.5)); }},
      {"clinical-robust", [](const Json&) { return clinical(ScaleMethod::robust, svm(2, KernelType::rbf, 0.05)); }},
      {"microbes",
       [](const Json&) {
         Workflow flow{table("microbes.csv", "subject"), linear(0.01), scaled(ScaleMethod::standard)};
         flow.steps.impute = Imputation::mean;
         flow.steps.transforms = {RowTransform::clr};
         return flow;
       }},
      {"genes",
       [](const Json&) {
         return Workflow{table("genes.arff"), svm(1, KernelType::linear, 1), scaled(ScaleMethod::standard)};
       }},
      {"genes-neighbours",
       [](const Json&) {
         SearchSpace search(KnnOptions{});
         search["k"] = {5};
         return Workflow{table("genes.arff"), search, scaled(ScaleMethod::unit_interval)};
       }},
      {"text",
       [](const Json&) {
         Workflow flow{data("sparse_classes"), linear(4, Loss::squared_hinge), {}};
         flow.steps.transforms = {RowTransform::norm};
         return flow;
       }},
      {"regression",
       [](const Json&) {
         auto search = linear(0.05, Loss::squared_tube);
         search.get<LinearOptions>().epsilon = 0;
         search.get<LinearOptions>().penalise_bias = false;
         return Workflow{data("diabetes_reg_scale"), search, scaled(ScaleMethod::standard)};
       }},
      {"regression-svm",
       [](const Json&) {
         auto search = svm(50, KernelType::rbf, 0.05, SvmKind::epsilon_svr);
         search.get<SvmOptions>().epsilon = 5;
         return Workflow{data("diabetes_reg_scale"), search, scaled(ScaleMethod::standard)};
       }},
      {"three-classes",
       [](const Json& one) {
         auto search = linear(1);
         search.get<LinearOptions>().balanced = true;
         const auto rows = one["rows"].get<std::vector<std::int32_t>>();
         return Workflow{take_rows(data("wine"), rows, 1), search, scaled(ScaleMethod::symmetric_interval)};
       }},
      {"shuffled",
       [](const Json& one) {
         Workflow flow{data("wide_classes"), linear(1), scaled(ScaleMethod::standard)};
         flow.dataset.target = make_target(one["labels"].get<std::vector<std::int32_t>>());
         flow.steps.min_variance = 0.5;
         return flow;
       }},
      {"libsvm-file",
       [](const Json&) {
         return Workflow{data("ionosphere"), linear(10), scaled(ScaleMethod::max_abs)};
       }},
  };
  return all;
}

SearchResult run(const Workflow& flow, const Json& one, Device device) {
  SearchOptions options;
  options.splits = custom_splits(one["folds"].get<std::vector<std::int32_t>>());
  options.pipeline = flow.steps;
  options.predictions = true;
  return search(context_on(device), flow.dataset, flow.family, options);
}

void expect_scores(const SearchResult& result, const Json& by_fold) {
  for (const auto& [name, unused] : by_fold[0].items()) {
    const auto found = result.scores(result.level, 0, parse_metric(name));
    for (std::size_t fold = 0; fold < found.size(); ++fold) {
      const double expected = by_fold[fold][name];
      EXPECT_NEAR(found[fold], expected, 1e-6 * std::max(1.0, std::abs(expected))) << name << ", fold " << fold;
    }
  }
}

TEST(WorkflowsGolden, EveryScoreIsThatOfTheSamePipelineOfScikitLearn) {
  const auto cases = read_json(golden("workflows/workflows.json"))["cases"];
  ASSERT_EQ(cases.size(), workflows().size());
  for (const auto& one : cases)
    for (const Device device : devices()) {
      SCOPED_TRACE(one["name"].get<std::string>() + " on " + to_string(device));
      const auto flow = workflows().at(one["name"])(one);
      const auto result = run(flow, one, device);
      expect_scores(result, one["scores"]);
      if (!one.contains("decisions")) continue;
      const auto& held_out = *result.held_out;
      ASSERT_EQ(held_out.size(), one["decisions"].size());
      for (std::size_t k = 0; k < held_out.size(); ++k) {
        const double expected = one["decisions"][static_cast<std::size_t>(held_out.rows[k])];
        EXPECT_NEAR(held_out.decisions[k], expected, 1e-5 * std::max(1.0, std::abs(expected))) << "row " << k;
      }
    }
}

/// Prediction in batches of one row, from the model's file, as a service would do it.
TEST(WorkflowsGolden, OneRowAtATimeIsPredictedLikeAllAtOnce) {
  const auto dataset = table("clinical.csv", "clinic");
  const auto flow = clinical(ScaleMethod::standard, linear(0.5));
  SearchOptions options;
  options.pipeline = flow.steps;
  const auto found = search(context_on(Device::cpu()), dataset, flow.family, options);
  const auto model = Model::parse(found.model->text(), "file");
  const auto all = model.predict(Context(), dataset, true);
  for (std::int32_t i = 0; i < 20; ++i) {
    const auto one = model.predict(Context(), take_rows(dataset, std::vector{i}, 1), true);
    EXPECT_NEAR(one.decisions[0], all.decisions[static_cast<std::size_t>(i)], 1e-12);
    EXPECT_EQ(one.classes[0], all.classes[static_cast<std::size_t>(i)]);
  }
}

}  // namespace workflows_golden_test
}  // namespace sheaf::test
