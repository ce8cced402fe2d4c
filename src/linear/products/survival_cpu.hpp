// Cox models on CPU cores: a thread takes one task after another.
#pragma once

#include <span>

#include "core/parallel.hpp"
#include "linear/products/losses_cpu.hpp"
#include "linear/products/softmax_cpu.hpp"

namespace sheaf::linear::cpu {

/// The risk sets of the chosen task t.
template <class T>
RiskSets<T> risk_sets(const RiskArrays<T>& risk, const TaskLosses<T>& terms, std::size_t task) {
  auto sets = risk.sets();
  sets.shares += terms.weight_column(task);
  if (sets.fractions != nullptr) sets.fractions += terms.weight_column(task);
  return sets;
}

/// use(task, likelihood) for each wanted task, with memory for it.
template <class T, class Use>
void over_likelihoods(const RiskArrays<T>& risk, const TaskLosses<T>& terms, std::int32_t tasks, Wanted wanted,
                      int threads, const Use& use) {
  using Likelihood = PartialLikelihood<OneThread, T>;
  parallel_for(threads, tasks, [&](std::int64_t t) {
    const auto task = static_cast<std::size_t>(t);
    if (!is_wanted(wanted, static_cast<std::int32_t>(t))) return;
    const OneThread team;
    const auto sets = risk_sets(risk, terms, task);
    Array<double> memory(sets.rows * Likelihood::vectors);
    Likelihood likelihood(team, sets, memory.data());
    use(t, sets, likelihood);
  });
}

template <class T>
void partial_likelihood(const RiskArrays<T>& risk, const TaskLosses<T>& terms, BlockView<const T> z,
                        BlockView<const T> step, Wanted wanted, std::span<double> values, BlockView<T> slopes,
                        BlockView<T> exponentials, int threads) {
  std::fill(values.begin(), values.end(), 0.0);
  over_likelihoods(risk, terms, z.tasks, wanted, threads, [&](std::int64_t t, const auto& sets, auto& likelihood) {
    const auto task = static_cast<std::size_t>(t);
    const double cost = terms.cost_of(task);
    const auto decision = [&](std::int64_t i) {
      const std::int64_t at = i * z.stride + t;
      return static_cast<double>(z.data[at]) + (step.data != nullptr ? static_cast<double>(step.data[at]) : 0.0);
    };
    const auto weight = [&](std::int64_t i) { return terms.weight(i, task); };
    values[task] = cost * likelihood.load(decision, weight);
    for (std::int64_t k = 0; k < sets.rows; ++k) {
      const std::int64_t i = sets.order[k];
      const double events = sets.share(k) > 0 ? static_cast<double>(weight(i)) : 0.0;
      if (slopes.data != nullptr)
        slopes.data[i * slopes.stride + t] = static_cast<T>(cost * (likelihood.expected(k) - events));
      if (exponentials.data != nullptr)
        exponentials.data[i * exponentials.stride + t] = static_cast<T>(likelihood.exponential(k));
    }
  });
}

template <class T>
void partial_curvature(const RiskArrays<T>& risk, const TaskLosses<T>& terms, BlockView<const T> exponentials,
                       BlockView<T> q, int threads) {
  over_likelihoods(risk, terms, q.tasks, {}, threads, [&](std::int64_t t, const auto& sets, auto& likelihood) {
    const double cost = terms.cost_of(static_cast<std::size_t>(t));
    const auto exponential = [&](std::int64_t k) {
      return static_cast<double>(exponentials.data[sets.order[k] * exponentials.stride + t]);
    };
    likelihood.load_exponentials(exponential);
    likelihood.multiply([&](std::int64_t i) { return q.data[i * q.stride + t]; },
                        [&](std::int64_t i, double value) { q.data[i * q.stride + t] = static_cast<T>(cost * value); });
  });
}

}  // namespace sheaf::linear::cpu
