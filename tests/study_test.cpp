// Studies of elastic nets against plain loops: splits, scores, choices, frequencies and stability are all computed
// again from what they mean.
#include <cmath>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include <sheaf/study.hpp>

#include "core/fail.hpp"
#include "devices.hpp"
#include "study_rows.hpp"

namespace sheaf::test {
namespace {

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
  const auto lists = left_out_rows(dataset, options);
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
  const auto options = decided(small_study(), dataset.target, false, "rows");
  const auto lists = left_out_rows(dataset, options);
  const auto made = linear::make_net_problem(Context(), dataset.target, "rows", 60, options.net, {});
  const search::StudyPlan plan(made.problem, {}, options, 0, 1);
  std::vector<float> base;
  for (int i = 0; i < 60; ++i) base.push_back(0.5F + static_cast<float>(i));
  const auto table = plan.weights(1, 2, base);
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
    options.net.loss = loss;
    const auto lists = left_out_rows(dataset, options);
    const auto score = classes == 2 ? plain_auc : plain_r2;
    for (const Device device : devices()) {
      const auto result = study_nets(on(device), dataset, options);
      ASSERT_EQ(result.splits.size(), 4U);
      for (std::size_t s = 0; s < 4; ++s) {
        const auto& split = result.splits[s];
        const auto& left_out = lists[s * 4 + 3];
        std::vector<double> means;
        for (std::size_t pair = 0; pair < 10; ++pair) {
          double mean = 0;
          for (std::size_t f = 0; f < 3; ++f) {
            const auto& tested = lists[s * 4 + f];
            const auto net = fit_alone(without(table, {left_out, tested}), features, options.alphas[pair % 5],
                                       options.l1_ratios[pair / 5], loss);
            const double found = score(table, tested, net);
            EXPECT_NEAR(split.scores[pair * 3 + f], found, 1e-6) << "pair " << pair << " fold " << f;
            mean += found / 3;
          }
          means.push_back(mean);
        }
        const auto chosen = static_cast<std::size_t>(split.l1_ratio * 5 + split.alpha);
        EXPECT_NEAR(means[chosen], *std::max_element(means.begin(), means.end()), 1e-6);
        const auto net =
            fit_alone(without(table, {left_out}), features, result.alpha_of(split), result.l1_ratio_of(split), loss);
        EXPECT_NEAR(split.left_out.score(classes == 2 ? Metric::auc : Metric::r2), score(table, left_out, net), 1e-6);
        ASSERT_EQ(split.nets.size(), 1U);
        EXPECT_EQ(split.nets[0].features, net.features);
        for (std::size_t k = 0; k < net.weights.size(); ++k)
          EXPECT_NEAR(split.nets[0].weights[k], net.weights[k], 1e-5);
      }
    }
  }
}

/// Everything that is told of features, from the models of the splits by plain loops.
TEST(Study, TablesAreWhatTheSplitsSay) {
  for (const int classes : {2, 3}) {
    const std::size_t features = 30;
    auto table = make_table(90, features, classes, 8);
    auto dataset = dataset_of<double>(table, features);
    for (std::size_t j = 0; j < features; ++j) dataset.feature_names.push_back("name " + std::to_string(j));
    auto options = small_study();
    options.splits = 7;
    options.net.tolerance = 1e-6;
    for (const Device device : devices()) {
      const auto result = study_nets(on(device), dataset, options);
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
        for (const auto& split : result.splits) {
          std::map<std::int64_t, double> effects;  // of all features of the split
          for (std::size_t c = 0; c < split.nets.size(); ++c)
            for (std::size_t k = 0; k < split.nets[c].features.size(); ++k) {
              const auto feature = split.nets[c].features[k];
              const double weight = split.nets[c].weights[k];
              double sd = 0;
              for (const auto& found : result.chosen) sd = found.index == feature ? found.deviation : sd;
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
        const auto found = std::find_if(result.chosen.begin(), result.chosen.end(),
                                        [&](const auto& row) { return row.index == static_cast<std::int64_t>(j); });
        ASSERT_EQ(found != result.chosen.end(), chosen > 0) << "feature " << j;
        if (chosen == 0) continue;
        std::sort(ranks.begin(), ranks.end());
        EXPECT_EQ(found->name, "name " + std::to_string(j));
        EXPECT_DOUBLE_EQ(found->frequency, chosen / 7);
        EXPECT_DOUBLE_EQ(found->median_rank, ranks[3]);
        EXPECT_NEAR(found->deviation, deviation, 1e-12);
        for (std::size_t c = 0; c < sums.size(); ++c) {
          EXPECT_NEAR(found->mean_weight[c], counts[c] > 0 ? sums[c] / counts[c] : 0, 1e-12);
          EXPECT_DOUBLE_EQ(found->sign_agreement[c],
                           counts[c] > 0 ? std::max(positive[c], counts[c] - positive[c]) / counts[c] : 0);
        }
      }
      for (std::size_t k = 1; k < result.chosen.size(); ++k)
        EXPECT_GE(result.chosen[k - 1].frequency, result.chosen[k].frequency);
      for (const auto& feature : result.selected()) EXPECT_GE(feature.frequency, options.min_frequency);
    }
  }
}

/// Three classes: decision values of one model come one by one; the mean over the classes of each one's AUC.
TEST(Study, SeveralClassesAreJudgedTogether) {
  const std::size_t features = 10;
  const auto table = make_table(90, features, 3, 21);
  const auto dataset = dataset_of<double>(table, features);
  const auto options = small_study();
  const auto lists = left_out_rows(dataset, options);
  for (const Device device : devices()) {
    const auto result = study_nets(on(device), dataset, options);
    ASSERT_EQ(result.columns, 3);
    for (std::size_t s = 0; s < 4; ++s) {
      double sum = 0;
      double right = 0;
      const auto& rows = lists[s * 4 + 3];
      for (std::size_t c = 0; c < 3; ++c) {
        auto one = table;
        for (auto& label : one.labels) label = fmt::format("{}", label) == result.class_names[c] ? 1.0 : -1.0;
        sum += plain_auc(one, rows, result.splits[s].nets[c]);
      }
      for (const auto row : rows) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < 3; ++c)
          if (decision(table, row, result.splits[s].nets[c]) > decision(table, row, result.splits[s].nets[best]))
            best = c;
        right += result.class_names[best] == fmt::format("{}", table.labels[static_cast<std::size_t>(row)]) ? 1 : 0;
      }
      EXPECT_NEAR(result.splits[s].left_out.score(Metric::auc), sum / 3, 1e-9);
      EXPECT_NEAR(result.splits[s].left_out.score(Metric::accuracy), right / static_cast<double>(rows.size()), 1e-9);
    }
  }
}

/// Paths go to whichever device is free; decision values of one model may come from two.
TEST(Study, SeveralDevicesShareTheWork) {
  for (const int classes : {2, 3}) {
    const auto dataset = dataset_of<double>(make_table(90, 12, classes, 21), 12);
    auto options = small_study();
    for (const Device device : devices()) {
      options.also.clear();
      const auto alone = study_nets(on(device), dataset, options);
      options.also = {Device::cpu()};
      const auto shared = study_nets(on(device), dataset, options);
      for (std::size_t s = 0; s < 4; ++s) {
        const auto& a = alone.splits[s];
        const auto& b = shared.splits[s];
        ASSERT_EQ(a.scores.size(), b.scores.size());
        for (std::size_t k = 0; k < a.scores.size(); ++k) EXPECT_NEAR(a.scores[k], b.scores[k], 1e-9);
        ASSERT_EQ(a.nets.size(), b.nets.size());
        for (std::size_t c = 0; c < a.nets.size(); ++c) EXPECT_EQ(a.nets[c].features, b.nets[c].features);
        EXPECT_NEAR(a.left_out.score(Metric::auc), b.left_out.score(Metric::auc), 1e-9);
      }
    }
  }
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

/// Tries what a strategy asks for on a known surface until it is content; returns the scores it knows.
std::vector<double> explore(const StudyOptions& options, std::int32_t alphas, const std::vector<double>& surface) {
  const search::StudyStrategy strategy(options, alphas, 7);
  std::vector<double> known(surface.size(), std::nan(""));
  for (int round = 0; round < 1000; ++round) {
    const auto next = strategy.next(known);
    if (next.empty()) return known;
    for (const auto pair : next) {
      EXPECT_TRUE(std::isnan(known[static_cast<std::size_t>(pair)])) << "nothing is tried twice";
      known[static_cast<std::size_t>(pair)] = surface[static_cast<std::size_t>(pair)];
    }
  }
  ADD_FAILURE() << "it never ends";
  return known;
}

TEST(StudyStrategy, TriesWhatItPromises) {
  constexpr std::int32_t ratios = 9;
  constexpr std::int32_t alphas = 64;
  std::vector<double> surface;  // one hill
  for (std::int32_t l = 0; l < ratios; ++l)
    for (std::int32_t a = 0; a < alphas; ++a) surface.push_back(-std::pow((a - 45) / 8.0, 2) - std::pow(l - 2, 2));
  const auto best = std::max_element(surface.begin(), surface.end()) - surface.begin();
  StudyOptions options;
  options.l1_ratios.assign(ratios, 0.5);
  const auto tried = [](const std::vector<double>& known) {
    return std::count_if(known.begin(), known.end(), [](double score) { return !std::isnan(score); });
  };
  EXPECT_EQ(tried(explore(options, alphas, surface)), ratios * alphas);
  options.strategy = Strategy::random;
  options.trials = 50;
  EXPECT_EQ(tried(explore(options, alphas, surface)), 50);
  options.trials = 100000;
  EXPECT_EQ(tried(explore(options, alphas, surface)), ratios * alphas) << "no more than there are";
  options.strategy = Strategy::refined;
  options.trials = 50;
  const auto refined = explore(options, alphas, surface);
  std::ptrdiff_t top = -1;
  for (std::ptrdiff_t k = 0; k < std::ssize(refined); ++k)
    if (!std::isnan(refined[static_cast<std::size_t>(k)]) &&
        (top < 0 || refined[static_cast<std::size_t>(k)] > refined[static_cast<std::size_t>(top)]))
      top = k;
  EXPECT_GT(tried(refined), 50);
  EXPECT_LT(tried(refined), ratios * alphas / 3);
  options.strategy = Strategy::descent;
  options.trials = 0;
  const auto descent = explore(options, alphas, surface);
  EXPECT_FALSE(std::isnan(descent[static_cast<std::size_t>(best)])) << "one hill is climbed to its top";
  EXPECT_LT(tried(descent), 100);
}

/// Ends after some batches, as a kill does.
class Forgetful : public StudyLog {
 public:
  explicit Forgetful(int left) : left_(left) {}
  BatchPlan agree(const BatchPlan& proposed) override {
    if (plan_.tasks == 0) plan_ = proposed;
    return plan_;
  }
  const std::vector<StudySplit>* recall(std::int32_t batch) override {
    return batches_.contains(batch) ? &batches_.at(batch) : nullptr;
  }
  void keep(std::int32_t batch, const std::vector<StudySplit>& splits) override {
    if (left_-- == 0) throw Error("killed");
    batches_[batch] = splits;
  }
  void go_on() { left_ = 1000; }

 private:
  int left_;
  BatchPlan plan_;
  std::map<std::int32_t, std::vector<StudySplit>> batches_;
};

TEST(Study, GoesOnWhereItEnded) {
  const auto dataset = dataset_of<double>(make_table(80, 15, 2, 12), 15);
  for (const auto strategy : {Strategy::grid, Strategy::random, Strategy::refined, Strategy::descent}) {
    auto options = small_study();
    options.strategy = strategy;
    options.batch = 1;
    const auto whole = study_json(study_nets(with_threads(2), dataset, options));
    for (const int batches : {0, 1, 3, 4}) {
      Forgetful log(batches);
      EXPECT_THROW(study_nets(with_threads(2), dataset, options, {}, &log), Error);
      log.go_on();
      EXPECT_EQ(study_json(study_nets(with_threads(1), dataset, options, {}, &log)), whole)
          << to_string(strategy) << " after " << batches;
    }
  }
}

TEST(Study, OneStandardErrorTakesFewerFeatures) {
  const auto dataset = dataset_of<double>(make_table(80, 25, 2, 12), 25);
  auto options = small_study();
  const auto best = study_nets(with_threads(2), dataset, options);
  options.choice = Choice::one_standard_error;
  const auto simple = study_nets(with_threads(2), dataset, options);
  for (std::size_t s = 0; s < 4; ++s) {
    const auto& split = simple.splits[s];
    const auto pair = [&](const StudySplit& of) { return static_cast<std::size_t>(of.l1_ratio * 5 + of.alpha); };
    const auto top = best.within(best.splits[s], pair(best.splits[s]));
    EXPECT_GE(simple.within(split, pair(split)).mean, top.mean - top.standard_error);
    for (std::size_t k = 0; k < split.nonzeros.size(); ++k) {
      const bool near = simple.within(split, k).mean >= top.mean - top.standard_error;
      EXPECT_TRUE(!near || split.nonzeros[pair(split)] <= split.nonzeros[k]) << k;
    }
  }
}

TEST(Study, AutomaticAlphasBeginWhereNothingIsChosen) {
  const auto dataset = dataset_of<double>(make_table(80, 25, 2, 31), 25);
  auto options = small_study();
  options.alphas.clear();
  options.alpha_count = 6;
  options.smallest_share = 0.001;
  const auto result = study_nets(with_threads(2), dataset, options);
  ASSERT_EQ(result.alphas.size(), 2U);
  for (std::size_t l = 0; l < 2; ++l) {
    ASSERT_EQ(result.alphas[l].size(), 6U);
    EXPECT_NEAR(result.alphas[l][5] / result.alphas[l][0], 0.001, 1e-5);
    const auto table = make_table(80, 25, 2, 31);
    const double largest = result.alphas[l][0];
    EXPECT_TRUE(fit_alone(table, 25, largest * 1.001, options.l1_ratios[l], Loss::squared).features.empty());
    EXPECT_FALSE(fit_alone(table, 25, largest * 0.999, options.l1_ratios[l], Loss::squared).features.empty());
  }
}

TEST(Study, WhatCannotBeStudiedIsSaidBeforeAnyTraining) {
  auto table = make_table(40, 5, 2, 2);
  auto options = small_study();
  const auto message = [&] {
    try {
      study_nets(with_threads(1), dataset_of<double>(table, 5), options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto labels = table.labels;
  std::fill(table.labels.begin(), table.labels.end(), 1.0);
  EXPECT_NE(message().find("all rows are of class 1"), std::string::npos) << message();
  std::fill(table.labels.begin(), table.labels.end() - 3, -1.0);
  EXPECT_NE(message().find("fold"), std::string::npos) << "two members cannot be in three folds: " << message();
  table.labels = labels;
  options.score = Metric::r2;
  EXPECT_NE(message().find("r2 is a score of amounts"), std::string::npos) << message();
  options.score = Metric::log_loss;
  EXPECT_NE(message().find("elastic-net-logistic"), std::string::npos) << message();
  options.score.reset();
  options.trials = 5;
  EXPECT_NE(message().find("--trials"), std::string::npos) << message();
}

}  // namespace
}  // namespace sheaf::test
