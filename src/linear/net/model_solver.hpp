// One model of an elastic net on its working set: a loss (datafit.hpp), a penalty (penalty.hpp) and coordinate descent
// (descent.hpp), by one team of threads.
#pragma once

#include "linear/net/datafit.hpp"

namespace sheaf::linear {

/// What a model is asked to do on its working set.
struct SolveOrder {
  std::int32_t model = 0;
  double intercept = 0;  ///< of its present weights
  double tolerance = 0;
  DescentRules rules;
};

/// What became of a model.
struct SolveReport {
  double intercept = 0;
  RowSums rows;
  std::int32_t epochs = 0;
  std::int32_t parallel = 1;
};

template <class Functor, class Team, class T, class Columns>
class ModelSolver {
  using Model = QuadraticModel<Team, T, Columns>;

 public:
  SHEAF_HOST_DEVICE ModelSolver(const Team& team, const Columns& x, const ModelTask<T>& task, const RowVectors<T>& rows,
                                const WorkingSet<T>& features, const SolveOrder& order)
      : order_(order), model_(team, x, task, rows, features), fit_(model_), descent_(model_, order.rules) {}

  /// `w`, `z` and `u` are the blocks of weights, of decision values and of s times the residuals.
  SHEAF_HOST_DEVICE SolveReport run(T* w, T* z, T* u, std::int64_t stride) {
    constexpr double precision = sizeof(T) == 4 ? 1e-10 : 1e-18;
    w += order_.model;
    z += order_.model;
    u += order_.model;
    const double tolerance = order_.tolerance;
    model_.load(w, stride);
    fit_.load(z, stride);
    while (true) {
      fit_.update_residuals();
      const FeatureSums features = sum_features();
      const RowSums rows = fit_.sums();
      const double scale = dual_scale<Functor>(features, rows);
      const double gap = duality_gap(features, rows, scale, fit_.dual_at(rows, scale));
      if (gap <= tolerance || model_.epochs >= order_.rules.max_epochs || model_.stopped()) break;
      fit_.begin_step();
      const double gained = descent_.run(gap, tolerance, fit_.enough);
      fit_.end_step(rows.loss + features.penalty());
      if (gained <= precision * rows.loss) break;  // steps are lost in rounding: this is as near as it gets
    }
    multiply_anew();
    const auto& working = model_.features;
    model_.over_features([&](std::int32_t k) { w[working.list[k] * stride] = working.w[k]; });
    const RowSums rows = fit_.finish(z, u, stride, order_.intercept);
    return {fit_.intercept(), rows, model_.epochs, descent_.parallel()};
  }

 private:
  /// For the duality gap of the problem that has the features of the working set alone.
  SHEAF_HOST_DEVICE FeatureSums sum_features() {
    FeatureSums sums;
    model_.in_turn(model_.features.count, InOrder{},
                   [&](const typename Model::Coordinate& at, const ColumnAhead<T>& ahead) {
                     sums.add(model_.gradient(model_.team, at, ahead), at.w, at.penalty, at.curvature);
                   });
    model_.epochs += 1;
    return sums;
  }

  /// x'w anew from the weights, for all rows, so that no rounding of the many steps stays.
  SHEAF_HOST_DEVICE void multiply_anew() {
    T* fresh = fit_.fresh();
    model_.over_rows([&](std::int64_t i) { fresh[i] = 0; });
    model_.team.sync();
    model_.in_turn(
        model_.list_active(), [&](std::int32_t turn) { return model_.features.active[turn]; },
        [&](const typename Model::Coordinate& at, const ColumnAhead<T>& ahead) {
          const T weight = at.w;
          model_.x.each(model_.team, at.place, ahead, [&](std::int32_t i, T value) { fresh[i] += weight * value; });
          model_.team.sync();
        });
  }

  const SolveOrder& order_;
  Model model_;
  Datafit<Functor, Model> fit_;
  Descent<Model> descent_;
};

}  // namespace sheaf::linear
