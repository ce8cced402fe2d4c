// Where a search for two parameters looks next: a coarse grid of powers of 2, then the neighbours of the best, in steps
// that are halved where no neighbour is left to try.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace sheaf::search {

/// Logarithms to base 2.
struct Coordinates {
  double cost = 0, gamma = 0;
  bool operator<(const Coordinates& other) const { return std::tie(cost, gamma) < std::tie(other.cost, other.gamma); }
  bool operator==(const Coordinates& other) const { return cost == other.cost && gamma == other.gamma; }
};

struct Region {
  Coordinates low, high;              // no neighbour lies beyond
  std::vector<double> costs, gammas;  // of the coarse grid, `step` apart
  double step = 4;
  std::int32_t halvings = 3;
};

class Explorer {
 public:
  explicit Explorer(Region region) : region_(std::move(region)), left_(region_.halvings) {}

  /// None: the search is over.
  std::vector<Coordinates> propose();
  /// Larger is better; NaN is worst.
  void learn(const Coordinates& place, double score) { known_[place] = score; }

 private:
  /// Of equals that of the smallest cost, then of the smallest gamma.
  Coordinates best() const;
  std::vector<Coordinates> neighbours(const Coordinates& of) const;

  Region region_;
  std::int32_t left_;
  std::map<Coordinates, double> known_;
};

}  // namespace sheaf::search
