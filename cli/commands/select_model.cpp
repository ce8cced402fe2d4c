#include "commands/select_model.hpp"

#include <algorithm>

#include "core/names.hpp"

#include "core/fail.hpp"

namespace sheaf::cli {
namespace {

constexpr const char* study_section = "Study (--model)";

const Option* given_in(const Arguments& arguments, std::initializer_list<std::string_view> titles) {
  for (const auto& section : arguments.sections()) {
    if (std::find(titles.begin(), titles.end(), section.title) == titles.end()) continue;
    for (const auto& option : section.options)
      if (option.given) return &option;
  }
  return nullptr;
}

}  // namespace

ModelSelection::ModelSelection() {
  options_.full = false;
  options_.outer = 20;
  options_.folds = 3;
}

void ModelSelection::declare(Arguments& arguments) {
  arguments.section(study_section);
  model_.declare_kind(arguments);
  arguments.parameter(options_, "outer", "splits", "number of resamples: how often rows are held out");
  arguments.add({"--split", "auto|stratified|group",
                 "rows held out: the same share of each class, or whole groups (auto: if the dataset has groups)",
                 "auto", [this](const std::string& text) { set_split(text); }});
  arguments.parameter(options_, "outer-fraction", "test-fraction", "share of the rows that are held out each time");
  arguments.parameters(
      options_, {"folds", "score", "choose", "strategy", "trials", "time", "min-frequency", "path-split", "batch"});
  run_.declare(arguments);
  model_.declare_options(arguments);
}

void ModelSelection::set_split(const std::string& text) {
  const std::vector<std::string> known{"auto", "stratified", "group"};
  if (std::find(known.begin(), known.end(), text) == known.end()) fail_unknown("split", text, known);
  options_.split.reset();
  if (text == "stratified") options_.split = SplitKind::stratified_k_fold;
  if (text == "group") options_.split = SplitKind::stratified_group_k_fold;
}

void ModelSelection::check(const Arguments& arguments, const Common& common, const BinningOptions& binning) {
  model_.set_binning(binning);
  model_.apply(arguments);
  if (!wanted()) {
    if (const auto* option = given_in(arguments, {study_section, pipeline_section, "Rows"}))
      fail_usage("{} is for --model, not for a criterion", option->flag);
    return;
  }
  if (const auto* option = given_in(arguments, {"Criterion", "Ensemble"}))
    fail_usage("{} is for criteria, not for --model {}", option->flag, kind());
  for (const auto* flag : {"--save-cuts", "--load-cuts"})
    if (arguments.given(flag)) fail_usage("{} is for criteria, not for --model {}", flag, kind());
  options_.extra_devices = common.extra_devices();
  path_given_ = arguments.given("--path-split");
}

void ModelSelection::show_path() {
  if (!path_given_) options_.path_split = 1;
}

}  // namespace sheaf::cli
