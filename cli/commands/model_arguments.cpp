#include "commands/model_arguments.hpp"

#include <algorithm>

#include <sheaf/io.hpp>

#include "commands/binning.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "family/family.hpp"

namespace sheaf::cli {
namespace {

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const auto& name : list) text += (text.empty() ? "" : "|") + name;
  return text;
}

/// The name for users: that of the family's first kind of model.
std::string name_of(const Family& family) { return family.kinds().front().name; }

bool is_of_binning(const Parameter<PipelineOptions>& row) {
  const auto& rows = parameters<BinningOptions>();
  return std::any_of(rows.begin(), rows.end(), [&](const auto& one) { return one.name == row.name; });
}

bool selects(const ModelKind& kind) { return kind.options.family().selects_features(kind.options); }

}  // namespace

std::vector<std::string> ModelArguments::names() const {
  std::vector<std::string> list;
  for (const auto& kind : model_kinds())
    if (!selecting_ || selects(kind)) list.emplace_back(kind.name);
  return list;
}

void ModelArguments::declare_kind(Arguments& arguments) {
  if (!selecting_ && !searching_) name_ = model_kinds().front().name;
  const auto known = names();
  if (searching_ && !selecting_) {
    arguments.add({"--model", "auto|" + joined(known),
                   "the kind of model; several, separated by commas, are compared on the same splits; auto: those that "
                   "suit the data",
                   "auto; with an option of one kind, that kind", [this](const std::string& text) {
                     space_of_models(text);
                     name_ = text;
                   }});
    return;
  }
  arguments.add({"--model", joined(known),
                 selecting_ ? "select by a study of models on rows held out again and again" : "the kind of model",
                 selecting_ ? "none: by a criterion" : name_, [this, known](const std::string& text) {
                   for (const auto& kind : model_kinds())
                     if (selecting_ && kind.name == text && !selects(kind))
                       fail_usage("{} gives every feature a weight and selects none", text);
                   if (std::find(known.begin(), known.end(), text) == known.end()) fail_unknown("model", text, known);
                   name_ = text;
                 }});
}

Option ModelArguments::option_of(const Parameter<ModelOptions>& row) {
  if (row.vector) {
    Option file{"--" + row.name, "FILE", row.help, "", [this, name = row.name](const std::string& text) {
                  files_.push_back({name, text});
                }};
    file.vector = row.vector->per_row ? "row" : "feature";
    return file;
  }
  const auto set = [this, name = row.name](const std::string& text) {
    if (searching_)
      set_parameter(*set_, name, text);
    else
      set_parameter(set_->options, name, text);
  };
  auto option = Arguments::option_of(row, row.name, set);
  option.kinds = row.kinds;
  if (!searching_ || !row.list) return option;
  option.value = row.list->value;
  option.help = row.list->help;
  option.default_text = row.list->default_text;
  option.choices.clear();
  option.is_list = true;
  option.of_numbers = static_cast<bool>(row.list->numbers);
  return option;
}

void ModelArguments::declare_options(Arguments& arguments) {
  const auto unwanted = searching_ ? ParameterUse::fit : ParameterUse::search;
  for (const auto* family : families()) {
    const auto kinds = family->kinds();
    if (kinds.empty()) continue;
    if (selecting_ && std::none_of(kinds.begin(), kinds.end(), selects)) continue;
    arguments.section(std::string(family->section()));
    for (const auto& row : parameters_of(kinds.front().options)) {
      if (row.use == unwanted || row.use == ParameterUse::kind) continue;
      auto option = option_of(row);
      if (row.vector) option.use = FileUse::read;
      arguments.add_for_family(name_of(*family), std::move(option));
    }
  }
  arguments.section(pipeline_section);
  for (const auto& row : parameters<PipelineOptions>())
    if (row.use != unwanted && !(selecting_ && is_of_binning(row)))
      arguments.add(Arguments::option(row, row.name, pipeline_));
  arguments.section("Rows");
  arguments.text("row-weights", "FILE", row_weights_path_, "weight of each row: one number of 0 or more to a line");
  arguments.reads({"--row-weights"});
}

void ModelArguments::apply(const Arguments& arguments) {
  if (selecting_ && !wanted()) {
    arguments.apply_families({}, "a criterion", {});
    return;
  }
  if (!wanted()) name_ = default_model(arguments.given_for_families());
  space_ = space_of_models(name_, pipeline_);
  std::vector<std::string> families;
  for (const auto& candidate : space_.candidates) families.push_back(name_of(candidate.space.options.family()));
  if (space_.candidates.empty() && !space_.choose_candidates) families.push_back(name_of(space_.options.family()));
  arguments.apply_families(
      families, space_.choose_candidates ? "a choice among models, which finds its own values; name a model" : name_,
      [&](std::size_t k, std::string_view option) {
        set_ = space_.candidates.empty() ? &space_ : &space_.candidates[k].space;
        const auto name = option.starts_with("no-") ? option.substr(3) : option;  // turned off
        return space_.candidates.empty() || has_parameter(set_->options, name);
      });
  if (!space_.candidates.empty() && !files_.empty())
    fail_usage("--{} is read for one model, not for several", files_.front().parameter);
  check_bins(arguments, pipeline_.binning);
  for (const auto& row : parameters<BinningOptions>())
    if (arguments.given("--" + row.name) && pipeline_.select.empty())
      fail_usage("--{} is for --select CRITERION:N, which is not given", row.name);
  if (arguments.given("--select-share") && pipeline_.select.empty())
    fail_usage("--select-share is for --select CRITERION:N, which is not given");
}

PipelineOptions ModelArguments::pipeline(ReadOptions& reading) const {
  const bool fills = pipeline_.impute != Imputation::none || pipeline_.choose_impute;
  if (fills && reading.missing == Missing::error) reading.missing = Missing::keep;
  return pipeline_;
}

template <class T>
void ModelArguments::read_files(const Dataset<T>& dataset) {
  if (!row_weights_path_.empty()) row_weights_ = read_row_weights(row_weights_path_, dataset.rows());
  for (const auto& file : files_) {
    const auto& vector = *find_parameter(space_.options, file.parameter).vector;
    set_parameter(space_.options, file.parameter,
                  vector.read(file.path, vector.per_row ? dataset.rows() : dataset.features()));
  }
}

template void ModelArguments::read_files(const Dataset<float>&);
template void ModelArguments::read_files(const Dataset<double>&);

}  // namespace sheaf::cli
