#include "rescore/training/subset.hpp"

#include <limits>
#include <map>
#include <queue>

namespace sheaf::rescore {

std::vector<std::int32_t> reservoir(const TrainingRows& rows, std::int64_t most, ParkMiller& random) {
  struct Drawn {
    std::uint64_t number;
    std::int32_t row;
    bool operator<(const Drawn& other) const { return number < other.number; }
  };
  std::priority_queue<Drawn> kept;
  std::map<std::pair<std::int32_t, double>, std::uint64_t> numbers;
  std::uint64_t limit = std::numeric_limits<std::uint32_t>::max();
  for (std::int32_t i = 0; i < rows.size(); ++i) {
    const std::pair key{rows.keys.scan(i), rows.masses[static_cast<std::size_t>(i)]};
    auto found = numbers.find(key);
    if (found == numbers.end()) found = numbers.emplace(key, random.next()).first;
    if (static_cast<std::int64_t>(kept.size()) >= most && found->second >= limit) continue;
    kept.push({found->second, i});
    if (static_cast<std::int64_t>(kept.size()) > most) {
      limit = kept.top().number;
      kept.pop();
    }
  }
  std::vector<std::int32_t> result;
  for (; !kept.empty(); kept.pop()) result.push_back(kept.top().row);
  return result;
}

}  // namespace sheaf::rescore
