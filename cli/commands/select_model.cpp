#include "commands/select_model.hpp"

#include <algorithm>
#include <optional>

#include <sheaf/io.hpp>

#include "command_line.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "terminal.hpp"

namespace sheaf::cli {
namespace {

constexpr const char* study_section = "Study (--model)";
constexpr const char* training_section = "Elastic nets (--model)";

std::vector<std::string> known_kinds() {
  std::vector<std::string> names;
  for (const auto& kind : net_kinds())
    if (kind.l1_ratio != 0.0) names.emplace_back(kind.name);
  return names;
}

}  // namespace

void ModelSelection::declare(Arguments& arguments) {
  arguments.section(study_section);
  const auto known = known_kinds();
  arguments.add({"--model", "NAME",
                 "select by a study of models on rows left out again and again: " + join_names(known, "or"),
                 "none: by a criterion", [this, known](const std::string& text) {
                   if (text == "ridge") fail_usage("ridge regression gives every feature a weight and selects none");
                   kind_ = find_net_kind(text);
                   if (kind_ == nullptr) fail_unknown("model", text, known);
                 }});
  arguments.parameters(options_);
  arguments.text("output", "DIR", folder_, "folder for all results, which also lets the study go on after a stop");
  arguments.flag("resume", resume_, "go on with the study in that folder, which was ended before its end");
  arguments.flag("force", force_, "begin again where that folder holds a study");
  arguments.section(training_section);
  arguments.parameters(options_.net, {"labels", "class-weight"});
  arguments.text("row-weights", "FILE", row_weights_path_,
                 "how much each row counts: one number of 0 or more to a line");
  flags_.declare(arguments, options_.net, {"solver", "parallel", "tolerance", "max-epochs"});
}

void ModelSelection::check(const Arguments& arguments, const Common& common) {
  const auto given = [&](std::initializer_list<std::string_view> titles) -> const Option* {
    for (const auto& section : arguments.sections()) {
      if (std::find(titles.begin(), titles.end(), section.title) == titles.end()) continue;
      for (const auto& option : section.options)
        if (option.given) return &option;
    }
    return nullptr;
  };
  if (!wanted()) {
    if (const auto* option = given({study_section, training_section}))
      fail_usage("{} is for --model {}", option->flag, join_names(known_kinds(), "or"));
    return;
  }
  if (const auto* option = given({"Criterion", "Ensemble", "Binning"}))
    fail_usage("{} is for criteria, not for --model {}", option->flag, kind_->name);
  if (arguments.given("--save-cuts")) fail_usage("--save-cuts is for criteria, not for --model {}", kind_->name);
  if (kind_->l1_ratio && arguments.given("--l1-ratios"))
    fail_usage("--l1-ratios is {} for {}", *kind_->l1_ratio, kind_->name);
  if (folder_.empty() && (resume_ || force_))
    fail_usage("{} needs --output DIR, the folder of the study", resume_ ? "--resume" : "--force");
  if (!options_.alphas.empty() && (arguments.given("--alpha-count") || arguments.given("--smallest-share")))
    fail_usage("--alphas says which to try; leave out --alpha-count and --smallest-share");
  NetFlags::check(arguments, options_.net);
  options_.also = common.also();
  path_given_ = arguments.given("--path-split");
  options_.net.loss = kind_->loss;
  if (kind_->l1_ratio) options_.l1_ratios = {*kind_->l1_ratio};
}

void ModelSelection::show_path() {
  if (!path_given_) options_.path_split = 1;
}

Existing ModelSelection::existing() const {
  if (resume_ && force_) fail_usage("--resume goes on and --force begins again: give one of them");
  return resume_ ? Existing::resume : force_ ? Existing::replace : Existing::refuse;
}

template <class T>
void ModelSelection::read_weights(const Dataset<T>& dataset) {
  if (!row_weights_path_.empty()) row_weights_ = read_row_weights(row_weights_path_, dataset.rows());
  flags_.find_factors(dataset.feature_names, dataset.features(), options_.net);
}

template <class T>
StudyResult ModelSelection::run(const Context& context, const Common& common, const std::string& input,
                                const ReadOptions& reading, const Dataset<T>& dataset) {
  read_weights(dataset);
  if (folder_.empty()) return study_nets(context, dataset, options_, row_weights_);
  if (input == "-")
    fail_usage("a study with --output reads a file, not standard input: to go on, it must read it again");
  StudyDirectory directory(folder_, existing());
  const auto precision = sizeof(T) == sizeof(float) ? Precision::float32 : Precision::float64;
  directory.begin({command_line(), input, reading,
                   decided(options_, dataset.target, !dataset.groups.empty(), dataset.source), row_weights_,
                   context.device(), precision, context.seed()});
  if (directory.finished() > 0 && !common.quiet())
    say(fmt::format("{}: {} finished batches are taken over", folder_, directory.finished()));
  auto result = study_nets(context, dataset, options_, row_weights_, &directory.log());
  directory.finish(result);
  return result;
}

template StudyResult ModelSelection::run(const Context&, const Common&, const std::string&, const ReadOptions&,
                                         const Dataset<float>&);
template StudyResult ModelSelection::run(const Context&, const Common&, const std::string&, const ReadOptions&,
                                         const Dataset<double>&);

}  // namespace sheaf::cli
