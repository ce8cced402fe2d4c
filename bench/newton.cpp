// Linear models by Newton's method: one fit beside LIBLINEAR's on the same matrix, and a whole search beside one fit.
//
//   bench_newton fit FILE...        objective, time and ratio against LIBLINEAR (its library, one thread) at the same
//   eps;
//                                   accuracy on FILE.t if it exists, LIBLINEAR's in brackets
//   bench_newton search [FILE]      10 costs x 5 folds as one sheaf, all from w = 0 and along the costs: time, and its
//                                   ratio to one fit
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/splits.hpp>

#include "peers/liblinear.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  std::string device = "cpu";
  int threads = 0;
  std::string precision = "double";
  std::string rule = "both";
  std::string loss;
  double tolerance = 0.01;
  double cost = 1;
  std::vector<std::string> files;
  std::int64_t rows = 20242, features = 47236;
  std::string kind = "text";
  int repeats = 3;
  double lowest = 0.015625, highest = 8;
  bool suboptimality = false;
};

std::string most_frequent(const Target& target) {
  std::vector<std::int64_t> counts(target.class_names.size(), 0);
  for (const std::int32_t c : target.classes) ++counts[static_cast<std::size_t>(c)];
  return target.class_names[static_cast<std::size_t>(std::max_element(counts.begin(), counts.end()) - counts.begin())];
}

std::vector<double> one_against_rest(const Target& target, const std::string& name) {
  std::vector<double> y;
  for (const std::int32_t c : target.classes)
    y.push_back(target.class_names[static_cast<std::size_t>(c)] == name ? 1 : -1);
  return y;
}

/// The most frequent class against the rest.
std::vector<double> two_class_targets(const Target& target) { return one_against_rest(target, most_frequent(target)); }

Sheaf single(const std::vector<double>& y, double cost) {
  Sheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(y.size());
  sheaf.targets = y;
  sheaf.tasks = {{0, 0, cost, cost, 0.1}};
  return sheaf;
}

/// w'w / 2 + C sum loss, in double, from nothing but the matrix and the weights.
double objective(const SparseMatrix<double>& x, const std::vector<double>& y, const std::vector<double>& w, Loss loss,
                 double cost) {
  double sum = 0;
  for (const double value : w) sum += value * value / 2;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    double z = 0;
    for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k)
      z += x.values[k] * w[static_cast<std::size_t>(x.indices[k])];
    const double margin = y[static_cast<std::size_t>(i)] * z;
    const double slack = std::max(0.0, 1 - margin);
    sum += cost *
           (loss == Loss::logistic ? std::log1p(std::exp(-std::abs(margin))) + std::max(0.0, -margin) : slack * slack);
  }
  return sum;
}

template <class T>
std::vector<double> column_of(const Block<T>& weights, std::int32_t column) {
  std::vector<double> w;
  for (std::int64_t j = 0; j < weights.rows(); ++j) w.push_back(static_cast<double>(weights(j, column)));
  return w;
}

Context make_context(const Options& options, int threads) {
  Context::Options inside;
  inside.device = parse_device(options.device);
  inside.threads = threads;
  return Context(inside);
}

struct Ours {
  double seconds = 1e300;
  double objective = 0;
  std::vector<double> weights;
  TaskFit fit;
};

/// Rows that no model is trained on, from FILE.t next to FILE.
struct Unseen {
  Dataset<double> dataset;
  std::vector<double> y;

  /// In per cent.
  double accuracy(const std::vector<double>& w) const {
    const auto& x = std::get<SparseMatrix<double>>(dataset.x);
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      double z = 0;
      for (std::int64_t k = x.offsets[i]; k < x.offsets[i + 1]; ++k)
        if (static_cast<std::size_t>(x.indices[k]) < w.size())
          z += x.values[k] * w[static_cast<std::size_t>(x.indices[k])];
      right += (z > 0) == (y[static_cast<std::size_t>(i)] > 0) ? 1 : 0;
    }
    return 100.0 * static_cast<double>(right) / static_cast<double>(x.rows);
  }
};

template <class T>
Ours fit_once(const Options& options, const Dataset<T>& dataset, const SparseMatrix<double>& x,
              const std::vector<double>& y, Loss loss, StepRule rule, int threads) {
  const Context context = make_context(options, threads);
  NewtonParams params;
  params.loss = loss;
  params.rule = rule;
  params.tolerance = options.tolerance;
  dataset.by_rows(context.device());  // the data are there, as they are for LIBLINEAR
  Ours best;
  for (int r = 0; r < options.repeats; ++r) {
    const double start = now();
    const auto fits = newton(context, dataset, single(y, options.cost), params);
    best.seconds = std::min(best.seconds, now() - start);
    best.weights = column_of(fits.weights, 0);
    best.objective = objective(x, y, best.weights, loss, options.cost);
    best.fit = fits.tasks[0];
  }
  return best;
}

template <class T>
void report(const Options& options, const Dataset<T>& dataset, const SparseMatrix<double>& x,
            const std::vector<double>& y, Loss loss, const PeerFit* peer, double peer_objective, const Unseen* unseen) {
  for (const StepRule rule : {StepRule::trust_region, StepRule::line_search}) {
    if (options.rule != "both" && (options.rule == "trust-region") != (rule == StepRule::trust_region)) continue;
    const std::vector<int> counts = options.threads > 0 ? std::vector<int>{options.threads} : std::vector<int>{1, 2};
    for (const int threads : counts) {
      const Ours ours = fit_once(options, dataset, x, y, loss, rule, threads);
      std::printf("  %-13s %-12s %d threads: %8.4f s", loss == Loss::logistic ? "logistic" : "squared hinge",
                  rule == StepRule::trust_region ? "trust region" : "line search", threads, ours.seconds);
      if (peer != nullptr)
        std::printf("  LIBLINEAR %8.4f s  ratio %5.2f  objective %+.1e of it", peer->seconds,
                    peer->seconds / ours.seconds, (ours.objective - peer_objective) / peer_objective);
      if (unseen != nullptr) std::printf("  accuracy %.3f", unseen->accuracy(ours.weights));
      if (unseen != nullptr && peer != nullptr) std::printf(" (%.3f)", unseen->accuracy(peer->weights));
      std::printf("  (%d steps, %d products%s)\n", ours.fit.iterations, ours.fit.products,
                  ours.fit.converged ? "" : ", NOT CONVERGED");
      std::fflush(stdout);
      if (options.device != "cpu") break;
    }
  }
}

void compare(const Options& options, const std::string& file) {
  ReadOptions sparse;
  sparse.storage = Storage::sparse;
  const auto dataset = read_dataset<double>(make_context(options, 0), file, sparse);
  const auto& x = std::get<SparseMatrix<double>>(dataset.x);
  const auto y = two_class_targets(dataset.target);
  std::optional<Unseen> unseen;
  if (std::filesystem::exists(file + ".t")) {
    unseen.emplace();
    unseen->dataset = read_dataset<double>(make_context(options, 0), file + ".t", sparse);
    unseen->y = one_against_rest(unseen->dataset.target, most_frequent(dataset.target));
  }
  const Unseen* rows = unseen ? &*unseen : nullptr;
  std::printf("%s: %lld x %lld\n", file.c_str(), static_cast<long long>(x.rows), static_cast<long long>(x.columns));
  for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
    if (!options.loss.empty() && (options.loss == "logistic") != (loss == Loss::logistic)) continue;
    PeerFit peer;
    double peer_objective = 0;
    if (have_liblinear()) {
      peer = liblinear_fit(x, y, loss == Loss::logistic ? 0 : 2, options.cost, options.tolerance);
      for (int r = 1; r < options.repeats; ++r)
        peer.seconds = std::min(
            peer.seconds, liblinear_fit(x, y, loss == Loss::logistic ? 0 : 2, options.cost, options.tolerance).seconds);
      peer_objective = objective(x, y, peer.weights, loss, options.cost);
    }
    const PeerFit* beside = have_liblinear() ? &peer : nullptr;
    if (options.precision == "float") {
      Dataset<float> single_precision;
      single_precision.x = convert_precision<float, double>(dataset.x, 2);
      report(options, single_precision, x, y, loss, beside, peer_objective, rows);
    } else {
      report(options, dataset, x, y, loss, beside, peer_objective, rows);
    }
  }
}

/// Ten costs at equal ratios on each of five stratified folds.
Sheaf search_sheaf(const std::vector<double>& y, double lowest, double highest) {
  std::vector<std::int32_t> classes;
  for (const double value : y) classes.push_back(value > 0 ? 1 : 0);
  const auto folds = make_splits(static_cast<std::int64_t>(y.size()), classes, {}, SplitOptions{}).weights(0, 5, 1);
  Sheaf sheaf;
  sheaf.examples = static_cast<std::int64_t>(y.size());
  sheaf.targets = y;
  sheaf.weight_columns = 5;
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    for (std::int32_t s = 0; s < 5; ++s) sheaf.row_weights.push_back(static_cast<float>(folds.train(i, s)));
  for (int k = 0; k < 10; ++k) {
    const double cost = lowest * std::pow(highest / lowest, k / 9.0);
    for (std::int32_t s = 0; s < 5; ++s) sheaf.tasks.push_back({s, 0, cost, cost, 0.1});
  }
  return sheaf;
}

struct Searched {
  double seconds = 1e300;
  double processor_seconds = 1e300;
  std::int64_t products = 0;
  std::int64_t unconverged = 0;
};

template <class T>
void add_run(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const NewtonParams& params,
             Searched& best) {
  const double start = now();
  const auto clock = std::clock();
  const auto fits = newton(context, dataset, sheaf, params);
  const double ticks = static_cast<double>(std::clock() - clock);
  best.seconds = std::min(best.seconds, now() - start);
  best.processor_seconds = std::min(best.processor_seconds, ticks / CLOCKS_PER_SEC);
  best.products = best.unconverged = 0;
  for (const auto& fit : fits.tasks) {
    best.products += fit.products;
    best.unconverged += fit.converged ? 0 : 1;
  }
}

struct OneAndAll {
  Sheaf one, all;
};

/// Taken in turns, so that other work on the machine meets all of them.
template <class T>
void compare_searches(const Context& context, const Dataset<T>& dataset, const OneAndAll& sheaves, NewtonParams params,
                      int repeats) {
  Searched one, cold, warm;
  for (int r = 0; r < repeats; ++r) {
    params.along_costs = false;
    add_run(context, dataset, sheaves.one, params, one);
    add_run(context, dataset, sheaves.all, params, cold);
    params.along_costs = true;
    add_run(context, dataset, sheaves.all, params, warm);
  }
  std::printf("  %-12s one fit %9.5f s (%lld products), 50 models %9.5f s (%lld products): %.2f fits\n",
              params.rule == StepRule::trust_region ? "trust region" : "line search", one.seconds,
              static_cast<long long>(one.products), cold.seconds, static_cast<long long>(cold.products),
              cold.seconds / one.seconds);
  std::printf("    along costs %9.5f s (%lld products): %.2f fits\n", warm.seconds,
              static_cast<long long>(warm.products), warm.seconds / one.seconds);
  std::printf("    processor seconds: one fit %.3f, 50 models %.3f, along costs %.3f; not converged: %lld, %lld\n",
              one.processor_seconds, cold.processor_seconds, warm.processor_seconds,
              static_cast<long long>(cold.unconverged), static_cast<long long>(warm.unconverged));
  std::fflush(stdout);
}

template <class T>
void search(const Options& options) {
  const Context context = make_context(options, options.threads);
  GenerateOptions generator;
  generator.kind = options.kind;
  generator.rows = options.rows;
  generator.features = options.features;
  const auto dataset =
      options.files.empty() ? generate<T>(context, generator).dataset : read_dataset<T>(context, options.files[0]);
  const auto y = two_class_targets(dataset.target);
  dataset.by_rows(context.device());
  if (is_sparse(dataset.x)) dataset.by_columns(context.device(), context.threads());
  std::printf("%lld x %lld, %lld entries, %s on %s\n", static_cast<long long>(dataset.rows()),
              static_cast<long long>(dataset.features()), static_cast<long long>(stored(dataset.x)),
              options.precision.c_str(), options.device.c_str());
  for (const StepRule rule : {StepRule::trust_region, StepRule::line_search}) {
    if (options.rule != "both" && (options.rule == "trust-region") != (rule == StepRule::trust_region)) continue;
    NewtonParams params;
    params.rule = rule;
    params.tolerance = options.tolerance;
    params.stop = options.suboptimality ? StopRule::suboptimality : StopRule::gradient;
    if (options.loss == "squared-hinge") params.loss = Loss::squared_hinge;
    compare_searches(context, dataset, {single(y, options.cost), search_sheaf(y, options.lowest, options.highest)},
                     params, options.repeats);
  }
}

int run(int argc, char** argv) {
  CLI::App app("Linear models by Newton's method beside LIBLINEAR, and whole searches beside one fit");
  Options options;
  app.require_subcommand(1);
  const auto shared = [&](CLI::App* command) {
    command->add_option("--device", options.device, "cpu, cuda, cuda:N");
    command->add_option("--threads", options.threads, "CPU threads (0: all)");
    command->add_option("--precision", options.precision, "float or double");
    command->add_option("--rule", options.rule, "trust-region, line-search or both");
    command->add_option("--loss", options.loss, "logistic or squared-hinge (both where none is named)");
    command->add_option("--tolerance", options.tolerance, "eps");
    command->add_option("--cost", options.cost, "C of single fits");
    command->add_option("--repeats", options.repeats, "best of how many");
    command->add_option("files", options.files, "data");
  };
  auto* fit = app.add_subcommand("fit", "one fit beside LIBLINEAR");
  shared(fit);
  auto* grid = app.add_subcommand("search", "10 costs x 5 folds as one sheaf");
  shared(grid);
  grid->add_option("--kind", options.kind, "table to generate where no file is given");
  grid->add_option("--rows", options.rows);
  grid->add_option("--features", options.features);
  grid->add_option("--lowest", options.lowest, "smallest cost");
  grid->add_option("--highest", options.highest, "largest cost");
  grid->add_flag("--suboptimality", options.suboptimality, "stop as a search does");
  CLI11_PARSE(app, argc, argv);
  if (!have_liblinear()) std::printf("LIBLINEAR is not there (Debian: liblinear-dev): no ratio against it\n");
  if (fit->parsed())
    for (const auto& file : options.files) compare(options, file);
  else if (options.precision == "float")
    search<float>(options);
  else
    search<double>(options);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_newton", [&] { return sheaf::bench::run(argc, argv); });
}
