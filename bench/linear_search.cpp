// Whole searches over linear models, from the file to the answer.
//
//   bench_linear_search peer      10 costs x 5 folds on sparse text, or on --data FILE: `sheaf search` beside a loop
//                                 of `liblinear-train -v 5`, two at a time, on the same file
//   bench_linear_search dual      costs x folds on a file, by LIBLINEAR's default solver: `sheaf search` beside a loop
//   of
//                                 `liblinear-train -v`, two at a time; then one fit with default flags
//   bench_linear_search growth    how the time of training grows with the rows and with the tasks
//   bench_linear_search memory    the largest resident size of `sheaf fit` and `sheaf search`, beside the matrix and
//   the
//                                 blocks of the tasks
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>
#include <sheaf/search.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/splits.hpp>

#include "core/fail.hpp"
#include "linear/newton/newton.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  std::string program = "build/sheaf";
  std::string peer = "liblinear-train";
  std::string device = "cpu";
  std::string precision = "double";
  std::string plot;
  std::string data;
  std::string costs = "0.1,1,10";
  int folds = 3;
  int threads = 0;
  int repeats = 3;
};

const std::vector<double>& costs() {
  static const std::vector<double> values{0.015625, 0.03125, 0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8};
  return values;
}

/// A folder that vanishes.
struct Folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / fmt::format("sheaf-bench-{}", getpid());
  Folder() { std::filesystem::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

struct Ran {
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  double processor = 0;  ///< seconds of all threads: the relevant time if other work shares the cores
};

/// Runs a shell command in a process of its own.
Ran run_command(const std::string& line) {
  const double start = now();
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("failed: {}", line);
  const auto processor =
      static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
  return {now() - start, std::int64_t{usage.ru_maxrss} * 1024, processor};
}

Context make_context(const Options& options) {
  Context::Options inside;
  inside.device = parse_device(options.device);
  inside.threads = options.threads;
  return Context(inside);
}

template <class T>
Dataset<T> make_table(const Context& context, const std::string& kind, std::int64_t rows, std::int64_t features) {
  GenerateOptions generator;
  generator.kind = kind;
  generator.rows = rows;
  generator.features = features;
  return generate<T>(context, generator).dataset;
}

/// Accuracies of the peer by cost, from the last line of each answer.
std::map<double, double> peer_accuracies(const Folder& folder, const std::vector<double>& list) {
  std::map<double, double> result;
  for (const double cost : list) {
    std::ifstream file(folder / fmt::format("peer-{}", cost));
    std::stringstream text;
    text << file.rdbuf();
    const auto at = text.str().rfind("= ");
    if (at != std::string::npos) result[cost] = std::strtod(text.str().c_str() + at + 2, nullptr);
  }
  return result;
}

/// Mean accuracies in per cent by cost, from scores.csv: cost, split, accuracy ...
std::map<double, double> our_accuracies(const std::string& path) {
  std::map<double, std::pair<double, int>> sums;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    double cost = 0;
    double accuracy = 0;
    if (std::sscanf(line.c_str(), "%lf,%*d,%lf", &cost, &accuracy) != 2) continue;
    sums[cost].first += accuracy;
    ++sums[cost].second;
  }
  std::map<double, double> result;
  for (const auto& [cost, sum] : sums) result[cost] = 100 * sum.first / sum.second;
  return result;
}

void print_accuracies(const std::map<double, double>& theirs, const std::map<double, double>& ours) {
  std::printf("accuracy in per cent: cost, theirs, ours\n");
  for (const auto& [cost, accuracy] : ours)
    std::printf("  %9.6f %8.3f %8.3f\n", cost, theirs.contains(cost) ? theirs.at(cost) : NAN, accuracy);
}

/// `line` with each cost in place of COST, two at a time; answers in peer-COST.
Ran run_peer(const Folder& folder, const std::vector<double>& list, const std::string& line) {
  std::string words;
  for (const double cost : list) words += fmt::format("{}\\n", cost);
  return run_command(fmt::format("cd '{}' && printf '{}' | xargs -P 2 -I COST sh -c '{} >peer-COST'",
                                 folder.path.string(), words, line));
}

Ran best_of(int repeats, const std::function<void()>& before, const std::string& line) {
  Ran best{1e300, 0, 1e300};
  for (int r = 0; r < repeats; ++r) {
    before();
    const Ran ran = run_command(line);
    best = {std::min(best.seconds, ran.seconds), std::max(best.peak_bytes, ran.peak_bytes),
            std::min(best.processor, ran.processor)};
  }
  return best;
}

/// On a file, or on text that is made for it.
void compare_with_peer(const Options& options) {
  const Folder folder;
  const Context context = make_context(options);
  auto file = folder / "text.svm";
  if (options.data.empty())
    write_dataset(context, make_table<double>(context, "text", 20242, 47236), file);
  else
    file = std::filesystem::absolute(options.data).string();
  Ran peer{0, 0, 0};
  if (std::system(fmt::format("command -v {} >/dev/null", options.peer).c_str()) == 0) {
    peer = run_peer(folder, costs(), fmt::format("{} -s 0 -v 5 -c COST -q {}", options.peer, file));
    std::printf("%s -v 5 for %zu costs, two at a time: %.2f s, %.2f processor s\n", options.peer.c_str(),
                costs().size(), peer.seconds, peer.processor);
  } else {
    std::printf("%s is not there (Debian: liblinear-tools): no ratio\n", options.peer.c_str());
  }
  const auto clear = [&] { std::filesystem::remove_all(folder / "found"); };
  for (const char* precision : {"double", "float"})
    for (const char* rule : {"trust-region", "line-search"}) {
      const auto ours =
          best_of(options.repeats, clear,
                  fmt::format("{} search {} --output {} --model linear --scale none --cost 0.015625:8:10 "
                              "--folds 5 --bias 0 {} --quiet --device {} --threads {} --precision {} --rule {} >{}",
                              options.program, file, folder / "found", options.data.empty() ? "--stop gradient" : "",
                              options.device, context.threads(), precision, rule, folder / "table"));
      std::printf("sheaf search, %s, %s: %.3f s, ratio %.1f; %.3f processor s, ratio %.1f\n", precision, rule,
                  ours.seconds, peer.seconds / ours.seconds, ours.processor, peer.processor / ours.processor);
    }
  print_accuracies(peer_accuracies(folder, costs()), our_accuracies(folder / "found/scores.csv"));
}

/// Compares on the data that suit LIBLINEAR's default solver best: sparse text, many classes.
void compare_dual(const Options& options) {
  if (options.data.empty()) fail("--data names a file in LIBSVM's format");
  const Folder folder;
  const auto file = std::filesystem::absolute(options.data).string();
  const auto list = parse_numbers(options.costs, "--costs");
  const auto peer =
      run_peer(folder, list, fmt::format("{} -s 1 -v {} -c COST -q {}", options.peer, options.folds, file));
  std::printf("%s -s 1 -v %d for %zu costs, two at a time: %.2f s, %.2f processor s, %.0f MB each\n",
              options.peer.c_str(), options.folds, list.size(), peer.seconds, peer.processor,
              static_cast<double>(peer.peak_bytes) / 1e6);
  const auto clear = [&] { std::filesystem::remove_all(folder / "found"); };
  for (const char* precision : {"double", "float"}) {
    const auto ours = best_of(
        options.repeats, clear,
        fmt::format("{} search {} --output {} --loss svm --solver dual --stop gradient --cost {} --folds {} --bias 0 "
                    "--quiet --device {} --threads {} --precision {} >{}",
                    options.program, file, folder / "found", options.costs, options.folds, options.device,
                    make_context(options).threads(), precision, folder / "table"));
    std::printf("sheaf search, %s: %.2f s, %.2f processor s, %.0f MB; ratio %.2f, of processor time %.2f\n", precision,
                ours.seconds, ours.processor, static_cast<double>(ours.peak_bytes) / 1e6, peer.seconds / ours.seconds,
                peer.processor / ours.processor);
    print_accuracies(peer_accuracies(folder, list), our_accuracies(folder / "found/scores.csv"));
  }
  const auto nothing = [] {};
  const auto fit = best_of(options.repeats, nothing, fmt::format("{} -q {} {}", options.peer, file, folder / "model"));
  std::printf("%s, default flags: %.2f s, %.2f processor s\n", options.peer.c_str(), fit.seconds, fit.processor);
  for (const int threads : {1, 2}) {
    const auto ours = best_of(options.repeats, nothing,
                              fmt::format("{} liblinear-train -q --device {} --threads {} {} {}", options.program,
                                          options.device, threads, file, folder / "model"));
    std::printf("sheaf liblinear-train, %d threads: %.2f s, %.2f processor s; ratio %.2f, of processor time %.2f\n",
                threads, ours.seconds, ours.processor, fit.seconds / ours.seconds, fit.processor / ours.processor);
  }
}

/// `tasks` costs from 2^-6 to 2^3 over all rows.
template <class T>
Sheaf plain_sheaf(const Dataset<T>& dataset, int tasks) {
  Sheaf sheaf;
  sheaf.examples = dataset.rows();
  for (const std::int32_t c : dataset.target.classes) sheaf.targets.push_back(c == 0 ? 1 : -1);
  for (int t = 0; t < tasks; ++t) {
    const double cost = std::exp2(-6 + 9.0 * t / std::max(tasks - 1, 1));
    sheaf.tasks.push_back({0, 0, cost, cost, 0.1});
  }
  return sheaf;
}

template <class T>
double training_seconds(const Options& options, const Dataset<T>& dataset, int tasks) {
  const Context context = make_context(options);
  const Sheaf sheaf = plain_sheaf(dataset, tasks);
  double best = 1e300;
  for (int r = 0; r < options.repeats + 1; ++r) {
    const double start = now();
    newton(context, dataset, sheaf, NewtonParams{});
    best = std::min(best, now() - start);
  }
  return best;
}

void report_curve(std::vector<GrowthCurve>& curves, const std::string& name, const std::vector<double>& factors,
                  const std::vector<double>& seconds) {
  std::printf("%s\n", name.c_str());
  for (std::size_t k = 0; k < factors.size(); ++k)
    std::printf("  x%-4.0f %9.5f s  %7.2f times the first\n", factors[k], seconds[k], seconds[k] / seconds[0]);
  std::fflush(stdout);
  curves.push_back({name, factors, seconds});
}

void measure_growth(const Options& options) {
  const Context context = make_context(options);
  std::vector<GrowthCurve> curves;
  for (const bool text : {false, true}) {
    const std::string kind = text ? "text" : "classification";
    const std::int64_t rows = text ? 10000 : 100000;
    const std::int64_t features = text ? 20000 : 28;
    std::vector<double> factors;
    std::vector<double> seconds;
    for (int factor = 1; factor <= 16; factor *= 2) {
      const auto dataset = make_table<float>(context, kind, rows * factor, features);
      factors.push_back(factor);
      seconds.push_back(training_seconds(options, dataset, 8));
    }
    report_curve(curves, fmt::format("rows, {}", text ? "sparse" : "dense"), factors, seconds);
    const auto dataset = make_table<float>(context, kind, rows, features);
    factors.clear();
    seconds.clear();
    for (int tasks = 1; tasks <= 256; tasks *= 2) {
      factors.push_back(tasks);
      seconds.push_back(training_seconds(options, dataset, tasks));
    }
    report_curve(curves, fmt::format("tasks, {}", text ? "sparse" : "dense"), factors, seconds);
  }
  if (!options.plot.empty())
    write_growth(options.plot, fmt::format("Training linear models on {}: growth in rows and tasks", options.device),
                 curves);
}

template <class T>
void report_memory(const Options& options, const Folder& folder, const std::string& kind, std::int64_t rows,
                   std::int64_t features) {
  const Context context = make_context(options);
  const std::string file = folder / (kind == "text" ? "table.svm" : "table.csv");
  std::int64_t matrix = 0;
  {
    const auto dataset = make_table<T>(context, kind, rows, features);
    matrix = matrix_bytes(dataset.x);
    write_dataset(context, dataset, file);
  }
  const std::string storage = kind == "text" ? "sparse" : "dense";
  const std::int64_t itself = run_command(options.program + " --version >/dev/null").peak_bytes;
  const auto report = [&](const char* command, const std::string& line, int tasks) {
    std::filesystem::remove_all(folder / "found");
    const std::int64_t peak = run_command(line).peak_bytes - itself;
    const std::int64_t blocks = linear::NewtonBlock<T>::bytes_per_chain(rows, features) * block_stride(tasks);
    std::printf(
        "%-8s %8lld x %-6lld %-6s matrix %7.1f MB, blocks %7.1f MB, peak %7.1f MB beside the program's own %.1f "
        "MB: %.2f times their sum\n",
        command, static_cast<long long>(rows), static_cast<long long>(features), storage.c_str(),
        static_cast<double>(matrix) / 1e6, static_cast<double>(blocks) / 1e6, static_cast<double>(peak) / 1e6,
        static_cast<double>(itself) / 1e6, static_cast<double>(peak) / static_cast<double>(matrix + blocks));
    std::fflush(stdout);
  };
  const std::string common = fmt::format("{} --quiet --storage {} --precision {}{}", file, storage, options.precision,
                                         kind == "text" ? "" : " --label label");
  report("fit", fmt::format("{} fit {} --model {} >/dev/null", options.program, common, folder / "model"), 1);
  report("search",
         fmt::format("{} search {} --output {} --cost 0.015625:8:10 >/dev/null", options.program, common,
                     folder / "found"),
         50);
}

void measure_memory(const Options& options) {
  const Folder folder;
  if (options.precision == "float") {
    report_memory<float>(options, folder, "text", 200000, 47236);
    report_memory<float>(options, folder, "classification", 500000, 100);
  } else {
    report_memory<double>(options, folder, "text", 200000, 47236);
    report_memory<double>(options, folder, "classification", 500000, 100);
  }
}

int run(int argc, char** argv) {
  CLI::App app("Whole searches over linear models");
  Options options;
  app.require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    auto* command = app.add_subcommand(name, help);
    command->add_option("--program", options.program, "our program");
    command->add_option("--peer", options.peer, "LIBLINEAR's program");
    command->add_option("--device", options.device, "cpu, cuda, cuda:N");
    command->add_option("--threads", options.threads, "CPU threads (0: all)");
    command->add_option("--precision", options.precision, "float or double (memory)");
    command->add_option("--plot", options.plot, "SVG to write (growth)");
    command->add_option("--repeats", options.repeats, "best of how many");
    command->add_option("--data", options.data, "a file in LIBSVM's format (dual)");
    command->add_option("--costs", options.costs, "values of C, separated by commas (dual)");
    command->add_option("--folds", options.folds, "of the cross-validation (dual)");
    return command;
  };
  auto* peer = add("peer", "beside a loop of liblinear-train -v 5");
  auto* dual = add("dual", "beside LIBLINEAR's default solver, on a file");
  auto* growth = add("growth", "time over rows and tasks");
  add("memory", "largest resident size");
  CLI11_PARSE(app, argc, argv);
  if (peer->parsed())
    compare_with_peer(options);
  else if (dual->parsed())
    compare_dual(options);
  else if (growth->parsed())
    measure_growth(options);
  else
    measure_memory(options);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_linear_search", [&] { return sheaf::bench::run(argc, argv); });
}
