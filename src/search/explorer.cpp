#include "search/explorer.hpp"

namespace sheaf::search {

Coordinates Explorer::best() const {
  auto found = known_.begin();
  for (auto at = known_.begin(); at != known_.end(); ++at)
    if (at->second > found->second || found->second != found->second) found = at;
  return found->first;
}

std::vector<Coordinates> Explorer::neighbours(const Coordinates& of) const {
  std::vector<Coordinates> result;
  const bool one_gamma = region_.gammas.size() < 2;
  const bool one_cost = region_.costs.size() < 2;
  for (const double gamma : {-region_.step, 0.0, region_.step})
    for (const double cost : {-region_.step, 0.0, region_.step}) {
      if ((one_gamma && gamma != 0) || (one_cost && cost != 0)) continue;
      const Coordinates place{of.cost + cost, of.gamma + gamma};
      const bool inside = place.cost >= region_.low.cost && place.cost <= region_.high.cost &&
                          place.gamma >= region_.low.gamma && place.gamma <= region_.high.gamma;
      if (inside && !known_.contains(place)) result.push_back(place);
    }
  return result;
}

std::vector<Coordinates> Explorer::propose() {
  std::vector<Coordinates> result;
  if (known_.empty()) {
    for (const double gamma : region_.gammas)
      for (const double cost : region_.costs) result.push_back({cost, gamma});
    return result;
  }
  const auto from = best();
  while ((result = neighbours(from)).empty() && left_ > 0) {
    region_.step /= 2;
    --left_;
  }
  return result;
}

}  // namespace sheaf::search
