// Claim: a dataset from memory costs one reading of it if it is borrowed, and about two copies if columns become rows,
// whatever the shape.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <CLI/CLI.hpp>

#include <sheaf/memory.hpp>

#include "core/parallel.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Shape {
  std::int64_t rows, columns;
};

/// The obvious implementation: every row gathers its elements.
void gather_plainly(const std::vector<double>& from, const Shape& shape, int threads, std::vector<double>& to) {
  parallel_ranges(threads, shape.rows, 1, [&](Range rows) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      for (std::int64_t j = 0; j < shape.columns; ++j)
        to[static_cast<std::size_t>(i * shape.columns + j)] = from[static_cast<std::size_t>(j * shape.rows + i)];
  });
}

void bench_dense(const Context& context, const Shape& shape) {
  std::vector<double> from(static_cast<std::size_t>(shape.rows * shape.columns), 1.5);
  std::vector<double> to(from.size());
  const auto time = [&](auto&& work) {
    return seconds_of([&](int repeats) {
      for (int r = 0; r < repeats; ++r) work();
    });
  };
  const double copy =
      time([&] { parallel_copy(to.data(), from.data(), static_cast<std::int64_t>(from.size() * sizeof(double))); });
  const double plain = time([&] { gather_plainly(from, shape, context.threads(), to); });
  const double borrowed =
      time([&] { make_dataset<double>(context, DenseInput::row_major(from, shape.rows, shape.columns)); });
  const double columns =
      time([&] { make_dataset<double>(context, DenseInput::column_major(from, shape.rows, shape.columns)); });
  const double narrowed =
      time([&] { make_dataset<float>(context, DenseInput::column_major(from, shape.rows, shape.columns)); });
  std::printf("%8lld x %-8lld %9.1f %9.1f %9.1f %9.1f %9.1f %9.2f %9.2f\n", static_cast<long long>(shape.rows),
              static_cast<long long>(shape.columns), copy * 1e3, plain * 1e3, borrowed * 1e3, columns * 1e3,
              narrowed * 1e3, columns / copy, plain / columns);
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  int threads = 0;
  CLI::App app("Datasets from memory: milliseconds for dense matrices of doubles.");
  app.add_option("--threads", threads, "all by default");
  CLI11_PARSE(app, argc, argv);
  const sheaf::Context context({.threads = threads});
  std::printf("%19s %9s %9s %9s %9s %9s %9s %9s\n", "shape", "copy", "plain", "rows", "columns", "to float", "/ copy",
              "plain /");
  for (const sheaf::bench::Shape& shape : {sheaf::bench::Shape{4096, 4096}, {4000, 4000}, {1000000, 20}, {100, 150000}})
    sheaf::bench::bench_dense(context, shape);
}
