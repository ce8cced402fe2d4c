// Cost of threads that wait: short loops over the cores with pauses between them, and a search, on a quiet machine and
// beside programs that keep every core busy. Peers in the same run: OpenMP's threads, set to wait actively (they spin)
// and passively (they sleep), and with --old the program as it was with OpenMP.
//
// The claim: never more than 1.2 times the better of the two, whichever that is. With --crowd 8: eight processes at
// once take at most 1.1 times as long as one after the other.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sheaf/context.hpp>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "peers/openmp.hpp"
#include "program.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  int threads = available_threads();
  int repeats = 5;
  std::string program, old;
  std::string arguments;
  int crowd = 0;
  // of a run of our own with other settings
  std::string kind;
  double work = 0, gap = 0;
  int regions = 0;
};

struct Time {
  double passed = 0, used = 0;
};

/// Arithmetic that takes the same number of steps whoever else is running.
void compute(long steps) {
  volatile double kept = 0;
  double x = 1;
  for (long k = 0; k < steps; ++k) x = x * 1.0000001 + 1e-9;
  kept = x;
  static_cast<void>(kept);
}

/// Steps of compute() in a microsecond, on a core of its own.
double steps_per_microsecond() {
  constexpr long steps = 20000;
  double best = 1e9;
  for (int k = 0; k < 200; ++k) {
    const double start = now();
    compute(steps);
    best = std::min(best, now() - start);
  }
  return steps / (best * 1e6);
}

/// Loops of `work` microseconds on each thread, `gap` microseconds of one thread between them.
void run_regions(const Options& options) {
  const double rate = steps_per_microsecond();
  const auto work = static_cast<long>(options.work * rate);
  const auto gap = static_cast<long>(options.gap * rate);
  const double start = now();
  for (int k = 0; k < options.regions; ++k) {
    if (options.kind == "openmp")
      openmp_region(options.threads, compute, work);
    else
      parallel_for(options.threads, options.threads, [&](std::int64_t) { compute(work); });
    if (gap > 0) compute(gap);
  }
  std::printf("%.9f\n", now() - start);
}

double used_by_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/// A shell command; what it prints is its time, else the time it took.
Time run_command(const std::string& command) {
  const double used = used_by_children();
  const double start = now();
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) fail("no shell could be started");
  double said = 0;
  const bool says = std::fscanf(pipe, "%lf", &said) == 1;
  if (pclose(pipe) != 0) fail("failed: {}", command);
  return {says ? said : now() - start, used_by_children() - used};
}

/// Keeps every core busy while it lives.
class BusyMachine {
 public:
  explicit BusyMachine(int cores) {
    for (int c = 0; c < cores; ++c) {
      const pid_t child = fork();
      if (child == 0)
        for (;;) compute(1 << 20);
      children_.push_back(child);
    }
  }
  BusyMachine(const BusyMachine&) = delete;
  BusyMachine& operator=(const BusyMachine&) = delete;
  ~BusyMachine() {
    for (const pid_t child : children_) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
    }
  }

 private:
  std::vector<pid_t> children_;
};

struct Candidate {
  std::string name, command;
};

/// One after the other, several times, so that all meet the same company; the median of each.
std::vector<Time> measure(const std::vector<Candidate>& candidates, int repeats) {
  std::vector<std::vector<Time>> times(candidates.size());
  for (int r = 0; r < repeats; ++r)
    for (std::size_t c = 0; c < candidates.size(); ++c) times[c].push_back(run_command(candidates[c].command));
  std::vector<Time> medians;
  for (auto& of_one : times) {
    std::sort(of_one.begin(), of_one.end(), [](const Time& a, const Time& b) { return a.passed < b.passed; });
    medians.push_back(of_one[of_one.size() / 2]);
  }
  return medians;
}

/// The first candidate against the better of the others.
void compare(const std::string& title, const std::vector<Candidate>& candidates, int repeats) {
  const auto times = measure(candidates, repeats);
  std::string line = fmt::format("{:<44}", title);
  double best = 1e99;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    line += fmt::format("  {} {:8.4f} s ({:.4f} s used)", candidates[c].name, times[c].passed, times[c].used);
    if (c > 0) best = std::min(best, times[c].passed);
  }
  if (candidates.size() > 1) line += fmt::format("  ratio {:.2f}", times[0].passed / best);
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

std::vector<Candidate> region_candidates(const std::string& self, const Options& options, double work, double gap) {
  const int regions = static_cast<int>(std::clamp(2e5 / (work + gap + 1), 200.0, 20000.0));
  const auto command = [&](const std::string& kind, const std::string& policy) {
    return fmt::format("{}{} --kind {} --threads {} --work {} --gap {} --regions {}", policy, self, kind,
                       options.threads, work, gap, regions);
  };
  std::vector<Candidate> candidates{{"sheaf", command("sheaf", "")}};
  if (!has_openmp()) return candidates;
  candidates.push_back({"active", command("openmp", "OMP_WAIT_POLICY=active ")});
  candidates.push_back({"passive", command("openmp", "OMP_WAIT_POLICY=passive ")});
  return candidates;
}

std::vector<Candidate> program_candidates(const Options& options) {
  const auto command = [&](const std::string& policy, const std::string& program) {
    return fmt::format("{}{} {} >/dev/null 2>&1", policy, program, options.arguments);
  };
  std::vector<Candidate> candidates{{"sheaf", command("", options.program)}};
  if (options.old.empty()) return candidates;
  candidates.push_back({"old", command("", options.old)});
  candidates.push_back({"old active", command("OMP_WAIT_POLICY=active ", options.old)});
  candidates.push_back({"old passive", command("OMP_WAIT_POLICY=passive ", options.old)});
  return candidates;
}

void compare_all(const std::string& self, const Options& options, const std::string& company) {
  for (const auto& [work, gap] : {std::pair{0.0, 0.0}, {5.0, 0.0}, {20.0, 20.0}, {100.0, 20.0}, {100.0, 300.0}})
    compare(fmt::format("{}: loops of {} us, {} us between", company, work, gap),
            region_candidates(self, options, work, gap), options.repeats);
  if (!options.program.empty())
    compare(fmt::format("{}: {}", company, options.arguments.substr(0, 32)), program_candidates(options),
            options.repeats);
}

/// Processes of the program at once, beside the same in turn.
void compare_crowd(const Options& options) {
  const auto numbers =
      fmt::format("for k in $(seq {}); do {} {} >/dev/null 2>&1", options.crowd, options.program, options.arguments);
  compare(fmt::format("{} processes", options.crowd),
          {{"at once", numbers + " & done; wait"}, {"in turn", numbers + " || exit 1; done"}}, options.repeats);
}

int run(int argc, char** argv) {
  Options options;
  CLI::App app("What threads cost that wait");
  app.add_option("--threads", options.threads);
  app.add_option("--repeats", options.repeats);
  app.add_option("--program", options.program, "sheaf, to be timed with --arguments");
  app.add_option("--old", options.old, "an older sheaf to compare with");
  app.add_option("--arguments", options.arguments, "of both, in one word; $k is the number of a process of --crowd");
  app.add_option("--crowd", options.crowd, "so many processes of --program at once, beside the same in turn");
  app.add_option("--kind", options.kind)->group("");
  app.add_option("--work", options.work)->group("");
  app.add_option("--gap", options.gap)->group("");
  app.add_option("--regions", options.regions)->group("");
  CLI11_PARSE(app, argc, argv);
  if (!options.kind.empty()) {
    run_regions(options);
    return 0;
  }
  if (options.crowd > 0) {
    compare_crowd(options);
    return 0;
  }
  compare_all(argv[0], options, "quiet");
  const BusyMachine busy(options.threads);
  compare_all(argv[0], options, "busy");
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_waiting", [&] { return sheaf::bench::run(argc, argv); });
}
