// Rescoring of generated PSMs: seconds of each stage, processor seconds and memory, how they grow, and Percolator on
// the same file if its program is named.
//   bench_rescore [--spectra N ...] [--percolator PROGRAM] [--device cpu|cuda] [--precision float|double] [--threads N]
//   bench_rescore --growth PLOT.svg     how time grows with PSMs, features and nested folds
//   bench_rescore --calibrate SEEDS [--separate]     errors among the accepted, in sets of 200,000 spectra
//   bench_rescore --in-memory --spectra N --device cuda     made, trained and scored on the device
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <CLI/CLI.hpp>

#include <sheaf/generate.hpp>
#include <sheaf/rescore.hpp>

#include "plot.hpp"
#include "program.hpp"
#include "rescore/training/normalise.hpp"
#include "rescore/training/train.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Settings {
  std::vector<std::int64_t> spectra{100000, 300000, 1000000};
  std::string percolator, device = "cpu", precision = "float";
  int threads = 0;
  int calibrate = 0;
  bool in_memory = false, separate = false;
  std::string growth;
};

struct Cost {
  double seconds = 0, processor = 0;
  double megabytes = 0;      // most that was resident, pages of mapped files with it
  double own_megabytes = 0;  // without them, by looking now and then
};

/// Seconds by the clock and of the processors since its construction or the last call.
class Clock {
 public:
  std::pair<double, double> lap() {
    const double seconds = now();
    const double processor = processor_seconds();
    return {seconds - std::exchange(seconds_, seconds), processor - std::exchange(processor_, processor)};
  }

 private:
  double seconds_ = now(), processor_ = processor_seconds();
};

/// Listens to when reading and training end; what follows them is confidence.
class StageClock final : public Progress {
 public:
  /// One line: each stage by the clock, with processor seconds.
  void print() const {
    fmt::print("           {}\n", text_);
    std::fflush(stdout);
  }
  void ended(const char* stage) {
    const auto [seconds, processor] = clock_.lap();
    text_ += fmt::format("{} {:.2f} s ({:.2f})  ", stage, seconds, processor);
  }

 private:
  void on_begin(std::string_view stage, std::int64_t /*total*/) override { stage_ = stage; }
  void on_end() override {
    if (stage_ == "reading PSMs") ended("reading");
    if (stage_ == "training") ended("scaling and training");
    stage_.clear();
  }

  Clock clock_;
  std::string stage_, text_;
};

/// Memory of a process that is not pages of files, in MB.
double anonymous_megabytes(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("RssAnon:")) return std::strtod(line.c_str() + 8, nullptr) / 1024;
  return 0;
}

RescoreResult rescore(const Context& context, const Settings& settings, const std::string& pin,
                      const RescoreOptions& options) {
  return settings.precision == "double" ? rescore_psms<double>(context, {pin}, options)
                                        : rescore_psms<float>(context, {pin}, options);
}

/// In a process of its own, so that its memory is measured alone.
template <class Work>
Cost in_child(Work&& work) {
  std::fflush(stdout);  // or the child would print it too
  const double start = now();
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  rusage used{};
  double own = 0;
  while (wait4(child, &status, WNOHANG, &used) == 0) {
    own = std::max(own, anonymous_megabytes(child));
    usleep(5000);
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  Cost cost{now() - start, seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024,
            own};
  if (status != 0) cost.processor = NAN;
  return cost;
}

Cost run_sheaf(const Settings& settings, const std::string& pin, const std::string& out) {
  return in_child([&] {
    StageClock clock;
    const Context context(
        Context::Options{.device = parse_device(settings.device), .threads = settings.threads, .progress = &clock});
    const auto result = rescore(context, settings, pin, {});
    clock.ended("confidence");
    write_level(context, result, result.psms, {}, out + ".psms");
    write_level(context, result, result.peptides, {}, out + ".peptides");
    clock.ended("writing");
    clock.print();
    return 0;
  });
}

Cost run_percolator(const Settings& settings, const std::string& pin, const std::string& out) {
  const std::string line = fmt::format("exec '{}' -Y --num-threads {} -m '{}.psms' -r '{}.peptides' '{}' 2>/dev/null",
                                       settings.percolator, std::max(settings.threads, 1), out, out, pin);
  return in_child([&] { return execl("/bin/sh", "sh", "-c", line.c_str(), nullptr); });
}

std::int64_t lines_below(const std::string& table, double limit) {
  std::ifstream in(table);
  std::string line;
  std::getline(in, line);
  std::int64_t count = 0;
  while (std::getline(in, line)) {
    std::size_t at = 0;
    for (int k = 0; k < 3; ++k) at = line.find('\t', at) + 1;  // id, filename, score
    count += std::strtod(line.c_str() + at, nullptr) < limit ? 1 : 0;
  }
  return count;
}

void measure(const Settings& settings, const std::string& folder) {
  fmt::print("{:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "PSMs", "program", "seconds", "processor",
             "MB", "own MB", "bytes a PSM", "accepted 1 %");
  for (const std::int64_t spectra : settings.spectra) {
    const std::string pin = folder + "/run.pin";
    PsmOptions data;
    data.spectra = spectra;
    generate_psms(Context(Context::Options{.seed = 1}), data, pin);
    const auto print = [&](const char* name, Cost cost, const std::string& out) {
      fmt::print("{:>10} {:>10} {:>10.2f} {:>10.2f} {:>10.0f} {:>10.0f} {:>12.0f} {:>12}\n", spectra, name,
                 cost.seconds, cost.processor, cost.megabytes, cost.own_megabytes,
                 cost.own_megabytes * 1048576 / static_cast<double>(spectra), lines_below(out + ".psms", 0.01));
      std::fflush(stdout);
    };
    print("sheaf", run_sheaf(settings, pin, folder + "/sheaf"), folder + "/sheaf");
    if (!settings.percolator.empty())
      print("percolator", run_percolator(settings, pin, folder + "/percolator"), folder + "/percolator");
  }
  if (settings.percolator.empty()) fmt::print("percolator: not named (--percolator PROGRAM), left out\n");
}

/// Processor seconds of rescoring a file of `spectra` with the first `features` features and `nested` folds.
double rescoring_time(const Settings& settings, const std::string& folder, std::int64_t spectra, std::size_t features,
                      int nested) {
  const std::string pin = folder + "/growth.pin";
  PsmOptions data;
  data.spectra = spectra;
  generate_psms(Context(Context::Options{.seed = 1}), data, pin);
  std::ifstream in(pin);
  std::string name;
  std::getline(in, name);
  std::istringstream names(name);
  RescoreOptions options;
  options.nested = nested;
  constexpr std::size_t before = 6;  // columns that are no features
  constexpr std::size_t all = 18;
  for (std::size_t column = 0; std::getline(names, name, '\t'); ++column)
    if (column >= before + features && column < before + all) options.ignore.push_back(name);
  const Context context(Context::Options{.device = parse_device(settings.device), .threads = settings.threads});
  const double start = settings.device == "cpu" ? processor_seconds() : now();
  rescore(context, settings, pin, options);
  return (settings.device == "cpu" ? processor_seconds() : now()) - start;
}

void measure_growth(const Settings& settings, const std::string& folder) {
  std::vector<GrowthCurve> curves{{"PSMs", {}, {}}, {"features", {}, {}}, {"nested folds", {}, {}}};
  const auto add = [&](GrowthCurve& curve, double factor, double size, double seconds) {
    curve.factors.push_back(factor);
    curve.seconds.push_back(seconds);
    fmt::print("{:<14} {:>9} {:>8.2f} s\n", curve.name, size, seconds);
  };
  constexpr std::int64_t spectra = 50000;
  for (const int factor : {1, 2, 4, 8})
    add(curves[0], factor, static_cast<double>(factor * spectra),
        rescoring_time(settings, folder, factor * spectra, 18, 1));
  for (const std::size_t factor : {1, 2, 4})
    add(curves[1], static_cast<double>(factor), static_cast<double>(4 * factor),
        rescoring_time(settings, folder, 2 * spectra, 4 * factor, 1));
  for (const int factor : {1, 2, 4})
    add(curves[2], factor, factor, rescoring_time(settings, folder, spectra, 18, factor));
  write_growth(settings.growth, "rescoring", curves);
}

/// Accepted matches of several sets: the number of incorrect ones, and their PEPs.
struct Calibration {
  std::string level;
  double limit = 0;
  std::vector<double> accepted, wrong, peps;

  void add(const RescoreResult& result, const RescoreLevel& matches) {
    double counts[3] = {};
    for (std::size_t k = 0; k < matches.rows.size(); ++k) {
      if (!result.is_target(matches.rows[k]) || matches.q[k] > limit) continue;
      ++counts[0];
      counts[1] += result.text(matches.rows[k]).id.ends_with("_wrong") ? 1 : 0;
      counts[2] += matches.pep[k];
    }
    accepted.push_back(counts[0]);
    wrong.push_back(counts[1]);
    peps.push_back(counts[2]);
  }

  void print() const {
    const auto n = static_cast<double>(accepted.size());
    const double all = std::accumulate(accepted.begin(), accepted.end(), 0.0);
    const double errors = std::accumulate(wrong.begin(), wrong.end(), 0.0);
    const double share = errors / all;
    double squares = 0;  // of the sets' shares, from their mean
    for (std::size_t k = 0; k < accepted.size(); ++k) squares += std::pow(wrong[k] / accepted[k] - share, 2);
    const double error = std::sqrt(squares / (n - 1) / n);
    fmt::print("{:<24} {:>5} {:>10.0f} {:>10.5f} {:>9.5f} {:>7.1f} {:>10.5f} {:>6.2f}\n", level, limit, all / n, share,
               error, (share - limit) / error, std::accumulate(peps.begin(), peps.end(), 0.0) / all,
               std::accumulate(peps.begin(), peps.end(), 0.0) / errors);
  }
};

void calibrate(const Settings& settings, const std::string& folder) {
  const Context context(Context::Options{.device = parse_device(settings.device), .threads = settings.threads});
  const std::string pin = folder + "/calibrate.pin";
  const auto made = [&](int seed, double correct, bool separate) {
    PsmOptions data;
    data.spectra = 200000;
    data.files = 4;
    data.correct = correct;
    data.separate = separate;
    generate_psms(Context(Context::Options{.seed = static_cast<std::uint64_t>(seed)}), data, pin);
  };
  std::vector<Calibration> table;
  const auto at = [&](const std::string& level, const RescoreResult& result, const RescoreLevel& matches) {
    for (const double limit : {0.01, 0.05}) {
      auto found = std::find_if(table.begin(), table.end(),
                                [&](const auto& one) { return one.level == level && one.limit == limit; });
      if (found == table.end()) found = table.insert(table.end(), {level, limit, {}, {}, {}});
      found->add(result, matches);
    }
  };
  std::vector<std::int64_t> accepted_of_none;
  for (int seed = 1; seed <= settings.calibrate; ++seed) {
    RescoreOptions options;
    options.seed = static_cast<std::uint64_t>(seed);
    made(seed, 0.35, settings.separate);
    const auto result = rescore(context, settings, pin, options);
    at("PSMs", result, result.psms);
    at("peptides", result, result.peptides);
    RescoreOptions changed = options;
    if (settings.separate)
      changed.confidence = Confidence::mix_max;
    else
      changed.group = "file";
    const auto other = rescore(context, settings, pin, changed);
    at(settings.separate ? "PSMs, mix-max" : "PSMs within files", other, other.psms);
    if (settings.separate) at("peptides, mix-max", other, other.peptides);
    made(seed, 0, settings.separate);
    accepted_of_none.push_back(rescore(context, settings, pin, options).psms.accepted);
  }
  fmt::print("{:<24} {:>5} {:>10} {:>10} {:>9} {:>7} {:>10} {:>6}\n", "level", "q", "accepted", "incorrect", "error",
             "errors", "mean PEP", "ratio");
  for (const auto& one : table) one.print();
  fmt::print("no correct matches: accepted at 0.01 in each set: {}\n", fmt::join(accepted_of_none, " "));
}

/// PSMs that never were text, on the device from the beginning to the scores.
void measure_in_memory(const Settings& settings) {
  const Context context(Context::Options{.device = parse_device(settings.device), .threads = settings.threads});
  fmt::print("{:>12} {:>10} {:>10} {:>10} {:>10} {:>14} {:>14}\n", "PSMs", "making", "scaling", "training", "all",
             "first feature", "accepted 1 %");
  for (const std::int64_t spectra : settings.spectra) {
    PsmOptions data;
    data.spectra = spectra;
    const double start = now();
    auto psms = generate_psm_features(context, data);
    const auto labels = psms.labels.to(Device::cpu());
    psms.labels = {};
    std::vector<std::int32_t> scans(static_cast<std::size_t>(spectra));
    std::iota(scans.begin(), scans.end(), 1);
    const double made = now();
    rescore::normalise(context, psms.x, FeatureScaling::standard);
    const double scaled = now();
    const auto ops = rescore::make_rescore_ops<float>(context, psms.x, labels.span());
    rescore::TrainingRows rows;
    rows.keys.scans = scans;
    rows.labels = labels.span();
    rescore::ParkMiller random(1);
    const auto trained = rescore::train<float>(context, *ops, rows, {}, {}, random);
    const double end = now();
    fmt::print("{:>12} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>14} {:>14}\n", spectra, made - start, scaled - made,
               end - scaled, end - start, trained.initial_accepted, trained.trained_accepted);
  }
}

int main_of(int argc, char** argv) {
  Settings settings;
  CLI::App app("rescoring of peptide-spectrum matches");
  app.add_option("--spectra", settings.spectra);
  app.add_option("--percolator", settings.percolator);
  app.add_option("--device", settings.device);
  app.add_option("--precision", settings.precision);
  app.add_option("--threads", settings.threads);
  app.add_option("--calibrate", settings.calibrate);
  app.add_flag("--in-memory", settings.in_memory);
  app.add_flag("--separate", settings.separate);
  app.add_option("--growth", settings.growth);
  CLI11_PARSE(app, argc, argv);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("sheaf-bench-{}", getpid());
  std::filesystem::create_directories(folder);
  if (settings.in_memory)
    measure_in_memory(settings);
  else if (!settings.growth.empty())
    measure_growth(settings, folder.string());
  else if (settings.calibrate > 0)
    calibrate(settings, folder.string());
  else
    measure(settings, folder.string());
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_rescore", [&] { return sheaf::bench::main_of(argc, argv); });
}
