// Studies of elastic nets against plain loops: splits, scores, choices, frequencies and stability are all computed
// again from what they mean.
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <sheaf/report.hpp>

#include "core/fail.hpp"
#include "data/permute_labels.hpp"
#include "devices.hpp"
#include "forgetful_log.hpp"
#include "search/plan/strategy.hpp"
#include "study_rows.hpp"

namespace sheaf::test {
namespace study_test {

double plain_r2(const PlainTable& table, const std::vector<std::int32_t>& rows, const NetModel& net) {
  double mean = 0;
  for (const auto i : rows) mean += table.labels[static_cast<std::size_t>(i)] / static_cast<double>(rows.size());
  double errors = 0;
  double spread = 0;
  for (const auto i : rows) {
    const double y = table.labels[static_cast<std::size_t>(i)];
    errors += std::pow(y - decision(table, i, net), 2);
    spread += std::pow(y - mean, 2);
  }
  return 1 - errors / spread;
}

TEST(Study, FoldsDivideTheRowsThatASplitDoesNotLeaveOut) {
  const auto table = make_table(60, 6, 2, 3);
  const auto dataset = dataset_of<double>(table, 6);
  const auto options = small_study();
  const auto lists = held_out_rows(dataset, options);
  ASSERT_EQ(lists.size(), 16U);
  std::set<std::vector<std::int32_t>> different;
  for (std::size_t s = 0; s < 4; ++s) {
    std::vector<int> seen(60, 0);
    std::map<double, int> classes;
    for (std::size_t part = 0; part < 4; ++part)
      for (const auto row : lists[s * 4 + part]) ++seen[static_cast<std::size_t>(row)];
    for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(seen[i], 1) << "row " << i << " of split " << s;
    for (const auto row : lists[s * 4 + 3]) ++classes[table.labels[static_cast<std::size_t>(row)]];
    for (const auto& [label, count] : classes) {
      const auto all = std::count(table.labels.begin(), table.labels.end(), label);
      EXPECT_NEAR(count, 0.3 * static_cast<double>(all), 1) << label;
    }
    different.insert(lists[s * 4 + 3]);
  }
  EXPECT_EQ(different.size(), 4U) << "every split draws anew";
}

/// A part trains on the rows of its split that it does not leave out, each with its own weight.
TEST(Study, RowsKeepTheirWeights) {
  const auto dataset = dataset_of<double>(make_table(60, 6, 2, 3), 6);
  auto options = small_study();
  const auto lists = held_out_rows(dataset, options);
  std::vector<float> base;
  for (int i = 0; i < 60; ++i) base.push_back(0.5F + static_cast<float>(i));
  options.options.row_weights = base;
  const StudyPlan made(dataset, options);
  std::vector<std::int32_t> splits;
  for (const std::int32_t k : {1, 2}) {
    for (std::int32_t f = 0; f < 3; ++f) splits.push_back(made.plan->inner_split(k, f));
    splits.push_back(made.plan->outer_split(k));
  }
  const auto table = made.plan->table(splits, 1).weights;
  ASSERT_EQ(table.size(), 60U * 8);
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t part = 0; part < 4; ++part)
      for (std::int32_t i = 0; i < 60; ++i) {
        const auto in = [&](std::size_t list) { return std::count(lists[list].begin(), lists[list].end(), i) > 0; };
        const bool left_out = in((s + 1) * 4 + part) || in((s + 1) * 4 + 3);
        EXPECT_EQ(table[static_cast<std::size_t>(i) * 8 + s * 4 + part],
                  left_out ? 0 : base[static_cast<std::size_t>(i)]);
      }
}

struct Sort {
  Loss loss;
  int classes;
};

TEST(Study, AgreesWithALoopOfSingleFits) {
  for (const auto& [loss, classes] : {Sort{Loss::squared, 2}, Sort{Loss::logistic, 2}, Sort{Loss::squared, 0}}) {
    const std::size_t features = 12;
    const auto table = make_table(70, features, classes, 5);
    const auto dataset = dataset_of<double>(table, features);
    auto options = small_study();
    options.family.get<NetOptions>().loss = loss;
    const auto lists = held_out_rows(dataset, options);
    const auto score = classes == 2 ? plain_auc<NetModel> : plain_r2;
    for (const Device device : devices()) {
      const auto result = run_study(on(device), dataset, options);
      ASSERT_EQ(result.outer.size(), 4U);
      for (std::size_t s = 0; s < 4; ++s) {
        const auto& split = result.outer[s];
        const auto& left_out = lists[s * 4 + 3];
        std::vector<double> means;
        for (std::size_t pair = 0; pair < 10; ++pair) {
          double mean = 0;
          for (std::size_t f = 0; f < 3; ++f) {
            const auto& tested = lists[s * 4 + f];
            const auto net =
                fit_alone(without(table, {left_out, tested}), features, options.family.numbers("alpha")[pair % 5],
                          options.family.numbers("l1-ratio")[pair / 5], loss);
            const double found = score(table, tested, net);
            EXPECT_NEAR(split.level.models[pair * 3 + f].score(*result.options.score), found, 1e-6)
                << "pair " << pair << " fold " << f;
            mean += found / 3;
          }
          means.push_back(mean);
        }
        const auto chosen = split.level.chosen.chosen;
        EXPECT_NEAR(means[chosen], *std::max_element(means.begin(), means.end()), 1e-6);
        const auto& point = result.point(split.level, chosen);
        const auto net = fit_alone(without(table, {left_out}), features, result.value(point, "alpha"),
                                   result.value(point, "l1-ratio"), loss);
        EXPECT_NEAR(split.scores.score(classes == 2 ? Metric::auc : Metric::r2), score(table, left_out, net), 1e-6);
        ASSERT_EQ(split.scores.weights.size(), 1U);
        EXPECT_EQ(split.scores.weights[0].features, net.features);
        for (std::size_t k = 0; k < net.weights.size(); ++k)
          EXPECT_NEAR(split.scores.weights[0].weights[k], net.weights[k], 1e-5);
      }
    }
  }
}

/// Every statistic of features, from the models of the splits by plain loops.
TEST(Study, TablesAreWhatTheSplitsSay) {
  for (const int classes : {2, 3}) {
    const std::size_t features = 30;
    auto table = make_table(90, features, classes, 8);
    auto dataset = dataset_of<double>(table, features);
    for (std::size_t j = 0; j < features; ++j) dataset.feature_names.push_back("name " + std::to_string(j));
    auto options = small_study();
    options.options.outer = 7;
    options.family.get<NetOptions>().tolerance = 1e-6;
    for (const Device device : devices()) {
      const auto result = run_study(on(device), dataset, options);
      std::map<std::int64_t, double> frequency;
      for (std::size_t j = 0; j < features; ++j) {
        std::vector<double> ranks;
        double chosen = 0;
        std::vector<double> sums(static_cast<std::size_t>(result.columns), 0.0), counts = sums, positive = sums;
        double mean = 0;
        double deviation = 0;
        for (const auto& row : table.rows)
          for (const auto& [feature, value] : row) mean += feature == j ? value / 90 : 0;
        for (const auto& row : table.rows) {
          double value = 0;
          for (const auto& entry : row) value = entry.first == j ? entry.second : value;
          deviation += (value - mean) * (value - mean) / 90;
        }
        deviation = std::sqrt(deviation);
        for (const auto& split : result.outer) {
          std::map<std::int64_t, double> effects;  // of all features of the split
          for (std::size_t c = 0; c < split.scores.weights.size(); ++c)
            for (std::size_t k = 0; k < split.scores.weights[c].features.size(); ++k) {
              const auto feature = split.scores.weights[c].features[k];
              const double weight = split.scores.weights[c].weights[k];
              double sd = 0;
              for (const auto& found : result.stability) sd = found.index == feature ? found.standard_deviation : sd;
              effects[feature] = std::max(effects[feature], std::abs(weight) * sd);
              if (static_cast<std::size_t>(feature) != j) continue;
              sums[c] += weight;
              counts[c] += 1;
              positive[c] += weight > 0 ? 1 : 0;
            }
          if (!effects.contains(static_cast<std::int64_t>(j))) {
            ranks.push_back(static_cast<double>(effects.size()) + 1);
            continue;
          }
          chosen += 1;
          double rank = 1;
          for (const auto& [other, effect] : effects) rank += effect > effects[static_cast<std::int64_t>(j)] ? 1 : 0;
          ranks.push_back(rank);
        }
        const auto found = std::find_if(result.stability.begin(), result.stability.end(),
                                        [&](const auto& row) { return row.index == static_cast<std::int64_t>(j); });
        ASSERT_EQ(found != result.stability.end(), chosen > 0) << "feature " << j;
        if (chosen == 0) continue;
        std::sort(ranks.begin(), ranks.end());
        EXPECT_EQ(found->name, "name " + std::to_string(j));
        EXPECT_DOUBLE_EQ(found->frequency, chosen / 7);
        EXPECT_DOUBLE_EQ(found->median_rank, ranks[3]);
        EXPECT_NEAR(found->standard_deviation, deviation, 1e-12);
        for (std::size_t c = 0; c < sums.size(); ++c) {
          EXPECT_NEAR(found->mean_weight[c], counts[c] > 0 ? sums[c] / counts[c] : 0, 1e-12);
          EXPECT_DOUBLE_EQ(found->sign_agreement[c],
                           counts[c] > 0 ? std::max(positive[c], counts[c] - positive[c]) / counts[c] : 0);
        }
      }
      for (std::size_t k = 1; k < result.stability.size(); ++k)
        EXPECT_GE(result.stability[k - 1].frequency, result.stability[k].frequency);
      for (const auto& feature : result.selected()) EXPECT_GE(feature.frequency, options.options.min_frequency);
    }
  }
}

/// Three classes: decision values of one model come one by one; the mean over the classes of each one's AUC.
TEST(Study, SeveralClassesAreJudgedTogether) {
  const std::size_t features = 10;
  const auto table = make_table(90, features, 3, 21);
  const auto dataset = dataset_of<double>(table, features);
  const auto options = small_study();
  const auto lists = held_out_rows(dataset, options);
  for (const Device device : devices()) {
    const auto result = run_study(on(device), dataset, options);
    ASSERT_EQ(result.columns, 3);
    for (std::size_t s = 0; s < 4; ++s) {
      double sum = 0;
      double right = 0;
      const auto& rows = lists[s * 4 + 3];
      for (std::size_t c = 0; c < 3; ++c) {
        auto one = table;
        for (auto& label : one.labels) label = fmt::format("{}", label) == result.class_names[c] ? 1.0 : -1.0;
        sum += plain_auc(one, rows, result.outer[s].scores.weights[c]);
      }
      for (const auto row : rows) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < 3; ++c)
          if (decision(table, row, result.outer[s].scores.weights[c]) >
              decision(table, row, result.outer[s].scores.weights[best]))
            best = c;
        right += result.class_names[best] == fmt::format("{}", table.labels[static_cast<std::size_t>(row)]) ? 1 : 0;
      }
      EXPECT_NEAR(result.outer[s].scores.score(Metric::auc), sum / 3, 1e-9);
      EXPECT_NEAR(result.outer[s].scores.score(Metric::accuracy), right / static_cast<double>(rows.size()), 1e-9);
    }
  }
}

/// Paths go to whichever device is free; decision values of one model may come from two.
TEST(Study, SeveralDevicesShareTheWork) {
  for (const int classes : {2, 3}) {
    const auto dataset = dataset_of<double>(make_table(90, 12, classes, 21), 12);
    auto options = small_study();
    for (const Device device : devices()) {
      options.options.extra_devices.clear();
      const auto alone = run_study(on(device), dataset, options);
      options.options.extra_devices = {Device::cpu()};
      const auto shared = run_study(on(device), dataset, options);
      for (std::size_t s = 0; s < 4; ++s) {
        const auto& a = alone.outer[s];
        const auto& b = shared.outer[s];
        ASSERT_EQ(a.level.models.size(), b.level.models.size());
        for (std::size_t k = 0; k < a.level.models.size(); ++k)
          EXPECT_NEAR(a.level.models[k].score(Metric::auc), b.level.models[k].score(Metric::auc), 1e-9);
        ASSERT_EQ(a.scores.weights.size(), b.scores.weights.size());
        for (std::size_t c = 0; c < a.scores.weights.size(); ++c)
          EXPECT_EQ(a.scores.weights[c].features, b.scores.weights[c].features);
        EXPECT_NEAR(a.scores.score(Metric::auc), b.scores.score(Metric::auc), 1e-9);
      }
    }
  }
}

/// The same study of permuted labels, and so of no relation to the features.
TEST(Study, StabilityIsComparedWithThatOfPermutedLabels) {
  const auto dataset = dataset_of<double>(make_table(60, 12, 2, 3), 12);
  auto study = small_study();
  const auto plain = run_study(Context(), dataset, study);
  EXPECT_TRUE(plain.chance.empty());
  study.options.stability_permutations = 3;
  const auto result = run_study(Context(), dataset, study);
  EXPECT_EQ(result.overall.value, plain.overall.value);
  ASSERT_EQ(result.chance.values.size(), 3U);
  EXPECT_EQ(run_study(Context(), dataset, study).chance.values, result.chance.values);
  EXPECT_LT(result.chance.mean(), result.overall.value);
  for (std::uint64_t k = 0; k < 3; ++k) {
    const auto permuted = with_permuted_labels(dataset, Context().seed(), k);
    EXPECT_NE(permuted.target.values, dataset.target.values);
    auto sorted = permuted.target.values;
    auto wanted = dataset.target.values;
    std::sort(sorted.begin(), sorted.end());
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(sorted, wanted);
    study.options.stability_permutations = 0;
    EXPECT_EQ(run_study(Context(), permuted, study).overall.value, result.chance.values[static_cast<std::size_t>(k)]);
  }
  EXPECT_NE(search_json(result).find("by_chance"), std::string::npos);
  EXPECT_NE(search_html(result).find("chance gives"), std::string::npos);
  EXPECT_EQ(search_html(plain).find("chance gives"), std::string::npos);
  study.options.full = true;
  study.options.stability_permutations = 3;
  EXPECT_THROW(run_study(Context(), dataset, study), UsageError);
}

/// Rows of one group keep one label.
TEST(Study, LabelsOfGroupsArePermutedAmongGroups) {
  auto dataset = dataset_of<double>(make_table(60, 3, 2, 3), 3);
  for (std::int32_t i = 0; i < 60; ++i) {
    dataset.groups.push_back(i / 4);
    if (!dataset.target.classes.empty()) dataset.target.classes[static_cast<std::size_t>(i)] = i / 4 % 2;
    if (!dataset.target.values.empty()) dataset.target.values[static_cast<std::size_t>(i)] = i / 4 % 2;
  }
  const auto permuted = with_permuted_labels(dataset, 1, 0);
  EXPECT_NE(permuted.target.values, dataset.target.values);
  for (std::size_t i = 0; i < 60; ++i) EXPECT_EQ(permuted.target.values[i], permuted.target.values[i / 4 * 4]);
}

/// The stability of sets that count with some weights each, by its definition.
double weighted_stability(const std::vector<std::vector<std::int64_t>>& sets, const std::vector<double>& weights,
                          std::int64_t features) {
  double total = 0;
  for (const double weight : weights) total += weight;
  double variance = 0;
  double mean = 0;
  for (std::int64_t j = 0; j < features; ++j) {
    double p = 0;
    for (std::size_t i = 0; i < sets.size(); ++i)
      p += std::count(sets[i].begin(), sets[i].end(), j) > 0 ? weights[i] / total : 0;
    variance += p * (1 - p) / static_cast<double>(features);
    mean += p / static_cast<double>(features);
  }
  return 1 - variance / (mean * (1 - mean));
}

/// The error's square is the mean square, over the sets, of how fast the stability changes with the weight of each (the
/// infinitesimal jackknife).
TEST(Study, TheIntervalOfTheStabilityIsThatOfItsDerivatives) {
  Random random(4);
  std::vector<std::vector<std::int64_t>> sets(60);
  for (auto& set : sets)
    for (std::int64_t j = 0; j < 40; ++j)
      if (random.uniform() < (j < 8 ? 0.8 : 0.1)) set.push_back(j);
  const auto found = stability_of(sets, 40);
  std::vector<double> weights(60, 1.0);
  EXPECT_NEAR(1 - (1 - weighted_stability(sets, weights, 40)) * 60 / 59, found.value, 1e-12);
  double squares = 0;
  for (std::size_t i = 0; i < 60; ++i) {
    constexpr double step = 1e-5;
    auto more = weights;
    auto less = weights;
    more[i] += step;
    less[i] -= step;
    const double slope = (weighted_stability(sets, more, 40) - weighted_stability(sets, less, 40)) / (2 * step);
    squares += slope * slope;
  }
  EXPECT_NEAR(found.standard_error, std::sqrt(squares), 0.02 * std::sqrt(squares)) << "but for the factor 60 / 59";
  EXPECT_NEAR(found.value - found.low, 1.96 * found.standard_error, 1e-4);
  EXPECT_NEAR(found.high - found.value, 1.96 * found.standard_error, 1e-4);
  const std::vector<std::vector<std::int64_t>> same(5, {1, 2, 3});
  EXPECT_EQ(stability_of(same, 10).value, 1);
  EXPECT_EQ(stability_of(same, 10).low, 1);
}

/// Tries the points of a strategy on a known surface until it ends; returns how often each point was tried.
std::map<Point, std::int32_t> explore(const engine::Space& space, const engine::StrategyOptions& options,
                                      const std::function<double(const Point&)>& surface) {
  const auto strategy = engine::make_strategy(space, options);
  std::map<Point, std::int32_t> splits;
  for (int round = 0; round < 1000; ++round) {
    const auto next = strategy->next();
    if (next.empty()) return splits;
    for (const auto& trial : next) {
      EXPECT_LT(splits[trial.point], trial.splits) << "nothing is tried twice";
      splits[trial.point] = trial.splits;
      strategy->learn(trial.point, surface(trial.point));
    }
  }
  ADD_FAILURE() << "it never ends";
  return splits;
}

TEST(Strategy, TriesWhatItPromises) {
  std::vector<double> ratios, alphas;
  for (int k = 0; k < 9; ++k) ratios.push_back(k);
  for (int k = 0; k < 64; ++k) alphas.push_back(k);
  const auto space = engine::product_space({{"l1-ratio", "l1-ratio"}, {"alpha", "alpha"}}, {ratios, alphas});
  const auto hill = [](const Point& at) { return -std::pow((at[1] - 45) / 8, 2) - std::pow(at[0] - 2, 2); };
  const auto tried = [&](Strategy strategy, std::int32_t trials) {
    return explore(space, {strategy, trials, 1, 7}, hill);
  };
  EXPECT_EQ(tried(Strategy::grid, 0).size(), 9U * 64);
  EXPECT_EQ(tried(Strategy::random, 50).size(), 50U);
  EXPECT_EQ(tried(Strategy::random, 100000).size(), 9U * 64) << "no more than there are";
  const auto refined = tried(Strategy::refine, 50).size();
  EXPECT_GT(refined, 50U);
  EXPECT_LT(refined, 9U * 64 / 3);
  const auto descent = tried(Strategy::descent, 0);
  EXPECT_TRUE(descent.contains({2, 45})) << "one hill is climbed to its top";
  EXPECT_LT(descent.size(), 100U);
}

/// On a smooth hill the best of all places at the finest step is found, with a fraction of them tried. Axes that cannot
/// be refined are left as they are.
TEST(Strategy, RefiningClimbsBetweenThePointsOfTheGrid) {
  const auto powers = [](std::initializer_list<int> list) {
    std::vector<double> values;
    for (const int k : list) values.push_back(std::exp2(k));
    return values;
  };
  auto space = engine::product_space({{"cost", "C"}, {"gamma", "gamma"}, {"degree", "degree"}},
                                     {powers({-4, 0, 4, 8}), powers({-8, -4, 0, 4}), {2, 3}});
  space.finer = {{-8, 16, 4}, {-16, 12, 4}, {}};
  space.halvings = 3;
  const auto hill = [](const Point& at) {
    const double x = std::log2(at[0]) - 10.5;
    const double y = std::log2(at[1]) + 10;
    return -x * x - y * y - x * y;
  };
  const auto tried = explore(space, {Strategy::refine, 0, 1, 0}, hill);
  for (const double degree : {2.0, 3.0}) EXPECT_TRUE(tried.contains({std::exp2(10.5), std::exp2(-10), degree}));
  EXPECT_LT(tried.size(), 200U);
  for (const auto& [point, splits] : tried) EXPECT_TRUE(point[2] == 2 || point[2] == 3);
}

/// The best of a noiseless surface is among the few that reach all splits.
TEST(Strategy, HalvingTriesEverFewerPointsOnEverMoreSplits) {
  std::vector<double> costs;
  for (int k = 0; k < 40; ++k) costs.push_back(k);
  const auto space = engine::product_space({{"cost", "C"}}, {costs});
  const auto tried =
      explore(space, {Strategy::halving, 0, 8, 0}, [](const Point& at) { return -std::abs(at[0] - 27); });
  EXPECT_EQ(tried.size(), 40U);
  EXPECT_EQ(tried.at({27}), 8);
  std::map<std::int32_t, int> reached;
  std::int32_t models = 0;
  for (const auto& [point, splits] : tried) {
    ++reached[splits];
    models += splits;
  }
  EXPECT_EQ(reached[1], 20);
  EXPECT_LT(models, 40 * 8 / 2);
  EXPECT_GE(reached[8], 3);
}

TEST(Study, GoesOnWhereItEnded) {
  const auto dataset = dataset_of<double>(make_table(80, 15, 2, 12), 15);
  for (const auto strategy :
       {Strategy::grid, Strategy::random, Strategy::refine, Strategy::descent, Strategy::halving}) {
    auto options = small_study();
    options.options.strategy = strategy;
    options.options.batch = 1;
    const auto whole = search_json(run_study(with_threads(2), dataset, options));
    for (const int batches : {0, 1, 3, 4}) {
      Forgetful log(batches);
      EXPECT_THROW(run_study(with_threads(2), dataset, options, &log), Error);
      log.go_on();
      EXPECT_EQ(search_json(run_study(with_threads(1), dataset, options, &log)), whole)
          << to_string(strategy) << " after " << batches;
    }
  }
}

TEST(Study, OneStandardErrorTakesFewerFeatures) {
  const auto dataset = dataset_of<double>(make_table(80, 25, 2, 12), 25);
  auto options = small_study();
  const auto best = run_study(with_threads(2), dataset, options);
  options.options.choice = Choice::one_standard_error;
  const auto simple = run_study(with_threads(2), dataset, options);
  for (std::size_t s = 0; s < 4; ++s) {
    const auto& level = simple.outer[s].level;
    const auto chosen = level.chosen.chosen;
    const auto& top_level = best.outer[s].level;
    const auto top = best.summary(top_level, top_level.chosen.chosen, Metric::auc);
    EXPECT_GE(simple.summary(level, chosen, Metric::auc).mean, top.mean - top.standard_error);
    for (std::size_t k = 0; k < level.points.size(); ++k) {
      const bool near = simple.summary(level, k, Metric::auc).mean >= top.mean - top.standard_error;
      EXPECT_TRUE(!near || simple.size(level, chosen) <= simple.size(level, k)) << k;
    }
  }
}

TEST(Study, AutomaticAlphasBeginWhereNothingIsChosen) {
  const auto dataset = dataset_of<double>(make_table(80, 25, 2, 31), 25);
  auto options = small_study();
  options.family["alpha"] = TriedValues();
  options.family.get<NetOptions>().alpha_count = 6;
  options.family.get<NetOptions>().smallest_share = 0.001;
  const auto result = run_study(with_threads(2), dataset, options);
  ASSERT_EQ(result.points.size(), 12U);
  for (std::size_t l = 0; l < 2; ++l) {
    const double largest = result.value(result.points[l * 6], "alpha");
    EXPECT_NEAR(result.value(result.points[l * 6 + 5], "alpha") / largest, 0.001, 1e-5);
    const auto table = make_table(80, 25, 2, 31);
    EXPECT_TRUE(
        fit_alone(table, 25, largest * 1.001, options.family.numbers("l1-ratio")[l], Loss::squared).features.empty());
    EXPECT_FALSE(
        fit_alone(table, 25, largest * 0.999, options.family.numbers("l1-ratio")[l], Loss::squared).features.empty());
  }
}

TEST(Study, WhatCannotBeStudiedIsSaidBeforeAnyTraining) {
  auto table = make_table(40, 5, 2, 2);
  auto options = small_study();
  const auto message = [&] {
    try {
      run_study(with_threads(1), dataset_of<double>(table, 5), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto labels = table.labels;
  std::fill(table.labels.begin(), table.labels.end(), 1.0);
  EXPECT_NE(message().find("all rows have class 1"), std::string::npos) << message();
  std::fill(table.labels.begin(), table.labels.end() - 3, -1.0);
  EXPECT_NE(message().find("fold"), std::string::npos) << "two members cannot be in three folds: " << message();
  table.labels = labels;
  options.options.score = Metric::r2;
  EXPECT_NE(message().find("r2 is a score of a numeric target"), std::string::npos) << message();
  options.options.score = Metric::log_loss;
  EXPECT_NE(message().find("elastic-net-logistic"), std::string::npos) << message();
  options.options.score.reset();
  options.options.trials = 5;
  EXPECT_NE(message().find("trials are for"), std::string::npos) << message();
}

}  // namespace study_test
}  // namespace sheaf::test
