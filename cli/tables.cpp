#include "tables.hpp"

#include <filesystem>

#include <nlohmann/json.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "terminal.hpp"

namespace sheaf::cli {

bool is_for_training(std::string_view name) {
  return name == "order" || name == "weight-column" || name == "split-column";
}

void declare_reading(Arguments& arguments, ReadOptions& options, bool training) {
  arguments.section("Reading");
  for (const auto& row : parameters<ReadOptions>())
    if (training || !is_for_training(row.name)) arguments.parameter(options, row.name, row.name);
  arguments.reads({"--metadata", "--annotations"});
}

void declare_writing(Arguments& arguments, WriteOptions& options) {
  arguments.section("Writing");
  arguments.parameter(options, "format", "to");
  arguments.parameter(options, "header", "write-header");
  arguments.parameter(options, "delimiter", "write-delimiter");
  arguments.parameter(options, "digits", "digits");
}

namespace {

std::string flag(std::string_view name, const std::string& value) {
  return fmt::format(" --{} {}", name, shell_word(value));
}

}  // namespace

std::string column_flags(const ReadOptions& options) {
  std::string text;
  if (options.decimal != 0) text += flag("decimal", {options.decimal});
  if (!options.missing_codes.empty())
    text += flag("missing-codes", fmt::format("{}", fmt::join(options.missing_codes, ",")));
  if (options.transpose) text += " --transpose";
  if (!options.label.empty()) text += flag("label", options.label);
  if (!options.event.empty()) text += flag("event", options.event);
  if (!options.entry.empty()) text += flag("entry", options.entry);
  if (!options.strata.empty()) text += flag("strata", options.strata);
  if (!options.group.empty()) text += flag("group", options.group);
  if (!options.order.empty()) text += flag("order", options.order);
  if (!options.weight_column.empty()) text += flag("weight-column", options.weight_column);
  if (!options.split_column.empty()) text += flag("split-column", options.split_column);
  if (!options.metadata.empty()) text += flag("metadata", options.metadata);
  if (!options.id.empty()) text += flag("id", options.id);
  if (!options.annotations.empty()) text += flag("annotations", options.annotations);
  if (!options.layer.empty()) text += flag("layer", options.layer);
  if (!options.sheet.empty()) text += flag("sheet", options.sheet);
  if (!options.ignore.empty()) text += flag("ignore", fmt::format("{}", fmt::join(options.ignore, ",")));
  if (!options.nominal.empty()) text += flag("nominal", fmt::format("{}", fmt::join(options.nominal, ",")));
  if (options.task != LabelKind::automatic)
    text += flag("task", options.task == LabelKind::classes ? "classification" : "regression");
  if (!options.positive.empty()) text += flag("positive", options.positive);
  return text;
}

std::string pipeline_flags(const PipelineOptions& given) {
  auto options = given;  // defaults from the data are set again
  if (options.choose_scale) options.scale.reset();
  if (options.choose_impute) options.impute = Imputation::none;
  std::string text;
  for (const auto& row : parameters<PipelineOptions>()) {
    const auto value = row.get(options);
    if (value == row.get(default_pipeline())) continue;
    text += row.type == ParameterType::yes_no ? fmt::format(" --{}{}", value == "yes" ? "" : "no-", row.name)
                                              : flag(row.name, value);
  }
  return text;
}

void say_notes(const std::vector<std::string>& notes) {
  for (const auto& note : notes) say("sheaf: note: " + note);
}

void say_findings(const std::vector<Finding>& findings) {
  for (const auto& finding : findings)
    if (finding.level == Finding::Level::warning)
      warn({finding.message});
    else
      say_notes({finding.message});
}

bool is_read_once(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return path == "-" || std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status) ||
         std::filesystem::is_socket(status);
}

void need_double(const std::string& path, std::string why) {
  if (is_read_once(path))
    fail("{}; give --precision double, since {} can be read only once", why, path == "-" ? "standard input" : path);
  throw NeedsDouble{std::move(why)};
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
    print_data(answer.dump(2) + "\n");
  } else if (!common.quiet()) {
    say(fmt::format("{}: {} x {}, {}", path == "-" ? "standard output" : path, counted(rows, "row"),
                    counted(features, "feature"), sparse ? grouped(stored) + " non-zeros" : "dense"));
  }
}

}  // namespace sheaf::cli
