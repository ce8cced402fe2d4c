// L-BFGS for a block of generalised linear models; see lbfgs.cpp for the method.
#pragma once

#include <array>
#include <vector>

#include "linear/glm/coordinates.hpp"
#include "linear/glm/descent.hpp"

namespace sheaf::linear {

/// Number of stored steps.
inline constexpr std::int32_t lbfgs_memory = 10;

template <class T>
class Lbfgs final : public Descent<T> {
 public:
  Lbfgs(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round);

  /// Device bytes of one column of a task.
  static std::int64_t bytes(std::int64_t examples, std::int64_t weights) {
    return descent_bytes<T>(examples, weights, 2 * lbfgs_memory + 5);
  }

 protected:
  std::vector<double> find_directions() override;
  void keep(std::span<const std::int32_t> places) override;
  double default_tolerance() const override { return 1e-5; }

 private:
  static constexpr auto memory = static_cast<std::size_t>(lbfgs_memory);
  using Products = std::array<std::array<double, memory>, memory>;
  /// Inner products of one task's steps s and changes of the gradient y.
  struct History {
    Products sy{}, yy{};
    std::array<double, memory> sg{}, yg{};
    std::array<bool, memory> usable{};
    double gg = 0;
  };
  /// A direction as a combination: of the gradient, of each s and of each y.
  struct Combination {
    double g = 0;
    std::array<double, memory> s{}, y{};
  };

  void renew();
  void remember();
  void measure();
  Combination combination(const History& history) const;
  /// Slots, the newest step first.
  std::vector<std::size_t> newest_first() const;

  const Context& context_;
  Coordinates<T> coordinates_;
  Block<T> at_start_;                       // the gradient there, until the coordinates are renewed
  Block<T> gradient_, before_, direction_;  // in the coordinates
  std::vector<Block<T>> steps_, changes_;   // by slot
  std::vector<History> histories_;
  std::size_t taken_ = 0;  // steps so far
};

}  // namespace sheaf::linear
