#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <sheaf/solvers/glm.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/read/number_lines.hpp"
#include "linear/model/glm_statistics.hpp"
#include "statistics/distributions.hpp"

namespace sheaf {
namespace {

using linear::GlmProblem;

constexpr int most_thetas = 50;
constexpr double theta_tolerance = 1e-8;

/// Without a penalty the rows must determine the weights.
void check_shape(const GlmProblem& problem, std::int64_t features) {
  if (problem.sheaf.tasks.front().alpha > 0) return;
  std::int64_t rows = 0;
  for (const float weight : problem.sheaf.row_weights) rows += weight > 0 ? 1 : 0;
  if (problem.sheaf.row_weights.empty()) rows = problem.sheaf.examples;
  const std::int64_t weights = features + (problem.params.intercept ? 1 : 0);
  if (weights < rows) return;
  fail(
      "{} rows do not determine {} of each decision value without a penalty; give one (--alpha 0.01, or let "
      "sheaf search find it), or select features first (sheaf select)",
      rows, counted(weights, "weight"));
}

/// The fit, with theta estimated in turn with the weights if it is open, as MASS's glm.nb does.
template <class T>
Fits<T> train(const Context& context, const Dataset<T>& dataset, GlmProblem& problem, const GlmOptions& options) {
  const bool open = problem.kind.family == GlmFamily::negative_binomial && options.theta == 0;
  if (!open) return train_glms(context, dataset, problem.sheaf, problem.params);
  auto& theta = problem.params.parameter;
  problem.params.loss = Loss::poisson;  // for the first estimate
  auto fits = train_glms(context, dataset, problem.sheaf, problem.params);
  problem.params.loss = Loss::negative_binomial;
  theta = 1;
  for (int turn = 0; turn < most_thetas; ++turn) {
    const double before = theta;
    theta = linear::likely_theta(problem, linear::training_decisions(context, dataset, problem, fits.weights), before);
    if (theta == 0)
      fail(
          "the target varies no more than a Poisson variable of its mean does, so that theta has no estimate; use "
          "--family poisson, or give --theta");
    fits = train_glms(context, dataset, problem.sheaf, problem.params);
    if (turn > 0 && std::abs(theta - before) <= theta_tolerance * theta) break;
  }
  return fits;
}

template <class T>
std::vector<double> flat_weights(const Block<T>& block) {
  std::vector<double> weights;
  for (std::int64_t j = 0; j < block.rows(); ++j)
    for (std::int32_t c = 0; c < block.tasks(); ++c) weights.push_back(static_cast<double>(block(j, c)));
  return weights;
}

/// Whether the dispersion is estimated, so that Student's distribution takes the place of the normal one.
bool estimated_dispersion(const GlmTraining& glm) { return linear::glm_kind(glm.family, glm.link).dispersed; }

/// Rows of one group are not independent of each other, and neither are standard errors that take them as such right.
StandardErrors decide_errors(StandardErrors wanted, std::span<const std::int32_t> groups,
                             const linear::GlmProblem& problem) {
  const bool grouped = !groups.empty() && linear::groups_with_weight(groups, problem.sheaf) > 1;
  if (wanted == StandardErrors::automatic) return grouped ? StandardErrors::cluster : StandardErrors::expected;
  if (wanted == StandardErrors::cluster && !grouped)
    fail_usage("standard errors by cluster need two groups of rows or more; name the column that holds them (group)");
  return wanted;
}

/// Parameters that the AIC counts besides the weights: the dispersion, or theta.
double further_parameters(const GlmTraining& glm) {
  const bool counted = estimated_dispersion(glm) && has_likelihood(glm.family);
  return counted || glm.family == GlmFamily::negative_binomial ? 1 : 0;
}

}  // namespace

template <class T>
LinearModel train_glm(const Context& context, const Dataset<T>& dataset, const GlmOptions& options,
                      std::span<const float> row_weights) {
  const auto decided = decide_glm(options, dataset.target, dataset.source);
  auto problem = linear::make_glm_problem(dataset.target, dataset.source, dataset.rows(), decided, row_weights,
                                          dataset.features());
  check_shape(problem, dataset.features());
  const auto& names = problem.labels.class_names;
  if (!problem.kind.classes && !options.reference.empty()) fail_usage("a reference class is for classes, not numbers");
  const auto reference = static_cast<std::int32_t>(
      options.reference.empty() ? std::max<std::size_t>(names.size(), 1) - 1 : find_class(names, options.reference));
  const bool cox = decided.family == GlmFamily::cox;
  const auto fits = train(context, dataset, problem, decided);
  LinearModel model;
  model.solver = problem.kind.classes ? "GLM_CLASSES" : "GLM";
  model.features = dataset.features();
  model.columns = problem.params.columns;
  model.bias = decided.intercept && !cox ? 1 : 0;
  model.penalise_bias = false;
  model.weights = flat_weights(fits.weights);
  if (cox) model.weights.resize(static_cast<std::size_t>(model.features));  // without an intercept which has no meaning
  model.feature_names = dataset.feature_names;
  auto& glm = model.glm.emplace();
  glm.family = decided.family;
  glm.link = decided.link;
  glm.alpha = decided.alpha;
  glm.parameter = problem.params.parameter;
  if (decided.family == GlmFamily::negative_binomial && decided.theta == 0)
    glm.parameter_error =
        linear::theta_error(problem, linear::training_decisions(context, dataset, problem, fits.weights));
  glm.ties = decided.ties;
  glm.solver = chosen_solver(problem.params, problem.sheaf, dataset.features());
  glm.fit = fits.tasks.front();
  glm.statistics.errors_from = decide_errors(decided.standard_errors, dataset.groups, problem);
  linear::add_statistics(context, dataset, problem, fits.weights, reference, glm);
  if (!linear::glm_kind(glm.family, glm.link).classes) return model;
  model.class_names = std::move(problem.labels.class_names);
  if (!all_one(problem.class_weights)) model.class_weights = std::move(problem.class_weights);
  return model;
}

std::vector<double> read_exposures(const std::string& path, std::int64_t rows) {
  auto exposures = read_numbers<double>(path, rows, "exposure", "row");
  for (std::size_t i = 0; i < exposures.size(); ++i)
    if (!(exposures[i] > 0)) fail("{}: the exposure of row {} is 0; exposures are above 0", path, i + 1);
  return exposures;
}

std::vector<double> read_offsets(const std::string& path, std::int64_t rows) {
  const TextSource source(path, silent_progress());
  LineReader reader(path, source.text());
  std::vector<double> offsets;
  std::size_t columns = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    reader.next_line(fmt::format("the offset of row {} of {}", i + 1, rows));
    for (std::size_t c = 0; c == 0 || (i == 0 ? !reader.at_line_end() : c < columns); ++c) {
      if (c > 0) reader.space(fmt::format("a number, for the first row has {}", std::max(columns, c + 1)));
      offsets.push_back(reader.finite("an offset, a number"));
      reader.skip(reader.word());
    }
    if (i == 0) columns = offsets.size();
    reader.end_line();
  }
  reader.end_file(fmt::format("the offsets of {}", counted(rows, "row")));
  return offsets;
}

std::vector<double> read_start(const std::string& path) {
  const TextSource source(path, silent_progress());
  LineReader reader(path, source.text());
  std::vector<double> start;
  while (!reader.at_end()) {
    reader.next_line("a weight");
    for (bool first = true; first || !reader.at_line_end(); first = false) {
      if (!first) reader.space("a number");
      start.push_back(reader.finite("a weight, a number"));
      reader.skip(reader.word());
    }
    reader.end_line();
  }
  return start;
}

std::vector<GlmCoefficient> coefficient_table(const LinearModel& model, double confidence) {
  if (!model.glm || model.glm->statistics.errors.empty()) return {};
  const auto& statistics = model.glm->statistics;
  const double freedom = estimated_dispersion(*model.glm) ? statistics.rows - statistics.parameters : 0.0;
  const double reach = two_tails_quantile(1 - confidence, freedom);
  const bool binary = model.columns == 1 && statistics.reference >= 0;
  const auto reference = model.columns > 1 ? statistics.reference : -1;
  std::vector<GlmCoefficient> table;
  std::size_t next = 0;
  for (std::int64_t j = 0; j < model.rows(); ++j)
    for (std::int32_t c = 0; c < model.columns; ++c) {
      if (c == reference) continue;
      GlmCoefficient row;
      row.name = j < model.features ? model.feature_name(j) : "(intercept)";
      row.estimate = model.weight(j, c) - (reference >= 0 ? model.weight(j, reference) : 0.0);
      if (binary && statistics.reference == 0) row.estimate = -row.estimate;
      if (binary) row.versus = model.class_names[statistics.reference == 0 ? 1 : 0];
      if (reference >= 0) row.versus = model.class_names[static_cast<std::size_t>(c)];
      row.label = reference >= 0 ? fmt::format("{}:{}", row.versus, row.name) : row.name;
      row.error = statistics.errors[next++];
      if (row.error > 0) {
        row.statistic = row.estimate / row.error;
        row.p = two_tails(row.statistic, freedom);
        row.low = row.estimate - reach * row.error;
        row.high = row.estimate + reach * row.error;
      }
      table.push_back(std::move(row));
    }
  return table;
}

bool withholds_errors(const LinearModel& model) {
  const auto weights = model.rows() * std::max(1, model.columns - 1);
  return model.glm->statistics.errors.empty() && model.glm->alpha == 0 && weights > 0 &&
         weights <= linear::most_with_errors;
}

std::string no_errors_reason(const LinearModel& model) {
  if (!model.glm->statistics.errors.empty()) return {};
  if (model.glm->alpha > 0) return "the model is penalised, and its weights are biased on purpose";
  if (!withholds_errors(model)) return "the model has more than 1,500 weights";
  return "standard errors and p-values are withheld: features were selected by the labels of the same rows, so that "
         "even noise would look significant; --select-share 0.5 selects on half of the rows and trains on the others";
}

double aic(const GlmTraining& glm) {
  return 2 * (glm.statistics.parameters + further_parameters(glm)) - 2 * glm.statistics.log_likelihood;
}

double bic(const GlmTraining& glm) {
  const bool cox = glm.family == GlmFamily::cox;  // whose information is that of its events
  return std::log(cox ? glm.statistics.survival.events : glm.statistics.rows) *
             (glm.statistics.parameters + further_parameters(glm)) -
         2 * glm.statistics.log_likelihood;
}

double pseudo_r2(const GlmTraining& glm) {
  return glm.statistics.null_deviance > 0 ? 1 - glm.statistics.deviance / glm.statistics.null_deviance : 0.0;
}

template LinearModel train_glm(const Context&, const Dataset<float>&, const GlmOptions&, std::span<const float>);
template LinearModel train_glm(const Context&, const Dataset<double>&, const GlmOptions&, std::span<const float>);

}  // namespace sheaf
