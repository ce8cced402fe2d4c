#include "commands/select_model.hpp"

#include <algorithm>

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
  arguments.parameter(options_, "outer", "resamples");
  arguments.parameter(options_, "outer-split", "split");
  arguments.parameter(options_, "outer-fraction", "test-fraction");
  arguments.parameters(
      options_, {"folds", "score", "choose", "strategy", "trials", "time", "min-frequency", "path-split", "batch"});
  run_.declare(arguments);
  model_.declare_options(arguments);
}

void ModelSelection::check(const Arguments& arguments, const Common& common) {
  model_.apply(arguments);
  if (!wanted()) {
    if (const auto* option = given_in(arguments, {study_section, "Rows"}))
      fail_usage("{} is for --model, not for a criterion", option->flag);
    return;
  }
  if (const auto* option = given_in(arguments, {"Criterion", "Ensemble", "Binning"}))
    fail_usage("{} is for criteria, not for --model {}", option->flag, kind());
  if (arguments.given("--save-cuts")) fail_usage("--save-cuts is for criteria, not for --model {}", kind());
  if (options_.outer_split == SplitKind::group_shuffle) options_.split = SplitKind::stratified_group_k_fold;
  if (options_.outer_split == SplitKind::stratified_shuffle) options_.split = SplitKind::stratified_k_fold;
  options_.also = common.also();
  path_given_ = arguments.given("--path-split");
}

void ModelSelection::show_path() {
  if (!path_given_) options_.path_split = 1;
}

}  // namespace sheaf::cli
