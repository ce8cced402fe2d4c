// The preconditioner M of Newton's conjugate gradients: the diagonal of the Hessian, or the whole Hessian estimated
// from some rows; see newton.cpp for the method.
#include <algorithm>
#include <cmath>
#include <utility>

#include "linear/newton/newton.hpp"

namespace sheaf::linear {
namespace {

constexpr double preconditioner_share = 0.01;

}  // namespace

template <class T>
void NewtonBlock<T>::precondition(const std::vector<std::uint8_t>& which) {
  const auto whole = by_hessian(which);
  auto diagonal = which;
  for (std::size_t t = 0; t < diagonal.size(); ++t)
    if (whole[t] != 0) diagonal[t] = 0;
  if (any(diagonal)) precondition_by_diagonal(diagonal);
  if (any(whole)) precondition_by_hessian(positions(whole));
}

/// Only the tasks at a new point: their curvatures are gathered into a small block of their own, unless the diagonal
/// came with the gradient.
template <class T>
void NewtonBlock<T>::precondition_by_diagonal(const std::vector<std::uint8_t>& which) {
  const auto columns = positions(which);
  const auto size = static_cast<std::int32_t>(columns.size());
  if (diagonal_.rows() > 0) {
    ops_.invert_diagonal(static_cast<T>(preconditioner_share), bias_ridge_, diagonal_.view());
    ops_.combine(as_factors(which), diagonal_.view(), inverted(as_factors(which)), inverse_.view());
    return;
  }
  if (size == count()) {
    ops_.multiply_squared_transposed(curvatures_.view(), inverse_.view());
    ops_.invert_diagonal(static_cast<T>(preconditioner_share), bias_ridge_, inverse_.view());
    return;
  }
  Block<T> curvatures(ops_.examples(), size, ops_.device());
  Block<T> diagonal(ops_.weights(), size, ops_.device());
  ops_.keep_tasks(curvatures_.view(), columns, curvatures.view());
  multiply_some(columns, [&] { ops_.multiply_squared_transposed(curvatures.view(), diagonal.view()); });
  ops_.invert_diagonal(static_cast<T>(preconditioner_share), bias_ridge_, diagonal.view());
  ops_.place_tasks(diagonal.view(), columns, inverse_.view());
}

/// The same, by the whole Hessian of each task, estimated from some rows.
template <class T>
void NewtonBlock<T>::precondition_by_hessian(std::span<const std::int32_t> columns) {
  constexpr double ridge = 1;
  if (std::ssize(columns) == count()) return hessians_->set(context_, columns, curvatures_, ridge);
  Block<T> curvatures(ops_.examples(), static_cast<std::int32_t>(columns.size()), ops_.device());
  ops_.keep_tasks(curvatures_.view(), columns, curvatures.view());
  hessians_->set(context_, columns, curvatures, ridge);
}

/// The models of `which` that are preconditioned by their whole Hessians.
template <class T>
std::vector<std::uint8_t> NewtonBlock<T>::by_hessian(const std::vector<std::uint8_t>& which) const {
  std::vector<std::uint8_t> result(which.size(), 0);
  for (std::size_t t = 0; t < which.size(); ++t) result[t] = which[t] != 0 && states_[t].by_hessian ? 1 : 0;
  return result;
}

template <class T>
bool NewtonBlock<T>::have_room(std::span<const Chain> chains) const {
  constexpr std::int64_t few_weights = 256;
  const std::int64_t weights = ops_.weights();
  if (has_room_for_hessian(ops_.all_examples(), weights)) return true;
  if (weights > few_weights) return false;
  std::size_t longest = 1;
  for (const auto& chain : chains) longest = std::max(longest, chain.size());
  const auto per_chain = bytes_per_chain(ops_.all_examples(), weights, static_cast<std::int64_t>(longest));
  const auto factors = 2 * weights * weights * static_cast<std::int64_t>(sizeof(T));
  return ops_.data_bytes() + std::ssize(chains) * (per_chain + factors) <= context_.memory();
}

/// Tasks that have just taken more steps than models of well scaled features take in all, and than factors of their
/// Hessians cost. The rule `gradient` is LIBLINEAR's: its end depends on the preconditioner. Losses of which few rows
/// have curvature are left out: their Hessian here is a poor guess of the one a step away.
template <class T>
std::vector<std::uint8_t> NewtonBlock<T>::worth_hessians() const {
  constexpr std::int64_t usual_steps = 40;
  std::vector<std::uint8_t> result(states_.size(), 0);
  const std::int64_t weights = ops_.weights();
  if (ops_.transformed() || params_.stop == StopRule::gradient || !hessians_fit_ || !is_strictly_convex(params_.loss))
    return result;
  // A step takes four operations for each value of X, a factor weights^2 for each of its rows. Where rows are few,
  // those of the factor itself count too.
  const std::int64_t rows = few_hessian_rows<T>(ops_.all_examples(), weights) + 3 * weights;
  const std::int64_t cost = weights * rows / (4 * std::max<std::int64_t>(1, ops_.all_examples()));
  for (std::size_t t = 0; t < states_.size(); ++t) {
    const TaskState& state = states_[t];
    if (!state.by_hessian && state.phase == Phase::conjugate && state.fit.products >= std::max(usual_steps, cost))
      result[t] = 1;
  }
  return result;
}

/// From now on. The tasks begin their conjugate gradients again.
template <class T>
void NewtonBlock<T>::use_hessians(const std::vector<std::uint8_t>& which) {
  if (!hessians_) {
    hessians_.emplace(ops_, count());
    solved_ = Block<T>(ops_.weights(), count(), ops_.device());
  }
  for (std::size_t t = 0; t < which.size(); ++t) {
    if (which[t] == 0) continue;
    states_[t].by_hessian = true;
    states_[t].delta = -1;
  }
  start_conjugate(which, true);
}

/// M^-1 r into solved_ and r'M^-1 r into `rz`, of the tasks with Hessians.
template <class T>
void NewtonBlock<T>::solve_hessians(std::vector<double>& rz) {
  hessians_->solve(r_, solved_);
  std::vector<double> products(states_.size());
  const std::vector<Dot<T>> pairs{{r_.view(), std::as_const(solved_).view()}};
  ops_.dots(pairs, products);
  for (std::size_t t = 0; t < states_.size(); ++t)
    if (states_[t].by_hessian) rz[t] = products[t];
}

/// d = fresh M^-1 r + beta d.
template <class T>
void NewtonBlock<T>::redirect(std::vector<double> fresh, std::vector<double> beta) {
  if (hessians_) {
    std::vector<double> own_fresh(fresh.size(), 0.0), own_beta(beta.size(), 1.0);
    for (std::size_t t = 0; t < fresh.size(); ++t) {
      if (!states_[t].by_hessian) continue;
      own_fresh[t] = std::exchange(fresh[t], 0.0);
      own_beta[t] = std::exchange(beta[t], 1.0);
    }
    ops_.combine(own_fresh, solved_.view(), own_beta, d_.view());
  }
  ops_.redirect(fresh, inverse_.view(), r_.view(), beta, d_.view());
}

// The rest of the class is instantiated in newton.cpp.
template void NewtonBlock<float>::precondition(const std::vector<std::uint8_t>&);
template void NewtonBlock<double>::precondition(const std::vector<std::uint8_t>&);
template std::vector<std::uint8_t> NewtonBlock<float>::by_hessian(const std::vector<std::uint8_t>&) const;
template std::vector<std::uint8_t> NewtonBlock<double>::by_hessian(const std::vector<std::uint8_t>&) const;
template bool NewtonBlock<float>::have_room(std::span<const Chain>) const;
template bool NewtonBlock<double>::have_room(std::span<const Chain>) const;
template std::vector<std::uint8_t> NewtonBlock<float>::worth_hessians() const;
template std::vector<std::uint8_t> NewtonBlock<double>::worth_hessians() const;
template void NewtonBlock<float>::use_hessians(const std::vector<std::uint8_t>&);
template void NewtonBlock<double>::use_hessians(const std::vector<std::uint8_t>&);
template void NewtonBlock<float>::solve_hessians(std::vector<double>&);
template void NewtonBlock<double>::solve_hessians(std::vector<double>&);
template void NewtonBlock<float>::redirect(std::vector<double>, std::vector<double>);
template void NewtonBlock<double>::redirect(std::vector<double>, std::vector<double>);

}  // namespace sheaf::linear
