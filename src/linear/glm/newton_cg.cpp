// Newton's method for a block of generalised linear models: H d = -g by conjugate gradients in the coordinates of
// coordinates.hpp, where H is near the identity at the start, and the line search of descent.cpp. Residuals fall to
// min(0.5, sqrt(share)) of the gradient, share being that of the gradient at the start (Dembo, Eisenstat, Steihaug
// 1982), so that steps become exact as they become few. Tasks of the block go through the conjugate gradients together;
// one that is done waits with a step of 0.
#include "linear/glm/newton_cg.hpp"

#include <algorithm>
#include <cmath>

namespace sheaf::linear {
namespace {

constexpr int most_products = 500;  // of the Hessian, for one step

}  // namespace

template <class T>
NewtonCg<T>::NewtonCg(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round)
    : Descent<T>(context, objective, round),
      context_(context),
      coordinates_(context, dataset, objective, this->sheaf_tasks()),
      q_(objective.examples_block()) {
  for (Block<T>* block : {&gradient_, &x_, &r_, &p_, &hp_, &weights_, &scratch_}) *block = objective.weights_block();
}

/// hp = B' (X' D X + alpha) B p.
template <class T>
void NewtonCg<T>::apply_hessian() {
  const auto& objective = this->objective();
  coordinates_.to_weights(p_, weights_);
  this->ops().multiply(weights_.view(), q_.view());
  objective.curvature(this->second_, q_);
  objective.gradient(q_, weights_, scratch_);
  coordinates_.from_gradient(scratch_, hp_);
}

template <class T>
std::vector<double> NewtonCg<T>::find_directions() {
  const auto& objective = this->objective();
  const std::size_t tasks = this->tasks();
  const std::vector<double> zeros(tasks, 0.0);
  const std::vector<double> ones(tasks, 1.0);
  const std::vector<double> minus(tasks, -1.0);
  coordinates_.from_gradient(this->g_, gradient_);
  objective.combine(zeros, gradient_.view(), zeros, x_.view());
  objective.combine(minus, gradient_.view(), zeros, r_.view());
  objective.combine(minus, gradient_.view(), zeros, p_.view());
  auto rr = objective.dots(std::vector<Dot<T>>{{r_.view(), r_.view()}});
  std::vector<double> measures;
  std::vector<double> goals;  // of rr
  for (std::size_t t = 0; t < tasks; ++t) {
    measures.push_back(std::sqrt(rr[t]));
    const double start = this->states()[t].start > 0 ? this->states()[t].start : measures[t];
    const double share = start > 0 ? measures[t] / start : 0.0;
    const bool ends = share <= this->relative_tolerance() && this->gained_little(this->states()[t]);
    const double ratio = ends ? 1.0 : std::min(0.5, std::sqrt(share));
    goals.push_back(ratio * ratio * rr[t]);
  }
  for (int product = 0; product < most_products; ++product) {
    std::vector<std::uint8_t> going(tasks, 0);
    for (std::size_t t = 0; t < tasks; ++t) going[t] = rr[t] > goals[t] ? 1 : 0;
    if (std::none_of(going.begin(), going.end(), [](auto flag) { return flag != 0; })) break;
    context_.check_stop();
    apply_hessian();
    const auto php = objective.dots(std::vector<Dot<T>>{{p_.view(), hp_.view()}});
    std::vector<double> length(tasks, 0.0);
    std::vector<double> back(tasks, 0.0);
    for (std::size_t t = 0; t < tasks; ++t) {
      if (going[t] == 0) continue;
      this->count_products(t, 1);
      if (!(php[t] > 0)) {  // rounding: the direction so far will do
        goals[t] = rr[t];
        continue;
      }
      length[t] = rr[t] / php[t];
      back[t] = -length[t];
    }
    objective.combine(length, p_.view(), ones, x_.view());
    objective.combine(back, hp_.view(), ones, r_.view());
    const auto next = objective.dots(std::vector<Dot<T>>{{r_.view(), r_.view()}});
    std::vector<double> turn(tasks, 1.0);
    std::vector<double> fresh(tasks, 0.0);
    for (std::size_t t = 0; t < tasks; ++t) {
      if (length[t] == 0) continue;
      turn[t] = rr[t] > 0 ? next[t] / rr[t] : 0.0;
      fresh[t] = 1;
      rr[t] = next[t];
    }
    objective.combine(fresh, r_.view(), turn, p_.view());
  }
  coordinates_.to_weights(x_, this->d_);
  return measures;
}

template <class T>
void NewtonCg<T>::keep(std::span<const std::int32_t> places) {
  for (Block<T>* block : {&gradient_, &x_, &r_, &p_, &hp_, &weights_, &scratch_, &q_}) this->keep_block(*block, places);
  coordinates_.keep(this->objective().columns_of(places));
}

template class NewtonCg<float>;
template class NewtonCg<double>;

}  // namespace sheaf::linear
