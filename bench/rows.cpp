// Rows shared by processes: what a sum over all of them costs, and how much faster models are trained.
//
//   bench_rows [--threads 4]                    one process, without slices
//   mpirun -n 4 bench_rows --threads 1          the same dataset and models; one line, from the first process
//
// The line: processes and threads; seconds to train the models of one block; seconds of a product with X and its
// transpose for one model and for 50 at once; milliseconds of the sum of such a product for one model and for 50, and
// their ratio.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <sheaf/generate.hpp>
#include <sheaf/solvers/linear.hpp>

#include "core/team/alone.hpp"
#include "core/team/slices.hpp"
#include "linear/products/ops.hpp"
#include "program.hpp"
#include "queue/team.hpp"
#include "timing.hpp"

namespace sheaf::bench {
namespace {

struct Options {
  std::string device = "cpu";
  int threads = 1;
  std::int64_t rows = 400000, features = 50;
};

/// A run of seconds_of() takes as often as it likes, and all processes must take as often.
template <class Run>
double seconds_each(Team* team, Run&& run) {
  constexpr int repeats = 5;
  double best = 1e300;
  std::vector<double> all(team != nullptr ? static_cast<std::size_t>(team->size()) : 1);
  for (int k = 0; k < repeats; ++k) {
    if (team != nullptr) team->gather(std::vector<double>{0}, all);  // begin together
    const double start = now();
    run();
    best = std::min(best, now() - start);
  }
  return best;
}

double seconds_of_product(const Context& context, const Dataset<float>& dataset, std::int32_t models) {
  const auto ops = linear::make_ops<float>(context, dataset, 1);
  Block<float> w(ops->weights(), models, ops->device());
  Block<float> z(ops->examples(), models, ops->device());
  const auto& read = w;
  return seconds_each(context.team(), [&] {
    ops->multiply(read.view(), z.view());
    ops->multiply_transposed(std::as_const(z).view(), w.view());
    ops->synchronize();
  });
}

/// Of the numbers of a block of weights, made beforehand.
double seconds_of_sum(Team& team, std::int64_t features, std::int32_t models) {
  SliceSums sums(team, Slices(features, team.size()));
  std::vector<double> total(static_cast<std::size_t>((features + 1) * models));
  return seconds_each(&team, [&] { sums.sum(total, [](std::int32_t, std::span<double>) {}); });
}

int run(const Options& options) {
  const auto ranks = queue::launched_ranks();
  auto* team = ranks.launched ? &queue::join_team(ranks) : nullptr;
  Context::Options asked;
  asked.device = parse_device(options.device);
  asked.threads = options.threads;
  asked.memory = std::int64_t{4} << 30;
  asked.team = team;
  const Context context(asked);
  GenerateOptions made;
  made.kind = "classification";
  made.rows = options.rows;
  made.features = options.features;
  const auto dataset = generate<float>(without_team(context), made).dataset;
  Sheaf sheaf;
  sheaf.examples = options.rows;
  for (const auto c : dataset.target.classes) sheaf.targets.push_back(c == 0 ? 1 : -1);
  for (const double cost : {0.001, 0.01, 0.1, 1.0, 10.0}) sheaf.tasks.push_back({0, 0, cost, cost, 0.1});
  NewtonParams params;
  params.bias = 1;
  const double fit = seconds_each(team, [&] { newton(context, dataset, sheaf, params); });
  const double one = seconds_of_product(context, dataset, 1);
  const double fifty = seconds_of_product(context, dataset, 50);
  TeamOfOne alone;
  auto& summing = team != nullptr ? *team : alone;
  const double sum_one = seconds_of_sum(summing, options.features, 1);
  const double sum_fifty = seconds_of_sum(summing, options.features, 50);
  if (ranks.rank == 0)
    fmt::print(
        "{} x {}: {} processes x {} threads{}: {:.3f} s to train {} models; product {:.5f} s of one model, {:.5f} s of "
        "50; "
        "sum {:.3f} ms, {:.3f} ms: {:.2f} times\n",
        options.rows, options.features, ranks.count, options.threads, team != nullptr ? "" : ", no slices", fit,
        sheaf.tasks.size(), one, fifty, 1e3 * sum_one, 1e3 * sum_fifty, sum_fifty / sum_one);
  return 0;
}

}  // namespace
}  // namespace sheaf::bench

int main(int argc, char** argv) {
  sheaf::bench::Options options;
  CLI::App app{"Rows shared by processes"};
  app.add_option("--device", options.device, "cpu or cuda");
  app.add_option("--threads", options.threads, "of each process");
  app.add_option("--rows", options.rows);
  app.add_option("--features", options.features);
  CLI11_PARSE(app, argc, argv);
  const int code = sheaf::bench::run_program("bench_rows", [&] { return sheaf::bench::run(options); });
  sheaf::queue::leave_team(code);
  return code;
}
