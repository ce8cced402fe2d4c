// How well a model fits its rows: residuals, loss and dual value, and the quadratic model that descent works on.
//
// ExactFit: the squared loss is its own quadratic model. SmoothFit: any other smooth loss is a series of quadratic
// models (proximal Newton: Lee, Sun, Saunders 2014), each with the second derivatives of the loss at the present
// weights in place of the row weights; then the true objective decides how far to go along the step. The loss is a sum
// over rows (RowTerms) or a partial likelihood (RiskTerms).
#pragma once

#include <type_traits>

#include "linear/net/model/descent.hpp"
#include "linear/net/model/duality_gap.hpp"

namespace sheaf::linear {

/// Sums over all examples at some intercept.
struct InterceptTerms {
  double residual = 0;  ///< minus the derivative of the loss
  double curvature = 0;
};

/// The best intercept for fixed weights, by Newton's method on one number, with bisection if it would leave the
/// interval that holds the solution. evaluate(b) is called last with the b that is returned; `total` is the sum of the
/// row weights. Curvatures are taken for at least `least_curvature` times it.
template <class Evaluate>
SHEAF_HOST_DEVICE double best_intercept(double start, double total, double precision, const Evaluate& evaluate,
                                        double least_curvature) {
  constexpr int most_turns = 50;
  constexpr int newton_turns =
      10;  // after which every second turn halves the interval: exp(b) falls by steps of 1 only
  double low = -HUGE_VAL;
  double high = HUGE_VAL;
  double b = start;
  for (int turn = 0;; ++turn) {
    const InterceptTerms terms = evaluate(b);
    if (std::abs(terms.residual) <= precision * total || turn >= most_turns) return b;
    (terms.residual > 0 ? low : high) = b;
    const double least = least_curvature * total;
    const double step = terms.residual / (terms.curvature > least ? terms.curvature : least);
    if (std::abs(step) <= 1e-15 * std::abs(b)) return b;
    double next = b + step;
    const bool slow = turn > newton_turns && turn % 2 == 0 && std::isfinite(low) && std::isfinite(high);
    if (slow || !(next > low && next < high)) next = (low + high) / 2;
    b = next;
  }
}

/// That of best_intercept(). Second derivatives of losses with a width are in units of the target.
template <class Functor>
inline constexpr double least_intercept_curvature = has_width<Functor> ? 0.0 : 1e-5;

/// In which unit the slopes of a loss are: its parameter if that bounds them.
template <class Functor>
SHEAF_HOST_DEVICE double slope_unit(const LossParameters& parameters) {
  return has_slope_limit<Functor> ? double(parameters.first) : 1.0;
}

template <class Functor, class Model>
class ExactFit {
  using T = typename Model::Value;

 public:
  static constexpr double enough = 0;  ///< slow passes are what a leap is for

  SHEAF_HOST_DEVICE explicit ExactFit(Model& model) : model_(model) {}
  SHEAF_HOST_DEVICE double intercept() const { return intercept_; }

  SHEAF_HOST_DEVICE void load(const T* z, std::int64_t stride) {
    const auto& rows = model_.rows;
    model_.over_rows([&](std::int64_t i) { rows.q[i] = rows.s[i] * (model_.task.target(i) - z[i * stride]); });
    model_.team.sync();
  }

  /// q: the weighted residuals at the present weights, their sum 0 if there is an intercept.
  SHEAF_HOST_DEVICE void update_residuals() {
    const auto& rows = model_.rows;
    double change = 0;
    if (model_.task.intercept)
      change = model_.sum_rows([&](std::int64_t i) { return double(rows.q[i]); }) / model_.task.total;
    model_.over_rows([&](std::int64_t i) { rows.q[i] -= static_cast<T>(change) * rows.s[i]; });
    model_.shift = 0;
    model_.team.sync();
  }

  SHEAF_HOST_DEVICE RowSums sums() const {
    double loss = 0;
    double dual = 0;
    model_.over_rows([&](std::int64_t i) {
      const double s = model_.rows.s[i];
      if (!(s > 0)) return;
      const double r = double(model_.rows.q[i]) / s;
      loss += s * r * r / 2;
      dual += s * Functor::dual_value(r, double(model_.task.target(i)) - model_.task.center);
    });
    return {model_.team.sum(loss) / model_.task.total, model_.team.sum(dual) / model_.task.total};
  }
  SHEAF_HOST_DEVICE double dual_at(const RowSums& sums, double scale) const { return squared_dual(sums, scale); }

  SHEAF_HOST_DEVICE void begin_step() const {}
  SHEAF_HOST_DEVICE void end_step(double /*objective*/) const {}

  /// Memory for x'w of all rows, which finish() takes.
  SHEAF_HOST_DEVICE T* fresh() const { return model_.rows.q; }
  /// The columns of decision values and of weighted residuals.
  SHEAF_HOST_DEVICE RowSums finish(T* z, T* u, std::int64_t stride, double /*intercept*/) {
    const auto& task = model_.task;
    T* q = model_.rows.q;
    if (task.intercept)
      intercept_ = model_.sum_rows([&](std::int64_t i) {
        return double(task.weight(i)) * (double(task.target(i)) - double(q[i]));
      }) / task.total;
    model_.over_rows([&](std::int64_t i) {
      z[i * stride] = q[i] + static_cast<T>(intercept_);
      q[i] = model_.rows.s[i] * (task.target(i) - static_cast<T>(intercept_) - q[i]);
      u[i * stride] = q[i];
    });
    return sums();
  }

 private:
  Model& model_;
  double intercept_ = 0;
};

/// The means and second derivatives of the features under s, whose sum is known; 0 of those that are left out.
template <class Model>
SHEAF_HOST_DEVICE void take_moments(const Model& model) {
  using T = typename Model::Value;
  const auto& features = model.features;
  for (std::int32_t k = 0; k < features.count; ++k) {
    ColumnMoments<T> sums;
    if (features.start[k] == 0) sums = model.x.moments(model.team, features.places[k], model.rows.s);
    const T mean = model.task.intercept ? sums.first / static_cast<T>(model.volume) : T(0);
    if (model.team.rank() == 0) {
      features.mean[k] = mean;
      features.curvature[k] = sums.second - mean * sums.first;
    }
  }
}

/// A step begins at the present weights; second derivatives, which were sums over rows, become those of the mean loss.
template <class Model>
SHEAF_HOST_DEVICE void begin_weights(Model& model) {
  using T = typename Model::Value;
  const auto& features = model.features;
  model.team.sync();
  model.over_features([&](std::int32_t k) {
    const T spread = features.curvature[k];
    const bool counts = model.task.curvature(features.list[k]) > 0 && spread > 0;
    features.curvature[k] = counts ? spread / static_cast<T>(model.task.total) : T(0);
    features.start[k] = features.w[k];
  });
  model.epochs += 1;
  model.team.sync();
}

/// Terms of a loss that is a sum over rows.
template <class Functor, class Model>
class RowTerms {
  using T = typename Model::Value;

 public:
  SHEAF_HOST_DEVICE explicit RowTerms(Model& model) : model_(model) {}

  /// q at the present z, with the best intercept, which it returns, from `start` on.
  SHEAF_HOST_DEVICE double update_residuals(double start) {
    constexpr double precision = sizeof(T) == 4 ? 1e-6 : 1e-13;
    const auto evaluate = [&](double intercept) {
      InterceptTerms sums;
      model_.over_rows([&](std::int64_t i) {
        const auto terms = terms_at(i, static_cast<T>(intercept));
        const T s = model_.task.weight(i);
        model_.rows.q[i] = -s * terms.slope;
        sums.residual += model_.rows.q[i];
        sums.curvature += s * terms.curvature;
      });
      if (!model_.task.intercept) return InterceptTerms{};
      sums = {model_.team.sum(sums.residual), model_.team.sum(sums.curvature)};
      if constexpr (has_width<Functor>)
        if (!(sums.curvature > 0))
          sums.curvature =
              model_.sum_rows([&](std::int64_t i) { return step_curvature(i, static_cast<T>(intercept)); });
      return sums;
    };
    return best_intercept(start, model_.task.total, precision * slope_unit<Functor>(model_.task.loss), evaluate,
                          least_intercept_curvature<Functor>);
  }

  /// The loss at the decision values plus step(i).
  template <class Step>
  SHEAF_HOST_DEVICE double loss_with(const Step& step, double intercept) const {
    return model_.sum_rows([&](std::int64_t i) {
      const double z = double(model_.rows.z[i]) + step(i) + intercept + double(model_.task.offset(i));
      return double(model_.task.weight(i)) *
             terms_of<Functor>(z, double(model_.task.target(i)), model_.task.loss).value;
    }) / model_.task.total;
  }
  SHEAF_HOST_DEVICE double loss(double intercept) const {
    return loss_with([](std::int64_t) { return 0.0; }, intercept);
  }
  SHEAF_HOST_DEVICE double dual_at(double scale) const {
    return model_.sum_rows([&](std::int64_t i) {
      return dual_term<Functor>(model_.task, i, scale * double(model_.rows.q[i]));
    }) / model_.task.total;
  }

  /// Second derivatives in place of s; the means and second derivatives of the features follow.
  SHEAF_HOST_DEVICE void begin_step(double intercept) {
    const auto& rows = model_.rows;
    double volume = 0;
    model_.over_rows([&](std::int64_t i) {
      rows.s[i] = step_curvature(i, static_cast<T>(intercept));
      rows.step[i] = 0;
      volume += rows.s[i];
    });
    model_.volume = model_.team.sum(volume);
    model_.team.sync();
    take_moments(model_);
  }

 private:
  static constexpr T least_curvature = T(1e-5);

  SHEAF_HOST_DEVICE T decision(std::int64_t i, T intercept) const {
    return model_.rows.z[i] + intercept + model_.task.offset(i);
  }
  SHEAF_HOST_DEVICE LossTerms<T> terms_at(std::int64_t i, T intercept) const {
    return terms_of<Functor>(decision(i, intercept), T(model_.task.target(i)), model_.task.loss);
  }
  /// Second derivative of row i's term of a quadratic model, times the row's weight.
  SHEAF_HOST_DEVICE T step_curvature(std::int64_t i, T intercept) const {
    const auto& task = model_.task;
    if constexpr (has_width<Functor>) {
      return task.weight(i) *
             Functor::step_curvature(decision(i, intercept), T(task.target(i)), T(task.loss.first), T(task.loss.width));
    } else {
      const T v = terms_at(i, intercept).curvature;
      return task.weight(i) * (v > least_curvature ? v : least_curvature);
    }
  }

  Model& model_;
};

/// Terms of Cox's partial likelihood. There is no intercept: a number added to all z changes nothing. The quadratic
/// model has the whole second derivative: without what couples rows, a lasso that explains three quarters of the
/// deviance of 300 rows took thousands of passes where it takes tens.
template <class Model>
class RiskTerms {
  using T = typename Model::Value;

 public:
  SHEAF_HOST_DEVICE explicit RiskTerms(Model& model)
      : model_(model), likelihood_(model.team, model.task.risk, model.rows.risk) {
    model.likelihood = &likelihood_;
  }

  SHEAF_HOST_DEVICE double update_residuals(double /*start*/) {
    const auto& sets = model_.task.risk;
    loss_ = load([](std::int64_t) { return 0.0; });
    for (std::int64_t k = model_.team.rank(); k < sets.rows; k += model_.team.size()) {
      const std::int64_t i = sets.order[k];
      const double events = sets.share(k) > 0 ? double(model_.task.weight(i)) : 0.0;
      model_.rows.q[i] = static_cast<T>(events - likelihood_.expected(k));
    }
    model_.team.sync();
    return 0;
  }

  template <class Step>
  SHEAF_HOST_DEVICE double loss_with(const Step& step, double /*intercept*/) {
    return load(step);
  }
  /// At the z of update_residuals(), as dual_at().
  SHEAF_HOST_DEVICE double loss(double /*intercept*/) const { return loss_; }
  SHEAF_HOST_DEVICE double dual_at(double scale) {
    const auto& task = model_.task;
    double sum = likelihood_.dual_value(
        scale, [&](std::int64_t i) { return z_at(i); }, weight());
    if (task.offsets != nullptr)
      sum -= model_.sum_rows([&](std::int64_t i) { return scale * double(model_.rows.q[i]) * double(task.offset(i)); });
    return sum / task.total;
  }

  SHEAF_HOST_DEVICE void begin_step(double /*intercept*/) {
    const auto& rows = model_.rows;
    model_.over_rows([&](std::int64_t i) {
      rows.s[i] = rows.q[i];
      rows.step[i] = 0;
    });
    model_.stale = false;
    for (std::int32_t k = 0; k < model_.features.count; ++k) {
      double curvature = 0;
      if (model_.features.start[k] == 0) {
        model_.load_feature(k, rows.before);
        curvature = likelihood_.quadratic([&](std::int64_t i) { return rows.before[i]; });
      }
      if (model_.team.rank() == 0) model_.features.curvature[k] = static_cast<T>(curvature);
    }
  }

 private:
  SHEAF_HOST_DEVICE double z_at(std::int64_t i) const {
    return double(model_.rows.z[i]) + double(model_.task.offset(i));
  }
  SHEAF_HOST_DEVICE auto weight() const {
    return [this](std::int64_t i) { return model_.task.weight(i); };
  }
  template <class Step>
  SHEAF_HOST_DEVICE double load(const Step& step) {
    return likelihood_.load([&](std::int64_t i) { return z_at(i) + step(i); }, weight()) / model_.task.total;
  }

  Model& model_;
  PartialLikelihood<typename Model::TeamType, T> likelihood_;
  double loss_ = 0;
};

template <class Functor, class Model>
class SmoothFit {
  using T = typename Model::Value;
  using Stored = typename Model::StoredValue;

 public:
  static constexpr double enough = 0.1;  ///< more precision would be lost on the next quadratic model

  SHEAF_HOST_DEVICE explicit SmoothFit(Model& model) : model_(model), terms_(model) {}
  SHEAF_HOST_DEVICE double intercept() const { return intercept_; }

  SHEAF_HOST_DEVICE void load(const Stored* z, std::int64_t stride) {
    model_.over_rows([&](std::int64_t i) { model_.rows.z[i] = z[i * stride]; });
    model_.team.sync();
  }

  /// The best intercept for the present z, and q for it.
  SHEAF_HOST_DEVICE void update_residuals() {
    intercept_ = terms_.update_residuals(intercept_);
    model_.shift = 0;  // q has no part of a step in it
    model_.team.sync();
  }

  SHEAF_HOST_DEVICE RowSums sums() { return {terms_.loss(intercept_), terms_.dual_at(1)}; }
  SHEAF_HOST_DEVICE double dual_at(const RowSums& /*sums*/, double scale) { return terms_.dual_at(scale); }

  /// Second derivatives in place of s, and the moments of the features under them.
  SHEAF_HOST_DEVICE void begin_step() {
    terms_.begin_step(intercept_);
    model_.shift = 0;
    begin_weights(model_);
    if constexpr (requires { model_.team.gram().forget(); }) model_.team.gram().forget();
  }

  /// How far along the Newton step the true objective falls below `objective`, that of before; weights and z go there.
  SHEAF_HOST_DEVICE void end_step(double objective) {
    const auto& rows = model_.rows;
    const auto& features = model_.features;
    if constexpr (Model::coupled) model_.over_rows([&](std::int64_t i) { rows.step[i] = 0; });
    model_.team.sync();
    for (std::int32_t k = 0; k < features.count; ++k) {
      const T step = features.w[k] - features.start[k];
      if (step == 0) continue;
      model_.x.each(model_.team, features.list[k], [&](std::int32_t i, T value) { rows.step[i] += step * value; });
      model_.team.sync();
    }
    const double change = -model_.shift;  // of the intercept, as the quadratic model has it
    model_.over_rows([&](std::int64_t i) { rows.step[i] += static_cast<T>(change); });
    model_.team.sync();
    // Near the end the gain of a step is less than the rounding of the sums. A loss of counts may be below 0, so that
    // the objective is no measure of their size.
    const double penalty = penalty_at(0);
    const double rounding = 1e-14 * (std::abs(objective - penalty) + penalty);
    double share = 1;
    for (int turn = 0; turn < 30; ++turn, share /= 2)
      if (objective_at(share) <= objective + rounding) break;
    model_.over_features([&](std::int32_t k) {
      const T w = features.start[k] + static_cast<T>(share) * (features.w[k] - features.start[k]);
      features.w[k] = model_.within_limits(k, w);
    });
    // The intercept's share stands in z until finish().
    model_.over_rows([&](std::int64_t i) { rows.z[i] += static_cast<T>(share) * rows.step[i]; });
    model_.team.sync();
  }

  /// Memory for x'w of all rows, which finish() takes.
  SHEAF_HOST_DEVICE T* fresh() const { return model_.rows.z; }
  /// The columns of decision values and of weighted residuals; `intercept` is where the intercept was at first.
  SHEAF_HOST_DEVICE RowSums finish(Stored* z, Stored* u, std::int64_t stride, double intercept) {
    intercept_ += intercept;
    update_residuals();
    model_.over_rows([&](std::int64_t i) {
      z[i * stride] = static_cast<Stored>(model_.rows.z[i] + static_cast<T>(intercept_));
      u[i * stride] = static_cast<Stored>(model_.rows.q[i]);
    });
    return sums();
  }

 private:
  SHEAF_HOST_DEVICE double penalty_at(double share) {
    const auto& features = model_.features;
    double sum = 0;
    model_.over_features([&](std::int32_t k) {
      const double start = features.start[k];
      sum += model_.penalty(k).value(start + share * (double(features.w[k]) - start));
    });
    return model_.team.sum(sum);
  }
  SHEAF_HOST_DEVICE double objective_at(double share) {
    const auto step = [&](std::int64_t i) { return share * double(model_.rows.step[i]); };
    return terms_.loss_with(step, intercept_) + penalty_at(share);
  }

  Model& model_;
  std::conditional_t<is_cox<Functor>, RiskTerms<Model>, RowTerms<Functor, Model>> terms_;
  double intercept_ = 0;  // until finish(): its change
};

template <class Functor, class Model>
using Datafit = std::conditional_t<Functor::quadratic, ExactFit<Functor, Model>, SmoothFit<Functor, Model>>;

}  // namespace sheaf::linear
