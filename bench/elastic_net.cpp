// Whole grids of elastic nets.
//
//   bench_elastic_net grid      table A (1,650 x 82,410, 2.5% filled) x 2 folds x 3 l1-ratios x alphas, beside
//                               scikit-learn's ElasticNet on the same grid (--python, which has it)
//   bench_elastic_net study     100 splits of it x 2 folds x 3 l1-ratios x 96 alphas
//   bench_elastic_net glmnet    100 lambdas x 10 folds on a dense table (--table), beside R's cv.glmnet (--r)
//   bench_elastic_net cox       a lasso path of Cox models, 300 x 20,000, beside R's glmnet (--r)
//   bench_elastic_net shotgun   time to converge against the number of features updated at once
//   bench_elastic_net growth    how the time grows with features, rows and alphas
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/ranges.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <sheaf/io.hpp>
#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/splits.hpp>

#include "core/fail.hpp"
#include "core/random.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  std::string device = "cpu";
  std::string precision = "double";
  std::string solver = "auto";
  std::string loss = "squared";
  bool grouped = false;
  std::string python = "/usr/bin/python3";
  std::string r = "Rscript";
  std::string peers = "bench/peers";
  std::string table;
  std::string plot;
  int threads = 0;
  int alphas = 12;
  int repeats = 3;
  int parallel = 0;
  int splits = 100;
  double tolerance = 1e-4;
  bool no_peer = false;
};

constexpr std::int64_t rows_a = 1650;
constexpr std::int64_t features_a = 82410;

/// A folder that vanishes.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("sheaf-bench-net-{}", getpid());
  Folder() { std::filesystem::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

/// 2.5% of the entries in [0, 1]; 100 features raise or lower the label.
template <class T>
Dataset<T> table_a(std::int64_t rows, std::int64_t features) {
  constexpr std::int64_t informative = 100;
  constexpr double filled = 0.025;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> indices;
  std::vector<T> values;
  std::vector<double> scores;
  for (std::int64_t i = 0; i < rows; ++i) {
    Random random(20, static_cast<std::uint64_t>(i));
    double score = 0;
    // Gaps between filled entries are geometric.
    for (std::int64_t j = -1;;) {
      j += 1 + static_cast<std::int64_t>(std::log(1 - random.uniform()) / std::log(1 - filled));
      if (j >= features) break;
      const double value = random.uniform();
      indices.push_back(static_cast<std::int32_t>(j));
      values.push_back(static_cast<T>(value));
      const std::int64_t step = std::max<std::int64_t>(1, features / informative);
      if (j % step == 0) score += (j / step) % 2 == 0 ? value : -value;
    }
    offsets.push_back(static_cast<std::int64_t>(indices.size()));
    scores.push_back(score + 0.3 * random.normal());
  }
  auto sorted = scores;
  std::nth_element(sorted.begin(), sorted.begin() + rows / 2, sorted.end());
  Dataset<T> data;
  data.x = SparseMatrix<T>{rows, features, Array<std::int64_t>::copy_of(offsets), Array<std::int32_t>::copy_of(indices),
                           Array<T>::copy_of(values)};
  data.source = "table A";
  data.target.class_names = {"1", "-1"};
  for (const double score : scores) {
    const bool positive = score >= sorted[static_cast<std::size_t>(rows / 2)];
    data.target.values.push_back(positive ? 1 : -1);
    data.target.classes.push_back(positive ? 0 : 1);
  }
  return data;
}

/// The loss in the spelling of bench_elastic_net and its peers.
std::string_view loss_name(Loss loss) {
  if (loss == Loss::logistic) return "logistic";
  if (loss == Loss::poisson) return "poisson";
  return loss == Loss::softmax ? "softmax" : "squared";
}

Context context_of(const Options& options) {
  Context::Options wanted;
  wanted.device = parse_device(options.device);
  wanted.threads = options.threads;
  return Context(wanted);
}

NetParams params_of(const Options& options) {
  NetParams params;
  params.tolerance = options.tolerance;
  params.parallel = options.parallel;
  params.grouped = options.grouped;
  for (const auto loss : {Loss::squared, Loss::logistic, Loss::poisson, Loss::softmax})
    if (options.loss == loss_name(loss)) params.loss = loss;
  for (const auto solver : {NetSolver::automatic, NetSolver::cyclic, NetSolver::shooting, NetSolver::shotgun})
    if (to_string(solver) == options.solver) params.solver = solver;
  return params;
}

const std::vector<double>& ratios() {
  static const std::vector<double> values{0.2, 0.5, 0.9};
  return values;
}

std::vector<double> grid_alphas(int count) { return alpha_path(1e-2, 1e-2, count); }

/// Rows dealt to `folds` folds, `splits` times, as training weights; the classes spread evenly.
template <class T>
NetSheaf sheaf_of(const Dataset<T>& data, std::int32_t folds, std::int32_t splits, const std::vector<double>& l1,
                  const std::vector<double>& alphas) {
  NetSheaf sheaf;
  sheaf.examples = data.rows();
  sheaf.targets = data.target.values;
  sheaf.weight_columns = folds * splits;
  sheaf.row_weights.assign(static_cast<std::size_t>(data.rows()) * static_cast<std::size_t>(folds * splits), 1.0F);
  for (std::int32_t s = 0; s < splits; ++s) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(data.rows()));
    std::iota(order.begin(), order.end(), 0);
    Random random(5, static_cast<std::uint64_t>(s));
    random.shuffle(std::span(order));
    for (std::size_t k = 0; k < order.size(); ++k)
      sheaf.row_weights[static_cast<std::size_t>(order[k]) * static_cast<std::size_t>(folds * splits) +
                        static_cast<std::size_t>(s * folds) + k % static_cast<std::size_t>(folds)] = 0;
  }
  for (std::int32_t c = 0; c < folds * splits; ++c)
    for (const double ratio : l1) sheaf.paths.push_back({c, 0, ratio, alphas});
  return sheaf;
}

struct Trained {
  double seconds = 1e300;
  double processor = 1e300;  // seconds of all threads together, the fewest of all repeats
  std::int64_t models = 0, unconverged = 0, nonzeros = 0, epochs = 0;
  std::vector<NetModel> list;
};

template <class T>
Trained train(const Context& context, const Dataset<T>& data, const NetSheaf& sheaf, const NetParams& params,
              int repeats) {
  Trained best;
  for (int turn = 0; turn < repeats; ++turn) {
    Trained now_trained;
    const double start = now();
    const double processor = processor_seconds();
    elastic_nets<T>(context, data, sheaf, params, false, [&](std::span<NetModel> models, BlockView<const T>) {
      for (auto& model : models) {
        ++now_trained.models;
        now_trained.unconverged += model.fit.converged ? 0 : 1;
        now_trained.nonzeros += model.fit.nonzeros;
        now_trained.epochs += model.fit.epochs;
        now_trained.list.push_back(std::move(model));
      }
    });
    now_trained.seconds = now() - start;
    now_trained.processor = std::min(best.processor, processor_seconds() - processor);
    best.processor = now_trained.processor;
    if (now_trained.seconds < best.seconds) best = std::move(now_trained);
  }
  return best;
}

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail("cannot run: {}", command);
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  return pclose(pipe) == 0 ? text : "";
}

void write_folds(const std::string& path, const NetSheaf& sheaf) {
  std::ofstream file(path);
  for (std::int64_t i = 0; i < sheaf.examples; ++i)
    for (std::int32_t c = 0; c < sheaf.weight_columns; ++c)
      if (sheaf.row_weights[static_cast<std::size_t>(i * sheaf.weight_columns + c)] == 0) file << c << "\n";
}

template <class T>
void compare_with_sklearn(const Options& options, const Dataset<T>& data, const NetSheaf& sheaf,
                          const Trained& trained) {
  if (options.no_peer) return;
  const Folder folder;
  write_dataset(context_of({}), data, folder / "a.libsvm");
  write_folds(folder / "folds", sheaf);
  const auto text = output_of(fmt::format("{} {}/elastic_net_grid.py {} {} {} {} 2 {}", options.python, options.peers,
                                          folder / "a.libsvm", folder / "folds", fmt::join(sheaf.paths[0].alphas, ","),
                                          fmt::join(ratios(), ","), options.tolerance));
  std::istringstream lines(text);
  double seconds = 0;
  if (!(lines >> seconds)) {
    fmt::print("scikit-learn: not found ({} without it); no ratio\n", options.python);
    return;
  }
  double worst = -1e300, nonzeros = 0;
  std::int64_t converged = 0;
  double fold = 0, ratio = 0, alpha = 0, objective = 0, size = 0, fine = 0;
  while (lines >> fold >> ratio >> alpha >> objective >> size >> fine) {
    nonzeros += size;
    converged += fine > 0 ? 1 : 0;
    for (const auto& model : trained.list) {
      const auto& path = sheaf.paths[static_cast<std::size_t>(model.path)];
      if (path.rows != static_cast<std::int32_t>(fold) || path.l1_ratio != ratio) continue;
      if (std::abs(path.alphas[static_cast<std::size_t>(model.alpha)] / alpha - 1) > 1e-9) continue;
      worst = std::max(worst, model.fit.objective - objective);
    }
  }
  fmt::print(
      "scikit-learn, 2 jobs: {:.2f} s, {} converged, {:.0f} nonzeros; our objective exceeds its by at most {:.2e} "
      "(tolerance {:.1e})\nratio {:.1f}\n",
      seconds, converged, nonzeros, worst, options.tolerance, seconds / trained.seconds);
}

void print_trained(const std::string& what, const Trained& trained) {
  fmt::print(
      "{}: {:.4f} s ({:.4f} processor seconds), {} models, {} not converged, {:.1f} nonzeros and {:.1f} epochs a "
      "model\n",
      what, trained.seconds, trained.processor, trained.models, trained.unconverged,
      static_cast<double>(trained.nonzeros) / static_cast<double>(trained.models),
      static_cast<double>(trained.epochs) / static_cast<double>(trained.models));
  std::fflush(stdout);
}

template <class T>
void run_grid(const Options& options) {
  const auto data = table_a<T>(rows_a, features_a);
  const auto context = context_of(options);
  const auto sheaf = sheaf_of(data, 2, 1, ratios(), grid_alphas(options.alphas));
  const auto trained = train(context, data, sheaf, params_of(options), options.repeats);
  print_trained(
      fmt::format("table A, {} alphas, {} {} {}", options.alphas, options.device, options.precision, options.solver),
      trained);
  if (context.device().is_cpu()) compare_with_sklearn(options, data, sheaf, trained);
}

template <class T>
void run_study(const Options& options) {
  const auto data = table_a<T>(rows_a, features_a);
  const auto sheaf = sheaf_of(data, 2, options.splits, ratios(), grid_alphas(options.alphas));
  const auto trained = train(context_of(options), data, sheaf, params_of(options), options.repeats);
  print_trained(fmt::format("{} splits of table A, {} alphas, {} {}", options.splits, options.alphas, options.device,
                            options.precision),
                trained);
}

/// Counts whose logarithm's mean is 0.3 times the sum of the first five features, each of mean 0 and variance 1.
template <class T>
std::vector<double> counts_of(const DenseMatrix<T>& x) {
  std::vector<double> sums(static_cast<std::size_t>(x.rows), 0.0);
  for (std::int64_t j = 0; j < std::min<std::int64_t>(5, x.columns); ++j) {
    double mean = 0, square = 0;
    for (std::int64_t i = 0; i < x.rows; ++i) {
      const double value = x.values[i * x.columns + j];
      mean += value / static_cast<double>(x.rows);
      square += value * value / static_cast<double>(x.rows);
    }
    const double deviation = std::sqrt(std::max(square - mean * mean, 1e-300));
    for (std::int64_t i = 0; i < x.rows; ++i)
      sums[static_cast<std::size_t>(i)] += (double(x.values[i * x.columns + j]) - mean) / deviation;
  }
  Random random(4);
  for (double& value : sums) value = static_cast<double>(random.poisson(std::exp(0.3 * value)));
  return sums;
}

/// Rows of classes with at least eight: others may be missing in a fold's training rows, which glmnet refuses.
template <class T>
void keep_large_classes(Dataset<T>& data) {
  std::vector<std::int64_t> sizes(data.target.class_names.size(), 0);
  for (const auto c : data.target.classes) ++sizes[static_cast<std::size_t>(c)];
  std::vector<std::int32_t> place(sizes.size(), -1);
  std::int32_t classes = 0;
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] >= 8) place[c] = classes++;
  auto& x = std::get<DenseMatrix<T>>(data.x);
  std::vector<T> values;
  std::vector<std::int32_t> kept;
  for (std::int64_t i = 0; i < x.rows; ++i) {
    const auto c = place[static_cast<std::size_t>(data.target.classes[static_cast<std::size_t>(i)])];
    if (c < 0) continue;
    kept.push_back(c);
    const T* row = x.values.data() + i * x.columns;
    values.insert(values.end(), row, row + x.columns);
  }
  x = {static_cast<std::int64_t>(kept.size()), x.columns, Array<T>::copy_of(values)};
  data.target.class_names.resize(static_cast<std::size_t>(classes));
  data.target.values.assign(kept.begin(), kept.end());
  data.target.classes.assign(kept.begin(), kept.end());
}

/// The dense table of a comparison with glmnet, with the targets of the loss.
template <class T>
Dataset<T> table_for_glmnet(const Context& context, const Options& options, Loss loss) {
  auto data = read_dataset<T>(context, options.table);
  if (is_sparse(data.x)) data.x = to_dense(std::get<SparseMatrix<T>>(data.x), context.threads());
  if (loss == Loss::softmax) keep_large_classes(data);
  if (loss == Loss::poisson) data.target.values = counts_of(std::get<DenseMatrix<T>>(data.x));
  if (loss == Loss::logistic)
    for (auto& y : data.target.values) y = y > 0 ? 1 : -1;
  return data;
}

/// Ten folds and all rows, without alphas.
template <class T>
NetSheaf folds_and_all(const Dataset<T>& data, Loss loss) {
  const auto folds = sheaf_of(data, 10, 1, {}, {});
  NetSheaf all = folds;
  all.weight_columns = 11;
  all.row_weights.clear();
  for (std::int64_t i = 0; i < data.rows(); ++i) {
    for (std::int32_t c = 0; c < 10; ++c)
      all.row_weights.push_back(folds.row_weights[static_cast<std::size_t>(i * 10 + c)]);
    all.row_weights.push_back(1.0F);
  }
  for (std::int32_t c = 0; c < 11; ++c) all.paths.push_back({c, 0, 1.0, {}});
  if (loss == Loss::softmax) {
    all.classes = all.target_columns = static_cast<std::int32_t>(data.target.class_names.size());
    all.targets.clear();
    for (const auto own : data.target.classes)
      for (std::int32_t c = 0; c < all.classes; ++c) all.targets.push_back(c == own ? 1 : 0);
  }
  return all;
}

template <class T>
void write_table(const std::string& path, const Dataset<T>& data) {
  std::ofstream csv(path);
  const auto& x = std::get<DenseMatrix<T>>(data.x);
  for (std::int64_t i = 0; i < x.rows; ++i) {
    csv << data.target.values[static_cast<std::size_t>(i)];
    for (std::int64_t j = 0; j < x.columns; ++j) csv << ',' << fmt::format("{}", x.values[i * x.columns + j]);
    csv << '\n';
  }
}

/// glmnet's own lambdas: those of all rows, standardised, for every fold; as its users call it.
template <class T>
void run_glmnet(const Options& options) {
  if (options.table.empty()) fail_usage("give a table (--table)");
  const auto context = context_of(options);
  auto params = params_of(options);
  params.standardise = true;
  const auto data = table_for_glmnet<T>(context, options, params.loss);
  auto sheaf = folds_and_all(data, params.loss);
  auto whole = sheaf;
  whole.paths = {{10, 0, 1.0, {}}};
  Trained best;
  for (int turn = 0; turn < options.repeats; ++turn) {
    const double start = now();
    const double processor = processor_seconds();
    const auto largest = largest_alphas<T>(context, data, whole, params)[0];
    const auto alphas = alpha_path(largest, data.rows() < data.features() ? 0.01 : 1e-4, 100);
    for (auto& path : sheaf.paths) path.alphas = alphas;
    auto trained = train(context, data, sheaf, params, 1);
    trained.seconds = now() - start;
    trained.processor = std::min(best.processor, processor_seconds() - processor);
    best.processor = trained.processor;
    if (trained.seconds < best.seconds) best = std::move(trained);
  }
  print_trained(fmt::format("{} ({} x {}) {}, 100 alphas x 10 folds and all rows", options.table, data.rows(),
                            data.features(), options.loss + (options.grouped ? ", grouped" : "")),
                best);
  if (options.no_peer) return;
  const Folder folder;
  write_table(folder / "table.csv", data);
  write_folds(folder / "folds", sheaf_of(data, 10, 1, {}, {}));
  const std::string_view family = params.loss == Loss::logistic  ? "binomial"
                                  : params.loss == Loss::poisson ? "poisson"
                                  : params.loss == Loss::softmax ? "multinomial"
                                                                 : "gaussian";
  std::istringstream text(
      output_of(fmt::format("{} {}/cv_glmnet.R {} {} {} 2 {} {}", options.r, options.peers, folder / "table.csv",
                            family, folder / "folds", options.repeats, options.grouped ? "grouped" : "ungrouped")));
  double seconds = 0, lambdas = 0, lambda = 0, score = 0, processes = 0, processor = 0;
  if (!(text >> seconds >> lambdas >> lambda >> score >> processes >> processor)) {
    fmt::print("glmnet: not found ({} without it); no ratio\n", options.r);
    return;
  }
  fmt::print(
      "cv.glmnet, {:.0f} processes: {:.3f} s ({:.3f} processor seconds), {:.0f} lambdas; ratio {:.1f}, of processor "
      "seconds {:.1f}\n",
      processes, seconds, processor, lambdas, seconds / best.seconds, processor / best.processor);
  double null = 0, objective = 0, least = 1e300, most = -1e300;
  std::vector<double> peers;
  text >> null;
  while (text >> objective) peers.push_back(objective);
  for (const auto& model : best.list)
    if (model.path == 10 && model.column == 0 && static_cast<std::size_t>(model.alpha) < peers.size()) {
      const double above = (peers[static_cast<std::size_t>(model.alpha)] - model.fit.objective) / null;
      least = std::min(least, above);
      most = std::max(most, above);
    }
  fmt::print("its objectives on all rows are {:.2g} to {:.2g} of the deviance above Sheaf's\n", least, most);
}

/// Normal features, of which the first 20 matter; times differ, and about 30 % are censored.
template <class T>
Dataset<T> survival_table(std::int64_t rows, std::int64_t features) {
  Random random(1);
  Dataset<T> data;
  DenseMatrix<T> x{rows, features, Array<T>(rows * features)};
  for (auto& value : x.values) value = static_cast<T>(random.normal());
  std::vector<double> weights;
  for (int j = 0; j < 20; ++j) weights.push_back(random.normal() / 2);
  for (std::int64_t i = 0; i < rows; ++i) {
    double z = 0;
    for (std::size_t j = 0; j < weights.size(); ++j)
      z += weights[j] * static_cast<double>(x.values[i * features + static_cast<std::int64_t>(j)]);
    data.target.values.push_back(-std::log(random.uniform()) * std::exp(-z));
    data.target.events.push_back(random.uniform() < 0.7 ? 1 : 0);
  }
  data.x = std::move(x);
  return data;
}

/// 100 lambdas down to 1/100 of the largest, standardised, as glmnet's users call it.
template <class T>
void run_cox(const Options& options) {
  const auto context = context_of(options);
  const auto data = survival_table<T>(300, 20000);
  const auto& x = std::get<DenseMatrix<T>>(data.x);
  auto params = params_of(options);
  params.loss = Loss::cox;
  params.standardise = true;
  NetSheaf sheaf;
  sheaf.examples = data.rows();
  sheaf.risk.times = data.target.values;
  sheaf.targets.assign(data.target.events.begin(), data.target.events.end());
  sheaf.paths = {{0, 0, 1.0, {}}};
  sheaf.paths[0].alphas = alpha_path(largest_alphas<T>(context, data, sheaf, params)[0], 0.01, 100);
  const auto trained = train(context, data, sheaf, params, options.repeats);
  print_trained("Cox lasso, 300 x 20,000, 100 alphas", trained);
  if (options.no_peer) return;
  const Folder folder;
  std::ofstream table(folder / "table", std::ios::binary);
  const auto write = [&](double value) { table.write(reinterpret_cast<const char*>(&value), sizeof value); };
  for (std::int64_t j = 0; j < x.columns; ++j)
    for (std::int64_t i = 0; i < x.rows; ++i) write(static_cast<double>(x.values[i * x.columns + j]));
  for (const double time : sheaf.risk.times) write(time);
  for (const double event : sheaf.targets) write(event);
  table.close();
  std::istringstream text(output_of(fmt::format("{} {}/glmnet_cox.R {} {} {} {}", options.r, options.peers,
                                                folder / "table", x.rows, x.columns + 2, options.repeats)));
  double seconds = 0, processor = 0, lambdas = 0, lambda = 0, objective = 0;
  if (!(text >> seconds >> processor >> lambdas >> lambda >> objective)) {
    fmt::print("glmnet: not found ({} without it); no ratio\n", options.r);
    return;
  }
  sheaf.paths[0].alphas = {lambda};
  const auto same = train(context, data, sheaf, params, 1);
  fmt::print(
      "glmnet: {:.3f} s ({:.3f} processor seconds), {:.0f} lambdas; ratio {:.1f}, of processor seconds {:.1f}; at its "
      "last lambda its objective is {:.3g} above Sheaf's\n",
      seconds, processor, lambdas, seconds / trained.seconds, processor / trained.processor,
      objective - same.list[0].fit.objective);
}

/// Paper 000, figures 5.4 and 5.5: copies of one model, l1-ratio 0.5, alpha 0.1 and 0.01, here of this table's scale.
template <class T>
void run_shotgun(const Options& options) {
  const auto data = table_a<T>(rows_a, features_a);
  const auto context = context_of(options);
  auto params = params_of(options);
  params.solver = NetSolver::shotgun;
  for (const double alpha : {1e-2, 1e-3})
    for (const int copies : {10, 100}) {
      if (context.device().is_cpu() && copies > 10) continue;
      auto sheaf = sheaf_of(data, 2, 1, {}, {});
      for (int c = 0; c < copies; ++c) sheaf.paths.push_back({c % 2, 0, 0.5, {alpha}});
      double best = 1e300;
      for (int parallel = 1; parallel <= 4096; parallel *= 4) {
        params.parallel = parallel;
        const auto trained = train(context, data, sheaf, params, 1);
        best = std::min(best, trained.seconds);
        fmt::print("alpha {} x {} models, P {}: {:.3f} s, {:.1f} epochs, P at the end {}\n", alpha, copies, parallel,
                   trained.seconds, static_cast<double>(trained.epochs) / copies, trained.list[0].fit.parallel);
        std::fflush(stdout);
      }
      params.parallel = 0;
      const auto trained = train(context, data, sheaf, params, 1);
      fmt::print("alpha {} x {} models, P auto: {:.3f} s, {:.1f} epochs, P at the end {}; {:.2f} of the best\n", alpha,
                 copies, trained.seconds, static_cast<double>(trained.epochs) / copies, trained.list[0].fit.parallel,
                 trained.seconds / best);
      std::fflush(stdout);
    }
}

/// In processor seconds on the CPU, whose cores other programs may share.
template <class T>
void run_growth(const Options& options) {
  const auto context = context_of(options);
  const bool on_cpu = context.device().is_cpu();
  const auto params = params_of(options);
  std::vector<GrowthCurve> curves;
  const auto measure = [&](const std::string& name, int most, const auto& make) {
    GrowthCurve curve{name, {}, {}};
    for (int factor = 1; factor <= most; factor *= (most > 16 ? 4 : 2)) {
      curve.factors.push_back(factor);
      curve.seconds.push_back(make(factor));
      fmt::print("{} x{}: {:.4f} s\n", name, factor, curve.seconds.back());
      std::fflush(stdout);
    }
    curves.push_back(std::move(curve));
  };
  const auto timed = [&](std::int64_t rows, std::int64_t features, int alphas) {
    const auto data = table_a<T>(rows, features);
    const auto sheaf = sheaf_of(data, 2, 1, ratios(), grid_alphas(alphas));
    const auto trained = train(context, data, sheaf, params, options.repeats);
    return on_cpu ? trained.processor : trained.seconds;
  };
  measure("features", 16, [&](int f) { return timed(rows_a, features_a / 8 * f, 12); });
  measure("rows", 16, [&](int f) { return timed(rows_a / 8 * f, features_a / 2, 12); });
  measure("alphas", 256, [&](int f) { return timed(rows_a, features_a, 3 * f); });
  if (!options.plot.empty())
    write_growth(
        options.plot,
        fmt::format("Growth of a grid of elastic nets ({}{})", options.device, on_cpu ? ", processor seconds" : ""),
        curves);
}

template <class T>
void run(const std::string& mode, const Options& options) {
  if (mode == "grid") run_grid<T>(options);
  if (mode == "study") run_study<T>(options);
  if (mode == "glmnet") run_glmnet<T>(options);
  if (mode == "cox") run_cox<T>(options);
  if (mode == "shotgun") run_shotgun<T>(options);
  if (mode == "growth") run_growth<T>(options);
}

int main_of(int argc, char** argv) {
  CLI::App app("Whole grids of elastic nets");
  Options options;
  std::string mode;
  app.add_option("mode", mode)
      ->required()
      ->check(CLI::IsMember({"grid", "study", "glmnet", "cox", "shotgun", "growth"}));
  app.add_option("--device", options.device);
  app.add_option("--precision", options.precision)->check(CLI::IsMember({"float", "double"}));
  app.add_option("--solver", options.solver)->check(CLI::IsMember({"auto", "cyclic", "shooting", "shotgun"}));
  app.add_option("--loss", options.loss)->check(CLI::IsMember({"squared", "logistic", "poisson", "softmax"}));
  app.add_flag("--grouped", options.grouped, "softmax: penalise a feature's weights in all classes together");
  app.add_option("--threads", options.threads);
  app.add_option("--alphas", options.alphas);
  app.add_option("--parallel", options.parallel);
  app.add_option("--splits", options.splits);
  app.add_option("--repeats", options.repeats);
  app.add_option("--tolerance", options.tolerance);
  app.add_option("--table", options.table);
  app.add_option("--plot", options.plot, "growth: where to draw it (SVG)");
  app.add_option("--python", options.python, "a Python that has scikit-learn");
  app.add_option("--r", options.r, "Rscript with glmnet");
  app.add_option("--peers", options.peers, "folder of the peers' scripts");
  app.add_flag("--no-peer", options.no_peer);
  CLI11_PARSE(app, argc, argv);
  if (options.precision == "float")
    run<float>(mode, options);
  else
    run<double>(mode, options);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_elastic_net", [&] { return sheaf::bench::main_of(argc, argv); });
}
