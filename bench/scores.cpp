// How long a search takes to score its models: all scores of folds x costs models, each on the rows that its fold does
// not train on. Processor time is the best of several rounds, all threads together: what a shared machine cannot blur.
//   bench_scores [--rows N] [--folds N] [--costs N] [--classes N] [--no-probabilities] [--score NAME ...]
//                [--device cpu|cuda] [--threads N]
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/random.hpp"

#include "score/scorer.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Shape {
  std::int64_t rows = 1000000;
  std::int32_t folds = 5;
  std::int32_t costs = 10;
  std::int32_t classes = 2;  // 0: regression
  bool probabilities = true;
  std::vector<Metric> wanted;

  std::int32_t columns() const { return classes > 2 ? classes : 1; }
};

/// Classes and a numeric target; decision values that often favour the true class, or are near the target.
struct Table {
  std::vector<std::int32_t> labels;
  std::vector<double> values;
  Block<float> z;

  explicit Table(const Shape& shape) : z(shape.rows, shape.folds * shape.costs * shape.columns()) {
    Random random(1);
    for (std::int64_t i = 0; i < shape.rows; ++i) {
      labels.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(std::max(shape.classes, 1)))));
      values.push_back(random.uniform());
      for (std::int32_t t = 0; t < z.tasks(); ++t) {
        const bool mine = shape.classes > 0 && labels.back() == t % shape.columns();
        z(i, t) = static_cast<float>(3 * random.uniform() - (mine ? 0.8 : 2.2));
      }
    }
  }
  score::Truth truth(const Shape& shape) const {
    if (shape.classes == 0) return {0, -1, {}, values, {}};
    return {shape.classes, shape.classes == 2 ? 1 : -1, labels, {}, {}};
  }
};

/// A random fold for each row.
score::TestRows random_tests(const Shape& shape) {
  std::vector<std::vector<std::int32_t>> lists(static_cast<std::size_t>(shape.folds));
  Random random(2);
  for (std::int64_t i = 0; i < shape.rows; ++i)
    lists[random.below(static_cast<std::uint64_t>(shape.folds))].push_back(static_cast<std::int32_t>(i));
  score::TestRows tests;
  for (const auto& list : lists) {
    tests.rows.insert(tests.rows.end(), list.begin(), list.end());
    tests.begins.push_back(std::ssize(tests.rows));
  }
  return tests;
}

void measure(const Context& context, const Shape& shape) {
  const Table table(shape);
  const auto z = table.z.to(context.device());
  std::vector<std::int32_t> tests;
  for (std::int32_t m = 0; m < shape.folds * shape.costs; ++m) tests.push_back(m % shape.folds);
  score::Scorer<float> scorer(context, table.truth(shape), shape.probabilities, shape.wanted);
  scorer.load_tests(random_tests(shape));
  double processor = std::numeric_limits<double>::infinity();
  const double seconds = seconds_of(
      [&](int repeats) {
        for (int r = 0; r < repeats; ++r) {
          const double start = processor_seconds();
          scorer.score(z.view(), tests);
          processor = std::min(processor, processor_seconds() - start);
        }
      },
      0.05, 15);
  fmt::print("{} x {} models of {} classes on {}: {:.1f} ms, processor {:.1f} ms\n", shape.rows, tests.size(),
             shape.classes, to_string(context.device()), 1e3 * seconds, 1e3 * processor);
}

int run(int count, char** arguments) {
  CLI::App app("Times the scores of a search");
  Shape shape;
  Context::Options options;
  std::string device = "cpu";
  std::vector<std::string> scores;
  app.add_option("--rows", shape.rows);
  app.add_option("--folds", shape.folds);
  app.add_option("--costs", shape.costs);
  app.add_option("--classes", shape.classes);
  app.add_flag("!--no-probabilities", shape.probabilities);
  app.add_option("--score", scores);
  app.add_option("--device", device);
  app.add_option("--threads", options.threads);
  CLI11_PARSE(app, count, arguments);
  for (const auto& name : scores) shape.wanted.push_back(parse_metric(name));
  options.device = parse_device(device);
  measure(Context(options), shape);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int count, char** arguments) { return sheaf::bench::run(count, arguments); }
