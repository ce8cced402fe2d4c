// LIBSVM's svm-scale: ranges of features, in its range files, and datasets scaled to the text that it writes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/dataset.hpp>

namespace sheaf {

/// From low .. high to lower .. upper. Both ends are met exactly.
struct LibsvmRange {
  double low = 0, high = 0;
  double to(double value, double lower, double upper) const;
  bool constant() const { return low == high; }
};

struct LibsvmLabelScaling {
  double lower = 0, upper = 0;
  LibsvmRange range;
};

struct LibsvmScaling {
  double lower = -1, upper = 1;
  std::vector<LibsvmRange> features;  ///< constant ones are left out of what is written
  std::optional<LibsvmLabelScaling> label;
};

/// Zeros that the dataset does not store count. Labels that are no numbers are an Error.
LibsvmScaling learn_libsvm_scaling(const Dataset<double>& dataset, double lower, double upper);
/// Also of the label, to lower .. upper.
void learn_label_scaling(const Dataset<double>& dataset, double lower, double upper, LibsvmScaling& scaling);

/// In LIBSVM's format. A defect in it is a ParseError that names file:line:column.
void save_libsvm_scaling(const LibsvmScaling& scaling, const std::string& path);
LibsvmScaling load_libsvm_scaling(const std::string& path);

/// Hands out the scaled table as lines of text, piece by piece, and returns the number of entries written.
std::int64_t write_scaled(const Dataset<double>& dataset, const LibsvmScaling& scaling,
                          const std::function<void(std::string_view)>& take);

/// Positions of features that vary in the dataset and have no range.
std::vector<std::int64_t> without_range(const Dataset<double>& dataset, const LibsvmScaling& scaling);

}  // namespace sheaf
