#include "linear/model/net_problem.hpp"
#include "data/checks/row_weights.hpp"

#include <algorithm>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/read/number_lines.hpp"
#include "linear/glm/objective.hpp"
#include "linear/losses/losses.hpp"
#include "linear/losses/target_range.hpp"
#include "linear/products/ops.hpp"

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

/// Times and events in place of targets.
Problem make_survival_problem(const Target& target, const std::string& source, std::int64_t rows) {
  Problem problem;
  problem.labels = make_survival_labels(target, source, rows);
  problem.sheaf.examples = rows;
  problem.sheaf.targets.assign(problem.labels.events.begin(), problem.labels.events.end());
  return problem;
}

/// Columns of targets that one model predicts together.
Problem make_several_problem(const Target& target, std::int64_t rows) {
  Problem problem;
  problem.labels = make_several_labels(target, rows);
  problem.sheaf.examples = rows;
  problem.sheaf.target_columns = problem.labels.targets;
  problem.sheaf.targets = problem.labels.values;
  return problem;
}

[[noreturn]] void refuse_offsets(const NetOptions& options) {
  std::string kinds;
  for (const auto& loss : losses())
    if (loss.net.offsets) kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", loss.net.kind);
  fail_usage("exposures and offsets are for {} (three classes or more), not for the loss {}", kinds,
             to_string(options.loss));
}

}  // namespace

LinearOptions scored_as(const NetOptions& options, bool classes) {
  LinearOptions like;
  like.loss = !is_regression(options.loss) ? Loss::logistic : classes ? Loss::squared_hinge : Loss::squared_tube;
  like.class_weights = options.class_weights;
  like.balanced = options.balanced;
  return like;
}

NetProblem make_net_problem(const Context& context, const Target& target, const std::string& source, std::int64_t rows,
                            const NetOptions& options, std::span<const float> row_weights) {
  const bool classes = takes_classes(options, target, source);
  check_row_weights(row_weights, rows);
  const auto& loss = info(options.loss);
  if (!options.offsets.empty() && !loss.net.offsets) refuse_offsets(options);
  NetProblem result{options.loss == Loss::cox ? make_survival_problem(target, source, rows)
                    : target.several()        ? make_several_problem(target, rows)
                                       : make_problem(context, target, source, rows, scored_as(options, classes)),
                    {row_weights.begin(), row_weights.end()}};
  check_two_classes(result.problem.labels, source);
  check_offsets(options.offsets, rows, result.problem.labels.class_names);
  if (loss.net.score == Metric::mean_pinball_loss) result.problem.labels.quantile = loss_parameter(options);
  auto& sheaf = result.problem.sheaf;
  if (options.loss == Loss::softmax)
    for (double& y : sheaf.targets) y = y > 0 ? 1 : 0;
  check_targets(loss.targets, sheaf.targets, sheaf.target_columns, source, loss.net.title);
  if (classes) weigh_rows(result.problem.labels.classes, result.problem.class_weights, result.row_weights);
  return result;
}

void add_paths(const NetPath& path, const NetOptions& options, NetSheaf& sheaf) {
  const bool together = options.loss == Loss::softmax || options.grouped;
  const std::int32_t models = together ? 1 : sheaf.target_columns;
  sheaf.classes = sheaf.target_columns / models;
  for (std::int32_t c = 0; c < models; ++c) {
    sheaf.paths.push_back(path);
    sheaf.paths.back().target = c;
  }
}

void add_limits(const NetOptions& options, std::int64_t features, NetSheaf& sheaf) {
  const auto count = static_cast<std::size_t>(features);
  sheaf.lower_limits = options.lower_limits;
  sheaf.upper_limits = options.upper_limits;
  if (sheaf.lower_limits.empty() && options.lower_limit) sheaf.lower_limits.assign(count, *options.lower_limit);
  if (sheaf.upper_limits.empty() && options.upper_limit) sheaf.upper_limits.assign(count, *options.upper_limit);
}

template <class T>
void respond(LinearOps<T>& ops, Loss loss, const NetSheaf& sheaf, Block<T>& z) {
  if (!sheaf.offsets.empty()) add_offsets<T>(ops, sheaf.offsets, z);
  ops.predict(loss, T(0), sheaf.classes, z.view());
  ops.synchronize();
}

template void respond(LinearOps<float>&, Loss, const NetSheaf&, Block<float>&);
template void respond(LinearOps<double>&, Loss, const NetSheaf&, Block<double>&);

NetParams net_params(const NetOptions& options) {
  NetParams params;
  params.loss = options.loss;
  params.ties = options.ties;
  params.loss_parameter = loss_parameter(options);
  params.solver = options.solver;
  params.tolerance = options.tolerance;
  params.max_epochs = options.max_epochs;
  params.intercept = options.intercept;
  params.standardise = options.standardise;
  params.relative_l2 = options.relative_l2;
  params.parallel = options.parallel;
  params.grouped = options.grouped;
  return params;
}

}  // namespace linear

bool takes_classes(const NetOptions& options, const Target& target, const std::string& source) {
  if (target.empty()) fail("{}: has no labels to learn from", source);
  if (target.several()) {
    if (options.loss != Loss::squared) refuse_several(target, source);
    if (options.labels == LabelKind::classes)
      fail_usage("{}: several targets are numbers; leave out --labels classes", source);
    return false;
  }
  if (target.survival() || options.loss == Loss::cox) {
    if (options.loss != Loss::squared && options.loss != Loss::cox)
      fail("{}: times with events (--event) are for elastic-net and elastic-net-cox", source);
    if (!target.survival()) make_survival_labels(target, source, target.rows());
    return false;
  }
  const bool classifier = !linear::is_regression(options.loss);
  if (!classifier && options.loss != Loss::squared) {  // squares take classes too
    if (options.labels == LabelKind::classes || target.values.empty())
      fail("{}: {} is for {}, and the labels are classes; use elastic-net-logistic or elastic-net-multinomial", source,
           net_solver(options.loss, false).about,
           info(options.loss).targets == TargetRange::any ? "numbers" : "counts");
    return false;
  }
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

NetOptions decide_net(NetOptions options, const Target& target, const std::string& source,
                      std::span<const float> row_weights) {
  if ((options.balanced || !options.class_weights.empty()) && !takes_classes(options, target, source))
    fail_usage("class weights are for classes, and the labels of {} are a numeric target", source);
  if (options.grouped && options.loss != Loss::softmax && !target.several())
    fail_usage(
        "grouped penalties are for several classes in one model (elastic-net-multinomial), or for several targets");
  if (target.several() && !takes_classes(options, target, source)) options.grouped = true;
  if (options.loss == Loss::softmax && takes_classes(options, target, source) && target.class_names.size() == 2) {
    options.loss = Loss::logistic;
    options.grouped = false;  // of a single weight
  }
  if (target.survival() && options.loss == Loss::squared) options.loss = Loss::cox;
  if (!has_target_unit(options.loss) || takes_classes(options, target, source)) options.relative_l2 = false;
  if (options.loss == Loss::huber && options.huber_threshold == 0) {
    takes_classes(options, target, source);
    options.huber_threshold = huber_threshold(target.values, source, row_weights);
  }
  return options;
}

std::pair<std::vector<double>, std::vector<double>> read_weight_limits(const std::string& path, std::int64_t features) {
  const TextSource source(path, silent_progress());
  LineReader reader(path, source.text());
  const auto next = [&](const char* expected, double sign) {
    const auto limit = reader.number<double>(expected);
    if (!(sign * limit >= 0)) reader.fail_here(fmt::format("expected {}, not '{}'", expected, reader.word()));
    reader.skip(reader.word());
    return limit;
  };
  std::vector<double> lower, upper;
  for (std::int64_t j = 0; j < features; ++j) {
    reader.next_line(fmt::format("the limits of feature {} of {}", j + 1, features));
    lower.push_back(next("a lower limit, 0 or less or -inf", -1));
    reader.space("an upper limit");
    upper.push_back(next("an upper limit, 0 or more or inf", 1));
    reader.end_line();
  }
  reader.end_file(fmt::format("the limits of {}", counted(features, "feature")));
  return {std::move(lower), std::move(upper)};
}

double huber_threshold(std::span<const double> targets, const std::string& source, std::span<const float> row_weights) {
  constexpr double share = 0.1;
  struct Weighted {
    double value = 0;
    double end = 0;  // how many rows there are up to this one, counted by weight
  };
  std::vector<Weighted> sorted;
  for (std::size_t i = 0; i < targets.size(); ++i)
    sorted.push_back({targets[i], row_weights.empty() ? 1.0 : static_cast<double>(row_weights[i])});
  std::erase_if(sorted, [](const auto& row) { return row.end == 0; });
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  for (std::size_t i = 1; i < sorted.size(); ++i) sorted[i].end += sorted[i - 1].end;
  const auto value_at = [&](double place) {
    const auto found =
        std::upper_bound(sorted.begin(), sorted.end(), place, [](double at, const auto& row) { return at < row.end; });
    return found == sorted.end() ? sorted.back().value : found->value;
  };
  const auto quartile = [&](double at) {  // as R's and NumPy's: linear between neighbours
    const double place = std::max(at * (sorted.back().end - 1), 0.0);
    const double below = std::floor(place);
    return value_at(below) + (place - below) * (value_at(below + 1) - value_at(below));
  };
  const double range = sorted.empty() ? 0.0 : quartile(0.75) - quartile(0.25);
  if (!(range > 0))
    fail(
        "{}: half of the targets are the same number, so that there is no scale for the threshold of the Huber loss; "
        "give one (--huber-threshold)",
        source);
  return share * range;
}

}  // namespace sheaf
