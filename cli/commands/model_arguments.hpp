// Shared by the commands that train models: --model, and the options of every family.
#pragma once

#include <string>
#include <vector>

#include <sheaf/search.hpp>

#include "arguments.hpp"

namespace sheaf::cli {

inline constexpr const char* pipeline_section = "Steps before the model, learnt on the rows that are trained on";

class ModelArguments {
 public:
  /// `searching`: lists of values to try in place of single ones. `selecting`: kinds of models that select features.
  ModelArguments(bool searching, bool selecting) : searching_(searching), selecting_(selecting) {}

  /// The option --model, then a section for each family.
  void declare_kind(Arguments& arguments);
  void declare_options(Arguments& arguments);
  /// Once the command line is known: sets the given options, and rejects those that the kind of model does not have.
  /// Selecting: set_binning() before.
  void apply(const Arguments& arguments);

  bool wanted() const { return !name_.empty(); }
  const std::string& name() const { return name_; }
  /// To train one model.
  const ModelOptions& options() const { return space_.options; }
  /// To search.
  const SearchSpace& space() const { return space_; }

  /// Reads parameters kept in files of their own, one number for each row or feature.
  template <class T>
  void read_files(const Dataset<T>& dataset);
  const std::vector<float>& row_weights() const { return row_weights_; }
  /// Steps applied to features before the model. `reading` then leaves missing values as they are.
  PipelineOptions pipeline(ReadOptions& reading) const;
  /// Sets the binning of feature selection, which has flags of its own.
  void set_binning(const BinningOptions& binning) { pipeline_.binning = binning; }

 private:
  /// A parameter whose numbers are in a file.
  struct File {
    std::string parameter, path;
  };

  std::vector<std::string> names() const;
  Option option_of(const Parameter<ModelOptions>& row);

  bool searching_;
  bool selecting_;
  std::string name_;
  SearchSpace space_;
  SearchSpace* set_ = &space_;  // where options go: the space, or one of its candidates'
  std::vector<File> files_;
  std::string row_weights_path_;
  std::vector<float> row_weights_;
  PipelineOptions pipeline_ = default_pipeline();
};

}  // namespace sheaf::cli
