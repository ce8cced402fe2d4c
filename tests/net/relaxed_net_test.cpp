// Relaxed elastic nets beside those that glmnet found (tests/golden), and in fits and searches.
#include <sheaf/search.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "linear/model/net_problem.hpp"
#include "net_results.hpp"

namespace sheaf::test {
namespace relaxed_net_test {

TEST(RelaxedNets, GlmnetFoundTheSameWeights) {
  const auto results = read_json(golden("glmnet/relaxed.json"));
  for (const auto& one : results["cases"])
    for (const Device device : devices()) {
      SCOPED_TRACE(one["data"].get<std::string>() + ", " + one["loss"].get<std::string>() + ", l1-ratio " +
                   one["l1_ratio"].dump() + ", on " + to_string(device));
      const auto dataset = read_dataset<double>(on(device), find_data(one["data"]));
      NetParams params;
      params.loss = net_loss_of(one);
      params.tolerance = 1e-11;
      params.max_epochs = 20000;
      params.intercept = one["intercept"];
      params.standardise = one["standardise"];
      params.grouped = net_grouped(one);
      const auto sheaf = net_sheaf_of(one, dataset.target);
      const auto nets = elastic_nets<double>(on(device), dataset, sheaf, params);
      const auto relaxed = linear::relaxed_nets<double>(on(device), dataset, sheaf, params, nets);
      const auto columns = static_cast<std::size_t>(sheaf.classes);
      ASSERT_EQ(relaxed.size(), one["path"].size() * columns);
      for (std::size_t k = 0; k < one["path"].size(); ++k) {
        const auto classes = std::span(relaxed).subspan(k * columns, columns);
        EXPECT_TRUE(classes[0].fit.converged);
        EXPECT_LT(weight_error(plain_weights(classes, static_cast<std::size_t>(dataset.features())),
                               found_weights(one["path"][k])),
                  1e-4)
            << "alpha " << one["path"][k]["alpha"];
      }
    }
}

TEST(RelaxedNets, AShareIsBetweenBothModels) {
  const auto table = make_table(80, 12, 0, 5);
  for (const Device device : devices())
    for (const bool standardise : {false, true}) {
      const auto dataset = dataset_of<double>(table, 12);
      NetOptions options;
      options.alpha = 0.2;
      options.standardise = standardise;
      options.tolerance = 1e-10;
      const auto weights = [&](double relax) {
        options.relax = relax;
        const auto model = train_net(on(device), dataset, options);
        EXPECT_EQ(model.net->relax, relax);
        return model.weights;
      };
      const auto penalised = weights(1), relaxed = weights(0), half = weights(0.5);
      ASSERT_EQ(penalised.size(), half.size());
      double away = 0;
      for (std::size_t j = 0; j < half.size(); ++j) {
        EXPECT_NEAR(half[j], (penalised[j] + relaxed[j]) / 2, 1e-9);
        EXPECT_EQ(relaxed[j] != 0, penalised[j] != 0) << "the same features";
        away = std::max(away, std::abs(relaxed[j] - penalised[j]));
      }
      EXPECT_GT(away, 0.05);
    }
}

/// Fewer rows than features: without a penalty every row would be fitted.
TEST(RelaxedNets, ModelsOfTooManyFeaturesStayAsTheyAre) {
  const auto dataset = dataset_of<double>(make_table(12, 40, 0, 7), 40);
  NetOptions options;
  options.alpha = 1e-4;
  const auto penalised = train_net(on(Device::cpu()), dataset, options);
  ASSERT_GT(penalised.net->fits[0].nonzeros, 9);
  options.relax = 0;
  EXPECT_EQ(train_net(on(Device::cpu()), dataset, options).weights, penalised.weights);
}

/// A point of a search without an axis for it is the point whose share is 1. (Of one feature shares rank rows alike.)
TEST(RelaxedNets, SearchesTryShares) {
  const auto dataset = dataset_of<double>(make_table(90, 15, 3, 9), 15);
  for (const Device device : devices())
    for (const auto loss : {Loss::squared, Loss::softmax}) {
      SearchSpace family(NetOptions{});
      family.get<NetOptions>().loss = loss;
      family.get<NetOptions>().labels = LabelKind::classes;
      family["l1-ratio"] = {0.9};
      family["alpha"] = {0.1, 0.03};
      SearchOptions options;
      options.folds = 3;
      const auto plain = search(on(device), dataset, family, options);
      family["relax"] = {1, 0, 0.5};
      const auto relaxed = search(on(device), dataset, family, options);
      ASSERT_EQ(plain.axes.size(), 2U);
      ASSERT_EQ(relaxed.axes.size(), 3U);
      EXPECT_EQ(relaxed.axes[2].names, (std::vector<std::string>{"0", "0.5", "1"}));
      ASSERT_EQ(relaxed.points.size(), 3 * plain.points.size());
      const auto score = *plain.options.score;
      int different = 0;
      for (std::size_t p = 0; p < plain.points.size(); ++p) {
        EXPECT_NEAR(relaxed.summary(3 * p + 2, score).mean, plain.summary(p, score).mean, 1e-6);
        different += relaxed.summary(3 * p, score).mean != plain.summary(p, score).mean ? 1 : 0;
      }
      EXPECT_GT(different, 0);
      const auto& chosen = relaxed.point(relaxed.level, relaxed.level.chosen.chosen);
      EXPECT_EQ(fmt::format("{}", relaxed.model->get_if<LinearModel>()->net->relax), relaxed.axes[2].text(chosen[2]));
    }
}

}  // namespace relaxed_net_test
}  // namespace sheaf::test
