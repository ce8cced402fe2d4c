// Paper 001's experiments (tables 7.2 to 7.7, figure 7.7) on the tables at hand, by one command:
//
//   bench_svm_paper FOLDER     FOLDER/NAME/{train,test}.libsvm.xz, or FOLDER/NAME.txt and FOLDER/NAME.txt.t
//
// Accuracies, support vectors and times of one class against the rest (the paper's way) and of one against one, LIBSVM
// beside them if its library is there; then ten costs of adult and web, each alone and all together.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "peers/libsvm.hpp"
#include "program.hpp"
#include "svm_common.hpp"

namespace sheaf::bench {
namespace {

struct Experiment {
  const char* name;    // in the paper
  const char* folder;  // here
  double cost, gamma, divide;
  bool unit;   // scaled to [0, 1] by us; the others come scaled
  bool large;  // without LIBSVM, and only on request
};

// Table 7.1.
constexpr Experiment experiments[] = {
    {"glass", "glass", 512, 2, 1, true, false},
    {"iris", "iris", 16, 0.5, 1, true, false},
    {"wine", "wine", 1, 0.25, 1, true, false},
    {"heart", "heart_scale", 0.5, 0.0625, 1, false, false},
    {"sonar", "sonar_scale", 4, 0.125, 1, false, false},
    {"breast-cancer", "breast-cancer", 0.25, 0.125, 1, true, false},
    {"adult", "a9a", 1, 0.0625, 1, false, false},
    {"usps", "usps", 128, 0.015625, 1, false, false},
    {"letter", "letter.scale", 16, 8, 1, false, false},
    {"shuttle", "shuttle", 1, 1, 1, true, false},
    {"web", "w8a", 64, 8, 1, false, false},
    {"mnist", "mnist", 16, 0.00390625, 255, false, false},
    {"covtype", "covtype", 1, 1, 1, true, true},
};

std::optional<std::string> find(const std::string& folder, const std::string& name, bool test) {
  for (const auto& path :
       {folder + "/" + name + (test ? "/test.libsvm.xz" : "/train.libsvm.xz"),
        folder + "/" + name + (test ? ".txt.t" : ".txt"), folder + "/" + name + (test ? ".txt.t.gz" : ".txt.gz")})
    if (std::filesystem::exists(path)) return path;
  return {};
}

struct Tables {
  Dataset<double> train;
  std::optional<Dataset<double>> test;
};

std::optional<Tables> load(Options& options, const std::string& folder, const Experiment& one) {
  const auto path = find(folder, one.folder, false);
  if (!path) {
    std::printf("%-14s is not there\n", one.name);
    return {};
  }
  options.cost = one.cost;
  options.gamma = one.gamma;
  options.divide = one.divide;
  options.unit = one.unit;
  Tables tables{read(options, *path), {}};
  const auto other = find(folder, one.folder, true);
  if (other && !one.unit) tables.test = read(options, *other);  // other extremes would scale it otherwise
  return tables;
}

double accuracy(const Dataset<double>& truth, const Dataset<double>& known,
                const std::vector<std::int32_t>& predicted) {
  std::int64_t right = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i)
    right += truth.target.class_names[static_cast<std::size_t>(truth.target.classes[i])] ==
                     known.target.class_names[static_cast<std::size_t>(predicted[i])]
                 ? 1
                 : 0;
  return 100.0 * static_cast<double>(right) / static_cast<double>(predicted.size());
}

std::vector<std::int32_t> predict(const Options& options, const SvmSheaf& sheaf, const Dataset<double>& train,
                                  const std::vector<BinarySvm>& svms, const Dataset<double>& rows, double& seconds) {
  const double start = now();
  const auto decisions =
      decision_values(make_context(options), KernelParams{.gamma = options.gamma}, train, svms, rows);
  seconds = now() - start;
  std::vector<std::int32_t> predicted;
  const auto classes = static_cast<std::int32_t>(train.target.class_names.size());
  for (std::int64_t i = 0; i < rows.rows(); ++i) predicted.push_back(winner(sheaf, classes, decisions, i));
  return predicted;
}

void print_row(const char* name, const char* way, double train, double test, std::size_t vectors, double seconds,
               double processor, double predict_seconds) {
  std::printf("%-14s %-16s %9.4f ", name, way, train);
  if (test >= 0)
    std::printf("%9.4f ", test);
  else
    std::printf("%9s ", "N/A");
  std::printf("%8zu %10.4f %10.4f %10.4f\n", vectors, seconds, processor, predict_seconds);
  std::fflush(stdout);
}

void compare(Options options, const std::string& folder, const Experiment& one, bool peer) {
  const auto tables = load(options, folder, one);
  if (!tables) return;
  const auto classes = tables->train.target.class_names.size();
  for (const bool rest : {true, false}) {
    if (!rest && classes == 2) continue;
    const SvmSheaf sheaf = all_classes(tables->train, rest, one.cost);
    Ours ours = train(options, tables->train, sheaf);
    std::vector<BinarySvm> svms;
    std::vector<std::int32_t> vectors;
    for (SvmFit& fit : ours.fits.tasks) {
      vectors.insert(vectors.end(), fit.svm.rows.begin(), fit.svm.rows.end());
      svms.push_back(std::move(fit.svm));
    }
    std::sort(vectors.begin(), vectors.end());
    vectors.erase(std::unique(vectors.begin(), vectors.end()), vectors.end());
    double seconds = 0;
    const double seen =
        accuracy(tables->train, tables->train, predict(options, sheaf, tables->train, svms, tables->train, seconds));
    double unseen = -1;
    if (tables->test)
      unseen =
          accuracy(*tables->test, tables->train, predict(options, sheaf, tables->train, svms, *tables->test, seconds));
    print_row(one.name,
              classes == 2 ? "Sheaf"
              : rest       ? "Sheaf, rest"
                           : "Sheaf, pairs",
              seen, unseen, vectors.size(), ours.seconds, ours.processor, seconds);
  }
  if (!peer || !have_libsvm() || one.large) return;
  const auto sparse = [](const Dataset<double>& dataset) {
    if (const auto* dense = std::get_if<DenseMatrix<double>>(&dataset.x)) return to_sparse(*dense, 1);
    const auto& x = std::get<SparseMatrix<double>>(dataset.x);
    return x.to(Device::cpu());
  };
  const auto x = sparse(tables->train);
  const auto other = sparse(tables->test ? *tables->test : tables->train);
  const auto fit =
      libsvm_fit(x, tables->train.target.classes, one.cost, one.gamma, options.tolerance, options.cache, &other);
  const double right = accuracy(tables->test ? *tables->test : tables->train, tables->train, fit.predicted);
  print_row(one.name, "LIBSVM, pairs", tables->test ? NAN : right, tables->test ? right : -1,
            static_cast<std::size_t>(fit.support_vectors), fit.seconds, fit.processor, fit.predict_seconds);
}

/// Ten costs together and each alone (table 7.7, figure 7.7).
void share(Options options, const std::string& folder, const Experiment& one) {
  const auto tables = load(options, folder, one);
  if (!tables) return;
  SvmSheaf sheaf = all_classes(tables->train, true, 1);
  const SvmTask svm = sheaf.tasks[0];
  sheaf.tasks.clear();
  for (int power = -3; power <= 6; ++power) {
    sheaf.tasks.push_back(svm);
    sheaf.tasks.back().cost_positive = sheaf.tasks.back().cost_negative = std::ldexp(1.0, power);
  }
  const Ours together = train(options, tables->train, sheaf);
  double alone = 0;
  double computed = 0;
  for (const SvmTask& task : sheaf.tasks) {
    SvmSheaf single = sheaf;
    single.tasks = {task};
    const Ours ours = train(options, tables->train, single);
    alone += ours.seconds;
    computed += static_cast<double>(ours.fits.counts.computed);
  }
  std::printf("%-8s ten costs one after the other %9.3f s, %.3e kernel values; together %9.3f s, %.3e\n", one.name,
              alone, computed, together.seconds, static_cast<double>(together.fits.counts.computed));
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  CLI::App app("Paper 001's experiments on the tables at hand");
  Options options;
  std::string folder;
  bool large = false;
  std::vector<std::string> only;
  app.add_option("folder", folder, "where the tables lie")->required();
  app.add_option("--device", options.device, "cpu, cuda, cuda:N");
  app.add_option("--threads", options.threads, "CPU threads (0: all)");
  app.add_flag("--no-peer", options.no_peer, "without LIBSVM");
  app.add_flag("--large", large, "covtype too");
  app.add_option("--only", only, "these tables alone, by the paper's names")->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  std::printf("%-14s %-16s %9s %9s %8s %10s %10s %10s   (tables 7.2 to 7.6; seconds)\n", "table", "way", "training",
              "unseen", "vectors", "train", "processor", "predict");
  const auto wanted = [&](const Experiment& one) {
    return only.empty() || std::find(only.begin(), only.end(), one.name) != only.end();
  };
  for (const Experiment& one : experiments)
    if (wanted(one) && (large || !one.large)) compare(options, folder, one, !options.no_peer);
  std::printf("table 7.7 and figure 7.7\n");
  for (const Experiment& one : experiments)
    if (wanted(one) && (std::string(one.name) == "adult" || std::string(one.name) == "web"))
      share(options, folder, one);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_svm_paper", [&] { return sheaf::bench::run(argc, argv); });
}
