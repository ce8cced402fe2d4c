// Shared by the two formats of SVM model files: names, and lines of features.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/solvers/svm.hpp>

#include "data/text/feature_entries.hpp"
#include "data/text/model_file.hpp"

namespace sheaf::kernel {

inline constexpr std::size_t density_mark_count = 10;

/// In the order of their enumeration.
const std::vector<std::string>& kind_names();

/// "1:0.5 3:2 " for the features of support vector s that are not 0, or "0:7 " for the training row of a precomputed
/// kernel. Numbers have as few digits as read back the same number; if LIBSVM's eight suffice, the text is LIBSVM's.
void append_features(const SvmModel& model, std::int64_t s, std::string& text);

/// Gathers the support vectors of a model from such lines.
class SupportReader {
 public:
  /// `count` lines follow. `features`: how many there are; none if the lines decide it.
  SupportReader(const ModelReader& reader, SvmModel& model, std::int64_t count, std::optional<std::int64_t> features);
  void read_features(ModelReader& reader);
  /// Puts the support vectors into the model, which then has at least the features they use.
  void finish();

 private:
  SvmModel& model_;
  std::int64_t most_;              // features
  std::optional<EntryRows> rows_;  // none: the kernel is precomputed
};

/// An Error if LIBSVM has no such kernel.
void check_libsvm_kernel(KernelType type);

/// LIBSVM's format keeps no names: a class that is no integer, and three classes or more one against the rest, are an
/// Error.
std::string format_libsvm_model(const SvmModel& model);
SvmModel read_libsvm_model(ModelReader& reader);
/// The lines of Sheaf's own file behind the family.
SvmModel read_sheaf_svm(ModelReader& reader);
void write_sheaf_svm(ModelWriter& file, const SvmModel& model);

}  // namespace sheaf::kernel
