// Newton's method with the whole Hessian, for models of few weights; see newton_cholesky.cpp.
#pragma once

#include <vector>

#include "linear/glm/descent.hpp"

namespace sheaf::linear {

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
