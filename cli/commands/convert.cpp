#include <algorithm>
#include <memory>

#include <sheaf/pipeline.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "data/keep_features.hpp"
#include "data/matrices/market.hpp"
#include "data/write/provenance.hpp"
#include "tables.hpp"

namespace sheaf::cli {
namespace {

constexpr const char* features_ending = ".features";
constexpr const char* labels_ending = ".labels";

struct Convert {
  std::string input, output;
  ReadOptions reading;
  WriteOptions writing;
  Common common;

  void run() {
    check_output(common, output);
    const auto context = common.context();
    const auto made = find_provenance(input);
    reading.keep_left_out = !writes_libsvm();
    if (output_format().whole && reading.missing == Missing::error) reading.missing = Missing::keep;
    check_roles();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      auto dataset = read_table<T>(common, context, input, reading);
      if (!output_format().whole) drop_kept_groups(dataset);
      if (!output_format().levels) encode_levels(context, dataset);
      if (writes_libsvm()) number_classes(dataset.target);
      write_table(common, context, dataset, output, writing);
      if (made) keep_provenance(*made, output);
    });
  }

  /// Columns that only training uses would be lost in a file that can't say what they are.
  void check_roles() const {
    const bool training = !reading.order.empty() || !reading.weight_column.empty() || !reading.split_column.empty();
    if (training && !output_format().whole)
      fail_usage(
          "--order, --weight-column and --split-column are kept in .sheaf files only; leave them out, and the columns "
          "stay as they are");
  }

  /// Without a name if the output's ending does not show it, which is an error later.
  Format output_format() const {
    const auto name = writing.format == "auto" ? format_by_name(output) : std::string_view(writing.format);
    for (const auto& format : formats())
      if (format.name == name) return format;
    return {};
  }
  bool writes_libsvm() const { return output_format().name == "libsvm"; }

  /// Files that may be written beside the dataset.
  std::vector<std::string> maps() const {
    std::vector<std::string> paths;
    if (output == "-") return paths;
    if (writes_libsvm()) paths = {output + features_ending, output + labels_ending};
    if (output_format().name == "mtx") paths = market_names_files(output);
    if (find_provenance(input)) paths.push_back(provenance_path(output));
    return paths;
  }

  /// One feature of 0 and 1 for each level, for formats that hold numbers only: codes of levels are none. LIBSVM has no
  /// names of features, so that a file beside it lists them.
  template <class T>
  void encode_levels(const Context& context, Dataset<T>& dataset) const {
    if (!needs_pipeline(dataset, {})) return;
    auto kept = std::move(dataset.kept);
    dataset = apply_pipeline(context, learn_pipeline(context, dataset, {}), dataset);
    dataset.kept = std::move(kept);
    if (!writes_libsvm()) return;
    std::string text;
    for (std::int64_t j = 0; j < dataset.features(); ++j)
      text += fmt::format("{}\t{}\n", j + 1, dataset.feature_name(j));
    write_map(features_ending, "the features of nominal columns are 0 and 1 for each level", text);
  }

  /// Words become numbers: of two classes 1 for the positive one and -1, else 1, 2, 3 ...
  void number_classes(Target& target) const {
    if (!target.values.empty() || target.classes.empty()) return;
    std::string text;
    for (std::size_t c = 0; c < target.class_names.size(); ++c) {
      const bool two = target.class_names.size() == 2;
      const auto number = two ? (static_cast<std::int32_t>(c) == target.positive ? 1 : -1) : static_cast<int>(c) + 1;
      text += fmt::format("{}\t{}\n", number, target.class_names[c]);
      target.class_names[c] = std::to_string(number);
    }
    write_map(labels_ending, "the classes are numbers there", text);
  }

  void write_map(std::string_view ending, std::string_view what, const std::string& text) const {
    const bool file = output != "-";
    if (file) write_text_file(output + std::string(ending), text);
    if (!common.quiet())
      say(fmt::format("sheaf: note: {}{}", what, file ? fmt::format("; {}{} says which", output, ending) : ""));
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto convert = std::make_shared<Convert>();
  arguments.positional("IN", convert->input, "the dataset to read; - is standard input");
  arguments.positional("OUT", convert->output, "the dataset to write; - is standard output; compressed by ending");
  declare_writing(arguments, convert->writing);
  declare_reading(arguments, convert->reading, true);
  convert->common.declare(arguments, {"threads", "memory"});
  arguments.reads({"IN"});
  arguments.writes({"OUT"});
  arguments.writes_also([convert] { return convert->maps(); });
  return [convert] { convert->run(); };
}

}  // namespace

Command convert_command() {
  return {
      "convert",
      "Rewrite a dataset in another format, plain or compressed",
      {{"by the endings of the names", "sheaf convert iris.csv iris.svm.gz"},
       {"from a pipe to a pipe", "curl -s URL | sheaf convert - - --format libsvm --to csv | head"},
       {"choose the label and drop two columns", "sheaf convert trial.csv trial.arff --label outcome --ignore id,date"},
       {"put the column's median for what is missing", "sheaf convert raw.csv full.csv --missing median"}},
      declare};
}

}  // namespace sheaf::cli
