#include "core/team/slices.hpp"

#include <algorithm>
#include <bit>

namespace sheaf {
namespace {

constexpr unsigned fewest_slices = 16;
/// Numbers up to which every process gathers all and adds them up; more are added up in parts, one a process.
constexpr std::size_t most_gathered = 8192;

}  // namespace

Slices::Slices(std::int64_t rows, int team_size)
    : rows_(rows),
      count_(static_cast<std::int32_t>(std::bit_ceil(std::max(fewest_slices, static_cast<unsigned>(team_size))))),
      team_size_(team_size) {}

Range Slices::rows_of_rank(int rank) const {
  const auto slices = of_rank(rank);
  return {rows_of(static_cast<std::int32_t>(slices.begin)).begin, rows_of(static_cast<std::int32_t>(slices.end)).begin};
}

SliceSums::SliceSums(Team& team, const Slices& slices) : team_(team), slices_(slices), own_(nodes_of(team.rank())) {
  for (int rank = 0; rank < team.size(); ++rank) most_nodes_ = std::max(most_nodes_, nodes_of(rank).size());
}

/// The largest subtrees of `node` that have these slices, from the left.
void SliceSums::cover(Node node, Range slices, std::vector<Node>& nodes) {
  if (node.first >= slices.end || node.first + node.size <= slices.begin) return;
  if (node.first >= slices.begin && node.first + node.size <= slices.end) return nodes.push_back(node);
  cover({node.first, node.size / 2}, slices, nodes);
  cover({node.first + node.size / 2, node.size / 2}, slices, nodes);
}

std::vector<SliceSums::Node> SliceSums::nodes_of(int rank) const {
  std::vector<Node> nodes;
  cover({0, slices_.count()}, slices_.of_rank(rank), nodes);
  return nodes;
}

void SliceSums::sum_node(Node node, std::span<double> total,
                         const std::function<void(std::int32_t, std::span<double>)>& add) {
  if (node.size == 1) return add(node.first, total);
  const Node left{node.first, node.size / 2};
  const Node right{node.first + node.size / 2, node.size / 2};
  sum_node(left, total, add);
  std::vector<double> other(total.size(), 0.0);
  sum_node(right, other, add);
  for (std::size_t e = 0; e < other.size(); ++e) total[e] += other[e];
}

/// total = the sum of the values of the nodes below `node`.
void SliceSums::add_up(Node node, std::span<double> total, const Values& values) const {
  if (const auto found = values(node); found.data() != nullptr) {
    std::copy(found.begin(), found.end(), total.begin());
    return;
  }
  std::vector<double> other(total.size());
  add_up({node.first, node.size / 2}, total, values);
  add_up({node.first + node.size / 2, node.size / 2}, other, values);
  for (std::size_t e = 0; e < other.size(); ++e) total[e] += other[e];
}

void SliceSums::sum(std::span<double> total, const std::function<void(std::int32_t, std::span<double>)>& add) {
  const auto ranks = static_cast<std::size_t>(team_.size());
  const bool gathers = ranks == 1 || ranks * most_nodes_ * total.size() <= most_gathered;
  const std::size_t part = gathers ? total.size() : (total.size() + ranks - 1) / ranks;
  const std::size_t parts = gathers ? 1 : ranks;
  // By part, node and number, so that what another process adds up lies together; the last part is padded.
  std::vector<double> sent(parts * most_nodes_ * part, 0.0);
  std::vector<double> own(total.size());
  for (std::size_t k = 0; k < own_.size(); ++k) {
    std::fill(own.begin(), own.end(), 0.0);
    sum_node(own_[k], own, add);
    for (std::size_t e = 0; e < own.size(); ++e) sent[(e / part * most_nodes_ + k) * part + e % part] = own[e];
  }
  std::vector<double> received(ranks * most_nodes_ * part);
  if (gathers)
    team_.gather(sent, received);
  else
    team_.exchange(sent, received);
  const auto values = [&](const Node& node) -> std::span<const double> {
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      const auto nodes = nodes_of(static_cast<int>(rank));
      const auto place = static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
      if (place < nodes.size()) return std::span(received).subspan((rank * most_nodes_ + place) * part, part);
    }
    return {};
  };
  const Node root{0, slices_.count()};
  if (gathers) return add_up(root, total, values);
  std::vector<double> mine(part);
  add_up(root, mine, values);
  std::vector<double> all(ranks * part);
  team_.gather(mine, all);
  std::copy_n(all.begin(), total.size(), total.begin());
}

}  // namespace sheaf
