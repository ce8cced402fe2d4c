// Gradient descent for a block of generalised linear models, plain or accelerated; see gradient.cpp for the method.
#pragma once

#include <vector>

#include "linear/glm/coordinates.hpp"
#include "linear/glm/descent.hpp"

namespace sheaf::linear {

template <class T>
class Gradient final : public Descent<T> {
 public:
  Gradient(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round, bool accelerated);

  /// Device bytes of one column of a task.
  static std::int64_t bytes(std::int64_t examples, std::int64_t weights) {
    return descent_bytes<T>(examples, weights, 6);
  }

 protected:
  std::vector<double> find_directions() override;
  void keep(std::span<const std::int32_t> places) override;
  double default_tolerance() const override { return 1e-5; }

 private:
  /// How far a task goes along its gradient, and how many steps its momentum is old.
  struct Pace {
    double rate = 1;
    double age = 1;  // t of Nesterov's sequence
  };

  void adapt_paces();
  void add_momentum();

  Coordinates<T> coordinates_;
  bool accelerated_;
  std::vector<Pace> paces_;
  Block<T> gradient_, step_;     // in the coordinates, and as a change of the weights
  Block<T> reached_, previous_;  // accelerated: where gradient steps ended
};

}  // namespace sheaf::linear
