// Generalised linear models: fits beside scikit-learn's on the same table, and a whole search beside one fit.
//
//   bench_glm fit FILE              one model by each solver: steps, time, objective above the best; scikit-learn's
//                                   time at the same objective (--python, which has it)
//   bench_glm make FILE             writes a table: --rows x --features numbers, and a target of --family poisson,
//                                   gamma, or tweedie whose mean is the exponential of a sum of all features. Groups
//                                   of five features are correlated, and scales are 0.1 to 10; --alike: neither
//   bench_glm search FILE           alphas x folds as one sheaf: time, and its ratio to one fit
//   bench_glm solvers FILE          every solver: products with X and time until the objective is 1e-2, 1e-4 and 1e-6,
//                                   relative, above the best; --plot FILE.svg
//
// Values of FILE are divided by --divisor (255 for pixels). Classes are multinomial; --family poisson, gamma or tweedie
// takes numbers.
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sheaf/io.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/splits.hpp>

#include "core/random.hpp"
#include "linear/model/glm_problem.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  std::string file, device = "cpu", precision = "float", family = "auto", solver = "auto", storage = "dense";
  std::string python = "/usr/bin/python3", peers = "bench/peers";
  int threads = 0, repeats = 2;
  double cost = 1, divisor = 1;
  std::vector<double> tolerances{1e-2, 1e-3, 1e-4, 1e-5};
  int alphas = 10, folds = 5;
  std::int64_t rows = 1000000;
  int features = 50;
  bool alike = false;
  double seconds = 120;
  std::string plot, title;
};

template <class T>
Dataset<T> read(const Context& context, const Options& options) {
  ReadOptions reading;
  reading.storage = options.storage == "dense" ? Storage::dense : Storage::sparse;
  auto dataset = read_dataset<T>(context, options.file, reading);
  auto& x = dataset.change_x();
  std::visit(
      [&](auto& matrix) {
        for (auto& value : matrix.values) value = static_cast<T>(value / static_cast<T>(options.divisor));
      },
      x);
  dataset.by_rows(context.device());
  if (is_sparse(dataset.x)) dataset.by_columns(context.device(), context.threads());
  return dataset;
}

GlmOptions model_options(const Options& options) {
  GlmOptions result;
  for (const auto& row : parameters<GlmOptions>())
    if (row.name == "family")
      row.set(result, options.family);
    else if (row.name == "solver")
      row.set(result, options.solver);
  return result;
}

linear::GlmProblem problem_of(const Options& options, const Target& target, std::int64_t rows, std::int64_t features) {
  auto decided = decide_glm(model_options(options), target, options.file);
  decided.alpha = 1 / (options.cost * static_cast<double>(rows));
  return linear::make_glm_problem(target, options.file, rows, decided, {}, features);
}

Context context_of(const Options& options) {
  Context::Options wanted;
  wanted.device = parse_device(options.device);
  wanted.threads = options.threads;
  return Context(wanted);
}

void print_problem(const Options& options, const linear::GlmProblem& problem, std::int64_t features, int threads) {
  std::printf("%s: %lld x %lld x %d, alpha %.4g, %s on %s, %d threads\n", options.file.c_str(),
              static_cast<long long>(problem.sheaf.examples), static_cast<long long>(features), problem.params.columns,
              problem.sheaf.tasks[0].alpha, options.precision.c_str(), options.device.c_str(), threads);
}

struct Timed {
  double seconds = 1e300;
  TaskFit fit;
  double gradient = 0;  // the largest of the mean loss with the penalty; of multinomial models of dense tables alone
};

/// By plain loops in double.
template <class T>
double largest_gradient(const Dataset<T>& dataset, const GlmSheaf& sheaf, const GlmParams& params,
                        const Block<T>& weights) {
  const auto* x = std::get_if<DenseMatrix<T>>(&dataset.x);
  if (x == nullptr || params.columns == 1) return std::numeric_limits<double>::quiet_NaN();
  const auto classes = static_cast<std::size_t>(params.columns);
  const auto features = static_cast<std::size_t>(x->columns);
  const auto w = [&](std::size_t j, std::size_t k) {
    return static_cast<double>(weights(static_cast<std::int64_t>(j), static_cast<std::int32_t>(k)));
  };
  std::vector<double> gradient((features + 1) * classes, 0.0);
  std::vector<double> p(classes);
  for (std::int64_t i = 0; i < x->rows; ++i) {
    const T* row = x->values.data() + i * x->columns;
    double largest = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < classes; ++k) {
      p[k] = params.intercept ? w(features, k) : 0.0;
      for (std::size_t j = 0; j < features; ++j)
        if (row[j] != 0) p[k] += static_cast<double>(row[j]) * w(j, k);
      largest = std::max(largest, p[k]);
    }
    double sum = 0;
    for (double& value : p) sum += value = std::exp(value - largest);
    for (double& value : p) value /= sum;
    p[static_cast<std::size_t>(sheaf.targets[static_cast<std::size_t>(i)])] -= 1;
    for (std::size_t j = 0; j < features; ++j)
      for (std::size_t k = 0; k < classes && row[j] != 0; ++k)
        gradient[j * classes + k] += static_cast<double>(row[j]) * p[k];
    for (std::size_t k = 0; k < classes; ++k) gradient[features * classes + k] += params.intercept ? p[k] : 0.0;
  }
  double result = 0;
  for (std::size_t e = 0; e < gradient.size(); ++e) {
    const double penalty = e < features * classes ? sheaf.tasks[0].alpha * w(e / classes, e % classes) : 0.0;
    result = std::max(result, std::abs(gradient[e] / static_cast<double>(x->rows) + penalty));
  }
  return result;
}

template <class T>
Timed time_fit(const Context& context, const Dataset<T>& dataset, const GlmSheaf& sheaf, const GlmParams& params,
               int repeats) {
  Timed result;
  for (int r = 0; r < repeats; ++r) {
    const double start = now();
    const auto fits = train_glms(context, dataset, sheaf, params);
    result.seconds = std::min(result.seconds, now() - start);
    result.fit = fits.tasks.front();
    if (r + 1 == repeats && sheaf.tasks.size() == 1)
      result.gradient = largest_gradient(dataset, sheaf, params, fits.weights);
  }
  return result;
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  pclose(pipe);
  return text;
}

/// Lines "solver tolerance seconds iterations objective" of the peer.
struct PeerFit {
  std::string solver;
  double tolerance = 0, seconds = 0, iterations = 0, objective = 0;
};
std::vector<PeerFit> peer_fits(const Options& options, const linear::GlmProblem& problem) {
  std::istringstream lines(output_of(fmt::format("{} {}/glm.py {} {} {} {} {} 2>/dev/null", options.python,
                                                 options.peers, options.file, to_string(problem.kind.family),
                                                 problem.sheaf.tasks[0].alpha, options.divisor, options.storage)));
  std::vector<PeerFit> fits;
  for (PeerFit fit; lines >> fit.solver >> fit.tolerance >> fit.seconds >> fit.iterations >> fit.objective;)
    fits.push_back(fit);
  return fits;
}

template <class T>
void fit(const Options& options) {
  const auto context = context_of(options);
  const auto dataset = read<T>(context, options);
  const auto problem = problem_of(options, dataset.target, dataset.rows(), dataset.features());
  print_problem(options, problem, dataset.features(), context.threads());
  const auto peers = peer_fits(options, problem);
  double best = std::numeric_limits<double>::infinity();
  for (const auto& peer : peers) best = std::min(best, peer.objective);
  struct Row {
    double tolerance;
    Timed timed;
  };
  std::vector<Row> rows;
  for (const double tolerance : options.tolerances) {
    auto params = problem.params;
    params.tolerance = tolerance;
    rows.push_back({tolerance, time_fit(context, dataset, problem.sheaf, params, options.repeats)});
    best = std::min(best, rows.back().timed.fit.objective);
  }
  const auto solver = to_string(chosen_solver(problem.params, problem.sheaf, dataset.features()));
  for (const auto& [tolerance, timed] : rows) {
    std::printf("  sheaf %-7s tolerance %-8.1g %9.4f s %5d steps  objective %.8g  above %.2e", solver.data(), tolerance,
                timed.seconds, timed.fit.iterations, timed.fit.objective, timed.fit.objective / best - 1);
    if (std::isfinite(timed.gradient)) std::printf("  largest gradient %.1e", timed.gradient);
    // The peer's fastest fit by each of its solvers that is at least as good.
    std::map<std::string, double> seconds;
    for (const auto& peer : peers)
      if (peer.objective <= timed.fit.objective + 1e-9 * std::abs(timed.fit.objective))
        seconds[peer.solver] =
            seconds.contains(peer.solver) ? std::min(seconds[peer.solver], peer.seconds) : peer.seconds;
    for (const auto& [peer, its] : seconds)
      std::printf("  scikit-learn (%s) / sheaf %.2f", peer.c_str(), its / timed.seconds);
    std::printf("\n");
  }
  for (const auto& peer : peers)
    std::printf("  scikit-learn %s  tolerance %-8.1g %9.4f s %5.0f steps  objective %.8g  above %.2e\n",
                peer.solver.c_str(), peer.tolerance, peer.seconds, peer.iterations, peer.objective,
                peer.objective / best - 1);
  if (peers.empty()) std::printf("  scikit-learn: not found (%s without it); no ratio\n", options.python.c_str());
}

/// A number of the family of options with this mean.
double drawn(const std::string& family, double mean, Random& random) {
  const auto exponential = [&] { return -std::log(1 - random.uniform()); };
  if (family == "gamma") return mean * (exponential() + exponential()) / 2;
  int count = 0;
  for (double time = exponential(); time < mean; time += exponential()) ++count;
  if (family == "poisson") return count;
  double sum = 0;  // Tweedie's are sums of gammas, as many as a Poisson number
  for (int k = 0; k < count; ++k) sum += exponential();
  return sum;
}

void make(const Options& options) {
  Random random(1);
  constexpr int group = 5;
  std::vector<double> weights, scales;
  for (int j = 0; j < options.features; ++j) {
    scales.push_back(options.alike ? 1 : std::pow(10, 2 * random.uniform() - 1));
    weights.push_back(random.normal() / (2 * scales.back() * std::sqrt(static_cast<double>(options.features))));
  }
  FILE* file = std::fopen(options.file.c_str(), "w");
  if (file == nullptr) throw Error(options.file + " can't be written");
  for (std::int64_t i = 0; i < options.rows; ++i) {
    std::string features;
    double sum = 0;
    double shared = 0;
    for (int j = 0; j < options.features; ++j) {
      if (j % group == 0) shared = random.normal();
      const double own = options.alike ? random.normal() : 0.9 * shared + 0.45 * random.normal();
      const double value = std::round(scales[static_cast<std::size_t>(j)] * own * 1000) / 1000;
      sum += weights[static_cast<std::size_t>(j)] * value;
      fmt::format_to(std::back_inserter(features), " {}:{:.3f}", j + 1, value);
    }
    const std::string row = fmt::format("{:.4f}{}\n", drawn(options.family, std::exp(sum), random), features);
    std::fwrite(row.data(), 1, row.size(), file);
  }
  if (std::fclose(file) != 0) throw Error(options.file + " was not written to its end");
}

template <class T>
void search(const Options& options) {
  const auto context = context_of(options);
  const auto dataset = read<T>(context, options);
  auto problem = problem_of(options, dataset.target, dataset.rows(), dataset.features());
  problem.params.tolerance = options.tolerances.front();
  const auto one = time_fit(context, dataset, problem.sheaf, problem.params, options.repeats);
  SplitOptions split;
  split.count = options.folds;
  const auto folds = make_splits(dataset.rows(), problem.labels.classes, {}, split).weights(0, options.folds, 1);
  auto& sheaf = problem.sheaf;
  const double alpha = sheaf.tasks[0].alpha;
  sheaf.tasks.clear();
  sheaf.weight_columns = options.folds;
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    for (std::int32_t s = 0; s < options.folds; ++s) sheaf.row_weights.push_back(static_cast<float>(folds.train(i, s)));
  for (int k = 0; k < options.alphas; ++k)
    for (std::int32_t s = 0; s < options.folds; ++s) sheaf.tasks.push_back({s, 0, alpha * std::ldexp(1.0, 2 * k)});
  const auto all = time_fit(context, dataset, sheaf, problem.params, options.repeats);
  std::printf("%s on %s: one fit %.4f s, %zu models %.4f s: %.2f fits\n", options.precision.c_str(),
              options.device.c_str(), one.seconds, sheaf.tasks.size(), all.seconds, all.seconds / one.seconds);
}

/// How one solver came down.
struct Way {
  GlmSolver solver;
  std::vector<double> seconds, products, objectives;
};

/// Until the objective is at most `goal` or the time is over.
template <class T>
Way follow(const Context& context, const Dataset<T>& dataset, const linear::GlmProblem& problem, GlmSolver solver,
           double goal, double most_seconds) {
  struct Enough {};
  Way way{solver, {}, {}, {}};
  auto params = problem.params;
  params.solver = solver;
  params.tolerance = 1e-10;
  params.max_iterations = 1'000'000;
  const double start = now();
  params.on_step = [&](std::int32_t, const TaskFit& fit) {
    way.seconds.push_back(now() - start);
    way.products.push_back(fit.products);
    way.objectives.push_back(fit.objective);
    if (fit.objective <= goal || way.seconds.back() > most_seconds) throw Enough();
  };
  try {
    train_glms(context, dataset, problem.sheaf, params);
  } catch (const Enough&) {
  }
  return way;
}

/// Newton's method with the whole Hessian is for models of few weights.
constexpr std::int64_t most_newton_weights = 2000;

template <class T>
void solvers(const Options& options) {
  const auto context = context_of(options);
  const auto dataset = read<T>(context, options);
  const auto problem = problem_of(options, dataset.target, dataset.rows(), dataset.features());
  print_problem(options, problem, dataset.features(), context.threads());
  const double none = -std::numeric_limits<double>::infinity();
  const auto exact = follow(context, dataset, problem, GlmSolver::lbfgs, none, 3 * options.seconds);
  const double best = exact.objectives.back();
  const double goals[] = {1e-2, 1e-4, 1e-6};
  std::vector<Curve> curves;
  for (const auto solver : {GlmSolver::newton, GlmSolver::newton_cg, GlmSolver::lbfgs, GlmSolver::saga,
                            GlmSolver::accelerated, GlmSolver::gradient}) {
    if (solver == GlmSolver::newton && (dataset.features() + 1) * problem.params.columns > most_newton_weights) {
      std::printf("  %-12s not for %lld weights\n", to_string(solver).data(),
                  static_cast<long long>((dataset.features() + 1) * problem.params.columns));
      continue;
    }
    const auto way = follow(context, dataset, problem, solver, best * (1 + goals[2]), options.seconds);
    std::printf("  %-12s", to_string(solver).data());
    for (const double goal : goals) {
      std::size_t k = 0;
      while (k < way.objectives.size() && way.objectives[k] > best * (1 + goal)) ++k;
      if (k < way.objectives.size())
        std::printf("  %.0e: %5.0f products %9.4f s", goal, way.products[k], way.seconds[k]);
      else
        std::printf("  %.0e: not within %.0f s", goal, way.seconds.back());
    }
    std::printf("  at the end %.1e above %.8g\n", way.objectives.back() / best - 1, best);
    Curve curve{std::string(to_string(solver)), way.seconds, {}};
    for (const double objective : way.objectives) curve.heights.push_back(objective / best - 1);
    curves.push_back(std::move(curve));
  }
  if (!options.plot.empty())
    write_descents(options.plot, options.title.empty() ? options.file : options.title, curves, goals[2]);
}

int run(int argc, char** argv) {
  CLI::App app("Generalised linear models beside scikit-learn's, and whole searches beside one fit");
  Options options;
  app.require_subcommand(1);
  const auto shared = [&](CLI::App* command) {
    command->add_option("--device", options.device, "cpu, cuda, cuda:N");
    command->add_option("--threads", options.threads, "CPU threads (0: all)");
    command->add_option("--precision", options.precision, "float or double");
    command->add_option("--family", options.family, "as sheaf fit --family");
    command->add_option("--solver", options.solver, "as sheaf fit --solver");
    command->add_option("--storage", options.storage, "dense or sparse");
    command->add_option("--cost", options.cost, "C of scikit-learn: alpha is 1 / (C rows)");
    command->add_option("--divisor", options.divisor, "of all values");
    command->add_option("--tolerances", options.tolerances, "as sheaf fit --tolerance");
    command->add_option("--repeats", options.repeats, "best of how many");
    command->add_option("--python", options.python, "a Python that has scikit-learn");
    command->add_option("--peers", options.peers, "the folder of glm.py");
    command->add_option("file", options.file, "data")->required();
  };
  auto* one = app.add_subcommand("fit", "one fit beside scikit-learn");
  shared(one);
  auto* table = app.add_subcommand("make", "writes a table for fit");
  table->add_option("--rows", options.rows);
  table->add_option("--features", options.features);
  table->add_flag("--alike", options.alike, "independent features of one scale");
  table->add_option("--family", options.family, "poisson, gamma or tweedie")->required();
  table->add_option("file", options.file, "to write")->required();
  auto* grid = app.add_subcommand("search", "alphas x folds as one sheaf");
  shared(grid);
  grid->add_option("--alphas", options.alphas);
  grid->add_option("--folds", options.folds);
  auto* every = app.add_subcommand("solvers", "every solver, until it is near the best objective");
  shared(every);
  every->add_option("--seconds", options.seconds, "at most, a solver");
  every->add_option("--plot", options.plot, "an SVG file of how the objectives fall");
  every->add_option("--title", options.title, "of the plot");
  CLI11_PARSE(app, argc, argv);
  const bool single = options.precision == "float";
  if (table->parsed())
    make(options);
  else if (one->parsed())
    single ? fit<float>(options) : fit<double>(options);
  else if (grid->parsed())
    single ? search<float>(options) : search<double>(options);
  else
    single ? solvers<float>(options) : solvers<double>(options);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_glm", [&] { return sheaf::bench::run(argc, argv); });
}
