// Nearest neighbours of rows among themselves, of a table or of --rows x --features normal numbers, beside
// scikit-learn's brute force, its k-d tree if there are few features, and FAISS's IndexFlatL2 if --python has them; the
// floor of the products on this machine; growth in rows, features, k and queries; a search over k, votes and folds
// beside one search for neighbours; adaptive local hyperplanes over many K, lambda and temperatures; local SVMs over
// many K and costs; and a distance matrix in a file beside a plain write of as many bytes. Seconds are those of the
// clock and, if other work shares the machine, of the processors.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sheaf/io.hpp>
#include <sheaf/neighbors.hpp>
#include <sheaf/search.hpp>

#include "core/random.hpp"
#include "data/labels.hpp"
#include "neighbors/model/decide.hpp"
#include "neighbors/model/weights.hpp"
#include "neighbors/verbs/ops.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  std::string mode = "peers", table, test, device = "cpu", metric = "euclidean", python = "/usr/bin/python3",
              peers = "bench/peers", plot, folder = ".";
  std::vector<std::int64_t> ks{10, 100};
  std::int64_t rows = 0, features = 100;
  int threads = 0, rounds = 2;
  bool no_peer = false, sparse = false, upper = false;
};

Context context_of(const Options& options) {
  Context::Options inside;
  inside.device = parse_device(options.device);
  inside.threads = options.threads;
  return Context(inside);
}

DistanceType metric_of(const std::string& name) {
  for (const auto& function : distance_functions())
    if (function.name == name) return function.type;
  throw UsageError("an unknown metric: " + name);
}

/// The first rows of the table.
Dataset<float> read(const Options& options) {
  ReadOptions reading;
  reading.storage = options.sparse ? Storage::sparse : Storage::dense;
  auto dataset = read_dataset<float>(context_of(options).with({.device = Device::cpu()}), options.table, reading);
  if (options.rows <= 0 || options.rows >= dataset.rows()) return dataset;
  const auto rows = options.rows;
  if (auto* dense = std::get_if<DenseMatrix<float>>(&dataset.x)) {
    dense->values = Array<float>::copy_of(dense->values.span().first(static_cast<std::size_t>(rows * dense->columns)));
    dense->rows = rows;
  } else {
    auto& sparse = std::get<SparseMatrix<float>>(dataset.x);
    const auto entries = static_cast<std::size_t>(sparse.offsets[rows]);
    sparse.offsets = Array<std::int64_t>::copy_of(sparse.offsets.span().first(static_cast<std::size_t>(rows) + 1));
    sparse.indices = Array<std::int32_t>::copy_of(sparse.indices.span().first(entries));
    sparse.values = Array<float>::copy_of(sparse.values.span().first(entries));
    sparse.rows = rows;
  }
  dataset.target.classes.resize(std::min(dataset.target.classes.size(), static_cast<std::size_t>(rows)));
  dataset.target.values.resize(std::min(dataset.target.values.size(), static_cast<std::size_t>(rows)));
  return dataset;
}

/// The best of several rounds, by the clock and of all processors together.
struct Seconds {
  double clock = 1e300;
  double processors = 1e300;
};

template <class Work>
Seconds best_of(int rounds, const Work& work) {
  Seconds best;
  for (int round = 0; round < rounds; ++round) {
    const double begin = now();
    const double used = processor_seconds();
    work();
    best.clock = std::min(best.clock, now() - begin);
    best.processors = std::min(best.processors, processor_seconds() - used);
  }
  return best;
}

Seconds best_seconds(const Options& options, const Dataset<float>& dataset, std::int64_t k) {
  NeighborOptions near;
  near.distance.metric = metric_of(options.metric);
  near.k = k;
  const auto context = context_of(options);
  return best_of(options.rounds, [&] { static_cast<void>(find_neighbors(context, dataset, near)); });
}

/// The search alone, of rows that lie on the device already.
double best_resident_seconds(const Options& options, const Dataset<float>& dataset, std::int64_t k) {
  DistanceOptions distance;
  distance.metric = metric_of(options.metric);
  const auto context = context_of(options);
  const auto pair = neighbors::make_row_pair<float>(context, dataset, nullptr, distance);
  const auto ops = neighbors::make_ops(context, pair);
  std::vector<std::int32_t> indices(static_cast<std::size_t>(dataset.rows() * k));
  std::vector<double> distances(indices.size());
  ops->nearest({}, k, indices, distances);
  return best_of(options.rounds, [&] { ops->nearest({}, k, indices, distances); }).clock;
}

std::string output_of(const std::string& command) {
  std::string text;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer{};
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  pclose(pipe);
  return text;
}

Dataset<float> normal_rows(std::int64_t rows, std::int64_t features) {
  Dataset<float> dataset;
  DenseMatrix<float> x{rows, features, Array<float>(rows * features)};
  Random random(1);
  for (float& value : x.values) value = static_cast<float>(random.normal());
  dataset.x = std::move(x);
  return dataset;
}

void run_peers(const Options& options) {
  const auto dataset = options.table.empty() ? normal_rows(options.rows, options.features) : read(options);
  const auto n = static_cast<double>(dataset.rows());
  // Half of all products of rows: the least that a filter by products must do.
  const double operations = n * n * static_cast<double>(stored(dataset.x)) / n;
  fmt::print("{}: {} rows x {} features, {}, {}\n", options.table.empty() ? "normal" : options.table, dataset.rows(),
             dataset.features(), options.metric, options.device);
  std::vector<Seconds> ours;
  for (const auto k : options.ks) {
    ours.push_back(best_seconds(options, dataset, k));
    fmt::print(
        "  sheaf         k = {:<5} {:8.3f} s, {:8.3f} s of the processors, {:.1f} billion operations a second of those "
        "needed\n",
        k, ours.back().clock, ours.back().processors, operations / ours.back().clock / 1e9);
    fmt::print("  sheaf         k = {:<5} {:8.3f} s of rows that lie on the device\n", k,
               best_resident_seconds(options, dataset, k));
  }
  if (options.no_peer) return;
  const auto path = (std::filesystem::temp_directory_path() / fmt::format("sheaf-bench-{}.svm", getpid())).string();
  write_dataset(context_of(options), dataset, path, {.format = "libsvm"});
  std::string ks;
  for (const auto k : options.ks) ks += fmt::format("{}{}", ks.empty() ? "" : ",", k);
  std::istringstream lines(
      output_of(fmt::format("{} {}/neighbors.py {} {} {} {} {} {} {} 2>/dev/null", options.python, options.peers, path,
                            0, options.metric, options.threads > 0 ? options.threads : available_threads(),
                            options.sparse ? "sparse" : "dense", ks, options.rounds)));
  std::filesystem::remove(path);
  std::string name;
  std::int64_t k = 0;
  Seconds theirs;
  bool any = false;
  while (lines >> name >> k >> theirs.clock >> theirs.processors) {
    any = true;
    const auto at = static_cast<std::size_t>(std::find(options.ks.begin(), options.ks.end(), k) - options.ks.begin());
    fmt::print("  {:<13} k = {:<5} {:8.3f} s, {:8.3f} s of the processors: {:.2f} and {:.2f} times as long\n", name, k,
               theirs.clock, theirs.processors, theirs.clock / ours[at].clock, theirs.processors / ours[at].processors);
  }
  if (!any) fmt::print("  scikit-learn: not found ({} without it); no ratio\n", options.python);
}

/// Doubles the rows, the features, k, and the queries beside rows that stay.
void run_growth(const Options& options) {
  const auto context = context_of(options);
  // A GPU gets more rows: it would finish the two cores' problem in no time.
  const std::int64_t rows = context.device().is_cpu() ? 4000 : 64000;
  const std::int64_t features = 64;
  std::vector<GrowthCurve> curves;
  for (const std::string what : {"rows", "features", "k", "queries"}) {
    GrowthCurve curve{what, {}, {}};
    for (const std::int64_t factor : {1, 2, 4, 8}) {
      const auto times = [&](const std::string& name) { return what == name ? factor : 1; };
      const auto dataset = normal_rows(rows * times("rows"), features * times("features"));
      const auto queries = normal_rows(rows / 4 * times("queries"), features);
      NeighborOptions near;
      near.distance.metric = metric_of(options.metric);
      near.k = 10 * times("k");
      const double seconds =
          best_of(options.rounds, [&] {
            static_cast<void>(find_neighbors(context, dataset, near, what == "queries" ? &queries : nullptr));
          }).clock;
      fmt::print("{:>8} x {}: {} rows x {} features, k = {}, {} queries: {:.3f} s\n", what, factor, dataset.rows(),
                 dataset.features(), near.k, what == "queries" ? queries.rows() : dataset.rows(), seconds);
      curve.factors.push_back(static_cast<double>(factor));
      curve.seconds.push_back(seconds);
    }
    curves.push_back(std::move(curve));
  }
  if (!options.plot.empty()) write_growth(options.plot, fmt::format("Nearest neighbours ({})", options.device), curves);
}

/// Rows of normal numbers against themselves.
void run_size(const Options& options) {
  const auto dataset = normal_rows(options.rows, options.features);
  for (const auto k : options.ks)
    fmt::print("{} rows x {} features, {}, k = {}: {:.3f} s, of rows that lie on the device {:.3f} s\n", dataset.rows(),
               dataset.features(), options.metric, k, best_seconds(options, dataset, k).clock,
               best_resident_seconds(options, dataset, k));
}

/// Thirty values of k, three votes and ten folds beside one search with the largest k.
void run_search(const Options& options) {
  const auto dataset = read(options);
  SearchSpace family(KnnOptions{});
  for (std::int64_t k = 1; k <= 59; k += 2) family["k"].numbers.push_back(static_cast<double>(k));
  family["vote"] = {"uniform", "inverse-distance", "gaussian"};
  family.get<KnnOptions>().labels = LabelKind::classes;
  SearchOptions searching;
  searching.folds = 10;
  const auto one = best_seconds(options, dataset, static_cast<std::int64_t>(family.numbers("k").back()));
  const auto all = best_of(
      options.rounds, [&] { static_cast<void>(search(context_of(options), dataset, SearchSpace(family), searching)); });
  fmt::print(
      "{}: {} rows x {} features; one search for {} neighbours {:.3f} s ({:.3f} s of the processors); 30 k x 3 votes x "
      "10 folds {:.3f} s ({:.3f}), {:.2f} times as long ({:.2f})\n",
      options.table, dataset.rows(), dataset.features(), family.numbers("k").back(), one.clock, one.processors,
      all.clock, all.processors, all.clock / one.clock, all.processors / one.processors);
}

/// Every setting on the test rows, by models trained on all rows of the table.
template <class Decide>
void run_local(const Options& options, const char* what, const Decide& decide) {
  if (options.test.empty()) throw UsageError("--test FILE is missing: the rows to decide about");
  const auto context = context_of(options);
  const auto dataset = read(options);
  ReadOptions reading;
  reading.storage = Storage::dense;
  reading.features = dataset.features();
  const auto test = read_dataset<float>(context.with({.device = Device::cpu()}), options.test, reading);
  const auto labels = make_labels(dataset.target, dataset.source, dataset.rows(), false, "--labels");
  std::vector<std::int32_t> rows(static_cast<std::size_t>(dataset.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  std::size_t settings = 0;
  const auto best = best_of(options.rounds, [&] { settings = decide(context, dataset, labels, rows, test.x); });
  fmt::print("{}: {} rows, {} test rows, {}: {:.3f} s ({:.3f} s of the processors) for {} settings\n", options.table,
             dataset.rows(), test.rows(), what, best.clock, best.processors, settings);
}

/// 20 values of K, 5 of lambda, 4 temperatures.
void run_alh(const Options& options) {
  run_local(options, "adaptive local hyperplanes",
            [&](const Context& context, const Dataset<float>& dataset, const Labels& labels,
                std::span<const std::int32_t> rows, const Matrix<float>& queries) {
              std::vector<neighbors::LocalSetting> settings;
              for (std::int64_t k = 2; k <= 40; k += 2)
                for (const double lambda : {0.01, 0.1, 1.0, 10.0, 100.0}) settings.push_back({k, lambda});
              std::size_t count = 0;
              for (const double temperature : {0.0, 0.5, 1.0, 2.0}) {
                KnnOptions local;
                local.rule = LocalRule::hyperplane;
                local.weighting = FeatureWeighting::class_ratio;
                local.temperature = temperature;
                const auto weights = neighbors::learn_weights(context, dataset, labels, rows, local);
                count += neighbors::decide_by_costs(context, local, weights, settings, dataset, labels, rows,
                                                    neighbors::Asked<float>{queries, {}})
                             .settings;
              }
              return count;
            });
}

/// 4 values of K, 5 costs; SVM-KNN and FaLK-SVM.
void run_local_svm(const Options& options) {
  for (const auto rule : {LocalRule::local_svm, LocalRule::falk_svm})
    run_local(options, rule == LocalRule::local_svm ? "local SVMs" : "local SVMs around centres",
              [&](const Context& context, const Dataset<float>& dataset, const Labels& labels,
                  std::span<const std::int32_t> rows, const Matrix<float>& queries) {
                std::vector<neighbors::LocalSetting> settings;
                for (const std::int64_t k : {10, 20, 40, 80})
                  for (const double cost : {0.01, 0.1, 1.0, 10.0, 100.0}) settings.push_back({k, 1, cost});
                KnnOptions local;
                local.rule = rule;
                return neighbors::decide_by_svms(context, local, {}, settings, dataset, labels, {rows, {}, {}},
                                                 neighbors::Asked<float>{queries, {}})
                    .settings;
              });
}

/// A file of so many bytes as the disk takes them: blocks of 64 MiB, and the wait until they are there.
double plain_write_seconds(const std::string& path, std::int64_t bytes) {
  const std::vector<double> block((std::size_t{64} << 20) / sizeof(double), 1.5);
  const double begin = now();
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) throw UsageError(path + " cannot be written");
  for (auto left = static_cast<std::size_t>(bytes); left > 0;) {
    const auto written = ::write(file, block.data(), std::min(left, block.size() * sizeof(double)));
    if (written <= 0) throw UsageError(path + " cannot be written");
    left -= static_cast<std::size_t>(written);
  }
  ::fsync(file);
  ::close(file);
  return now() - begin;
}

/// All distances to a file beside a plain write, both until the disk has them.
void run_file(const Options& options) {
  const auto dataset = read(options);
  const auto path = (std::filesystem::path(options.folder) / fmt::format("sheaf-bench-{}.npy", getpid())).string();
  DistanceOptions distance;
  distance.metric = metric_of(options.metric);
  MatrixFileOptions file;
  file.upper = options.upper;
  std::int64_t bytes = 0;
  double plain = 1e300;
  const auto best = best_of(options.rounds, [&] {
    write_distances(context_of(options), dataset, distance, path, file);
    bytes = static_cast<std::int64_t>(std::filesystem::file_size(path));
    std::filesystem::remove(path);
  });
  for (int round = 0; round < options.rounds; ++round) {
    plain = std::min(plain, plain_write_seconds(path, bytes));
    std::filesystem::remove(path);
  }
  const auto gigabytes = static_cast<double>(bytes) / 1e9;
  fmt::print(
      "{}: distances of {} rows x {} features, {}, {}: {:.2f} GB in {:.2f} s ({:.2f} s of the processors), {:.2f} "
      "GB/s; "
      "a plain write {:.2f} s, {:.2f} GB/s: {:.2f} times as long\n",
      options.table, dataset.rows(), dataset.features(), options.metric, options.device, gigabytes, best.clock,
      best.processors, gigabytes / best.clock, plain, gigabytes / plain, best.clock / plain);
}

int main_of(int argc, char** argv) {
  CLI::App app("Nearest neighbours");
  Options options;
  app.add_option("mode", options.mode)
      ->check(CLI::IsMember({"peers", "growth", "size", "search", "alh", "local-svm", "file"}));
  app.add_option("--table", options.table, "LIBSVM, CSV or ARFF; all modes but growth and size");
  app.add_option("--test", options.test, "rows to decide about; alh and local-svm");
  app.add_option("--rows", options.rows, "the first rows of the table; 0: all; size: how many");
  app.add_option("--features", options.features, "size: how many");
  app.add_option("--k", options.ks)->delimiter(',');
  app.add_option("--metric", options.metric);
  app.add_option("--device", options.device);
  app.add_option("--threads", options.threads);
  app.add_option("--rounds", options.rounds);
  app.add_option("--plot", options.plot, "growth: where to draw it (SVG)");
  app.add_option("--python", options.python, "a Python that has scikit-learn and FAISS");
  app.add_option("--peers", options.peers, "folder of the peers' scripts");
  app.add_option("--folder", options.folder, "file: where the matrix is written, and removed");
  app.add_flag("--upper", options.upper, "file: the part above the diagonal alone");
  app.add_flag("--sparse", options.sparse, "keep the rows sparse");
  app.add_flag("--no-peer", options.no_peer);
  CLI11_PARSE(app, argc, argv);
  if (options.mode == "growth")
    run_growth(options);
  else if (options.mode == "size")
    run_size(options);
  else if (options.table.empty() && !(options.mode == "peers" && options.rows > 0))
    throw UsageError("--table FILE is missing");
  else if (options.mode == "search")
    run_search(options);
  else if (options.mode == "alh")
    run_alh(options);
  else if (options.mode == "local-svm")
    run_local_svm(options);
  else if (options.mode == "file")
    run_file(options);
  else
    run_peers(options);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_neighbors", [&] { return sheaf::bench::main_of(argc, argv); });
}
