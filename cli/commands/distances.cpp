#include <memory>

#include <sheaf/neighbors.hpp>

#include "command.hpp"
#include "commands/compared_rows.hpp"
#include "commands/lease.hpp"
#include "core/fail.hpp"
#include "queue/ranks.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

struct Distances {
  std::string input, output, queries_path, weights_path;
  DistanceOptions distance;
  MatrixFileOptions options;
  ReadOptions reading;
  Common common;

  void run() {
    if (output == "-") fail_usage("a distance matrix is written to a file, in which the work can go on, not to -");
    const auto ranks = queue::launched_ranks();
    common.share_machine(ranks);
    options.join |= ranks.several();
    const auto reader = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      const auto compared = read_compared_rows<T>(common, reader, input, queries_path, weights_path, reading, distance);
      const auto& dataset = compared.dataset;
      const auto* queries = compared.queries();
      const auto context = common.on_device(reader, neighbors_work(dataset, queries));
      options.extra_devices = common.extra_devices();
      write_distances(context, dataset, distance, output, options, queries);
      if (!common.quiet())
        say(fmt::format("{}: distances of {} rows to {}", output, queries == nullptr ? dataset.rows() : queries->rows(),
                        dataset.rows()));
    });
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto distances = std::make_shared<Distances>();
  arguments.positional("FILE", distances->input, "the table whose rows are compared");
  arguments.positional("OUT", distances->output, "the matrix, a NumPy file (.npy) of doubles");
  arguments.text("queries", "FILE", distances->queries_path,
                 "the table whose rows are the rows of the matrix; left out: those of FILE themselves");
  arguments.flag("upper", distances->options.upper,
                 "write only the part above the diagonal, row after row, as SciPy's pdist");
  arguments.flag("resume", distances->options.resume, "go on with a matrix that was ended before its end");
  arguments.flag(
      "join", distances->options.join,
      "share the matrix with every other process, on this machine or on others, that is given the same command");
  declare_lease(arguments, distances->options.lease);
  arguments.parameters(distances->distance);
  arguments.text("feature-weights", "FILE", distances->weights_path,
                 "weights of features: one number of 0 or more to a line");
  declare_reading(arguments, distances->reading);
  distances->common.declare(arguments, {"device", "threads", "memory"}, {.json = false, .several_devices = true});
  arguments.reads({"FILE", "--queries", "--feature-weights"});
  arguments.writes({"OUT"});
  arguments.writes_also([distances] {
    return std::vector<std::string>{distances->output + ".partial", distances->output + ".settings"};
  });
  return [distances] { distances->run(); };
}

}  // namespace

Command distances_command() {
  return {"distances",
          "Write the distances of all rows to all rows, a matrix that may be larger than memory",
          {{"all pairs once", "sheaf distances iris.csv iris.npy --upper"},
           {"after an interruption, the same command and", "sheaf distances iris.csv iris.npy --upper --resume"},
           {"by any number of machines that share a folder, each with the same command",
            "sheaf distances iris.csv shared/iris.npy --join"},
           {"by a GPU and the CPU together", "sheaf distances covtype.svm covtype.npy --device cuda+cpu"},
           {"weighted Manhattan distances of test rows to training rows",
            "sheaf distances train.csv far.npy --queries test.csv --metric manhattan --feature-weights w.txt"}},
          declare};
}

}  // namespace sheaf::cli
