// SVMs as sheaves: one training beside LIBSVM's on the same rows, a search beside its slowest model, and how
// time grows.
//
//   bench_svm fit FILE --cost C --gamma G   time, ratio, objective, support vectors; accuracy on FILE.t if it exists
//   bench_svm search FILE --gamma G         10 costs x 5 folds as one sheaf: time, and its ratio to the slowest model
//   bench_svm models FILE [--grid]          a whole search by five folds: the default one, or 5 costs x 5 gammas
//   bench_svm growth                        time over rows and over tasks, on generated tables
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/splits.hpp>
#include <sheaf/solvers/svm.hpp>

#include "peers/libsvm.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "svm_common.hpp"

namespace sheaf::bench {
namespace {

void fit(const Options& options, const std::string& file) {
  const auto dataset = read(options, file);
  std::optional<Dataset<double>> unseen;
  if (!options.unit && std::filesystem::exists(file + ".t")) unseen = read(options, file + ".t");
  std::printf("%s: %lld x %lld, C = %g, gamma = %g on %s\n", file.c_str(), static_cast<long long>(dataset.rows()),
              static_cast<long long>(dataset.features()), options.cost, options.gamma, options.device.c_str());
  const SvmSheaf sheaf = all_classes(dataset, options.rest, options.cost);
  Ours ours = train(options, dataset, sheaf);
  std::printf("  Sheaf  %9.3f s (%.3f s of processors)\n", ours.seconds, ours.processor);
  describe_fits(ours.fits);
  double objective = 0;
  for (const SvmFit& one : ours.fits.tasks) objective += one.objective;
  std::vector<BinarySvm> svms;
  for (SvmFit& one : ours.fits.tasks) svms.push_back(std::move(one.svm));
  const auto right = [&](auto&& class_of) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < unseen->rows(); ++i)
      count +=
          unseen->target.class_names[static_cast<std::size_t>(unseen->target.classes[static_cast<std::size_t>(i)])] ==
          dataset.target.class_names[static_cast<std::size_t>(class_of(i))];
    return 100.0 * static_cast<double>(count) / static_cast<double>(unseen->rows());
  };
  if (unseen) {
    Block<double> decisions;
    for (int r = 0; r < options.repeats; ++r) {
      const double start = now();
      decisions = decision_values(make_context(options), KernelParams{.gamma = options.gamma}, dataset, svms, *unseen);
      ours.predict_seconds = std::min(ours.predict_seconds, now() - start);
    }
    const auto classes = static_cast<std::int32_t>(dataset.target.class_names.size());
    std::printf("    predicting %lld rows: %.3f s, accuracy %.3f\n", static_cast<long long>(unseen->rows()),
                ours.predict_seconds, right([&](std::int64_t i) { return winner(sheaf, classes, decisions, i); }));
  }
  std::fflush(stdout);
  if (!have_libsvm() || options.no_peer || options.rest || options.unit) return;
  const auto& x = std::get<SparseMatrix<double>>(dataset.x);
  const auto* rows = unseen ? &std::get<SparseMatrix<double>>(unseen->x) : nullptr;
  const PeerSvms peer =
      libsvm_fit(x, dataset.target.classes, options.cost, options.gamma, options.tolerance, options.cache, rows);
  std::printf(
      "  LIBSVM %9.3f s, %.3f s of a processor (ratios %.2f, %.2f), %lld support vectors, ours %+.1e of its "
      "objective\n",
      peer.seconds, peer.processor, peer.seconds / ours.seconds, peer.processor / ours.processor,
      static_cast<long long>(peer.support_vectors), (objective - peer.objective) / std::abs(peer.objective));
  if (unseen)
    std::printf("    predicting: %.3f s (ratio %.2f), accuracy %.3f\n", peer.predict_seconds,
                peer.predict_seconds / ours.predict_seconds,
                right([&](std::int64_t i) { return peer.predicted[static_cast<std::size_t>(i)]; }));
  std::fflush(stdout);
}

/// Costs 2^-3 .. 2^6 on each of five stratified folds (paper 001, table 7.7).
SvmSheaf search_sheaf(const Dataset<double>& dataset) {
  const auto folds = make_splits(dataset.rows(), dataset.target.classes, {}, SplitOptions{}).weights(0, 5, 1);
  SvmSheaf sheaf = all_classes(dataset, true, 1);
  const auto svms = sheaf.tasks;
  sheaf.tasks.clear();
  sheaf.weight_columns = 5;
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    for (std::int32_t s = 0; s < 5; ++s) sheaf.row_weights.push_back(static_cast<float>(folds.train(i, s)));
  for (int power = -3; power <= 6; ++power)
    for (std::int32_t s = 0; s < 5; ++s)
      for (SvmTask task : svms) {
        task.rows = s;
        task.cost_positive = task.cost_negative = std::ldexp(1.0, power);
        sheaf.tasks.push_back(task);
      }
  return sheaf;
}

void search(const Options& options, const std::string& file) {
  const auto dataset = read(options, file);
  const SvmSheaf sheaf = search_sheaf(dataset);
  std::printf("%s: %lld x %lld, gamma = %g, %zu models on %s\n", file.c_str(), static_cast<long long>(dataset.rows()),
              static_cast<long long>(dataset.features()), options.gamma, sheaf.tasks.size(), options.device.c_str());
  const Ours all = train(options, dataset, sheaf);
  std::printf("  all together %9.3f s\n", all.seconds);
  describe_fits(all.fits);
  double slowest = 0;
  double sum = 0;
  for (std::size_t t = 0; t < sheaf.tasks.size(); t += 5) {  // the first fold of each cost
    SvmSheaf one = sheaf;
    one.tasks = {sheaf.tasks[t]};
    const Ours alone = train(options, dataset, one);
    std::printf("  C = %-6g alone %9.3f s, objective apart by %.1e\n", one.tasks[0].cost_positive, alone.seconds,
                std::abs(alone.fits.tasks[0].objective / all.fits.tasks[t].objective - 1));
    std::fflush(stdout);
    slowest = std::max(slowest, alone.seconds);
    sum += alone.seconds;
  }
  std::printf("  all %zu in %.2f times the slowest; one after the other (5 folds alike) %.2f times\n",
              sheaf.tasks.size(), all.seconds / slowest, 5 * sum / slowest);
}

/// Nothing of the dataset is on the device when a search begins.
void models(const Options& options, const std::string& file) {
  const auto dataset = read(options, file);
  const Context context = make_context(options);
  SearchSpace space{SvmOptions{}};
  if (options.grid) {
    space["cost"] = {0.1, 1, 10, 100, 1000};
    space["gamma"] = {0.01, 0.1, 0.5, 1, 5};
  }
  for (int r = 0; r < options.repeats; ++r) {
    const double start = now();
    const double processor = processor_seconds();
    const auto result = search(context, dataset.borrowed(), space, SearchOptions{});
    const auto classes = result.class_names.size();
    std::printf("%s: %zu points x %d folds x %zu pairs on %s: %.3f s (%.3f s of processors)\n", file.c_str(),
                result.points.size(), result.splits, classes * (classes - 1) / 2, options.device.c_str(), now() - start,
                processor_seconds() - processor);
    std::fflush(stdout);
  }
}

Dataset<double> blobs(const Options& options, std::int64_t rows) {
  GenerateOptions generator;
  generator.rows = rows;
  generator.features = 20;
  return generate<double>(make_context(options), generator).dataset;
}

void growth(const Options& options) {
  GrowthCurve by_rows{"rows", {}, {}};
  GrowthCurve by_tasks{"tasks", {}, {}};
  Options gentle = options;
  gentle.gamma = 0.05;
  for (int factor = 1; factor <= 16; factor *= 2) {
    const auto dataset = blobs(options, 2000 * factor);
    const Ours ours = train(gentle, dataset, all_classes(dataset, true, 1));
    std::printf("  %6lld rows, 1 task   %9.4f s\n", static_cast<long long>(dataset.rows()), ours.seconds);
    describe_fits(ours.fits);
    by_rows.factors.push_back(factor);
    by_rows.seconds.push_back(ours.seconds);
  }
  const auto dataset = blobs(options, 8000);
  const SvmSheaf all = search_sheaf(dataset);
  for (int factor = 1; factor <= 32; factor *= 2) {
    SvmSheaf some = all;
    some.tasks.resize(static_cast<std::size_t>(factor));
    const Ours ours = train(gentle, dataset, some);
    std::printf("  %6lld rows, %2d tasks %9.4f s\n", static_cast<long long>(dataset.rows()), factor, ours.seconds);
    describe_fits(ours.fits);
    by_tasks.factors.push_back(factor);
    by_tasks.seconds.push_back(ours.seconds);
  }
  if (!options.plot.empty()) write_growth(options.plot, "SVMs: growth in rows and in tasks", {by_rows, by_tasks});
}

int run(int argc, char** argv) {
  CLI::App app("SVMs beside LIBSVM, and whole searches beside one training");
  Options options;
  app.require_subcommand(1);
  const auto shared = [&](CLI::App* command) {
    command->add_option("--device", options.device, "cpu, cuda, cuda:N");
    command->add_option("--threads", options.threads, "CPU threads (0: all)");
    command->add_option("--memory", options.memory, "for data and kernel rows, such as 2G (most of what is free)");
    command->add_option("--cost", options.cost, "C");
    command->add_option("--gamma", options.gamma, "of the RBF kernel");
    command->add_option("--tolerance", options.tolerance, "eps");
    command->add_option("--divide", options.divide, "divide all features by");
    command->add_flag("--unit", options.unit, "scale each feature to [0, 1] (dense)");
    command->add_option("--rows", options.rows, "only so many (with --unit)");
    command->add_option("--repeats", options.repeats, "best of how many");
  };
  auto* single = app.add_subcommand("fit", "one training beside LIBSVM");
  shared(single);
  single->add_flag("--rest", options.rest, "each class against the rest");
  single->add_flag("--no-peer", options.no_peer, "without LIBSVM");
  single->add_option("--cache", options.cache, "megabytes of LIBSVM's cache");
  single->add_option("files", options.files, "data")->required();
  auto* grid = app.add_subcommand("search", "10 costs x 5 folds as one sheaf");
  shared(grid);
  grid->add_option("files", options.files, "data")->required();
  auto* whole = app.add_subcommand("models", "a whole search");
  shared(whole);
  whole->add_flag("--grid", options.grid, "5 costs x 5 gammas");
  whole->add_option("files", options.files, "data")->required();
  auto* curves = app.add_subcommand("growth", "time over rows and over tasks");
  shared(curves);
  curves->add_option("--plot", options.plot, "SVG to write");
  CLI11_PARSE(app, argc, argv);
  if (single->parsed() && !have_libsvm())
    std::printf("LIBSVM is not there (Debian: libsvm-dev): no ratio against it\n");
  for (const auto& file : options.files)
    single->parsed() ? fit(options, file) : whole->parsed() ? models(options, file) : search(options, file);
  if (curves->parsed()) growth(options);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_svm", [&] { return sheaf::bench::run(argc, argv); });
}
