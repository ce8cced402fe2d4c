// Newton's method by conjugate gradients for a block of generalised linear models; see newton_cg.cpp.
#pragma once

#include <vector>

#include "linear/glm/coordinates.hpp"
#include "linear/glm/descent.hpp"

namespace sheaf::linear {

template <class T>
class NewtonCg final : public Descent<T> {
 public:
  NewtonCg(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round);

  static std::int64_t bytes(std::int64_t examples, std::int64_t weights) {
    return descent_bytes<T>(examples, weights, 8) + examples * static_cast<std::int64_t>(sizeof(T));
  }

 protected:
  std::vector<double> find_directions() override;
  void keep(std::span<const std::int32_t> places) override;
  double default_tolerance() const override { return 1e-5; }

 private:
  void apply_hessian();

  const Context& context_;
  Coordinates<T> coordinates_;
  // In the coordinates: gradient, solution x, residual r, direction p, Hessian times p; weights of p and of that.
  Block<T> gradient_, x_, r_, p_, hp_, weights_, scratch_;
  Block<T> q_;  // over examples: X times the weights of p
};

}  // namespace sheaf::linear
