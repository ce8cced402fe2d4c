#include "search/batches.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/parallel.hpp"

namespace sheaf::engine {
namespace {

/// `count` things in parts of at most `most`, as equal as can be: where each begins, and the end.
std::vector<std::size_t> cut(std::size_t count, std::int64_t most) {
  const auto size = static_cast<std::int64_t>(count);
  const auto parts = std::max<std::int64_t>(1, (size + most - 1) / most);
  std::vector<std::size_t> begins;
  for (std::int64_t k = 0; k < parts; ++k) begins.push_back(static_cast<std::size_t>(part_of(size, parts, k).begin));
  begins.push_back(count);
  return begins;
}

void add_group(const std::vector<Cell>& cells, const BatchLimits& limits, std::int32_t tasks,
               std::vector<Batch>& batches) {
  std::set<std::int32_t> split_set, point_set;
  std::set<std::pair<std::int32_t, std::int32_t>> wanted;  // split, point
  for (const auto& cell : cells) {
    split_set.insert(cell.split);
    point_set.insert(cell.point);
    wanted.emplace(cell.split, cell.point);
  }
  const std::vector<std::int32_t> splits(split_set.begin(), split_set.end());
  const std::vector<std::int32_t> points(point_set.begin(), point_set.end());
  const auto models = std::max(1, limits.tasks / std::max(tasks, 1));
  const auto most = std::max(1, std::min(limits.splits, static_cast<std::int32_t>(splits.size())));
  const auto all = static_cast<std::int32_t>(points.size());
  const auto wide = std::clamp(limits.whole_grids ? models / all : models, 1, most);
  const auto deep = limits.whole_grids ? all : std::clamp(models / wide, 1, all);
  const auto over = cut(splits.size(), wide);
  const auto with = cut(points.size(), deep);
  for (std::size_t g = 0; g + 1 < over.size(); ++g)
    for (std::size_t k = 0; k + 1 < with.size(); ++k) {
      Batch batch;
      for (std::size_t p = with[k]; p < with[k + 1]; ++p)
        for (std::size_t s = over[g]; s < over[g + 1]; ++s)
          if (wanted.contains({splits[s], points[p]})) batch.cells.push_back({points[p], splits[s]});
      for (std::size_t s = over[g]; s < over[g + 1]; ++s) batch.splits.push_back(splits[s]);
      if (!batch.cells.empty()) batches.push_back(std::move(batch));
    }
}

}  // namespace

std::vector<Batch> plan_batches(const std::vector<Cell>& cells, const std::vector<std::int32_t>& group_of,
                                const BatchLimits& limits, std::int32_t tasks) {
  std::map<std::int32_t, std::vector<Cell>> groups;
  for (const auto& cell : cells) groups[group_of[static_cast<std::size_t>(cell.point)]].push_back(cell);
  std::vector<Batch> batches;
  for (const auto& [group, some] : groups) add_group(some, limits, tasks, batches);
  return batches;
}

}  // namespace sheaf::engine
