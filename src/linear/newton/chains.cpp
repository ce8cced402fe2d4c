// Warm starts along the cost: a column of the block trains tasks that differ in the cost alone, one after another. Each
// begins at the optimum w of the one before, with z = Xw, so that the change costs no product: the losses are evaluated
// anew, and the quantities at w = 0, where f and its gradient are proportional to the cost, is scaled.
//
// If the loss has a second derivative everywhere, the optimum is a smooth function of the logarithm of the cost, and a
// task begins on the line through the two optima before it; z follows, being linear in w.
#include "linear/newton/chains.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "linear/newton/newton.hpp"

namespace sheaf::linear {
namespace {

constexpr double same_ratio = 1e-9;  // of the costs of two classes
constexpr double farthest = 1;       // beyond the last optimum, in distances of the last two

auto without_cost(const Task& task) { return std::tuple(task.rows, task.target, task.columns, task.loss_parameter); }
double cost_of(const Task& task) { return task.cost_positive + task.cost_negative; }

bool follows_in_chain(const Task& before, const Task& task) {
  const double one = before.cost_positive * task.cost_negative;
  const double other = before.cost_negative * task.cost_positive;
  return without_cost(before) == without_cost(task) && cost_of(before) > 0 &&
         std::abs(one - other) <= same_ratio * std::max(one, other);
}

}  // namespace

bool is_strictly_convex(Loss loss) {
  bool result = false;
  with_loss(loss, [&](auto functor) { result = functor.strictly_convex; });
  return result;
}

double cost_growth(const Task& from, const Task& to) { return cost_of(to) / cost_of(from); }

std::vector<Chain> single_chains(const Sheaf& sheaf) {
  std::vector<Chain> chains;
  for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) chains.push_back({static_cast<std::int32_t>(t)});
  return chains;
}

std::vector<Chain> chains_along_costs(const Sheaf& sheaf) {
  const auto task = [&](std::int32_t t) -> const Task& { return sheaf.tasks[static_cast<std::size_t>(t)]; };
  Chain order(sheaf.tasks.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return std::pair(without_cost(task(a)), cost_of(task(a))) < std::pair(without_cost(task(b)), cost_of(task(b)));
  });
  std::vector<Chain> chains;
  for (const std::int32_t t : order) {
    if (chains.empty() || !follows_in_chain(task(chains.back().back()), task(t))) chains.emplace_back();
    chains.back().push_back(t);
  }
  return chains;
}

/// Puts the weights of finished tasks aside.
template <class T>
void NewtonBlock<T>::keep_results(std::span<const std::int32_t> finished, Fits<T>& fits) {
  const Block<T> weights = kept_columns(ops_, w_, finished);
  std::vector<std::int32_t> places;
  for (const std::int32_t t : finished) {
    TaskState& state = states_[static_cast<std::size_t>(t)];
    fits.tasks[static_cast<std::size_t>(state.task)] = state.fit;
    context_.progress().advance(state.progress.finish());
    places.push_back(places_[static_cast<std::size_t>(state.task)]);
  }
  ops_.place_tasks(weights.view(), places, results_.view());
}

/// Columns whose task is finished take the next of their chain, in phase `gradient`.
template <class T>
void NewtonBlock<T>::continue_chains(Fits<T>& fits) {
  std::vector<std::uint8_t> which;
  for (const TaskState& state : states_)
    which.push_back(state.phase == Phase::finished && !state.later.empty() ? 1 : 0);
  if (!any(which)) return;
  keep_results(positions(which), fits);
  std::vector<double> ahead(states_.size(), 0.0);
  for (std::size_t t = 0; t < states_.size(); ++t) {
    if (which[t] == 0) continue;
    const double before = states_[t].growth;
    begin_next_task(states_[t]);
    if (before > 1) ahead[t] = std::min(farthest, std::log(states_[t].growth) / std::log(before));
  }
  choose_tasks();
  if (is_strictly_convex(params_.loss)) extrapolate(which, ahead);
  evaluate(which);
  ops_.combine(as_factors(which), w_.view(), inverted(as_factors(which)), d_.view());
}

template <class T>
void NewtonBlock<T>::begin_next_task(TaskState& state) const {
  TaskState next;
  next.task = state.later.front();
  next.later = state.later.subspan(1);
  next.share = shares_[static_cast<std::size_t>(next.task)];
  next.growth = cost_growth(sheaf_.tasks[static_cast<std::size_t>(state.task)],
                            sheaf_.tasks[static_cast<std::size_t>(next.task)]);
  next.wRw = state.wRw;
  next.f0 = next.growth * state.f0;
  next.g0 = next.growth * state.g0;
  state = next;
}

/// w += ahead (w - w_before), z likewise; their old values become the ones before.
template <class T>
void NewtonBlock<T>::extrapolate(const std::vector<std::uint8_t>& which, const std::vector<double>& ahead) {
  if (w_before_.tasks() == 0) {
    w_before_ = Block<T>(ops_.weights(), count(), ops_.device());
    z_before_ = Block<T>(ops_.examples(), count(), ops_.device());
  }
  const std::vector<double> ones(states_.size(), 1.0);
  const std::vector<double> zeros(states_.size(), 0.0);
  std::vector<double> from_before;
  std::vector<double> from_now;
  for (const double factor : ahead) {
    from_before.push_back(-factor);
    from_now.push_back(1 + factor);
  }
  for (const auto& [now, before] : {std::pair(&w_, &w_before_), std::pair(&z_, &z_before_)}) {
    Block<T> old(now->rows(), count(), ops_.device());
    ops_.combine(ones, now->view(), zeros, old.view());
    ops_.combine(from_before, before->view(), from_now, now->view());
    ops_.combine(as_factors(which), old.view(), inverted(as_factors(which)), before->view());
    ops_.synchronize();  // before `old` goes
  }
  std::vector<double> wRw(states_.size());
  const std::vector<Dot<T>> products{{penalised(w_), penalised(w_)}};
  ops_.dots(products, wRw);
  for (std::size_t t = 0; t < states_.size(); ++t)
    if (which[t] != 0) states_[t].wRw = wRw[t];
}

// The rest of the class is instantiated in newton.cpp.
template void NewtonBlock<float>::keep_results(std::span<const std::int32_t>, Fits<float>&);
template void NewtonBlock<double>::keep_results(std::span<const std::int32_t>, Fits<double>&);
template void NewtonBlock<float>::continue_chains(Fits<float>&);
template void NewtonBlock<double>::continue_chains(Fits<double>&);

}  // namespace sheaf::linear
