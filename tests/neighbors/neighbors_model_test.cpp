// Models of nearest neighbours: right answers known from a double-precision reference, votes, local models, files and
// the search.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <sheaf/io.hpp>
#include <sheaf/model.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/scaling.hpp>

#include "core/random.hpp"
#include "data/row_subset.hpp"
#include "devices.hpp"
#include "golden.hpp"
#include "model_text.hpp"
#include "neighbors/local/ops.hpp"
#include "neighbors/votes/votes.hpp"
#include "neighbors_reference.hpp"

namespace sheaf {
namespace neighbors_model_test {

using test::Rows;

Context context_on(Device device) {
  return test::with_threads(2).with({.device = device, .memory = std::int64_t{4} << 30});
}

Dataset<double> read(const std::string& path, std::int64_t features = 0) {
  ReadOptions options;
  options.storage = Storage::dense;
  options.features = features;
  return read_dataset<double>(test::with_threads(2), path, options);
}

/// The customary test rows of a dataset of shared/data; empty if it is not there.
std::string find_test(const std::string& name) {
  const std::string path = SHEAF_TESTS_DIR "/../../shared/data/" + name + "/test.libsvm.xz";
  return std::filesystem::exists(path) ? path : "";
}

struct RightAnswers {
  std::string data;
  bool standardised = false;
  DistanceType metric = DistanceType::euclidean;
  std::int64_t k = 1;
  std::int64_t uniform = 0;
  std::int64_t inverse = 0;
};

TEST(NeighborsModel, LeavesOneOutAsTheReferenceDoes) {
  const std::vector<RightAnswers> cases{{"iris", false, DistanceType::euclidean, 1, 144, 144},
                                        {"iris", false, DistanceType::euclidean, 15, 146, 145},
                                        {"wine", true, DistanceType::euclidean, 5, 173, 173},
                                        {"wine", true, DistanceType::manhattan, 1, 174, 174},
                                        {"glass", false, DistanceType::euclidean, 1, 157, 157},
                                        {"vehicle", true, DistanceType::euclidean, 7, 618, 615},
                                        {"sonar_scale", false, DistanceType::euclidean, 1, 182, 182}};
  for (const auto device : test::devices())
    for (const auto& one : cases) {
      const auto path = test::find_data(one.data);
      if (path.empty()) continue;  // only beside a checkout
      SCOPED_TRACE(one.data);
      auto dataset = read(path);
      const auto context = context_on(device);
      if (one.standardised) apply_scaling(context, learn_scaling(context, dataset, ScaleMethod::standard), dataset);
      KnnOptions options;
      options.distance.metric = one.metric;
      const std::vector<std::int64_t> ks{one.k, 1};
      const std::vector<Vote> votes{Vote::uniform, Vote::inverse_distance};
      const auto found = leave_one_out(context, dataset, options, ks, votes);
      EXPECT_EQ(found[0].score.correct, one.uniform);
      EXPECT_EQ(found[2].score.correct, one.inverse);
    }
}

/// In letter many rows are equally far but for rounding: the counts for k = 5 are those of a plain program that adds
/// the squares of differences and takes the root, in whichever order it adds.
TEST(NeighborsModel, TestRowsAsTheReferenceDoes) {
  const std::vector<RightAnswers> cases{{"usps", false, DistanceType::euclidean, 1, 1894, 1894},
                                        {"usps", false, DistanceType::euclidean, 3, 1896, 1897},
                                        {"letter.scale", false, DistanceType::euclidean, 1, 4784, 4784},
                                        {"letter.scale", false, DistanceType::euclidean, 5, 4759, 4790},
                                        {"vowel", false, DistanceType::euclidean, 7, 278, 278}};
  bool any = false;
  for (const auto device : test::devices())
    for (const auto& one : cases) {
      const auto test_path = find_test(one.data);
      if (test_path.empty()) continue;
      any = true;
      SCOPED_TRACE(one.data);
      const auto train = read(test::find_data(one.data));
      const auto test = read(test_path, train.features());
      KnnOptions options;
      options.k = one.k;
      for (const auto vote : {Vote::uniform, Vote::inverse_distance}) {
        options.vote = vote;
        const auto model = fit(context_on(device), train, options);
        const auto score = model.score(model.predict(context_on(device), test), test.target);
        EXPECT_EQ(score->correct, vote == Vote::uniform ? one.uniform : one.inverse);
      }
    }
  if (!any) GTEST_SKIP() << "no dataset of shared/data is beside this checkout";
}

/// Vincent and Bengio's HKNN on usps, K = 15, lambda = 1: 4.24 % of 2007 test rows.
TEST(NeighborsModel, HyperplanesOfUsps) {
  if (find_test("usps").empty()) GTEST_SKIP() << "usps of shared/data is not beside this checkout";
  const auto train = read(test::find_data("usps"));
  const auto test = read(find_test("usps"), train.features());
  for (const auto device : test::devices()) {
    auto options = find_model_kind("hknn").options.get<KnnOptions>();
    options.k = 15;
    options.lambda = 1;
    const auto model = fit(context_on(device), train, options);
    EXPECT_EQ(test.rows() - model.score(model.predict(context_on(device), test), test.target)->correct, 85);
  }
}

TEST(NeighborsModel, VotesOfOneWalkAreThoseOfManyWalks) {
  const std::vector<std::int32_t> labels{0, 1, 2, 1, 0, 2, 2, 1};
  const std::vector<std::int32_t> rows{3, 0, 5, 6, 1, 7, 2, 4};
  const std::vector<double> distances{0.5, 1, 1, 1.5, 2, 2.5, 4, 5};
  std::vector<neighbors::VoteRule> rules;
  for (const auto vote : {Vote::gaussian, Vote::uniform, Vote::inverse_distance})
    for (const std::int64_t k : {8, 1, 3, 5}) rules.push_back({k, vote});
  const neighbors::Voters voters{3, labels, {}, {}};
  std::vector<double> results(rules.size() * 3);
  neighbors::count_votes(voters, rules, rows, distances, results);
  for (std::size_t r = 0; r < rules.size(); ++r) {
    std::vector<double> sums(3, 0.0);
    double total = 0;
    const auto k = static_cast<std::size_t>(rules[r].k);
    for (std::size_t n = 0; n < k; ++n) {
      const double scaled = distances[n] / distances[k - 1];
      const double vote = rules[r].vote == Vote::uniform            ? 1
                          : rules[r].vote == Vote::inverse_distance ? 1 / distances[n]
                                                                    : std::exp(-scaled * scaled / 2);
      sums[static_cast<std::size_t>(labels[static_cast<std::size_t>(rows[n])])] += vote;
      total += vote;
    }
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(results[r * 3 + c], sums[c] / total, 1e-15);
  }
}

/// On every device: the votes of all queries at once, and where scores read their values and classes.
TEST(NeighborsModel, VotesOfQueriesAreCountedAndChosenOnTheDevice) {
  constexpr std::int64_t k = 8;
  const std::vector<std::int32_t> labels{0, 1, 2, 1, 0, 2, 2, 1};
  const std::vector<double> numbers{0.5, 1, -2, 3, 4, -5, 6, 7};
  const std::vector<float> weights{1, 2, 0.5, 1, 1, 3, 1, 1};
  const std::vector<std::int32_t> order{2, 0, 1};
  std::vector<neighbors::VoteRule> rules;
  for (const auto vote : {Vote::gaussian, Vote::uniform, Vote::inverse_distance})
    for (const std::int64_t n : {8, 1, 3}) rules.push_back({n, vote});
  for (const auto device : test::devices())
    for (const std::int64_t queries : {1, 31, 32, 33, 500})
      for (const std::int32_t classes : {0, 2, 3}) {
        Random random(7, static_cast<std::uint64_t>(queries));
        NeighborLists lists;
        lists.queries = queries;
        lists.k = k;
        for (std::int64_t q = 0; q < queries; ++q) {
          double distance = random.uniform() < 0.2 ? 0 : random.uniform();
          for (std::int32_t n = 0; n < k; ++n) {
            const auto row = static_cast<std::int32_t>((n * 3 + q) % k);
            lists.indices.push_back(classes == 2 && labels[static_cast<std::size_t>(row)] == 2 ? 0 : row);
            lists.distances.push_back(distance);
            distance += random.uniform() < 0.5 ? 0 : random.uniform();
          }
        }
        const neighbors::Voters voters{classes, labels, numbers, weights};
        const auto context = context_on(device);
        const auto shares = neighbors::count_votes(context, voters, rules, lists);
        const auto found = shares.to(Device::cpu());
        const auto choices = std::span(order).first(static_cast<std::size_t>(classes == 2 ? 0 : classes));
        const std::vector<std::int32_t> second{1, 0};
        const auto preferred = classes == 2 ? std::span<const std::int32_t>(second) : choices;
        const auto models = static_cast<std::int32_t>(rules.size());
        std::vector<std::int32_t> rows;
        for (std::int64_t q = 0; q < queries; ++q) rows.push_back(static_cast<std::int32_t>(2 * q));
        const std::int32_t columns = classes > 2 ? classes : 1;
        Block<double> z(2 * queries, models * columns, device);
        Block<std::int32_t> predicted(2 * queries, classes > 0 ? models : 0, device);
        neighbors::choose_classes(context, preferred, {shares.data(), rows, z.view(), predicted.view()});
        const auto values = z.to(Device::cpu());
        const auto chosen = predicted.to(Device::cpu());
        const auto each = voters.columns();
        for (std::int64_t q = 0; q < queries; ++q) {
          std::vector<double> expected(rules.size() * each);
          const auto at = static_cast<std::size_t>(q * k);
          neighbors::count_votes(voters, rules, std::span(lists.indices).subspan(at, k),
                                 std::span(lists.distances).subspan(at, k), expected);
          for (std::size_t e = 0; e < expected.size(); ++e)
            ASSERT_NEAR(found[q * static_cast<std::int64_t>(expected.size()) + static_cast<std::int64_t>(e)],
                        expected[e], 1e-12);
          for (std::int32_t m = 0; m < models; ++m) {
            const auto* own = found.data() + (q * models + m) * static_cast<std::int64_t>(each);
            if (classes == 2) {
              EXPECT_EQ(values(2 * q, m), own[0] - own[1]);
            }
            for (std::int32_t c = 0; c < columns && classes != 2; ++c)
              EXPECT_EQ(values(2 * q, m * columns + c), own[c]);
            for (const auto c : preferred) {
              const auto best = chosen(2 * q, m);
              EXPECT_GE(own[best], own[c]);
              if (own[best] != own[c]) continue;
              EXPECT_LE(std::find(preferred.begin(), preferred.end(), best),
                        std::find(preferred.begin(), preferred.end(), c));
            }
          }
        }
      }
}

TEST(NeighborsModel, RowsAtDistanceZeroDecideAlone) {
  const std::vector<std::int32_t> labels{0, 1, 1, 1};
  const std::vector<std::int32_t> rows{0, 1, 2, 3};
  const std::vector<double> distances{0, 1e-9, 1e-9, 1e-9};
  const neighbors::VoteRule rule{4, Vote::inverse_distance};
  std::vector<double> result(2);
  neighbors::count_votes({2, labels, {}, {}}, {&rule, 1}, rows, distances, result);
  EXPECT_EQ(result, (std::vector<double>{1, 0}));
}

TEST(NeighborsModel, TiesGoToTheLowestLabel) {
  const std::vector<std::string> numbers{"10", "9", "-3"};
  EXPECT_EQ(neighbors::label_order(numbers), (std::vector<std::int32_t>{2, 1, 0}));
  const std::vector<std::string> words{"pear", "apple"};
  EXPECT_EQ(neighbors::label_order(words), (std::vector<std::int32_t>{1, 0}));
  const auto order = neighbors::label_order(numbers);
  const std::vector<double> values{0.4, 0.4, 0.2};
  EXPECT_EQ((neighbors::OrderedChoice{order.data(), 3}(values.data())), 1);
}

// ---- local models ---------------------------------------------------------------------------------------------------

/// Solves a x = b by elimination with pivots.
std::vector<double> solve_plainly(std::vector<std::vector<double>> a, std::vector<double> b) {
  const auto n = b.size();
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(a[r][c]) > std::abs(a[pivot][c])) pivot = r;
    std::swap(a[c], a[pivot]);
    std::swap(b[c], b[pivot]);
    for (std::size_t r = c + 1; r < n; ++r) {
      const double factor = a[r][c] / a[c][c];
      for (std::size_t k = c; k < n; ++k) a[r][k] -= factor * a[c][k];
      b[r] -= factor * b[c];
    }
  }
  for (std::size_t c = n; c-- > 0;) {
    for (std::size_t k = c + 1; k < n; ++k) b[c] -= a[c][k] * b[k];
    b[c] /= a[c][c];
  }
  return b;
}

double product(const std::vector<double>& x, const std::vector<double>& y) {
  return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

/// min over a of |q - m - V a|^2 + lambda |a|^2, m the mean of the rows and V their differences from it.
double plain_hyperplane(const Rows& rows, const std::vector<double>& query, double lambda) {
  const auto k = rows.size();
  std::vector<double> mean(query.size(), 0.0);
  for (const auto& row : rows)
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += row[j] / static_cast<double>(k);
  auto differences = rows;
  for (auto& row : differences)
    for (std::size_t j = 0; j < mean.size(); ++j) row[j] -= mean[j];
  std::vector<double> rest(query.size());
  for (std::size_t j = 0; j < rest.size(); ++j) rest[j] = query[j] - mean[j];
  std::vector<std::vector<double>> g(k, std::vector<double>(k));
  std::vector<double> b(k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t j = 0; j < k; ++j) g[i][j] = product(differences[i], differences[j]) + (i == j ? lambda : 0);
    b[i] = product(differences[i], rest);
  }
  const auto a = solve_plainly(g, b);
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < rest.size(); ++j) rest[j] -= a[i] * differences[i][j];
  return product(rest, rest) + lambda * product(a, a);
}

/// min over a >= 0, sum a = 1 of |V a - q|^2 + lambda |a|^2: the best over all sets of rows with a > 0.
double plain_hull(const Rows& rows, const std::vector<double>& query, double lambda) {
  const auto k = rows.size();
  auto best = std::numeric_limits<double>::infinity();
  for (unsigned set = 1; set < (1U << k); ++set) {
    std::vector<std::vector<double>> some;
    for (std::size_t i = 0; i < k; ++i)
      if ((set >> i & 1U) != 0) some.push_back(rows[i]);
    for (auto& row : some)
      for (std::size_t j = 0; j < query.size(); ++j) row[j] -= query[j];
    const auto n = some.size();
    std::vector<std::vector<double>> g(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) g[i][j] = product(some[i], some[j]) + (i == j ? lambda : 0);
    auto a = solve_plainly(g, std::vector<double>(n, 1.0));
    const double sum = std::accumulate(a.begin(), a.end(), 0.0);
    const bool inside = std::all_of(a.begin(), a.end(), [&](double one) { return one / sum >= -1e-12; });
    if (inside) best = std::min(best, 1 / sum);
  }
  return best;
}

class LocalCosts : public testing::TestWithParam<LocalRule> {};
INSTANTIATE_TEST_SUITE_P(NeighborsModel, LocalCosts, testing::Values(LocalRule::hyperplane, LocalRule::convex_hull));

TEST_P(LocalCosts, AreThoseOfPlainSolves) {
  const bool hull = GetParam() == LocalRule::convex_hull;
  const std::int64_t columns = 9;
  const auto rows = test::random_rows(30, columns, 1, 1);
  const auto queries = test::random_rows(7, columns, 1, 2);
  const auto x = test::dense_of<double>(rows, columns);
  const auto q = test::dense_of<double>(queries, columns);
  const std::int64_t length = hull ? 7 : 21;
  std::vector<std::int32_t> lists;
  for (std::int64_t i = 0; i < 7; ++i)
    for (std::int64_t n = 0; n < length; ++n) lists.push_back(static_cast<std::int32_t>((i * 5 + n * 7) % 30));
  const std::vector<std::int64_t> ks =
      hull ? std::vector<std::int64_t>{1, 3, 7} : std::vector<std::int64_t>{1, 2, 8, 21};
  const std::vector<double> lambdas{0.25, 3, 100};
  for (const auto device : test::devices()) {
    std::vector<double> costs(7 * ks.size() * lambdas.size());
    neighbors::local_costs(context_on(device), {x, q, lists, length, ks, lambdas, GetParam()}, costs);
    for (std::size_t i = 0; i < 7; ++i)
      for (std::size_t k = 0; k < ks.size(); ++k)
        for (std::size_t l = 0; l < lambdas.size(); ++l) {
          Rows near;
          for (std::int64_t n = 0; n < ks[k]; ++n)
            near.push_back(rows[static_cast<std::size_t>(
                lists[i * static_cast<std::size_t>(length) + static_cast<std::size_t>(n)])]);
          const double wanted =
              hull ? plain_hull(near, queries[i], lambdas[l])
                   : plain_hyperplane(near, queries[i], lambdas[l]) + lambdas[l] / static_cast<double>(ks[k]);
          EXPECT_NEAR(costs[(i * ks.size() + k) * lambdas.size() + l] / wanted, 1, 1e-8) << i << " " << ks[k];
        }
  }
}

// ---- files ----------------------------------------------------------------------------------------------------------

Dataset<double> small_classes() {
  auto dataset = read(test::find_data("iris"));
  dataset.feature_names = {"sepal length", "sepal width", "petal length", "petal width"};
  return dataset;
}

TEST(NeighborsModel, FilesKeepEverything) {
  const auto context = test::with_threads(1);
  const auto dataset = small_classes();
  for (const auto* kind : {"knn", "alh", "cknn", "local-svm", "falk-svm"}) {
    auto options = find_model_kind(kind).options.get<KnnOptions>();
    options.k = 4;
    options.vote = Vote::gaussian;
    options.weighting = options.rule == LocalRule::votes ? FeatureWeighting::relief : options.weighting;
    options.kernel = LocalKernel::rbf;
    std::vector<float> weights(150, 1.0F);
    weights[3] = 0;
    weights[7] = 2.5F;
    const auto model = fit(context, dataset, options, weights);
    const auto text = model.text();
    const auto again = Model::parse(text, "model");
    EXPECT_EQ(again.text(), text);
    EXPECT_EQ(again.family(), "neighbors");
    EXPECT_EQ(again.predict(context, dataset).decisions, model.predict(context, dataset).decisions);
  }
}

TEST(NeighborsModel, DamagedFilesAreRefusedWithTheirPlace) {
  KnnOptions options;
  options.k = 3;
  const auto text = test::without_checksum(fit(test::with_threads(1), small_classes(), options).text());
  const auto expect = [&](const std::string& from, const std::string& to, const std::string& message) {
    auto damaged = text;
    const auto at = damaged.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    damaged.replace(at, from.size(), to);
    try {
      Model::parse(damaged, "m");
      ADD_FAILURE() << "no error for '" << to << "'";
    } catch (const ParseError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  };
  expect("rule votes", "rule falk-svm", "expected 'kernel'");
  expect("vote uniform", "vote often", "expected uniform, inverse-distance or gaussian, not 'often'");
  expect("k 3", "k 300", "expected 300 rows or more, not 150");
  expect("rows 150\n1 1 1:5.1", "rows 150\n4 1 1:5.1", "expected a class, 1 to 3");
  expect("1 1 1:5.1", "1 1 5:5.1", "the index 5 is beyond the 4 features");
  expect("metric euclidean", "metric", "expected euclidean");
}

// ---- the search -----------------------------------------------------------------------------------------------------

/// Right rows of a split by a model that is trained on its training rows alone.
double plain_accuracy(const Context& context, const Dataset<double>& dataset, const KnnOptions& options,
                      const std::vector<std::int32_t>& fold, std::int32_t split) {
  std::vector<std::int32_t> train, test;
  for (std::int32_t i = 0; i < std::ssize(fold); ++i)
    (fold[static_cast<std::size_t>(i)] == split ? test : train).push_back(i);
  const auto take = [&](const std::vector<std::int32_t>& rows) {
    Dataset<double> some;
    some.source = "rows";
    some.x = some_rows<double>(dataset.x, rows);
    some.target.class_names = dataset.target.class_names;
    for (const auto row : rows) {
      some.target.classes.push_back(dataset.target.classes[static_cast<std::size_t>(row)]);
      some.target.values.push_back(dataset.target.values[static_cast<std::size_t>(row)]);
    }
    return some;
  };
  const auto training = take(train);
  const auto held_out = take(test);
  const auto model = train_knn(context, training, options);
  return score_of(model, predict_knn(context, model, held_out), held_out.target)->accuracy();
}

TEST(NeighborsModel, TheSearchScoresEveryPointAsAModelOfItsOwn) {
  const auto dataset = read(test::find_data("glass"));
  std::vector<std::int32_t> fold;
  for (std::int32_t i = 0; i < dataset.rows(); ++i) fold.push_back(i % 4);
  for (const auto device : test::devices()) {
    const auto context = context_on(device);
    SearchSpace family(KnnOptions{});
    family["k"] = {1, 4, 15};
    family["vote"] = {"uniform", "inverse-distance", "gaussian"};
    family["metric"] = {"euclidean", "manhattan", "cosine"};
    SearchOptions options;
    options.splits = custom_splits(fold);
    const auto result = search(context, dataset, SearchSpace(family), options);
    ASSERT_EQ(result.level.points.size(), 27U);
    for (std::size_t p = 0; p < result.level.points.size(); ++p) {
      const auto& point = result.point(result.level, p);
      KnnOptions one;
      one.k = static_cast<std::int64_t>(result.value(point, "k"));
      one.vote = static_cast<Vote>(static_cast<int>(result.value(point, "vote")) - 1);
      const auto metric = result.axes[2].text(result.value(point, "metric"));
      one.distance.metric = metric == "cosine"      ? DistanceType::cosine
                            : metric == "manhattan" ? DistanceType::manhattan
                                                    : DistanceType::euclidean;
      for (std::int32_t s = 0; s < 4; ++s)
        EXPECT_EQ(result.level.models[p * 4 + static_cast<std::size_t>(s)].score(Metric::accuracy),
                  plain_accuracy(context, dataset, one, fold, s))
            << result.point_text(point) << ", split " << s;
    }
  }
}

}  // namespace neighbors_model_test
}  // namespace sheaf
