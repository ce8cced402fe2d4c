#include <memory>

#include <sheaf/neighbors.hpp>

#include "command.hpp"
#include "commands/compared_rows.hpp"
#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/formats/formats.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

struct Neighbors {
  std::string input, queries_path, output, format = "auto", weights_path;
  NeighborOptions options;
  bool has_k = false, has_radius = false;
  ReadOptions reading;
  Common common;

  std::string_view file_format() const {
    if (format != "auto") return format_named(format, neighbor_formats(), "format of lists").name;
    const auto* by_ending = find_format_by_ending(neighbor_formats(), output);
    return by_ending != nullptr ? by_ending->name : neighbor_formats().front().name;
  }

  void run() {
    if (has_k && has_radius) fail_usage("--k and --radius are two ways to ask: give one of them");
    const auto lists_format = file_format();
    const auto reader = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      const auto rows =
          read_compared_rows<T>(common, reader, input, queries_path, weights_path, reading, options.distance);
      const auto& dataset = rows.dataset;
      const auto* queries = rows.queries();
      const auto context = common.on_device(reader, neighbors_work(dataset, queries, options));
      if (has_radius) {
        const auto lists = find_within(context, dataset, options, queries);
        write(format_neighbors(lists, lists_format), lists.queries(), std::ssize(lists.indices));
      } else {
        const auto lists = find_neighbors(context, dataset, options, queries);
        write(format_neighbors(lists, lists_format), lists.queries, std::ssize(lists.indices));
      }
    });
  }

  void write(const std::string& bytes, std::int64_t queries, std::int64_t found) const {
    if (output.empty() || output == "-") return print_data(bytes);
    write_text_file(output, bytes);
    if (!common.quiet()) say(fmt::format("{}: {} of {}", output, counted(found, "neighbour"), counted(queries, "row")));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto neighbors = std::make_shared<Neighbors>();
  arguments.positional("FILE", neighbors->input, "the table whose rows are the neighbours; - is standard input");
  arguments.text("queries", "FILE", neighbors->queries_path,
                 "the table whose rows' neighbours are asked for; left out: the rows of FILE themselves");
  arguments.parameters(neighbors->options);
  arguments.parameters(neighbors->options.distance);
  arguments.text("feature-weights", "FILE", neighbors->weights_path,
                 "weights of features: one number of 0 or more to a line");
  arguments.text("output", "FILE", neighbors->output, "where to write the lists; left out or -: standard output");
  arguments.add({"--output-format", "csv|npy|json|binary",
                 "csv: query,rank,index,distance, counted from 0; npy: NumPy records of query, index and distance",
                 "by the ending of the file's name: .npy, .json, .bin, else csv",
                 [neighbors](const std::string& text) { neighbors->format = text; }});
  declare_reading(arguments, neighbors->reading);
  neighbors->common.declare(arguments, {"device", "threads", "memory"}, {.json = false});
  arguments.reads({"FILE", "--queries", "--feature-weights"});
  arguments.writes({"--output"});
  return [neighbors, &arguments] {
    neighbors->has_k = arguments.given("--k");
    neighbors->has_radius = arguments.given("--radius");
    neighbors->run();
  };
}

}  // namespace

Command neighbors_command() {
  return {"neighbors",
          "Find the nearest rows of each row, exactly: the k nearest, or all within a radius",
          {{"the five nearest other rows of each row", "sheaf neighbors iris.csv --k 5 --output near.csv"},
           {"training rows near test rows, by the angle between them",
            "sheaf neighbors train.svm --queries test.svm --k 100 --metric cosine --output near.npy"},
           {"all rows within a distance", "sheaf neighbors points.csv --radius 0.5 --output near.json"}},
          declare};
}

}  // namespace sheaf::cli
