// Selecting 200 features by JMI on the five shapes of the CUDA-JMI paper, 64 bins, beside a plain sequential program of
// the published pseudo-code, in one run; then the other criteria beside JMI, and growth in every direction.
//
// The floor, before anything was tuned. A pair of features costs one read of both columns and one update of a count for
// each example: at one byte each and one update a cycle, shape 5 has 3,072 x 199 pairs of 531,131 examples, 3.2e11
// updates: 125 s on one core of 2.6 GHz, 62 s on two; on 132 multiprocessors with 8 updates a cycle 0.2 s, and its
// 1.6 GB read 199 times 0.07 s at 4.8 TB/s. Upper bounds take a share of the pairs away from that.
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <sheaf/context.hpp>
#include <sheaf/selection.hpp>

#include "core/fail.hpp"
#include "information/count/columns.hpp"
#include "peers/sequential_jmi.hpp"
#include "plot.hpp"
#include "selection_tables.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Arguments {
  std::string device = "cpu";
  int threads = 0;
  int shape = 0;
  std::int64_t count = 200;
  double scale = 1;
  std::string file;
  bool others = false;
  std::int64_t resamples = 0;
  bool growth = false;
  std::string plot;
  bool few = false;
  std::string counting = "auto";
  std::string criterion = "jmi";
};

std::vector<SelectionShape> paper_shapes(double scale) {
  const auto rows = [scale](std::int64_t n) {
    return n < 1000 ? n : static_cast<std::int64_t>(static_cast<double>(n) * scale);
  };
  return {{"1: genes, 2 classes", 24481, 97, 2, 0, 64},
          {"2: genes, 43 classes", 27679, 90, 43, 0, 64},
          {"3: text, 2 classes", 47236, rows(20242), 2, rows(1500000), 64},
          {"4: text, 20 classes", 62061, rows(15935), 20, rows(1270000), 64},
          {"5: pictures, 10 classes", 3072, rows(531131), 10, 0, 64}};
}

/// If other work shares the cores, only processor time can be compared.
struct Seconds {
  double wall = 0;
  double processor = 0;
};
class Watch {
 public:
  Seconds seconds() const { return {now() - wall_, processor_seconds() - processor_}; }

 private:
  double wall_ = now();
  double processor_ = processor_seconds();
};

struct Timed {
  Selection selection;
  Seconds seconds;
};

Timed run_once(const Context& context, const SelectionData& data, const SelectionOptions& options) {
  Timed timed;
  const Watch watch;
  timed.selection = select_features(context, data.table, data.target, options);
  timed.seconds = watch.seconds();
  return timed;
}

/// Starting a GPU takes longer than most selections on it: that is no part of them.
void warm_up(const Context& context, const SelectionData& data, SelectionOptions options) {
  if (context.device().is_cpu()) return;
  options.count = 2;
  run_once(context, data, options);
}

/// The best of three if one takes less than a second, of wall and processor time each.
Timed run_ours(const Context& context, const SelectionData& data, const SelectionOptions& options) {
  warm_up(context, data, options);
  Timed best = run_once(context, data, options);
  for (int more = 0; more < 2 && best.seconds.processor < 1; ++more) {
    const Seconds again = run_once(context, data, options).seconds;
    best.seconds = {std::min(best.seconds.wall, again.wall), std::min(best.seconds.processor, again.processor)};
  }
  return best;
}

/// Time before the first pair is counted: entropies of every feature, and the table on the device. Selecting one
/// feature takes nothing else.
double set_up_seconds(const Context& context, const SelectionData& data, SelectionOptions options) {
  options.count = 1;
  return run_ours(context, data, options).seconds.wall;
}

std::vector<int> plain_column(const SelectionData& data, std::int64_t j) {
  std::vector<std::uint32_t> codes;
  information::read_column(data.table, j, codes);
  return {codes.begin(), codes.end()};
}

/// Seconds the sequential program takes for all rounds: measured on pairs spread over the features, and scaled.
Seconds sequential_seconds(const SelectionData& data, std::int64_t count, std::int64_t& sample) {
  SequentialJmi peer({data.target.classes.begin(), data.target.classes.end()}, data.shape.classes);
  const std::vector<int> selected = plain_column(data, data.shape.features / 2);
  const std::int64_t most = std::max<std::int64_t>(4, std::int64_t{100'000'000} / data.shape.rows);
  sample = std::min<std::int64_t>({most, data.shape.features, 4000});
  // Enough at a time to make the time of reading the clock negligible.
  const std::int64_t at_once = std::max<std::int64_t>(1, 1'000'000 / data.shape.rows);
  Seconds seconds;
  double sum = 0;
  for (std::int64_t first = 0; first < sample; first += at_once) {
    std::vector<std::vector<int>> candidates;
    for (std::int64_t k = first; k < std::min(sample, first + at_once); ++k)
      candidates.push_back(plain_column(data, k * data.shape.features / sample));
    const Watch watch;
    for (const auto& candidate : candidates)
      sum += peer.joint_information(selected, data.shape.bins, candidate, data.shape.bins);
    const Seconds of_these = watch.seconds();
    seconds = {seconds.wall + of_these.wall, seconds.processor + of_these.processor};
  }
  double pairs = 0;
  for (std::int64_t round = 1; round < count; ++round) pairs += static_cast<double>(data.shape.features - round);
  if (sum < 0) std::puts("");  // the sums are used
  const double scale = pairs / static_cast<double>(sample);
  return {seconds.wall * scale, seconds.processor * scale};
}

double share_counted(const SelectionWork& work) {
  return work.pairs_possible > 0
             ? 100.0 * static_cast<double>(work.pairs_counted) / static_cast<double>(work.pairs_possible)
             : 0;
}

void bench_data(const Context& context, const SelectionData& data, const Arguments& arguments) {
  const SelectionShape& shape = data.shape;
  SelectionOptions options;
  const std::int64_t count = arguments.count;
  options.count = count;
  options.criterion = arguments.criterion;
  options.counting = arguments.counting;
  const Timed ours = run_ours(context, data, options);
  const double set_up = set_up_seconds(context, data, options);
  std::int64_t sample = 0;
  const Seconds sequential = sequential_seconds(data, count, sample);
  std::printf(
      "%-24s %6lld x %6lld  %-8s %9.3f s (%.3f s set-up)  %11.1f s  %8.1fx  %5.1f %% of pairs, %lld in order "
      "(sequential from %lld pairs)\n",
      shape.name.c_str(), static_cast<long long>(shape.features), static_cast<long long>(shape.rows),
      ours.selection.counting.c_str(), ours.seconds.wall, set_up, sequential.wall, sequential.wall / ours.seconds.wall,
      share_counted(ours.selection.work), static_cast<long long>(ours.selection.work.pairs_ordered),
      static_cast<long long>(sample));
  if (context.device().is_cpu())
    std::printf("%24s processor time %9.3f s, sequential %.1f s: %.1fx on %d cores that are free\n", "",
                ours.seconds.processor, sequential.processor,
                sequential.processor / ours.seconds.processor * context.threads(), context.threads());
  std::fflush(stdout);
}

/// Each criterion beside JMI, and all of them in one run.
void bench_criteria(const Context& context, const SelectionShape& shape, std::int64_t count,
                    const std::string& counting) {
  const SelectionData data = make_data(shape, context.threads());
  std::printf("\n%s, %lld features\n", shape.name.c_str(), static_cast<long long>(count));
  Seconds jmi;
  EnsembleOptions ensemble;
  for (const CriterionInfo& info : criteria()) {
    if (info.numeric) continue;
    SelectionOptions options;
    options.criterion = info.name;
    options.count = count;
    options.counting = info.name == "cmi" ? "auto" : counting;
    const Timed timed = run_ours(context, data, options);
    if (info.name == "jmi") jmi = timed.seconds;
    ensemble.criteria.emplace_back(info.name);
    std::printf("  %-10s %9.3f s  %6.2f of jmi; processor %9.3f s  %6.2f of jmi;  %5.1f %% of pairs, %lld in order\n",
                options.criterion.c_str(), timed.seconds.wall, timed.seconds.wall / jmi.wall, timed.seconds.processor,
                timed.seconds.processor / jmi.processor, share_counted(timed.selection.work),
                static_cast<long long>(timed.selection.work.pairs_ordered));
    std::fflush(stdout);
  }
  SelectionOptions options;
  options.count = count;
  const Watch watch;
  select_ensemble(context, data.table, data.target, options, ensemble);
  const Seconds together = watch.seconds();
  std::printf("  %-10s %9.3f s  %6.2f of jmi; processor %9.3f s  %6.2f of jmi\n", "all", together.wall,
              together.wall / jmi.wall, together.processor, together.processor / jmi.processor);
}

/// An ensemble over resamples beside one selection.
void bench_resamples(const Context& context, const SelectionShape& shape, std::int64_t count, std::int64_t resamples) {
  const SelectionData data = make_data(shape, context.threads());
  SelectionOptions options;
  options.count = count;
  const Seconds alone = run_ours(context, data, options).seconds;
  EnsembleOptions ensemble;
  ensemble.resamples = resamples;
  const Watch watch;
  const Ensemble got = select_ensemble(context, data.table, data.target, options, ensemble);
  const Seconds together = watch.seconds();
  const auto each = static_cast<double>(resamples);
  std::printf(
      "%-24s %lld resamples %9.3f s  one selection %9.3f s  %6.2f of one each (processor %.3f s, %.3f s, %.2f), "
      "stability %.3f\n",
      shape.name.c_str(), static_cast<long long>(resamples), together.wall, alone.wall,
      together.wall / alone.wall / each, together.processor, alone.processor,
      together.processor / alone.processor / each, got.stability);
  std::fflush(stdout);
}

/// On the CPU processor time, as on a quiet machine with all of its threads busy.
double seconds_of_device(const Context& context, const Timed& timed) {
  return context.device().is_cpu() ? timed.seconds.processor / context.threads() : timed.seconds.wall;
}

/// Tables of few states: every way to count beside the one that is chosen. Features so that each takes a while.
void bench_few_states(const Context& context, std::int64_t count) {
  const std::vector<std::string> ways{"ordered", "tables", "grouped", "popcount", "compared"};
  std::printf("\n%8s %8s %6s %8s", "features", "examples", "bins", "classes");
  for (const std::string& counting : ways) std::printf(" %11s", counting.c_str());
  std::printf("  chosen\n");
  const auto all_rows = context.device().is_cpu() ? std::vector<std::int64_t>{100, 200, 400, 1000, 4000, 40000}
                                                  : std::vector<std::int64_t>{1000, 40000};
  for (const std::int64_t rows : all_rows)
    for (const auto& [bins, classes] : {std::pair{2, 2}, {3, 2}, {5, 2}, {5, 10}, {8, 2}, {12, 2}, {16, 2}}) {
      const bool on_gpu = !context.device().is_cpu();
      const std::int64_t features = std::clamp<std::int64_t>((on_gpu ? 160'000'000 : 4'000'000) / rows, 400, 10000);
      const SelectionShape shape{"", features, rows, classes, 0, bins};
      const SelectionData data = make_data(shape, context.threads());
      std::printf("%8lld %8lld %6d %8d", static_cast<long long>(shape.features), static_cast<long long>(rows), bins,
                  classes);
      SelectionOptions options;
      options.count = count;
      for (const std::string& counting : ways) {
        options.counting = counting;
        try {
          std::printf(" %9.4f s", seconds_of_device(context, run_ours(context, data, options)));
        } catch (const UsageError&) {
          std::printf(" %11s", "-");
        }
      }
      options.counting = "auto";
      const Timed chosen = run_ours(context, data, options);
      std::printf("  %s, %.4f s, %lld pairs in order\n", chosen.selection.counting.c_str(),
                  seconds_of_device(context, chosen), static_cast<long long>(chosen.selection.work.pairs_ordered));
      std::fflush(stdout);
    }
}

void bench_growth(const Context& context, std::int64_t count, const std::string& plot) {
  const SelectionShape base{"", 4000, 2000, 2, 0, 16};
  std::printf("\ngrowth of JMI around %lld features, %lld examples, %d classes, %d bins, count %lld\n",
              static_cast<long long>(base.features), static_cast<long long>(base.rows), base.classes, base.bins,
              static_cast<long long>(count));
  std::vector<GrowthCurve> curves;
  const auto curve = [&](const char* what, const std::vector<std::int64_t>& values, const auto& set) {
    curves.push_back({what, {}, {}});
    for (const std::int64_t value : values) {
      SelectionShape shape = base;
      SelectionOptions options;
      options.count = count;
      set(shape, options, value);
      const Timed timed = run_ours(context, make_data(shape, context.threads()), options);
      const double seconds = seconds_of_device(context, timed);
      std::printf("  %-9s %8lld  %-8s %9.3f s  %5.1f %% of pairs\n", what, static_cast<long long>(value),
                  timed.selection.counting.c_str(), seconds, share_counted(timed.selection.work));
      std::fflush(stdout);
      curves.back().factors.push_back(static_cast<double>(value) / static_cast<double>(values.front()));
      curves.back().seconds.push_back(seconds);
    }
  };
  curve("features", {1000, 4000, 16000}, [](auto& shape, auto&, std::int64_t v) { shape.features = v; });
  curve("samples", {500, 2000, 8000, 32000}, [](auto& shape, auto&, std::int64_t v) { shape.rows = v; });
  curve("bins", {4, 16, 64, 200}, [](auto& shape, auto&, std::int64_t v) { shape.bins = static_cast<int>(v); });
  curve("classes", {2, 10, 50}, [](auto& shape, auto&, std::int64_t v) { shape.classes = static_cast<int>(v); });
  curve("count", {10, 50, 200}, [](auto&, auto& options, std::int64_t v) { options.count = v; });
  if (!plot.empty())
    write_growth(plot, fmt::format("Selecting by JMI on {}: growth in five directions", to_string(context.device())),
                 curves);
}

int run(const Arguments& arguments) {
  Context::Options options;
  options.device = parse_device(arguments.device);
  options.threads = arguments.threads;
  const Context context(options);
  std::printf("%s, %d threads; count %lld; whole calls, best of 3 where under a second%s\n",
              to_string(context.device()).c_str(), context.threads(), static_cast<long long>(arguments.count),
              context.device().is_cpu() ? "" : ", after one that starts the GPU and is not timed");
  std::printf("%-24s %15s  %-8s %28s  %13s  %9s\n", "shape", "size", "counting", "ours", "sequential", "ratio");
  if (!arguments.file.empty()) {
    bench_data(context, read_data(context, arguments.file, 64), arguments);
    return 0;
  }
  if (arguments.few) {
    bench_few_states(context, std::min<std::int64_t>(arguments.count, 50));
    return 0;
  }
  const auto shapes = paper_shapes(arguments.scale);
  for (std::size_t k = 0; k < shapes.size(); ++k)
    if (arguments.shape == 0 || arguments.shape == static_cast<int>(k) + 1) {
      if (arguments.resamples > 0)
        bench_resamples(context, shapes[k], arguments.count, arguments.resamples);
      else if (arguments.others)
        bench_criteria(context, shapes[k], arguments.count, arguments.counting);
      else if (!arguments.growth)
        bench_data(context, make_data(shapes[k], context.threads()), arguments);
    }
  if (arguments.growth) bench_growth(context, std::min<std::int64_t>(arguments.count, 50), arguments.plot);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  sheaf::bench::Arguments arguments;
  CLI::App app("Feature selection beside a sequential program of the published pseudo-code");
  app.add_option("--device", arguments.device, "cpu, cuda or cuda:N");
  app.add_option("--threads", arguments.threads, "CPU threads");
  app.add_option("--shape", arguments.shape, "1 to 5; 0: all");
  app.add_option("--file", arguments.file, "a table to read instead, in 64 equal bins");
  app.add_option("--count", arguments.count, "features to select");
  app.add_option("--scale", arguments.scale, "share of the examples of shapes 3 to 5");
  app.add_flag("--criteria", arguments.others, "each criterion beside JMI instead");
  app.add_option("--resamples", arguments.resamples, "an ensemble over so many resamples instead");
  app.add_option("--counting", arguments.counting, "the way to count");
  app.add_option("--criterion", arguments.criterion, "beside the sequential JMI");
  app.add_flag("--few", arguments.few, "every way to count tables of few states instead");
  app.add_flag("--growth", arguments.growth, "growth in features, samples, bins, classes and count instead");
  app.add_option("--plot", arguments.plot, "SVG of the growth to write");
  CLI11_PARSE(app, argc, argv);
  try {
    return sheaf::bench::run(arguments);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_selection: %s\n", error.what());
    return 1;
  }
}
