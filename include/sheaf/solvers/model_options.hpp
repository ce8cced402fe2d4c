// The options of a model of any family, and the kinds of models by their usual names. Each family states once what it
// has (see src/family/README.md); command line, Python, R, reports and resumed searches read it from here.
#pragma once

#include <any>
#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <sheaf/solvers/parameters.hpp>

namespace sheaf {

/// A row of the table of families.
class Family;

/// The options struct of a family: family_of(options) finds the family.
template <class Options>
concept FamilyOptions = requires(const Options& options) {
  { family_of(options) } -> std::same_as<const Family&>;
};

/// LinearOptions, SvmOptions, NetOptions, GlmOptions, KnnOptions, or those of any other family.
class ModelOptions {
 public:
  /// Options of a linear model.
  ModelOptions();
  template <FamilyOptions Options>
  ModelOptions(Options options)  // NOLINT(google-explicit-constructor): the options of a family are options of a model
      : family_(&family_of(options)), value_(std::move(options)) {}

  const Family& family() const { return *family_; }
  std::string_view family_name() const;
  /// The name of the kind that the options were made for; empty if they were made from a family's own struct.
  const std::string& kind() const { return kind_; }
  void set_kind(std::string kind) { kind_ = std::move(kind); }

  /// nullptr if these are options of another family.
  template <class Options>
  const Options* get_if() const {
    return std::any_cast<Options>(&value_);
  }
  template <class Options>
  Options* get_if() {
    return std::any_cast<Options>(&value_);
  }
  /// Throws std::bad_any_cast if these are options of another family.
  template <class Options>
  const Options& get() const {
    return std::any_cast<const Options&>(value_);
  }
  template <class Options>
  Options& get() {
    return std::any_cast<Options&>(value_);
  }

 private:
  const Family* family_;
  std::any value_;
  std::string kind_;
};

/// A kind of model by its usual name: "linear", "svm", "lasso", "knn" ...
struct ModelKind {
  std::string name;
  std::string family;
  std::string about;
  ModelOptions options;  ///< its defaults
};
const std::vector<ModelKind>& model_kinds();
/// A UsageError answers an unknown name with the known ones.
const ModelKind& find_model_kind(std::string_view name);

/// The parameters of the family that the options belong to, in the order help shows them.
const std::vector<Parameter<ModelOptions>>& parameters_of(const ModelOptions& options);
/// A UsageError answers an unknown name with the known ones.
const Parameter<ModelOptions>& find_parameter(const ModelOptions& options, std::string_view name);
/// Sets one parameter from text. An unknown name, a parameter that this kind of model does not have or that only a
/// search takes, and a value that is not understood are UsageErrors.
void set_parameter(ModelOptions& options, std::string_view name, std::string_view text);
/// The same of a parameter that has one number for each row or feature.
void set_parameter(ModelOptions& options, std::string_view name, std::vector<double> numbers);

}  // namespace sheaf
