// The space of a search: a grid of points, and how far refinement may go between and beyond them.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/solvers/search_space.hpp>

namespace sheaf::engine {

/// How an axis of equal steps may be refined, in logarithms to base 2. A step of 0: it may not.
struct Refinement {
  double low = 0, high = 0;  // no point lies beyond
  double step = 0;           // between the lattice's points
};

struct Space {
  std::vector<SearchAxis> axes;
  std::vector<std::int32_t> shape;          // points along each axis
  std::vector<Point> lattice;               // the last axis runs fastest
  std::vector<std::vector<double>> values;  // of each axis, if the lattice is their product
  std::vector<Refinement> finer;            // one an axis, or none at all
  std::int32_t halvings = 0;                // of the steps, when they are refined

  std::int32_t size() const { return static_cast<std::int32_t>(lattice.size()); }
};

/// All combinations of the values of each axis.
Space product_space(std::vector<SearchAxis> axes, const std::vector<std::vector<double>>& values);

/// By the first axis, then the second, and so on.
bool comes_before(const Space& space, const Point& a, const Point& b);

}  // namespace sheaf::engine
