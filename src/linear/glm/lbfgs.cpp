// L-BFGS (Liu, Nocedal 1989) for a block of generalised linear models, in the coordinates of coordinates.hpp.
//
// Differences: all tasks take their steps together, so that one product with X and one with X' serve them all; the
// two loops run on inner products alone (Chen, Wang, Zhou 2014), of which a turn needs one vector on the host; line
// searches cost no product (descent.cpp).
#include "linear/glm/lbfgs.hpp"

#include <cmath>
#include <limits>

namespace sheaf::linear {

template <class T>
Lbfgs<T>::Lbfgs(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round)
    : Descent<T>(context, objective, round),
      context_(context),
      coordinates_(context, dataset, objective, this->sheaf_tasks(), true),
      histories_(static_cast<std::size_t>(round.count)) {
  for (Block<T>* block : {&gradient_, &before_, &direction_}) *block = objective.weights_block();
}

template <class T>
std::vector<std::size_t> Lbfgs<T>::newest_first() const {
  std::vector<std::size_t> slots;
  for (std::size_t back = 1; back <= std::min(taken_, memory); ++back) slots.push_back((taken_ - back) % memory);
  return slots;
}

/// The step that was just taken, direction_ times its length, and the change of the gradient.
template <class T>
void Lbfgs<T>::remember() {
  const std::size_t slot = taken_++ % memory;
  if (steps_.size() <= slot) {
    steps_.push_back(this->objective().weights_block());
    changes_.push_back(this->objective().weights_block());
  }
  const auto& objective = this->objective();
  std::vector<double> lengths;
  for (const auto& state : this->states()) lengths.push_back(state.length);
  std::vector<double> signs(this->tasks(), 1.0);
  signs.resize(2 * this->tasks(), -1.0);
  const BlockView<const T> direction = direction_.view();
  objective.combine_all(lengths, {&direction, 1}, steps_[slot].view());
  objective.combine_all(signs, std::array<BlockView<const T>, 2>{gradient_.view(), before_.view()},
                        changes_[slot].view());
}

/// Inner products with the gradient, and those of the newest step and change.
template <class T>
void Lbfgs<T>::measure() {
  const auto slots = newest_first();
  std::vector<Dot<T>> products{{gradient_.view(), gradient_.view()}};
  for (const std::size_t i : slots) {
    products.push_back({steps_[i].view(), gradient_.view()});
    products.push_back({changes_[i].view(), gradient_.view()});
    products.push_back({steps_[slots[0]].view(), changes_[i].view()});
    products.push_back({steps_[i].view(), changes_[slots[0]].view()});
    products.push_back({changes_[slots[0]].view(), changes_[i].view()});
  }
  const auto sums = this->objective().dots(products);
  const std::size_t tasks = this->tasks();
  for (std::size_t t = 0; t < tasks; ++t) {
    History& history = histories_[t];
    history.gg = sums[t];
    for (std::size_t k = 0; k < slots.size(); ++k) {
      const std::size_t i = slots[k];
      const auto at = [&](std::size_t which) { return sums[(1 + 5 * k + which) * tasks + t]; };
      history.sg[i] = at(0);
      history.yg[i] = at(1);
      history.sy[slots[0]][i] = at(2);
      history.sy[i][slots[0]] = at(3);
      history.yy[slots[0]][i] = history.yy[i][slots[0]] = at(4);
    }
    if (slots.empty()) continue;
    const std::size_t newest = slots[0];
    history.usable[newest] = history.sy[newest][newest] >
                             static_cast<double>(std::numeric_limits<T>::epsilon()) * history.yy[newest][newest];
  }
}

/// Minus the inverse Hessian times the gradient.
template <class T>
typename Lbfgs<T>::Combination Lbfgs<T>::combination(const History& history) const {
  const auto slots = newest_first();
  Combination q;
  q.g = 1;
  std::array<double, memory> a{};
  for (const std::size_t i : slots) {
    if (!history.usable[i]) continue;
    double sq = q.g * history.sg[i];
    for (const std::size_t j : slots) sq += q.y[j] * history.sy[i][j];
    a[i] = sq / history.sy[i][i];
    q.y[i] -= a[i];
  }
  for (const std::size_t i : slots) {
    if (!history.usable[i]) continue;
    const double gamma = history.sy[i][i] / history.yy[i][i];  // of the newest that is usable
    q.g *= gamma;
    for (double& y : q.y) y *= gamma;
    break;
  }
  for (auto slot = slots.rbegin(); slot != slots.rend(); ++slot) {
    if (!history.usable[*slot]) continue;
    double yq = q.g * history.yg[*slot];
    for (const std::size_t j : slots) yq += q.s[j] * history.sy[j][*slot] + q.y[j] * history.yy[*slot][j];
    q.s[*slot] += a[*slot] - yq / history.sy[*slot][*slot];
  }
  q.g = -q.g;
  for (std::size_t i = 0; i < memory; ++i) {
    q.s[i] = -q.s[i];
    q.y[i] = -q.y[i];
  }
  return q;
}

/// The stored steps are discarded: they belong to the old coordinates.
template <class T>
void Lbfgs<T>::renew() {
  coordinates_.renew(context_, this->second_);
  taken_ = 0;
  histories_.assign(this->tasks(), {});
  coordinates_.from_gradient(at_start_, before_);
  const std::array<Dot<T>, 1> products{{{before_.view(), before_.view()}}};
  this->set_start(0, std::sqrt(this->objective().dots(products)[0]));
}

template <class T>
std::vector<double> Lbfgs<T>::find_directions() {
  const std::size_t tasks = this->tasks();
  const int steps = this->states().front().fit.iterations;
  const bool renews = coordinates_.renewable() && steps == coordinates_.renew_after();
  if (renews) renew();
  if (steps == 0 && coordinates_.renewable() && at_start_.rows() == 0) {
    at_start_ = this->objective().weights_block();
    this->objective().combine(std::vector<double>(tasks, 1.0), this->g_.view(), std::vector<double>(tasks, 0.0),
                              at_start_.view());
  }
  std::swap(gradient_, before_);
  coordinates_.from_gradient(this->g_, gradient_);
  if (steps > 0 && !renews) remember();
  measure();
  std::vector<Combination> combinations;
  std::vector<double> measures;
  for (std::size_t t = 0; t < tasks; ++t) {
    combinations.push_back(combination(histories_[t]));
    measures.push_back(std::sqrt(std::max(0.0, histories_[t].gg)));
  }
  static_assert(2 * memory + 1 <= LinearOps<T>::most_combined);
  std::vector<double> factors;
  std::vector<BlockView<const T>> blocks;
  const auto add = [&](const Block<T>& block, auto&& factor) {
    blocks.push_back(block.view());
    for (const Combination& one : combinations) factors.push_back(factor(one));
  };
  add(gradient_, [](const Combination& q) { return q.g; });
  for (const std::size_t i : newest_first()) {
    add(steps_[i], [i](const Combination& q) { return q.s[i]; });
    add(changes_[i], [i](const Combination& q) { return q.y[i]; });
  }
  this->objective().combine_all(factors, blocks, direction_.view());
  coordinates_.to_weights(direction_, this->d_);
  return measures;
}

template <class T>
void Lbfgs<T>::keep(std::span<const std::int32_t> places) {
  for (Block<T>* block : {&gradient_, &before_, &direction_}) this->keep_block(*block, places);
  for (Block<T>& block : steps_) this->keep_block(block, places);
  for (Block<T>& block : changes_) this->keep_block(block, places);
  coordinates_.keep(this->objective().columns_of(places));
  std::vector<History> kept;
  for (const std::int32_t place : places) kept.push_back(histories_[static_cast<std::size_t>(place)]);
  histories_ = std::move(kept);
}

template class Lbfgs<float>;
template class Lbfgs<double>;

}  // namespace sheaf::linear
