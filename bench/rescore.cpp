// Rescoring of generated PSMs: processor seconds and memory, how both grow, and Percolator on the same file where its
// program is named.
//   bench_rescore [--spectra N ...] [--percolator PROGRAM] [--device cpu|cuda] [--precision float|double] [--threads N]
//                 [--calibrate SEEDS]
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <CLI/CLI.hpp>

#include <sheaf/generate.hpp>
#include <sheaf/rescore.hpp>

#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Settings {
  std::vector<std::int64_t> spectra{100000, 300000, 1000000};
  std::string percolator, device = "cpu", precision = "float";
  int threads = 0;
  int calibrate = 0;
};

struct Cost {
  double seconds = 0, processor = 0, megabytes = 0;
  std::int64_t accepted = 0;
};

RescoreResult rescore(const Context& context, const Settings& settings, const std::string& pin,
                      const RescoreOptions& options) {
  return settings.precision == "double" ? rescore_psms<double>(context, {pin}, options)
                                        : rescore_psms<float>(context, {pin}, options);
}

/// In a process of its own, so that its memory can be told from that of others.
template <class Work>
Cost in_child(Work&& work) {
  const double start = now();
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  Cost cost{now() - start, seconds(used.ru_utime) + seconds(used.ru_stime), static_cast<double>(used.ru_maxrss) / 1024,
            0};
  if (status != 0) cost.processor = NAN;
  return cost;
}

Cost run_sheaf(const Settings& settings, const std::string& pin, const std::string& out) {
  return in_child([&] {
    const Context context(Context::Options{.device = parse_device(settings.device), .threads = settings.threads});
    const auto result = rescore(context, settings, pin, {});
    write_level(context, result, result.psms, {}, out + ".psms");
    write_level(context, result, result.peptides, {}, out + ".peptides");
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
  fmt::print("{:>10} {:>10} {:>10} {:>10} {:>10} {:>12}\n", "PSMs", "program", "seconds", "processor", "MB",
             "accepted 1 %");
  for (const std::int64_t spectra : settings.spectra) {
    const std::string pin = folder + "/run.pin";
    PsmOptions data;
    data.spectra = spectra;
    generate_psms(Context(Context::Options{.seed = 1}), data, pin);
    const auto print = [&](const char* name, Cost cost, const std::string& out) {
      fmt::print("{:>10} {:>10} {:>10.2f} {:>10.2f} {:>10.0f} {:>12}\n", spectra, name, cost.seconds, cost.processor,
                 cost.megabytes, lines_below(out + ".psms", 0.01));
    };
    print("sheaf", run_sheaf(settings, pin, folder + "/sheaf"), folder + "/sheaf");
    if (!settings.percolator.empty())
      print("percolator", run_percolator(settings, pin, folder + "/percolator"), folder + "/percolator");
  }
  if (settings.percolator.empty()) fmt::print("percolator: not named (--percolator PROGRAM), left out\n");
}

/// The share of incorrect matches among the accepted, over several sets of 200,000.
void calibrate(const Settings& settings, const std::string& folder) {
  const Context context(Context::Options{.device = parse_device(settings.device), .threads = settings.threads});
  for (const double limit : {0.01, 0.05}) {
    double accepted = 0;
    double wrong = 0;
    double peps = 0;
    for (int seed = 1; seed <= settings.calibrate; ++seed) {
      PsmOptions data;
      data.spectra = 200000;
      const std::string pin = folder + "/calibrate.pin";
      generate_psms(Context(Context::Options{.seed = static_cast<std::uint64_t>(seed)}), data, pin);
      const auto result = rescore(context, settings, pin, {});
      for (std::size_t k = 0; k < result.psms.rows.size(); ++k) {
        const auto psm = result.text(result.psms.rows[k]);
        if (!psm.target || result.psms.q[k] > limit) continue;
        ++accepted;
        peps += result.psms.pep[k];
        wrong += psm.id.ends_with("_wrong") ? 1 : 0;
      }
    }
    fmt::print("q <= {}: {:.0f} accepted, incorrect {:.5f} +- {:.5f}, mean PEP {:.5f}\n", limit, accepted,
               wrong / accepted, std::sqrt(wrong) / accepted, peps / accepted);
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
  CLI11_PARSE(app, argc, argv);
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("sheaf-bench-{}", getpid());
  std::filesystem::create_directories(folder);
  if (settings.calibrate > 0)
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
