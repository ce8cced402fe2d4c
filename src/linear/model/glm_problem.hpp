// Generalised linear models as users specify them: the links and losses of each family, and a sheaf from a dataset and
// options. Shared by training, prediction and the search.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <sheaf/solvers/glm.hpp>

#include "data/labels.hpp"
#include "linear/model/problem.hpp"

namespace sheaf::linear {

/// A family with one of its links.
struct GlmKind {
  GlmFamily family;
  GlmLink link;
  Loss loss;       // of one decision value; multinomial: of two classes
  bool classes;    // the target is classes
  bool dispersed;  // the dispersion is estimated
};
/// A link that the family does not have is a UsageError. Neither may be automatic.
const GlmKind& glm_kind(GlmFamily family, GlmLink link);

/// The option that is the parameter of the options' family; 0: it has none.
double distribution_parameter(const GlmOptions& options);

struct GlmProblem {
  Labels labels;
  std::vector<double> class_weights;  // one a class
  GlmKind kind;
  GlmParams params;
  GlmSheaf sheaf;                // one task on all rows, class weights in its row weights
  bool constant_target = false;  // the intercept alone predicts it exactly
};

/// Options as decide_glm() returns them, for so many features. Targets that the family does not have, and offsets or
/// weights that do not suit the rows, are Errors.
GlmProblem make_glm_problem(const Target& target, const std::string& source, std::int64_t rows,
                            const GlmOptions& options, std::span<const float> row_weights, std::int64_t features);

/// Device bytes that one column of a model takes in training.
template <class T>
std::int64_t glm_bytes(std::int64_t examples, std::int64_t weights);

/// Calls use(round, predictions) on the context's device: means, or log odds of classes; offsets are added. See
/// for_device_decisions().
template <class T>
void for_glm_predictions(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                         const Block<T>& weights, std::int64_t reserved, const UseDecisions<T>& use);

/// Multiplies one column of a table of row weights by the weights of the rows' classes.
void weigh_rows(const Labels& labels, std::span<const double> class_weights, std::size_t column, std::size_t columns,
                std::vector<float>& row_weights);

}  // namespace sheaf::linear
