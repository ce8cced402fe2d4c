// Exact Shapley values of linear models: the contribution of a feature is its weight times its distance from the
// reference.
#pragma once

#include <vector>

#include <sheaf/model.hpp>
#include <sheaf/solvers/linear.hpp>

namespace sheaf {

class LinearExplainer {
 public:
  /// `reference`: the reference row after the pipeline; `origins`: the feature of the dataset that each of the model's
  /// comes from. The model must outlive it.
  LinearExplainer(const LinearModel& model, std::vector<double> reference, std::vector<std::int64_t> origins,
                  std::size_t most);

  /// How many explanations a row has.
  std::int64_t each() const { return std::max<std::int64_t>(std::ssize(model_.target_names), 1); }
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

  /// The weight; for multinomial models less the mean over the classes, since only differences of classes count: the
  /// reference class, whose weights are 0, has contributions too.
  double weight(std::int64_t j, std::int32_t column) const {
    return model_.weight(j, column) - (centres_.empty() ? 0 : centres_[static_cast<std::size_t>(j)]);
  }
  template <class T>
  std::int32_t largest_column(const Matrix<T>& x, std::int64_t i) const;

  const LinearModel& model_;
  std::vector<double> reference_;
  std::vector<std::int64_t> origins_;
  std::size_t most_;
  std::vector<double> centres_;         // multinomial: of each feature, then of the bias
  std::vector<AbsentFeatures> absent_;  // by column
};

}  // namespace sheaf
