// Cost of steps inside the folds of a search: scaling learnt on the training rows of each split, beside the same search
// over a dataset that was scaled before, and selection beside the search on selected features and the selections.
//
//   bench_pipeline [--device cuda] [--threads 2] [--repeats 3] [--only text]
#include <algorithm>
#include <cstdio>
#include <string>

#include <CLI/CLI.hpp>

#include <sheaf/generate.hpp>
#include <sheaf/search.hpp>
#include <sheaf/selection.hpp>
#include <sheaf/solvers/elastic_net.hpp>

#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  std::string device = "cpu";
  int threads = 0;
  int repeats = 3;
  std::string only;
};

struct Shape {
  std::string name, kind;
  std::int64_t rows, features;
  ScaleMethod scale;
};

Dataset<double> make_dataset(const Context& context, const Shape& shape) {
  GenerateOptions generator;
  generator.kind = shape.kind;
  generator.rows = shape.rows;
  generator.features = shape.features;
  return generate<double>(context, generator).dataset;
}

template <class Work>
double best_of(int repeats, const Work& work) {
  double best = 1e300;
  for (int r = 0; r < repeats; ++r) {
    const double start = now();
    work();
    best = std::min(best, now() - start);
  }
  return best;
}

double search_seconds(const Context& context, const Dataset<double>& dataset, const SearchSpace& family,
                      const PipelineOptions& pipeline, int repeats) {
  SearchOptions options;
  options.folds = 5;
  options.pipeline = pipeline;
  // A dataset of its own each time: nothing is resident yet.
  return best_of(repeats, [&] { search(context, dataset.borrowed(), family, options); });
}

void compare(const Options& options, const Context& context, const Shape& shape, const std::string& title,
             const SearchSpace& family) {
  const auto dataset = make_dataset(context, shape);
  auto scaled = dataset.borrowed();
  apply_scaling(context, learn_scaling(context, dataset, shape.scale), scaled);
  const double before = search_seconds(context, scaled, family, {}, options.repeats);
  const double inside = search_seconds(context, dataset, family, {.scale = shape.scale}, options.repeats);
  std::printf("%s, %s %lld x %lld, %s: scaled before %.3f s, inside the folds %.3f s, ratio %.2f (wanted 1.15)\n",
              title.c_str(), shape.name.c_str(), static_cast<long long>(shape.rows),
              static_cast<long long>(shape.features), std::string(to_string(shape.scale)).c_str(), before, inside,
              inside / before);
}

/// 50 features by JMI. The selections: one for each fold, on its training rows, and one on all rows for the final
/// model.
void compare_selection(const Options& options, const Context& context, const Shape& shape, const SearchSpace& family) {
  const auto dataset = make_dataset(context, shape);
  const PipelineOptions pipeline{.select = "jmi", .counts = {50}};
  SelectRequest request;
  request.options.count = 50;
  const auto selected = apply_pipeline(context, learn_pipeline(context, dataset, pipeline), dataset);
  std::vector<std::int32_t> rows;
  for (std::int32_t i = 0; i < static_cast<std::int32_t>(shape.rows) * 4 / 5; ++i) rows.push_back(i);
  const auto train = take_rows(dataset, rows, context.threads());
  // Each selection gets a dataset of its own too.
  const double fold = best_of(options.repeats, [&] { select(context, train.borrowed(), request); });
  const double all = best_of(options.repeats, [&] { select(context, dataset.borrowed(), request); });
  const double before = search_seconds(context, selected, family, {}, options.repeats);
  const double inside = search_seconds(context, dataset, family, pipeline, options.repeats);
  std::printf(
      "logistic, %s %lld x %lld, jmi:50: search %.3f s, 5 selections of %.3f s and one of %.3f s, inside the folds "
      "%.3f s, ratio %.2f (wanted 1)\n",
      shape.name.c_str(), static_cast<long long>(shape.rows), static_cast<long long>(shape.features), before, fold, all,
      inside, inside / (before + 5 * fold + all));
}

int run(int argc, char** argv) {
  CLI::App app("What steps inside the folds cost a search");
  Options options;
  app.add_option("--device", options.device, "cpu or cuda");
  app.add_option("--threads", options.threads, "0: all");
  app.add_option("--repeats", options.repeats, "best of how many");
  app.add_option("--only", options.only, "wide, tall or text (default: all, and selection)");
  CLI11_PARSE(app, argc, argv);
  Context::Options inside;
  inside.device = parse_device(options.device);
  inside.threads = options.threads;
  const Context context(inside);
  SearchSpace linear(LinearOptions{});
  linear["cost"] = {0.001, 0.01, 0.1, 1, 10};
  SearchSpace net(NetOptions{});
  net["l1-ratio"] = {0.5};
  const Shape wide{"wide", "classification", 500, 10000, ScaleMethod::standard};
  const Shape tall{"tall", "classification", 100000, 50, ScaleMethod::standard};
  const Shape text{"text", "text", 10000, 20000, ScaleMethod::max_abs};
  const auto wanted = [&](const Shape& shape) { return options.only.empty() || options.only == shape.name; };
  for (const auto& shape : {wide, tall, text})
    if (wanted(shape)) compare(options, context, shape, "logistic", linear);
  for (const auto& shape : {wide, text})
    if (wanted(shape)) compare(options, context, shape, "elastic net", net);
  if (options.only.empty()) compare_selection(options, context, wide, linear);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_pipeline", [&] { return sheaf::bench::run(argc, argv); });
}
