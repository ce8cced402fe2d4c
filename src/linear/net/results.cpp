// Handles finished models: their results are returned, and their paths continue with the next alpha.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "linear/net/paths.hpp"

namespace sheaf::linear {
namespace {

/// A GPU has so many features at work at once that it pays to find those that matter before a model is trained:
/// alphas fall by at most this factor, and intermediate models are as good as the next needs them. Three alphas of
/// table A a decade apart took 2.13 s without and 0.86 s with these; cores would only have more to do.
constexpr double longest_alpha_step_on_gpu = 1.5;
constexpr double intermediate_tolerance = 30;
constexpr std::int32_t most_rounds = 200;
/// Rounds in a row that may bring nothing: the working sets grow meanwhile.
constexpr std::int32_t most_stalled = 12;

}  // namespace

template <class T>
double NetRun<T>::target_alpha(const ModelState& state) const {
  const auto& alphas = segment_of(state).alphas;
  return alphas.empty() ? 0 : path_of(state).alphas[static_cast<std::size_t>(alphas[state.at])];
}

template <class T>
GapGoal NetRun<T>::goal_of(std::int32_t p, std::size_t alpha, double rounding) const {
  const auto& null = nulls_[static_cast<std::size_t>(p)];
  const auto& alphas = sheaf_.paths[static_cast<std::size_t>(p)].alphas;
  const double step = alpha > 0 && alphas[alpha - 1] > 0 ? alphas[alpha] / alphas[alpha - 1] : 0;
  // Without a penalty, the deviance of a model that separates classes goes to 0 and would take the goal with it.
  const double lowest = alphas[alpha] > 0 ? std::min(rounding, params_.tolerance) : params_.tolerance;
  return {share_for_step(params_.tolerance, step), null.deviance, null.loss - null.deviance / 2,
          lowest * null.deviance};
}

template <class T>
double NetRun<T>::tolerance_of(const ModelState& state) const {
  const auto& null = null_of(state);
  const auto& segment = segment_of(state);
  if (segment.alphas.empty()) return 0;
  // The width of a quantile's loss, which costs the rest, is a share of the deviance without features.
  if (null.width > 0)
    return std::max(0.0, (intermediate(state) ? intermediate_tolerance : 1) * params_.tolerance * null.deviance -
                             Quantile::least_below * null.width);
  // Steps of grouped weights come no closer on a GPU, which has no linear systems for them.
  if (params_.grouped) return (intermediate(state) ? intermediate_tolerance : 1) * params_.tolerance * null.deviance;
  constexpr double rounding = sizeof(T) == 4 ? 1e-6 : 1e-14;
  const auto goal = goal_of(segment.path, static_cast<std::size_t>(segment.alphas[state.at]), rounding);
  return (intermediate(state) ? intermediate_tolerance : 1) * goal.at(state.rows.loss);
}

template <class T>
double NetRun<T>::longest_alpha_step() const {
  return context_.device().is_cuda() && params_.solver == NetSolver::automatic
             ? longest_alpha_step_on_gpu
             : std::numeric_limits<double>::infinity();
}

/// A model without weights begins just below the alpha at which it gets its first. False: it is there already.
template <class T>
bool NetRun<T>::start_near_alpha_max(ModelState& state, const FeatureSums& sums) const {
  if (!std::exchange(state.fresh, false) || !std::isfinite(sums.ratio) || sums.ratio <= longest_alpha_step())
    return false;
  state.alpha *= sums.ratio;
  return true;
}

/// Returns the models that are finished and moves their paths on, to the next alpha or towards it. False: none moved.
template <class T>
bool NetRun<T>::advance_finished() {
  std::vector<std::int32_t> finished;
  std::vector<std::int32_t> going;
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& state = states_[static_cast<std::size_t>(t)];
    if (state.finished) continue;
    const bool stalled = params_.solver == NetSolver::automatic && !params_.grouped &&
                         (state.rounds >= most_rounds || state.stalled >= most_stalled);
    const bool given_up = state.epochs >= params_.max_epochs || stalled;
    if (start_near_alpha_max(state, sums_of(t)))
      going.push_back(t);
    else if (state.gap <= tolerance_of(state) || given_up)
      (intermediate(state) ? going : finished).push_back(t);
  }
  if (finished.empty() && going.empty()) return false;
  if (!finished.empty()) return_results(finished);
  std::fill(moved_.begin(), moved_.end(), std::uint8_t{0});
  for (const auto t : finished) {
    auto& state = states_[static_cast<std::size_t>(t)];
    context_.progress().advance(state.progress.finish());
    const auto alpha = static_cast<std::size_t>(segment_of(state).alphas[state.at]);
    const bool ends = watch_ != nullptr && watch_->ends(null_of(state), alpha, state.rows.loss);
    if ((ends && segments_.size() == 1) || state.at + 1 == segment_of(state).alphas.size()) {
      state.finished = true;
    } else {
      ++state.at;
      going.push_back(t);
    }
  }
  for (const auto t : going) {
    auto& state = states_[static_cast<std::size_t>(t)];
    const double goal = target_alpha(state);
    state.alpha = goal > 0 ? std::max(goal, state.alpha / longest_alpha_step()) : goal;
    advance(state);
    std::fill_n(moved_.begin() + static_cast<std::ptrdiff_t>(t) * parts(), parts(), std::uint8_t{1});
  }
  return !going.empty();
}

/// The features that have a weight in a column, ascending, and their weights.
template <class T>
void NetRun<T>::take_weights(std::int32_t column, NetModel& model) {
  const Block<T> w = kept_columns(*linear_, w_, std::span(&column, 1)).to(Device::cpu());
  for (std::int64_t j = 0; j < features_; ++j) {
    if (w(j, 0) == 0) continue;
    model.features.push_back(static_cast<std::int32_t>(j));
    model.weights.push_back(w(j, 0));
  }
}

template <class T>
void NetRun<T>::return_results(std::span<const std::int32_t> finished) {
  std::vector<NetModel> models;
  std::vector<std::int32_t> held_models, held_at;
  for (const auto t : finished) {
    const auto& state = states_[static_cast<std::size_t>(t)];
    const auto& segment = segment_of(state);
    for (std::int32_t c = 0; c < classes(); ++c) {
      const std::int32_t column = t * classes() + c;
      NetModel model;
      model.path = segment.path;
      model.alpha = segment.alphas[state.at];
      model.column = c;
      model.intercept = state.intercepts[static_cast<std::size_t>(c)];
      model.fit = {state.objective,
                   state.gap,
                   tolerance_of(state),
                   static_cast<std::int32_t>(sums_[static_cast<std::size_t>(column * parts() / classes())].nonzeros),
                   state.epochs,
                   std::max(state.parallel, 1),
                   state.gap <= tolerance_of(state)};
      if (keep_weights_) take_weights(column, model);
      models.push_back(std::move(model));
    }
    if (segment.hold < 0) continue;
    held_models.push_back(t);
    held_at.push_back(segment.hold + static_cast<std::int32_t>(state.at));
    held_[static_cast<std::size_t>(held_at.back())] = state;
  }
  const Block<T> z = kept_columns(*linear_, z_, columns_of(finished));
  use_(models, z.view());
  if (held_models.empty()) return;
  const auto hold = [&](const Block<T>& from, Block<T>& to) {
    const Block<T> some = kept_columns(*linear_, from, columns_of(held_models));
    linear_->place_tasks(some.view(), columns_of(held_at), to.view());
    linear_->synchronize();
  };
  hold(w_, held_w_);
  hold(z_, held_z_);
  hold(u_, held_u_);
}

/// Everything that is counted anew for each alpha.
template <class T>
void NetRun<T>::advance(ModelState& state) {
  state.epochs = 0;
  state.rounds = 0;
  state.stalled = 0;
  state.wanted = 0;
  state.progress = {};
  state.inner_tolerance = tolerance_of(state) / 2;
}

// The rest of the class is instantiated in paths.cpp.
#define SHEAF_INSTANTIATE(T)                                                    \
  template double NetRun<T>::target_alpha(const ModelState&) const;             \
  template GapGoal NetRun<T>::goal_of(std::int32_t, std::size_t, double) const; \
  template double NetRun<T>::tolerance_of(const ModelState&) const;             \
  template void NetRun<T>::advance(ModelState&);                                \
  template bool NetRun<T>::advance_finished();
SHEAF_INSTANTIATE(float)
SHEAF_INSTANTIATE(double)
#undef SHEAF_INSTANTIATE

}  // namespace sheaf::linear
