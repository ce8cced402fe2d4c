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
  /// `searching`: lists of values to try in place of single ones. `nets_only`: elastic nets that select features.
  ModelArguments(bool searching, bool nets_only) : searching_(searching), nets_only_(nets_only) {}

  /// The option --model, then a section for each family.
  void declare_kind(Arguments& arguments);
  void declare_options(Arguments& arguments);
  /// Once the command line is known: sets what was given, and answers what the kind of model does not have.
  void apply(const Arguments& arguments);

  bool wanted() const { return !name_.empty(); }
  const std::string& name() const { return name_; }
  /// To train one model.
  ModelOptions options() const;
  /// To search.
  FamilySearch search() const;

  /// Reads what is kept in files of their own, one number for each row or feature.
  template <class T>
  void read_files(const Dataset<T>& dataset);
  const std::vector<float>& row_weights() const { return row_weights_; }
  /// What is done to features first. `reading` then leaves missing values as they are.
  PipelineOptions pipeline(ReadOptions& reading) const;

 private:
  std::vector<std::string> names() const;
  void check_nets(const Arguments& arguments);
  void set_rule(const Arguments& arguments);

  bool searching_;
  bool nets_only_;
  std::string name_;
  std::string family_;
  LinearSearch linear_;
  SvmSearch svm_;
  NetSearch net_;
  KnnSearch knn_;
  GlmSearch glm_;
  std::string row_weights_path_, factors_path_, limits_path_, feature_weights_path_, exposure_path_, offset_path_;
  std::vector<std::string> unpenalised_;
  std::vector<float> row_weights_;
  PipelineOptions pipeline_;
};

}  // namespace sheaf::cli
