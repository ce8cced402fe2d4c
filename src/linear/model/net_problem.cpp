#include "linear/model/net_problem.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "linear/losses.hpp"

namespace sheaf {
namespace linear {
namespace {

/// A class weight is a weight of all rows of that class.
void weigh_rows(const std::vector<std::int32_t>& classes, const std::vector<double>& class_weights,
                std::vector<float>& row_weights) {
  if (all_one(class_weights)) return;
  if (row_weights.empty()) row_weights.assign(classes.size(), 1.0F);
  for (std::size_t i = 0; i < classes.size(); ++i)
    row_weights[i] *= static_cast<float>(class_weights[static_cast<std::size_t>(classes[i])]);
}

}  // namespace

LinearOptions scored_as(const NetOptions& options, bool classes) {
  LinearOptions like;
  like.loss = !is_regression(options.loss) ? options.loss : classes ? Loss::squared_hinge : Loss::squared_tube;
  like.class_weights = options.class_weights;
  like.balanced = options.balanced;
  return like;
}

NetProblem make_net_problem(const Context& context, const Target& target, const std::string& source, std::int64_t rows,
                            const NetOptions& options, std::span<const float> row_weights) {
  const bool classes = takes_classes(options, target, source);
  if (!classes && (options.balanced || !options.class_weights.empty()))
    fail_usage("class weights are for classes, and the labels of {} are a numeric target", source);
  check_row_weights(row_weights, rows);
  NetProblem result{make_problem(context, target, source, rows, scored_as(options, classes)),
                    {row_weights.begin(), row_weights.end()}};
  check_two_classes(result.problem.labels, source);
  if (classes) weigh_rows(result.problem.labels.classes, result.problem.class_weights, result.row_weights);
  return result;
}

NetParams net_params(const NetOptions& options) {
  NetParams params;
  params.loss = options.loss;
  params.solver = options.solver;
  params.tolerance = options.tolerance;
  params.max_epochs = options.max_epochs;
  params.intercept = options.intercept;
  params.standardise = options.standardise;
  params.parallel = options.parallel;
  return params;
}

}  // namespace linear

bool takes_classes(const NetOptions& options, const Target& target, const std::string& source) {
  if (target.empty()) fail("{}: has no labels to learn from", source);
  const bool classifier = !linear::is_regression(options.loss);
  const bool wanted = classifier || options.labels == LabelKind::classes;
  if (classifier && options.labels == LabelKind::numbers)
    fail_usage("logistic regression is for classes; use --model elastic-net for a numeric target");
  if (wanted && target.classes.empty())
    fail("{}: the labels have over {} distinct values, too many for classes; use elastic-net for a numeric target",
         source, Target::max_classes);
  if (wanted && options.labels == LabelKind::automatic && !target.looks_like_classes())
    fail(
        "{}: the labels are {} different numbers and do not look like classes; use elastic-net for a numeric "
        "target, or say --labels classes",
        source, target.class_names.size());
  if (options.labels == LabelKind::numbers && target.values.empty())
    fail("{}: some labels are not numbers, so they are no numeric target; leave out --labels numbers", source);
  return wanted || (options.labels == LabelKind::automatic && target.looks_like_classes());
}

}  // namespace sheaf
