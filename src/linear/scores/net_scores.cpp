// Scores of elastic nets as glmnet has them (cv.glmnet, assess.glmnet, relax.glmnet).
#include <sheaf/solvers/net_scores.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include "linear/losses/losses.hpp"
#include "linear/scores/net_deviance.hpp"
#include "statistics/concordance.hpp"

namespace sheaf {
namespace linear {
namespace {

using Values = std::span<const double>;

struct NamedMeasure {
  std::string_view name;
  NetMeasure measure;
};
constexpr std::array named_measures{
    NamedMeasure{"mse", NetMeasure::squared_error}, NamedMeasure{"mae", NetMeasure::absolute_error},
    NamedMeasure{"deviance", NetMeasure::deviance}, NamedMeasure{"class", NetMeasure::class_error},
    NamedMeasure{"auc", NetMeasure::auc},           NamedMeasure{"C", NetMeasure::concordance},
};

bool larger_is_better(NetMeasure measure) { return measure == NetMeasure::auc || measure == NetMeasure::concordance; }

/// Truth and prediction of a row, one for each class or target; two classes are two.
class RowTerms {
 public:
  explicit RowTerms(const NetResponse& response)
      : response_(response), width_(response.loss == Loss::logistic ? 2 : std::size_t(response.classes)) {
    truth.resize(width_);
    predicted.resize(width_);
  }

  void load(std::size_t row, const double* z) {
    const std::size_t rows = response_.rows();
    if (response_.loss == Loss::logistic) {
      predicted[1] = 1 / (1 + std::exp(-z[row]));
      predicted[0] = 1 - predicted[1];
      truth[0] = response_.targets[row] < 0 ? 1.0 : 0.0;
      truth[1] = 1 - truth[0];
      return;
    }
    for (std::size_t k = 0; k < width_; ++k) {
      truth[k] = response_.targets[k * rows + row];
      const double value = z[k * rows + row];
      predicted[k] = response_.loss == Loss::poisson ? std::exp(value) : value;
    }
    if (response_.loss == Loss::softmax) to_shares(predicted);
  }

  double error(bool squared) const {
    double sum = 0;
    for (std::size_t k = 0; k < width_; ++k) {
      const double apart = std::abs(predicted[k] - truth[k]);
      sum += squared ? apart * apart : apart;
    }
    return sum;
  }
  double class_error() const {
    return 1 - truth[std::size_t(std::max_element(predicted.begin(), predicted.end()) - predicted.begin())];
  }
  /// With probabilities that are never quite certain.
  double class_deviance() const {
    constexpr double least = 1e-5;
    double sum = 0;
    for (std::size_t k = 0; k < width_; ++k)
      if (truth[k] > 0) sum -= 2 * truth[k] * std::log(std::clamp(predicted[k], least, 1 - least));
    return sum;
  }

 private:
  const NetResponse& response_;
  std::size_t width_;
  std::vector<double> truth, predicted;
};

/// The term of each row in a measure that is a mean over rows.
std::vector<double> row_scores(const NetResponse& response, NetMeasure measure, const double* z) {
  const bool of_classes = response.loss == Loss::logistic || response.loss == Loss::softmax;
  if (measure == NetMeasure::deviance && !of_classes) return row_deviances(response, z);
  RowTerms terms(response);
  std::vector<double> scores(response.rows());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    terms.load(i, z);
    scores[i] = measure == NetMeasure::class_error ? terms.class_error()
                : measure == NetMeasure::deviance  ? terms.class_deviance()
                                                   : terms.error(measure == NetMeasure::squared_error);
    if (measure == NetMeasure::deviance && !response.saturated.empty()) scores[i] += response.saturated[i];
  }
  return scores;
}

/// The chance that a positive row has the larger value, ties counting half; rows count by their weights.
double weighted_auc(Values values, Values targets, Values weights) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  double others = 0, positives = 0, below = 0;
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    double others_here = 0, positives_here = 0;
    for (; end < order.size() && values[order[end]] == values[order[begin]]; ++end)
      (targets[order[end]] > 0 ? positives_here : others_here) += weights[order[end]];
    below += positives_here * (others + others_here / 2);
    others += others_here;
    positives += positives_here;
  }
  return below / (positives * others);
}

double weighted_concordance(const NetResponse& response, Values values, Values weights) {
  const std::vector<std::uint8_t> events(response.targets.begin(), response.targets.end());
  return concordant_pairs(values, response.risk, events, weights).share();
}

/// A measure of some rows together, those of a weight above 0.
double score_of(const NetResponse& response, NetMeasure measure, const double* z, Values weights) {
  const Values values(z, response.rows());
  if (measure == NetMeasure::concordance) return weighted_concordance(response, values, weights);
  if (measure == NetMeasure::auc) return weighted_auc(values, response.targets, weights);
  if (response.loss == Loss::cox) return CoxDeviance(response, weights)(z);
  const auto scores = row_scores(response, measure, z);
  return std::inner_product(scores.begin(), scores.end(), weights.begin(), 0.0) /
         std::accumulate(weights.begin(), weights.end(), 0.0);
}

/// Weights of the rows that `taken` says, 0 for others.
template <class Taken>
std::vector<double> weights_if(std::vector<double> weights, const Taken& taken) {
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (!taken(i)) weights[i] = 0;
  return weights;
}

/// Means and standard errors of observations of some weights.
class Means {
 public:
  explicit Means(std::size_t models) { result_.mean.reserve(models); }
  void add(Values losses, Values weights) {
    const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
    double mean = 0, spread = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) mean += losses[i] * (weights[i] / all);
    for (std::size_t i = 0; i < losses.size(); ++i)
      spread += (losses[i] - mean) * (losses[i] - mean) * (weights[i] / all);
    result_.mean.push_back(mean);
    result_.error.push_back(std::sqrt(spread / (static_cast<double>(losses.size()) - 1)));
  }
  NetFoldScores take() { return std::move(result_); }

 private:
  NetFoldScores result_;
};

struct Observations {
  std::vector<double> losses, weights;
};

/// Rows that are one observation, their losses being means.
class Groups {
 public:
  explicit Groups(std::span<const std::int32_t> groups) : place_(groups.size()) {
    std::map<std::int32_t, std::size_t> places;
    for (const auto group : groups) places[group] = 0;
    for (auto& [group, place] : places) place = count_++;
    for (std::size_t i = 0; i < groups.size(); ++i) place_[i] = places.find(groups[i])->second;
  }
  Observations of(Values losses, Values weights) const {
    std::vector<std::pair<double, double>> sums(count_);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      sums[place_[i]].first += losses[i] * weights[i];
      sums[place_[i]].second += weights[i];
    }
    Observations result;
    for (const auto& [loss, weight] : sums) {
      if (!(weight > 0)) continue;
      result.losses.push_back(loss / weight);
      result.weights.push_back(weight);
    }
    return result;
  }

 private:
  std::size_t count_ = 0;
  std::vector<std::size_t> place_;  // of each row's group, in their order
};

std::int32_t count_folds(std::span<const std::int32_t> folds) {
  return folds.empty() ? 0 : *std::max_element(folds.begin(), folds.end()) + 1;
}

/// The areas of all folds, each with the weight of its rows.
Observations fold_aucs(const NetResponse& response, const double* z, std::span<const std::int32_t> folds) {
  const auto weights = row_weights(response);
  Observations result;
  for (std::int32_t fold = 0; fold < count_folds(folds); ++fold) {
    const auto held_out = weights_if(weights, [&](std::size_t i) { return folds[i] == fold; });
    result.losses.push_back(score_of(response, NetMeasure::auc, z, held_out));
    result.weights.push_back(std::accumulate(held_out.begin(), held_out.end(), 0.0));
  }
  return result;
}

/// A fold's rows: how much they count, and what they have of the measure by the fold's own decision values.
class SurvivalFold {
 public:
  SurvivalFold(const NetResponse& response, NetMeasure measure, std::span<const std::int32_t> folds, std::int32_t fold,
               bool together)
      : response_(response), measure_(measure) {
    const auto weights = row_weights(response);
    held_out_ = weights_if(weights, [&](std::size_t i) { return folds[i] == fold; });
    const bool deviance = measure == NetMeasure::deviance;
    for (std::size_t i = 0; i < held_out_.size(); ++i) count_ += held_out_[i] * (deviance ? response.targets[i] : 1.0);
    if (!deviance || !(count_ > 0)) return;
    rows_.emplace(response, together ? weights : held_out_);
    if (together) others_.emplace(response, weights_if(weights, [&](std::size_t i) { return folds[i] != fold; }));
  }
  double count() const { return count_; }
  double score(const double* z) {
    if (!rows_) return score_of(response_, measure_, z, held_out_);
    return ((*rows_)(z) - (others_ ? (*others_)(z) : 0.0)) / count_;
  }

 private:
  const NetResponse& response_;
  NetMeasure measure_;
  std::vector<double> held_out_;
  double count_ = 0;
  std::optional<CoxDeviance> rows_, others_;
};

NetFoldScores score_survival_folds(const NetResponse& response, NetMeasure measure, Values decisions,
                                   std::span<const std::int32_t> folds, bool together) {
  const auto weights = row_weights(response);
  const auto of_folds = static_cast<std::size_t>(std::max(1, count_folds(folds)));
  const std::size_t models = decisions.size() / (weights.size() * of_folds);
  std::vector<Observations> all(models);
  for (std::size_t fold = 0; fold < of_folds; ++fold) {
    SurvivalFold own(response, measure, folds, static_cast<std::int32_t>(fold), together);
    for (std::size_t m = 0; m < models; ++m) {
      const double* z = decisions.data() + (fold * models + m) * weights.size();
      const double score = own.count() > 0 ? own.score(z) : 0;
      if (m == 0 && !(own.count() > 0 && std::isfinite(score))) break;  // no events, no pairs
      all[m].losses.push_back(score);
      all[m].weights.push_back(own.count());
    }
  }
  Means means(models);
  for (const auto& one : all) means.add(one.losses, one.weights);
  return means.take();
}

}  // namespace
}  // namespace linear

NetMeasure parse_net_measure(std::string_view name) {
  std::string known;
  for (const auto& row : linear::named_measures) {
    if (row.name == name) return row.measure;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw UsageError("there is no measure '" + std::string(name) + "'; known are " + known);
}

std::vector<double> net_scores(const NetResponse& response, NetMeasure measure, std::span<const double> decisions) {
  linear::check_sizes(response, decisions);
  const auto weights = linear::row_weights(response);
  std::vector<double> scores;
  for (std::size_t at = 0; at < decisions.size(); at += response.targets.size())
    scores.push_back(linear::score_of(response, measure, decisions.data() + at, weights));
  return scores;
}

NetFoldScores score_net_folds(const NetResponse& response, NetMeasure measure, std::span<const double> decisions,
                              std::span<const std::int32_t> folds, std::span<const std::int32_t> groups,
                              bool together) {
  linear::check_sizes(response, decisions);
  linear::need(folds.size() == response.rows() && (groups.empty() || groups.size() == folds.size()),
               "there must be a fold, and a group if there are any, for each row");
  if (response.loss == Loss::cox) return linear::score_survival_folds(response, measure, decisions, folds, together);
  const auto weights = linear::row_weights(response);
  linear::Means means(decisions.size() / response.targets.size());
  const linear::Groups of_groups(groups);
  for (std::size_t at = 0; at < decisions.size(); at += response.targets.size()) {
    const double* z = decisions.data() + at;
    linear::Observations observations;
    if (measure == NetMeasure::auc)
      observations = linear::fold_aucs(response, z, folds);
    else if (!groups.empty())
      observations = of_groups.of(linear::row_scores(response, measure, z), weights);
    else
      observations = {linear::row_scores(response, measure, z), weights};
    means.add(observations.losses, observations.weights);
  }
  return means.take();
}

std::pair<std::size_t, std::size_t> choose_net(std::span<const NetPoint> points, NetMeasure measure) {
  const double sign = linear::larger_is_better(measure) ? -1 : 1;
  const auto largest_within = [&](double most) {
    std::optional<std::size_t> best;
    for (std::size_t p = 0; p < points.size(); ++p) {
      if (!(sign * points[p].mean <= most)) continue;
      const auto rank = [&](std::size_t at) { return std::pair(points[at].alpha, points[at].share); };
      if (!best || rank(p) > rank(*best)) best = p;
    }
    return best.value_or(0);
  };
  double least = HUGE_VAL;
  for (const auto& point : points) least = std::min(least, std::isnan(point.mean) ? HUGE_VAL : sign * point.mean);
  const auto best = largest_within(least);
  return {best, largest_within(sign * points[best].mean + points[best].error)};
}

}  // namespace sheaf
