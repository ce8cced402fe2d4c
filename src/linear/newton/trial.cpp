// Measures, shortens, accepts or rejects a Newton step that conjugate gradients have found. Constants as in LIBLINEAR;
// see newton.cpp for the method.
#include <algorithm>
#include <cmath>
#include <limits>

#include "linear/newton/newton.hpp"

namespace sheaf::linear {
namespace {

constexpr double armijo = 0.01;
constexpr int most_halvings = 20;
constexpr double eta0 = 1e-4, eta1 = 0.25, eta2 = 0.75;
constexpr double sigma1 = 0.25, sigma2 = 0.5, sigma3 = 4;

/// Differences of the objective below this are rounding.
template <class T>
double rounding(double objective) {
  return 10 * static_cast<double>(std::numeric_limits<T>::epsilon()) * std::abs(objective);
}

}  // namespace

/// The steps of tasks whose conjugate gradients are done: measured, then taken or refused. The measure brings slopes
/// and curvatures along, since most steps are taken.
template <class T>
void NewtonBlock<T>::try_steps(const std::vector<std::uint8_t>& done) {
  const auto tasks = states_.size();
  std::vector<double> scalars(4 * tasks);
  const std::vector<Dot<T>> products{
      {g_.view(), s_.view()}, {s_.view(), r_.view()}, {penalised(w_), penalised(s_)}, {penalised(s_), penalised(s_)}};
  ops_.dots(products, scalars);
  const std::vector<double> gs(scalars.begin(), scalars.begin() + static_cast<std::ptrdiff_t>(tasks));
  std::vector<double> trial(tasks);
  if (!follows()) apply_steps(done);
  ops_.losses(params_.loss, z_.view(), zs_.view(), done, trial, u_.view(), curvatures_.view());
  for (std::size_t t = 0; t < tasks; ++t)
    trial[t] += (states_[t].wRw + 2 * scalars[2 * tasks + t] + scalars[3 * tasks + t]) / 2;
  if (params_.rule == StepRule::line_search) search_lines(done, trial, gs);
  std::vector<std::uint8_t> accepted(tasks, 0);
  std::vector<std::uint8_t> refused(tasks, 0);
  for (std::size_t t = 0; t < tasks; ++t) {
    if (done[t] == 0) continue;
    accept_step(states_[t], trial[t], gs[t], -(gs[t] - scalars[tasks + t]) / 2);
    accepted[t] = states_[t].phase == Phase::gradient ? 1 : 0;
    refused[t] = states_[t].phase == Phase::conjugate ? 1 : 0;
  }
  if (any(accepted)) move_accepted(accepted, trial);
  if (any(refused)) {
    evaluate(refused);
    start_conjugate(refused, false);
  }
}

/// zs = X s for the tasks that are done, side by side in a block of their own unless all are.
template <class T>
void NewtonBlock<T>::apply_steps(const std::vector<std::uint8_t>& done) {
  const auto columns = positions(done);
  if (columns.size() == states_.size()) return ops_.multiply(s_.view(), zs_.view());
  const auto size = static_cast<std::int32_t>(columns.size());
  Block<T> s(ops_.weights(), size, ops_.device());
  Block<T> zs(ops_.examples(), size, ops_.device());
  ops_.keep_tasks(s_.view(), columns, s.view());
  multiply_some(columns, [&] { ops_.multiply(s.view(), zs.view()); });
  ops_.place_tasks(zs.view(), columns, zs_.view());
}

/// Halves s and zs of those tasks whose objective did not fall enough, until it does.
template <class T>
void NewtonBlock<T>::search_lines(const std::vector<std::uint8_t>& done, std::vector<double>& trial,
                                  const std::vector<double>& gs) {
  const auto tasks = states_.size();
  std::vector<double> length(tasks, 1.0);
  for (int halving = 0; halving < most_halvings; ++halving) {
    context_.check_stop();
    std::vector<std::uint8_t> shorter(tasks, 0);
    std::vector<double> factor(tasks, 1.0);
    for (std::size_t t = 0; t < tasks; ++t) {
      const double rise = trial[t] - states_[t].f;
      const double noise = rounding<T>(states_[t].f);
      const bool blind = std::abs(rise) <= noise && -gs[t] <= 2 * noise;
      if (done[t] == 0 || blind || rise <= armijo * length[t] * gs[t]) continue;
      shorter[t] = 1;
      factor[t] = 0.5;
      length[t] /= 2;
    }
    if (!any(shorter)) return;
    const std::vector<double> zeros(tasks, 0.0);
    ops_.combine(zeros, g_.view(), factor, s_.view());
    ops_.combine(zeros, z_.view(), factor, zs_.view());
    std::vector<double> values(3 * tasks);
    const std::vector<Dot<T>> products{{penalised(w_), penalised(s_)}, {penalised(s_), penalised(s_)}};
    ops_.losses(params_.loss, z_.view(), zs_.view(), shorter, std::span(values).first(tasks), u_.view(),
                curvatures_.view());
    ops_.dots(products, std::span(values).last(2 * tasks));
    for (std::size_t t = 0; t < tasks; ++t)
      if (shorter[t] != 0) trial[t] = values[t] + (states_[t].wRw + 2 * values[tasks + t] + values[2 * tasks + t]) / 2;
  }
}

/// Sets the phase that follows a trial: gradient (the step is taken), conjugate (refused, try again nearer), finished.
template <class T>
void NewtonBlock<T>::accept_step(TaskState& state, double trial, double gs, double predicted) {
  const double actual = state.f - trial;
  const double noise = rounding<T>(state.f);
  ++state.fit.iterations;
  // Near the optimum the objective's last digits are rounding; the gradient is still of use, and take_gradients() stops
  // once it no longer falls.
  state.blind = std::abs(actual) <= noise && predicted <= noise;
  if (state.blind || params_.rule == StepRule::line_search) {
    state.phase = predicted > 0 && (state.blind || actual > 0) ? Phase::gradient : Phase::finished;
    return;
  }
  const double norm = std::sqrt(std::max(0.0, state.sMs));
  if (state.fit.iterations == 1) state.delta = std::min(state.delta, norm);
  const double excess = -actual - gs;
  const double alpha = excess <= 0 ? sigma3 : std::max(sigma1, -gs / (2 * excess));
  double& delta = state.delta;
  if (actual < eta0 * predicted)
    delta = std::min(alpha * norm, sigma2 * delta);
  else if (actual < eta1 * predicted)
    delta = std::max(sigma1 * delta, std::min(alpha * norm, sigma2 * delta));
  else if (actual < eta2 * predicted)
    delta = std::max(sigma1 * delta, std::min(alpha * norm, sigma3 * delta));
  else
    delta = state.boundary ? sigma3 * delta : std::max(delta, std::min(alpha * norm, sigma3 * delta));
  const bool over = predicted <= 0 || state.fit.iterations >= params_.max_iterations;
  if (actual > eta0 * predicted && predicted > 0)
    state.phase = Phase::gradient;
  else
    state.phase = over ? Phase::finished : Phase::conjugate;
}

/// w += s, z += zs, d = w. Slopes and curvatures are those of the trial already.
template <class T>
void NewtonBlock<T>::move_accepted(const std::vector<std::uint8_t>& accepted, const std::vector<double>& trial) {
  const std::vector<double> ones(states_.size(), 1.0);
  std::vector<double> wRw(states_.size());
  ops_.take_steps(accepted, bias_ridge_, s_.view(), w_.view(), d_.view(), wRw);
  ops_.combine(as_factors(accepted), zs_.view(), ones, z_.view());
  for (std::size_t t = 0; t < states_.size(); ++t) {
    if (accepted[t] == 0) continue;
    states_[t].wRw = wRw[t];
    states_[t].f = trial[t];
  }
}

// The rest of the class is instantiated in newton.cpp.
template void NewtonBlock<float>::try_steps(const std::vector<std::uint8_t>&);
template void NewtonBlock<double>::try_steps(const std::vector<std::uint8_t>&);

}  // namespace sheaf::linear
