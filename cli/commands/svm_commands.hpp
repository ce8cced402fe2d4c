// fit, predict and search where the model is a kernel machine.
#pragma once

#include <string>

#include <sheaf/io.hpp>
#include <sheaf/search_directory.hpp>
#include <sheaf/svm_search.hpp>

#include "arguments.hpp"
#include "common.hpp"

namespace sheaf::cli {

/// What kernel machines have beyond linear models; cost, epsilon, tolerance and class weights are shared.
void declare_svm(Arguments& arguments, SvmOptions& options);
void declare_svm_search(Arguments& arguments, SvmSearchOptions& options);
/// Options that the model at hand does not have would be forgotten in silence; what has both is not looked at.
void check_svm_flags(const Arguments& arguments, bool kernel_machine);
SvmOptions with_shared(SvmOptions options, const LinearOptions& shared);

struct SvmFitRequest {
  std::string input, output, weights;
  std::string format;  ///< sheaf or libsvm
  SvmOptions options;
  ReadOptions reading;
};
void fit_svm(const SvmFitRequest& request, Common& common);

struct SvmPredictRequest {
  std::string input, model, output;
  bool probabilities = false;
  ReadOptions reading;
};
void predict_with_svm(const SvmPredictRequest& request, Common& common);

struct SvmSearchRequest {
  std::string command, input, output;
  Existing existing = Existing::refuse;
  SvmSearchOptions options;
  ReadOptions reading;
};
void search_with_svm(const SvmSearchRequest& request, Common& common);

}  // namespace sheaf::cli
