// Newton's method with the whole Hessian, for models of few weights; see newton_cholesky.cpp.
#pragma once

#include <vector>

#include "linear/glm/cholesky.hpp"
#include "linear/glm/descent.hpp"

namespace sheaf::linear {

/// The second derivatives of the mean loss of one task, without the penalty: (weights * columns) squared, the columns
/// of a weight side by side. `second`: curvatures or probabilities (see Objective) in the columns of the task at
/// `place`. The objective has other tasks chosen afterwards.
template <class T>
std::vector<double> hessian(const Context& context, Objective<T>& objective, std::int32_t task, const Block<T>& second,
                            std::int32_t place);

/// The order in which a Hessian's rows are taken: intercepts first, so that what depends on them is left out.
std::vector<std::size_t> intercepts_first(std::int64_t weights, std::int32_t columns, bool intercept);

/// The share of a diagonal element below which what is left is rounding.
template <class T>
double dependence_tolerance();

template <class T>
class NewtonCholesky final : public Descent<T> {
 public:
  NewtonCholesky(const Context& context, Objective<T>& objective, Round round)
      : Descent<T>(context, objective, round), context_(context) {}

  static std::int64_t bytes(std::int64_t examples, std::int64_t weights) {
    return descent_bytes<T>(examples, weights, 1);
  }

 protected:
  std::vector<double> find_directions() override;
  void keep(std::span<const std::int32_t> /*places*/) override {}
  double default_tolerance() const override { return 1e-8; }

 private:
  void add_penalty(std::size_t place, std::vector<double>& matrix) const;

  const Context& context_;
};

}  // namespace sheaf::linear
