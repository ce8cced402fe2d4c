// Gradient descent in the coordinates of coordinates.hpp, w -= rate P g with P = B B', and Nesterov's (1983) method:
//
//     x' = w - rate P g(w),     w' = x' + (t - 1) / t' (x' - x),     t' = (1 + sqrt(1 + 4 t^2)) / 2,
//
// which drops its momentum, t = 1, if the gradient does not lead along it (O'Donoghue and Candes 2015).
//
// Differences: w' - w is a direction of descent.cpp, whose line search tries it whole and makes the objective fall
// whatever the rate. The rate follows the lengths that it finds, so that no Lipschitz constant is needed.
#include "linear/glm/gradient.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace sheaf::linear {

template <class T>
Gradient<T>::Gradient(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round,
                      bool accelerated)
    : Descent<T>(context, objective, round),
      coordinates_(context, dataset, objective, this->sheaf_tasks()),
      accelerated_(accelerated),
      paces_(this->tasks()) {
  for (Block<T>* block : {&gradient_, &step_, &reached_, &previous_}) *block = objective.weights_block();
}

template <class T>
void Gradient<T>::adapt_paces() {
  for (std::size_t t = 0; t < this->tasks(); ++t) {
    const auto& state = this->states()[t];
    if (state.fit.iterations == 0 || state.length == 1) continue;
    Pace& pace = paces_[t];
    // With momentum a step is long for two reasons, of which the rate is one.
    pace.rate *= accelerated_ ? std::clamp(state.length, 0.5, 1.5) : std::max(state.length, 1e-3);
    if (state.length < 1) pace.age = 1;
  }
}

/// d becomes the step and the momentum of the tasks that the gradient allows it.
template <class T>
void Gradient<T>::add_momentum() {
  auto& objective = this->objective();
  const std::vector<double> ones(this->tasks(), 1.0);
  const std::vector<double> minus(this->tasks(), -1.0);
  const bool first = this->states().front().fit.iterations == 0;
  objective.combine_all(
      std::vector<double>(2 * this->tasks(), 1.0),
      std::array<BlockView<const T>, 2>{std::as_const(this->w_).view(), std::as_const(this->d_).view()},
      reached_.view());
  if (!first) {
    objective.combine(ones, std::as_const(reached_).view(), minus, previous_.view());  // x' - x
    const auto along =
        objective.dots(std::vector<Dot<T>>{{std::as_const(this->g_).view(), std::as_const(previous_).view()}});
    std::vector<double> shares;
    for (std::size_t t = 0; t < this->tasks(); ++t) {
      double& age = paces_[t].age;
      if (!(along[t] < 0)) age = 1;
      const double next = (1 + std::sqrt(1 + 4 * age * age)) / 2;
      shares.push_back((age - 1) / next);
      age = next;
    }
    objective.combine(shares, std::as_const(previous_).view(), ones, this->d_.view());
  }
  std::swap(reached_, previous_);
}

template <class T>
std::vector<double> Gradient<T>::find_directions() {
  auto& objective = this->objective();
  coordinates_.from_gradient(this->g_, gradient_);
  auto measures =
      objective.dots(std::vector<Dot<T>>{{std::as_const(gradient_).view(), std::as_const(gradient_).view()}});
  for (double& measure : measures) measure = std::sqrt(measure);
  adapt_paces();
  coordinates_.to_weights(gradient_, step_);
  const std::vector<double> zeros(this->tasks(), 0.0);
  std::vector<double> rates;
  for (const Pace& pace : paces_) rates.push_back(-pace.rate);
  objective.combine(rates, std::as_const(step_).view(), zeros, this->d_.view());
  if (accelerated_) add_momentum();
  return measures;
}

template <class T>
void Gradient<T>::keep(std::span<const std::int32_t> places) {
  for (Block<T>* block : {&gradient_, &step_, &reached_, &previous_}) this->keep_block(*block, places);
  coordinates_.keep(this->objective().columns_of(places));
  std::vector<Pace> kept;
  for (const auto place : places) kept.push_back(paces_[static_cast<std::size_t>(place)]);
  paces_ = std::move(kept);
}

template class Gradient<float>;
template class Gradient<double>;

}  // namespace sheaf::linear
