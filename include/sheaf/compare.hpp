// Whether one search found better models than others on the same splits of the same rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sheaf/scores.hpp>

namespace sheaf {

/// Scores on the same test rows differ less by chance than those of independent samples, and splits share training
/// rows: the variance of the differences is corrected for both (Nadeau and Bengio 2003, the corrected resampled
/// t-test).
struct Comparison {
  Metric metric = Metric::accuracy;
  bool nested = false;                ///< scores are those of the outer folds
  std::vector<double> first, second;  ///< of each split
  double mean_first = 0, mean_second = 0;
  double difference = 0;      ///< the first less the second, on average
  double standard_error = 0;  ///< of the difference, corrected
  double t = 0;               ///< difference / standard error
  double degrees = 0;         ///< of freedom: splits - 1
  double p_value = 1;         ///< of a difference as large, either way, if there were none
  double low = 0, high = 0;   ///< the interval that holds the difference with a probability of 95 %
};

/// `ratio`: test rows for each training row of a split. Splits without both scores are left out; fewer than two are an
/// Error.
Comparison compare_scores(std::vector<double> first, std::vector<double> second, double ratio);

/// The chosen models of two results folders, by their outer folds if both have them. `metric`: empty: that which both
/// were chosen by. Folders of other data, splits or seeds, and folders that are no results of this version, are Errors.
Comparison compare_searches(const std::string& first, const std::string& second, const std::string& metric = {});

/// One of several searches that are compared.
struct ComparedSearch {
  std::string folder;
  std::vector<double> scores;  ///< of each split
  double mean = 0;
  double low = 0, high = 0;  ///< the 95 % interval of the mean, corrected as that of a difference
  /// Compares this search (first) with the best one (second); the comparison of the best one with itself is empty.
  Comparison to_best;
  double adjusted_p_value = 1;  ///< that of to_best, adjusted for the number of comparisons by holm()
};

/// Several searches, each compared with the best.
struct SearchesComparison {
  Metric metric = Metric::accuracy;
  bool nested = false;                   ///< scores are those of the outer folds
  std::vector<ComparedSearch> searches;  ///< best first
};

/// Two results folders or more, each compared with the one of the best mean as by compare_scores(). Splits that some
/// search has no score for are left out of all. Errors as for two.
SearchesComparison compare_searches(const std::vector<std::string>& folders, const std::string& metric = {});

/// Holm 1979: p-values adjusted so that, if each one below a level counts as a finding, any false finding has at most
/// the probability of that level.
std::vector<double> holm(const std::vector<double>& p_values);

/// The distribution function of Student's t.
double student_t(double t, double degrees);

}  // namespace sheaf
