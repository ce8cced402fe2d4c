// The block products X W and X' Z for 1 to 512 tasks: time per model, and how far from the machine's own limits.
//
// For each shape the floor is written down first: the bytes that must move (X once, both blocks once) over the measured
// copy bandwidth, and the multiplications and additions over the measured arithmetic rate. Sparse products on the GPU
// stand beside cuSPARSE's on the same data in the same run.
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <sheaf/generate.hpp>
#include <sheaf/io.hpp>

#include "core/parallel.hpp"
#include "core/random.hpp"
#include "linear/products/ops.hpp"
#include "program.hpp"
#include "timing.hpp"
#if SHEAF_CUDA
#include "peers/cusparse.hpp"
#endif

namespace sheaf::bench {
namespace {

struct Shape {
  std::string name;
  Dataset<float> dataset;
};

Dataset<float> generated(const Context& context, const char* kind, std::int64_t rows, std::int64_t features,
                         std::int64_t nonzeros, int classes) {
  GenerateOptions options;
  options.kind = kind;
  options.rows = rows;
  options.features = features;
  options.nonzeros = nonzeros;
  options.classes = classes;
  return generate<float>(context, options).dataset;
}

Block<float> random_block(std::int64_t rows, std::int32_t tasks, Device device) {
  Block<float> block(rows, tasks);
  Random random(1);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int32_t t = 0; t < tasks; ++t) block(i, t) = static_cast<float>(random.uniform(-1, 1));
  return block.to(device);
}

/// Bytes per second of a large copy on the device, counting what is read and what is written.
double copy_bandwidth(Device device, int threads) {
  const std::int64_t bytes = device.is_cpu() ? std::int64_t{256} << 20 : std::int64_t{4} << 30;
  const auto from = Array<char>::zeros(bytes, device);
  auto to = Array<char>::zeros(bytes, device);
  const std::int64_t part = bytes / threads;
  const double seconds = seconds_of([&](int repeats) {
    for (int r = 0; r < repeats; ++r) {
      if (device.is_cuda()) {
        copy_bytes(to.data(), device, from.data(), device, bytes);
        continue;
      }
      parallel_for(threads, threads, [&](std::int64_t p) {
        copy_bytes(to.data() + p * part, device, from.data() + p * part, device, part);
      });
    }
  });
  return 2.0 * static_cast<double>(bytes) / seconds;
}

/// Additions and multiplications per second of a large dense product through our own verb.
double arithmetic_rate(const Context& context) {
  const std::int64_t n = context.device().is_cpu() ? 1024 : 8192;
  Dataset<float> dataset;
  Random random(2);
  DenseMatrix<float> x{n, n, Array<float>(n * n)};
  for (auto& value : x.values) value = static_cast<float>(random.uniform(-1, 1));
  dataset.x = std::move(x);
  const auto ops = linear::make_ops<float>(context, dataset);
  const auto tasks = static_cast<std::int32_t>(n);
  const auto w = random_block(n, tasks, context.device());
  auto z = random_block(n, tasks, context.device());
  const double seconds = seconds_of([&](int repeats) {
    for (int r = 0; r < repeats; ++r) ops->multiply(w.view(), z.view());
    ops->synchronize();
  });
  return 2.0 * static_cast<double>(n * n * n) / seconds;
}

struct Machine {
  double bandwidth, arithmetic;
};

void measure(const Context& context, const Shape& shape, const Machine& machine, const std::vector<int>& task_counts) {
  const auto& dataset = shape.dataset;
  const auto ops = linear::make_ops<float>(context, dataset);
  const double entries = static_cast<double>(stored(dataset.x));
  const double x_bytes = entries * (is_sparse(dataset.x) ? 8 : 4);
  std::printf("\n%s: %lld x %lld, %.3g stored entries\n", shape.name.c_str(), static_cast<long long>(dataset.rows()),
              static_cast<long long>(dataset.features()), entries);
  std::printf("  %-6s %5s %12s %12s %10s %9s %12s\n", "verb", "tasks", "us", "us/model", "gain", "of floor",
              "cuSPARSE/us");
  for (const bool transposed : {false, true}) {
    double alone = 0;
    for (const int tasks : task_counts) {
      auto w = random_block(ops->weights(), tasks, context.device());
      auto z = random_block(ops->examples(), tasks, context.device());
      const double seconds = seconds_of([&](int repeats) {
        for (int r = 0; r < repeats; ++r)
          transposed ? ops->multiply_transposed(z.view(), w.view()) : ops->multiply(w.view(), z.view());
        ops->synchronize();
      });
      const double per_model = seconds / tasks * 1e6;
      if (tasks == 1) alone = per_model;
      const double bytes = x_bytes + 4.0 * static_cast<double>(w.rows() + z.rows()) * tasks;
      const double floor = std::max(bytes / machine.bandwidth, 2 * entries * tasks / machine.arithmetic);
      std::string peer = "-";
#if SHEAF_CUDA
      if (context.device().is_cuda() && is_sparse(dataset.x)) {
        const auto& a = transposed ? dataset.by_columns(context.device(), context.threads())
                                   : std::get<SparseMatrix<float>>(dataset.by_rows(context.device()));
        const auto run = transposed ? cusparse_product(a, z.view(), w.view()) : cusparse_product(a, w.view(), z.view());
        peer = fmt::format("{:.3f}", seconds_of(run) / tasks * 1e6);
      }
#endif
      std::printf("  %-6s %5d %12.1f %12.3f %9.1fx %8.0f%% %12s\n", transposed ? "X'Z" : "XW", tasks, seconds * 1e6,
                  per_model, alone / per_model, 100 * floor / seconds, peer.c_str());
      std::fflush(stdout);
    }
  }
}

int run(int argc, char** argv) {
  CLI::App app("Block products of the linear family: time per model and distance from the machine's limits");
  std::string device = "cpu";
  std::string file;
  int threads = 0;
  std::vector<int> tasks{1, 8, 32, 64, 128, 512};
  std::vector<std::string> only;
  app.add_option("--device", device, "cpu, cuda, cuda:N");
  app.add_option("--threads", threads, "CPU threads (0: all)");
  app.add_option("--news20", file, "LIBSVM file to use for the 15,935 x 62,061 shape (generated when not given)");
  app.add_option("--tasks", tasks, "block widths")->delimiter(',');
  app.add_option("--shapes", only, "which of rcv1, news20, tall, pixels, wide")->delimiter(',');
  CLI11_PARSE(app, argc, argv);

  Context::Options options;
  options.device = parse_device(device);
  options.threads = threads;
  const Context context(options);
  const auto info = describe(context.device());
  const Machine machine{copy_bandwidth(context.device(), context.threads()), arithmetic_rate(context)};
  std::printf("%s, %s, %d threads: copies %.0f GB/s, single-precision products %.2f TFLOP/s (both measured here)\n",
              to_string(context.device()).c_str(), info.name.c_str(), context.threads(), machine.bandwidth / 1e9,
              machine.arithmetic / 1e12);
  const auto wanted = [&](const char* name) {
    return only.empty() || std::find(only.begin(), only.end(), name) != only.end();
  };
  if (wanted("rcv1"))
    measure(context, {"sparse text (generated, as rcv1)", generated(context, "text", 20242, 47236, 1500000, 2)},
            machine, tasks);
  if (wanted("news20")) {
    if (file.empty())
      measure(context, {"sparse text (generated, as news20)", generated(context, "text", 15935, 62061, 1272569, 20)},
              machine, tasks);
    else
      measure(context, {"sparse text (" + file + ")", read_dataset<float>(context, file)}, machine, tasks);
  }
  if (wanted("tall"))
    measure(context, {"tall dense", generated(context, "classification", 1000000, 28, 0, 2)}, machine, tasks);
  if (wanted("pixels"))
    measure(context, {"dense, as MNIST", generated(context, "classification", 60000, 780, 0, 2)}, machine, tasks);
  if (wanted("wide")) measure(context, {"wide dense", generated(context, "genes", 2000, 20000, 0, 2)}, machine, tasks);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  return sheaf::bench::run_program("bench_products", [&] { return sheaf::bench::run(argc, argv); });
}
