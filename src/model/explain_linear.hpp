// Exact Shapley values of linear models: the contribution of a feature is its weight times its distance from the
// reference.
#pragma once

#include <vector>

#include <sheaf/model.hpp>

namespace sheaf {

class LinearExplainer {
 public:
  /// `reference`: the reference row after the pipeline; `origins`: the feature of the dataset that each of the model's
  /// comes from. `softmax`: as ModelTraits has it.
  LinearExplainer(Coefficients weights, bool softmax, std::size_t targets, std::vector<double> reference,
                  std::vector<std::int64_t> origins, std::size_t most);

  /// How many explanations a row has.
  std::int64_t each() const { return std::max<std::int64_t>(static_cast<std::int64_t>(targets_), 1); }
  /// Row i, after the pipeline; `target` of several. Values are left to the caller.
  template <class T>
  Explanation explain(const Matrix<T>& prepared, std::int64_t i, std::int64_t target) const;

 private:
  /// Contributions of features that a row does not store, and so are 0, to one decision value.
  struct AbsentFeatures {
    double intercept = 0;                 ///< decision value of the reference row
    double sum = 0;                       ///< over all features
    std::vector<double> amounts;          ///< by feature of the dataset
    std::vector<std::int64_t> by_amount;  ///< those that are not 0, largest first
  };

  /// Takes the mean over the classes from their weights, since only differences of classes count: the reference class,
  /// whose weights are 0, has contributions too.
  void centre();
  std::int64_t features() const { return std::ssize(weights_.feature_names); }
  std::int32_t columns() const { return static_cast<std::int32_t>(weights_.columns.size()); }
  template <class T>
  std::int32_t largest_column(const Matrix<T>& x, std::int64_t i) const;

  Coefficients weights_;
  std::size_t targets_;
  std::vector<double> reference_;
  std::vector<std::int64_t> origins_;
  std::size_t most_;
  std::vector<AbsentFeatures> absent_;  // by column
};

}  // namespace sheaf
