#include "tables.hpp"

#include <nlohmann/json.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {

void declare_reading(Arguments& arguments, ReadOptions& options) {
  arguments.section("Reading");
  arguments.parameters(options);
}

void declare_writing(Arguments& arguments, WriteOptions& options) {
  arguments.section("Writing");
  arguments.parameter(options, "format", "to");
  arguments.parameter(options, "header", "write-header");
  arguments.parameter(options, "delimiter", "write-delimiter");
  arguments.parameter(options, "digits", "digits");
}

std::string column_flags(const ReadOptions& options) {
  const auto flag = [](std::string_view name, const std::string& value) {
    const bool plain = value.find_first_of(" \t'\"$&|;<>()*?\\`#!~") == std::string::npos;
    const std::string_view quote = plain ? "" : "'";
    return fmt::format(" --{0} {1}{2}{1}", name, quote, value);
  };
  std::string text;
  if (!options.label.empty()) text += flag("label", options.label);
  if (!options.group.empty()) text += flag("group", options.group);
  if (!options.ignore.empty()) text += flag("ignore", fmt::format("{}", fmt::join(options.ignore, ",")));
  return text;
}

void check_output(const Common& common, const std::string& path) {
  if (path == "-" && common.json())
    fail_usage("--json and a dataset on standard output would mix; name a file instead of -");
}

void announce(const Common& common, const std::string& path, std::int64_t rows, std::int64_t features,
              std::int64_t stored, bool sparse) {
  if (common.json()) {
    const nlohmann::ordered_json answer{
        {"output", path}, {"rows", rows}, {"features", features}, {"stored", stored}, {"sparse", sparse}};
    print(answer.dump(2) + "\n");
  } else if (!common.quiet()) {
    say(fmt::format("{}: {} rows x {} features, {}", path == "-" ? "standard output" : path, grouped(rows),
                    grouped(features), sparse ? grouped(stored) + " non-zeros" : "dense"));
  }
}

}  // namespace sheaf::cli
