// sheaf select --model: a study of elastic nets in place of a criterion.
#pragma once

#include <string>

#include "arguments.hpp"
#include "commands/model_arguments.hpp"
#include "commands/search_run.hpp"
#include "common.hpp"
#include "text/plan_text.hpp"

namespace sheaf::cli {

class ModelSelection {
 public:
  ModelSelection();
  void declare(Arguments& arguments);
  bool wanted() const { return model_.wanted(); }
  /// Options of the other way to select would be forgotten in silence, and those that contradict each other too.
  /// `binning`: of selections before the model.
  void check(const Arguments& arguments, const Common& common, const BinningOptions& binning);
  /// The report shows a path unless another resample, or none, is requested.
  void show_path();
  /// Missing values are then left to the pipeline.
  void use_pipeline(ReadOptions& reading) { options_.pipeline = model_.pipeline(reading); }
  std::string_view kind() const { return model_.name(); }
  const std::string& folder() const { return run_.folder(); }
  bool follows() const { return run_.follows(); }

  void launch(Common& common) { run_.launch(common); }
  template <class T>
  Dataset<T> read(const Common& common, const Context& context, const std::string& input, const ReadOptions& reading) {
    run_.check(false, input);
    return run_.read<T>(common, context, input, reading);
  }
  template <class T>
  SearchResult run(const Context& context, const Common& common, const std::string& input, const ReadOptions& reading,
                   const Dataset<T>& dataset) {
    model_.read_files(dataset);
    options_.row_weights = model_.row_weights();
    return run_.search(context, common, dataset, model_.space(), options_, input, reading);
  }

  template <class T>
  PlannedWork plan(const Dataset<T>& dataset) {
    model_.read_files(dataset);
    options_.row_weights = model_.row_weights();
    auto space = model_.space();
    decide(dataset, space, options_);
    return planned_search(dataset, space, options_, std::string(kind()));
  }

  void set_permutations(std::int64_t count) { options_.stability_permutations = static_cast<std::int32_t>(count); }

 private:
  void set_split(const std::string& text);

  SearchRun run_{"study"};
  ModelArguments model_{true, true};
  SearchOptions options_;
  bool path_given_ = false;
};

}  // namespace sheaf::cli
