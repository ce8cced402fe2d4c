// Cross-validation and the search for a cost, every fold and class of one setting trained as one sheaf.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <sheaf/linear_model.hpp>

namespace sheaf {

/// The prediction for each row by the models that did not see it.
struct CrossValidation {
  std::vector<std::string> class_names;
  Predictions predictions;
  Score score;
  std::int64_t unconverged = 0;  ///< tasks that did not converge
};

/// Rows are dealt to the folds at random by the context's seed, classes or not, as LIBLINEAR does. More folds than rows
/// leave out one row each.
template <class T>
CrossValidation cross_validate_linear(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                                      std::int32_t folds);

struct CostTrial {
  double cost = 0;
  Score score;
};
struct CostSearch {
  std::vector<CostTrial> trials;
  CostTrial best;                ///< the most accurate; of equals the smallest cost
  bool reached_maximum = false;  ///< models still changed at the largest cost
};

/// LIBLINEAR's -C: doubles the cost from `start` (0: a cost so small that all models are nearly alike) up to 1024 and
/// starts each model from that of the cost before; ends early once no model changed for five costs in a row.
/// `listen`, where given, hears of each trial. For classification; a regression is a UsageError.
template <class T>
CostSearch search_cost(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                       std::int32_t folds, double start, const std::function<void(const CostTrial&)>& listen = {});

}  // namespace sheaf
