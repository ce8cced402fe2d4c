// Standard errors of generalised linear models: the covariance of the weights is the inverse of the information B,
// times the dispersion, or the sandwich B^-1 M B^-1 with M the sum over rows of products of their scores (Huber 1967,
// White 1980; the names HC0 and HC1 are those of MacKinnon and White 1985). The information of the sandwich is the
// expected one, as in R's package sandwich. If rows belong to groups, M is the sum over groups of products of the sums
// of their rows' scores (Liang and Zeger 1986), as by sandwich's vcovCL. A multinomial model leaves out the reference
// class.
#include <algorithm>
#include <cmath>

#include "core/parallel.hpp"
#include "data/row_subset.hpp"
#include "data/split/group_splits.hpp"
#include "linear/cholesky.hpp"
#include "linear/glm/information.hpp"
#include "linear/losses/losses.hpp"
#include "linear/model/glm_rows.hpp"
#include "linear/model/glm_statistics.hpp"

namespace sheaf::linear {
namespace {

/// Second derivatives of the rows' losses: at each row's target or, if `expected`, on average, at the mean of its
/// target or over both classes.
std::vector<double> curvatures_of(const GlmProblem& problem, std::span<const double> z, bool expected) {
  std::vector<double> result(z.size(), 0.0);
  with_glm_loss(problem.kind.loss, [&](auto functor) {
    using Functor = decltype(functor);
    const double parameter = problem.params.parameter;
    const auto curvature = [&](std::size_t i, double y) { return Functor::terms(z[i], y, parameter).curvature; };
    over_rows(problem.sheaf, [&](std::size_t i, double weight) {
      const double prediction = Functor::prediction(z[i], parameter);  // of classes: log odds
      if (!expected) {
        if constexpr (is_scored<Functor>)
          result[i] = weight * Functor::second(z[i], problem.sheaf.targets[i], parameter);
        else
          result[i] = weight * curvature(i, problem.sheaf.targets[i]);
      } else if constexpr (Functor::targets == TargetRange::classes) {
        const double share = 1 / (1 + std::exp(-prediction));
        result[i] = weight * (share * curvature(i, 1.0) + (1 - share) * curvature(i, -1.0));
      } else {
        result[i] = weight * curvature(i, prediction);
      }
    });
  });
  return result;
}

std::vector<double> class_probabilities(const GlmProblem& problem, std::span<const double> z) {
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  std::vector<double> result(z.size());
  for (std::size_t first = 0; first < z.size(); first += columns) {
    const auto row = z.subspan(first, columns);
    const double sum = log_sum_exp(row);
    for (std::size_t k = 0; k < columns; ++k) result[first + k] = std::exp(row[k] - sum);
  }
  return result;
}

/// The derivatives of each row's weighted loss in its decision values: rows x columns.
std::vector<double> slopes_of(const GlmProblem& problem, std::span<const double> z) {
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  std::vector<double> result(z.size(), 0.0);
  if (columns > 1) {
    const auto probabilities = class_probabilities(problem, z);
    over_rows(problem.sheaf, [&](std::size_t i, double weight) {
      const auto y = static_cast<std::size_t>(problem.sheaf.targets[i]);
      for (std::size_t k = 0; k < columns; ++k)
        result[i * columns + k] = weight * (probabilities[i * columns + k] - (k == y ? 1 : 0));
    });
    return result;
  }
  with_glm_loss(problem.kind.loss, [&](auto functor) {
    over_rows(problem.sheaf, [&](std::size_t i, double weight) {
      result[i] = weight * functor.terms(z[i], problem.sheaf.targets[i], problem.params.parameter).slope;
    });
  });
  return result;
}

/// Adds the scores of a row, its features times its slopes, to those of its group.
template <class T>
void add_scores(const Matrix<T>& x, std::int64_t row, std::span<const double> slopes, bool intercept,
                std::span<double> sums) {
  const auto columns = slopes.size();
  const auto add = [&](std::int64_t feature, double value) {
    const auto first = static_cast<std::size_t>(feature) * columns;
    for (std::size_t c = 0; c < columns; ++c) sums[first + c] += value * slopes[c];
  };
  for_row_entries(x, row, [&](std::int64_t feature, T value) { add(feature, static_cast<double>(value)); });
  if (intercept) add(static_cast<std::int64_t>(sums.size() / columns) - 1, 1.0);
}

/// The sum over groups of products of their scores. `slopes`: rows x columns.
template <class T>
std::vector<double> group_products(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                                   std::span<const double> slopes) {
  constexpr std::int64_t groups_at_once = 128;
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  const auto width = (static_cast<std::size_t>(dataset.features()) + (problem.params.intercept ? 1 : 0)) * columns;
  const auto members = members_of(dataset.groups);
  std::vector<double> result(width * width, 0.0), sums;
  for (std::int64_t first = 0; first < members.classes(); first += groups_at_once) {
    const auto count = std::min(groups_at_once, members.classes() - first);
    sums.assign(static_cast<std::size_t>(count) * width, 0.0);
    parallel_for(context, count, [&](std::int64_t g) {
      for (const auto row : members.of(first + g))
        add_scores(dataset.x, row, slopes.subspan(static_cast<std::size_t>(row) * columns, columns),
                   problem.params.intercept, std::span(sums).subspan(static_cast<std::size_t>(g) * width, width));
    });
    parallel_for(context, static_cast<std::int64_t>(width), [&](std::int64_t a) {
      double* const row = result.data() + static_cast<std::size_t>(a) * width;
      for (const double* group = sums.data(); group != sums.data() + sums.size(); group += width)
        for (std::size_t b = 0; b < width; ++b) row[b] += group[a] * group[b];
    });
  }
  return result;
}

/// The matrix of all weights without those of the reference class.
std::vector<double> without_class(std::span<const double> matrix, std::size_t columns, std::int32_t reference) {
  const auto size = static_cast<std::size_t>(std::llround(std::sqrt(static_cast<double>(matrix.size()))));
  const auto out = static_cast<std::size_t>(reference);
  std::vector<double> kept;
  for (std::size_t a = 0; a < size; ++a)
    for (std::size_t b = 0; b < size; ++b)
      if (a % columns != out && b % columns != out) kept.push_back(matrix[a * size + b]);
  return kept;
}

/// Matrices over the weights of a model, those of the reference class left out.
template <class T>
class Matrices {
 public:
  Matrices(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem, std::span<const double> z,
           std::int32_t reference)
      : context_(context.with({.progress = &silent_progress()})),
        dataset_(dataset),
        problem_(problem),
        z_(z),
        reference_(reference),
        ops_(make_ops<T>(context_, dataset, problem.params.intercept ? T(1) : T(0))),
        objective_(*ops_, problem.sheaf, problem.params) {
    objective_.choose(std::vector<std::int32_t>{0});
  }

  std::vector<double> information(bool expected) { return without_reference(full_information(expected)); }

  /// With the weights of all classes.
  std::vector<double> full_information(bool expected) {
    const auto columns = problem_.params.columns;
    return total_hessian(columns > 1 ? class_probabilities(problem_, z_) : curvatures_of(problem_, z_, expected));
  }

  /// The mean information of a row about the weights if its classes were equally likely, in units in which the inverse
  /// of one feature's element is that of its mean square.
  std::vector<double> design() {
    const auto columns = problem_.params.columns;
    std::vector<double> second(z_.size(), 1.0 / columns);
    if (columns == 1) over_rows(problem_.sheaf, [&](std::size_t i, double weight) { second[i] = weight; });
    auto matrix = without_reference(total_hessian(second));
    const double scale = (columns > 1 ? 2.0 * columns : 1.0) / total_weight(problem_.sheaf);
    for (double& element : matrix) element *= scale;
    return matrix;
  }

  std::vector<double> scores(bool of_groups) {
    const auto slopes = slopes_of(problem_, z_);
    if (of_groups) return without_reference(group_products(context_, dataset_, problem_, slopes));
    return without_reference(score_products(context_, *ops_, ops_->own_examples(slopes)));
  }

 private:
  /// `second`: curvatures times row weights, or probabilities of classes.
  std::vector<double> total_hessian(std::span<const double> second) {
    const auto columns = problem_.params.columns;
    auto matrix = hessian(context_, objective_, 0, ops_->own_examples(second), 0);
    if (columns == 1) return matrix;
    const double weights = total_weight(problem_.sheaf);  // the objective's losses are means
    for (double& element : matrix) element *= weights;
    return matrix;
  }
  std::vector<double> without_reference(std::vector<double> matrix) const {
    const auto columns = problem_.params.columns;
    return columns == 1 ? matrix : without_class(matrix, static_cast<std::size_t>(columns), reference_);
  }

  Context context_;
  const Dataset<T>& dataset_;
  const GlmProblem& problem_;
  std::span<const double> z_;
  std::int32_t reference_;
  std::unique_ptr<LinearOps<T>> ops_;
  Objective<T> objective_;
};

/// a b, both size x size.
std::vector<double> product(std::span<const double> a, std::span<const double> b, std::size_t size) {
  std::vector<double> result(a.size(), 0.0);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t j = 0; j < size; ++j) result[i * size + j] += a[i * size + k] * b[k * size + j];
  return result;
}

/// The largest log odds of a row's own class.
double surest_odds(const GlmProblem& problem, std::span<const double> z) {
  const auto columns = static_cast<std::size_t>(problem.params.columns);
  double surest = 0;
  over_rows(problem.sheaf, [&](std::size_t i, double) {
    const auto row = z.subspan(i * columns, columns);
    const double y = problem.sheaf.targets[i];
    double odds = 0;
    if (columns == 1) {
      with_glm_loss(problem.kind.loss, [&](auto functor) { odds = y * functor.prediction(row[0], 0.0); });
    } else {
      std::vector<double> others(row.begin(), row.end());
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(y));
      odds = row[static_cast<std::size_t>(y)] - log_sum_exp(others);
    }
    surest = std::max(surest, odds);
  });
  return surest;
}

}  // namespace

bool is_sandwich(StandardErrors errors) {
  return errors == StandardErrors::hc0 || errors == StandardErrors::hc1 || errors == StandardErrors::cluster;
}

double groups_with_weight(std::span<const std::int32_t> groups, const GlmSheaf& sheaf) {
  const auto members = members_of(groups);
  double count = 0;
  for (std::int64_t g = 0; g < members.classes(); ++g)
    count += std::ranges::any_of(members.of(g),
                                 [&](auto row) { return weight_of(sheaf, static_cast<std::size_t>(row)) > 0; });
  return count;
}

std::vector<double> sandwich(std::span<const double> inverse, std::span<const double> scores,
                             const GlmStatistics& statistics, double groups) {
  const auto size = statistics.errors.size();
  auto covariance = product(product(inverse, scores, size), inverse, size);
  const double freedom = std::max(1.0, statistics.rows - statistics.parameters);
  double factor = statistics.errors_from == StandardErrors::hc1 ? statistics.rows / freedom : 1.0;
  if (groups > 1) factor = groups / (groups - 1);
  for (double& element : covariance) element *= factor;
  return covariance;
}

std::vector<double> roots_of_diagonal(std::span<const double> covariance, std::size_t size) {
  std::vector<double> roots;
  for (std::size_t e = 0; e < size; ++e) roots.push_back(std::sqrt(std::max(0.0, covariance[e * (size + 1)])));
  return roots;
}

void clear_undetermined(std::span<const double> errors, std::vector<double>& covariance) {
  const std::size_t size = errors.size();
  for (std::size_t e = 0; e < covariance.size(); ++e)
    if (errors[e / size] == 0 || errors[e % size] == 0) covariance[e] = 0;
}

Uncertainty uncertainty_of(std::span<const double> information, const std::vector<std::size_t>& order,
                           double tolerance) {
  const Cholesky cholesky(information, order, tolerance);
  return {cholesky.inverse(), cholesky.left_out(), std::vector<std::uint8_t>(order.size(), 0)};
}

/// In a direction in which all rows are certain there is next to no information. A vanishing share of the information
/// of rows with equally likely classes is added, so that variances in such directions are huge but finite, and those of
/// all weights that take part in them are found, whatever the reference class. A weight diverges if it is uncertain by
/// more than `wild` per typical difference of its feature beyond the others.
Uncertainty uncertainty_of_certain_rows(std::span<const double> information, std::span<const double> design,
                                        double rows, const std::vector<std::size_t>& order, double tolerance) {
  constexpr double wild = 15;
  const double vanishing = tolerance;  // more than the rounding of the information
  // A tenth of the variance that is left if there is no information but the added share.
  const double most = std::min(wild * wild, 0.1 / (vanishing * rows));
  const std::size_t size = order.size();
  const Cholesky shape(design, order, tolerance);
  Uncertainty result;
  result.undetermined = shape.left_out();
  std::vector<double> held(information.begin(), information.end());
  for (std::size_t e = 0; e < held.size(); ++e) {
    const bool out = result.undetermined[e / size] != 0 || result.undetermined[e % size] != 0;
    held[e] = out ? 0.0 : held[e] + vanishing * rows * design[e];
  }
  const Cholesky cholesky(held, order, 0);
  result.inverse = cholesky.inverse();
  const auto lost = cholesky.left_out();
  const auto spread = shape.inverse();
  for (std::size_t j = 0; j < size; ++j) {
    const std::size_t place = j * (size + 1);
    const bool diverges = lost[j] != 0 || result.inverse[place] > most * spread[place];
    result.diverging.push_back(diverges && result.undetermined[j] == 0 ? 1 : 0);
  }
  return result;
}

double effective_parameters(std::span<const double> information, const std::vector<std::size_t>& order,
                            std::size_t penalised, double penalty, double tolerance) {
  const std::size_t size = order.size();
  std::vector<double> matrix(information.begin(), information.end());
  for (std::size_t j = 0; j < penalised; ++j) matrix[j * (size + 1)] += penalty;
  const Cholesky cholesky(matrix, order, tolerance);
  const auto inverse = cholesky.inverse();
  double trace = 0;
  for (const auto flag : cholesky.left_out()) trace += flag != 0 ? 0 : 1;
  for (std::size_t j = 0; j < penalised; ++j) trace -= penalty * inverse[j * (size + 1)];
  return trace;
}

template <class T>
void add_errors(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem, std::span<const double> z,
                double pearson, GlmTraining& glm) {
  constexpr double certain = 14;  // log odds: one in a million
  auto& statistics = glm.statistics;
  Matrices<T> matrices(context, dataset, problem, z, statistics.reference);
  const std::int32_t columns = std::max(1, problem.params.columns - 1);
  const std::int64_t weights = dataset.features() + (problem.params.intercept ? 1 : 0);
  const auto order = intercepts_first(weights, columns, problem.params.intercept);
  const auto information = matrices.information(statistics.errors_from != StandardErrors::observed);
  auto uncertainty = uncertainty_of(information, order, dependence_tolerance<T>());
  if (problem.kind.classes && surest_odds(problem, z) >= certain) {
    auto held = uncertainty_of_certain_rows(information, matrices.design(), total_weight(problem.sheaf), order,
                                            dependence_tolerance<T>());
    glm.separated = std::ranges::count(held.diverging, 1) > 0;
    if (glm.separated || held.undetermined != uncertainty.undetermined) uncertainty = std::move(held);
  }
  for (const auto flag : uncertainty.undetermined) statistics.parameters -= flag;
  statistics.dispersion = dispersion_of(problem, pearson, statistics);
  const std::size_t size = order.size();
  // Scores of separated rows are near 0, and so are the sandwich's errors: the information decides.
  auto by_information = uncertainty.inverse;
  for (double& element : by_information) element *= statistics.dispersion;
  statistics.errors = roots_of_diagonal(by_information, size);
  for (std::size_t j = 0; j < size; ++j)
    if (uncertainty.diverging[j] != 0) statistics.errors[j] = 0;
  statistics.covariance = std::move(by_information);
  const bool of_groups = statistics.errors_from == StandardErrors::cluster;
  if (is_sandwich(statistics.errors_from))
    statistics.covariance = sandwich(uncertainty.inverse, matrices.scores(of_groups), statistics,
                                     of_groups ? groups_with_weight(dataset.groups, problem.sheaf) : 0.0);
  clear_undetermined(statistics.errors, statistics.covariance);
  statistics.errors = roots_of_diagonal(statistics.covariance, size);
}

template <class T>
void count_effective_parameters(const Context& context, const Dataset<T>& dataset, const GlmProblem& problem,
                                std::span<const double> z, double pearson, GlmTraining& glm) {
  auto& statistics = glm.statistics;
  Matrices<T> matrices(context, dataset, problem, z, statistics.reference);
  const auto columns = problem.params.columns;
  const std::int64_t weights = dataset.features() + (problem.params.intercept ? 1 : 0);
  statistics.parameters = effective_parameters(matrices.full_information(true),
                                               intercepts_first(weights, columns, problem.params.intercept),
                                               static_cast<std::size_t>(dataset.features() * columns),
                                               total_weight(problem.sheaf) * glm.alpha, dependence_tolerance<T>());
  statistics.dispersion = dispersion_of(problem, pearson, statistics);
}

template void count_effective_parameters(const Context&, const Dataset<float>&, const GlmProblem&,
                                         std::span<const double>, double, GlmTraining&);
template void count_effective_parameters(const Context&, const Dataset<double>&, const GlmProblem&,
                                         std::span<const double>, double, GlmTraining&);
template void add_errors(const Context&, const Dataset<float>&, const GlmProblem&, std::span<const double>, double,
                         GlmTraining&);
template void add_errors(const Context&, const Dataset<double>&, const GlmProblem&, std::span<const double>, double,
                         GlmTraining&);

}  // namespace sheaf::linear
