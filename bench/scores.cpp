// How long a search takes to judge its models: all scores of folds x costs models, each on the rows that
// its fold left out.
//   bench_scores [--rows N] [--folds N] [--costs N] [--classes N] [--device cpu|cuda] [--threads N]
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sheaf/random.hpp>
#include <sheaf/search.hpp>

#include "score/scorer.hpp"
#include "search/plan.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Shape {
  std::int64_t rows = 1000000;
  std::int32_t folds = 5;
  std::int32_t costs = 10;
  std::int32_t classes = 2;
};

Target random_target(const Shape& shape) {
  Target target;
  Random random(1);
  for (std::int32_t c = 0; c < shape.classes; ++c) target.class_names.push_back(std::to_string(c + 1));
  for (std::int64_t i = 0; i < shape.rows; ++i)
    target.classes.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(shape.classes))));
  return target;
}

/// Decision values that often speak for the true class.
Block<float> random_decisions(const Shape& shape, const Target& target) {
  const std::int32_t columns = shape.classes > 2 ? shape.classes : 1;
  Block<float> z(shape.rows, shape.folds * shape.costs * columns);
  Random random(2);
  for (std::int64_t i = 0; i < shape.rows; ++i)
    for (std::int32_t t = 0; t < z.tasks(); ++t) {
      const bool mine = target.classes[static_cast<std::size_t>(i)] == t % columns;
      z(i, t) = static_cast<float>(3 * random.uniform() - (mine ? 0.8 : 2.2));
    }
  return z;
}

void measure(const Context& context, const Shape& shape) {
  const auto target = random_target(shape);
  SearchOptions options;
  options.folds = shape.folds;
  options = decided(options);
  const auto problem = linear::make_problem(context, target, "bench", shape.rows, options.linear);
  const score::Plan plan(problem, {}, options, 0);
  const auto z = random_decisions(shape, target).to(context.device());
  std::vector<std::int32_t> tests;
  for (std::int32_t m = 0; m < shape.folds * shape.costs; ++m) tests.push_back(m % shape.folds);
  score::Judge<float> judge(context, problem, target, options.linear);
  const double start = now();
  judge.load_tests(plan.tests(0, shape.folds, context.threads()));
  const double loading = now() - start;
  const double judging = seconds_of([&](int repeats) {
    for (int r = 0; r < repeats; ++r) judge.judge(z.view(), tests);
  });
  fmt::print("{} x {} models of {} classes on {}: test rows {:.1f} ms, all scores {:.1f} ms\n", shape.rows,
             tests.size(), shape.classes, to_string(context.device()), 1e3 * loading, 1e3 * judging);
}

int run(int count, char** arguments) {
  CLI::App app("Times the scores of a search");
  Shape shape;
  Context::Options options;
  std::string device = "cpu";
  app.add_option("--rows", shape.rows);
  app.add_option("--folds", shape.folds);
  app.add_option("--costs", shape.costs);
  app.add_option("--classes", shape.classes);
  app.add_option("--device", device);
  app.add_option("--threads", options.threads);
  CLI11_PARSE(app, count, arguments);
  options.device = parse_device(device);
  measure(Context(options), shape);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int count, char** arguments) { return sheaf::bench::run(count, arguments); }
