// sheaf select --model: a study of elastic nets in place of a criterion.
#pragma once

#include <string>

#include <sheaf/study_directory.hpp>

#include "arguments.hpp"
#include "commands/net_options.hpp"
#include "common.hpp"

namespace sheaf::cli {

class ModelSelection {
 public:
  void declare(Arguments& arguments);
  bool wanted() const { return kind_ != nullptr; }
  /// Options of the other way to select would be forgotten in silence, and those that contradict each other too.
  void check(const Arguments& arguments, const Common& common);
  /// The report shows a path unless another split, or none, was asked for.
  void show_path();
  std::string_view kind() const { return kind_->name; }
  const std::string& folder() const { return folder_; }

  template <class T>
  StudyResult run(const Context& context, const Common& common, const std::string& input, const ReadOptions& reading,
                  const Dataset<T>& dataset);

 private:
  template <class T>
  void read_weights(const Dataset<T>& dataset);
  Existing existing() const;

  const NetKind* kind_ = nullptr;
  std::string folder_, row_weights_path_;
  bool resume_ = false;
  bool force_ = false;
  bool path_given_ = false;
  std::vector<float> row_weights_;
  StudyOptions options_;
  NetFlags flags_;
};

}  // namespace sheaf::cli
