// Features that a criterion selects, and lists of nearest rows.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <sheaf/bindings/datasets.hpp>
#include <sheaf/sheaf.hpp>

namespace sheaf::bindings {

inline List select(const Context& context, const AnyDataset& dataset, const SelectRequest& request) {
  const auto result = std::visit([&](const auto& one) { return sheaf::select(context, one, request); }, dataset);
  std::vector<double> frequency;
  for (const auto& row : result.selected)
    if (row.votes) frequency.push_back(row.votes->frequency);
  List list;
  list.add("selected", Places(result.indices()));
  list.add("scores", column_of(result.selected, [](const auto& row) { return row.feature.score; }));
  list.add("relevance", column_of(result.selected, [](const auto& row) { return row.feature.relevance; }));
  list.add("redundancy", column_of(result.selected, [](const auto& row) { return row.feature.redundancy; }));
  list.add("frequency", std::move(frequency)).add("stability", result.stability).add("chance", result.chance.values);
  list.add("bins", result.binning.bins > 0 ? Value(std::int32_t{result.binning.bins}) : Value());
  return list.add("notes", result.notes);
}

inline Value criteria_table() {
  return Table(criteria())
      .column("name", [](const auto& row) { return row.name; })
      .column("title", [](const auto& row) { return row.title; })
      .column("help", [](const auto& row) { return row.help; });
}

/// `queries` nullptr: the nearest of the rows among themselves. Both datasets are of one precision.
inline NeighborLists find_neighbors(const Context& context, const AnyDataset& dataset, const NeighborOptions& options,
                                    const AnyDataset* queries) {
  return std::visit(
      [&](const auto& one) {
        using Same = std::decay_t<decltype(one)>;
        return sheaf::find_neighbors(context, one, options, queries == nullptr ? nullptr : &std::get<Same>(*queries));
      },
      dataset);
}

/// All rows within a radius of each query, likewise: `offsets`, `indices` and `distances`.
inline List find_within(const Context& context, const AnyDataset& dataset, const NeighborOptions& options,
                        const AnyDataset* queries) {
  auto lists = std::visit(
      [&](const auto& one) {
        using Same = std::decay_t<decltype(one)>;
        return sheaf::find_within(context, one, options, queries == nullptr ? nullptr : &std::get<Same>(*queries));
      },
      dataset);
  return List()
      .add("offsets", std::move(lists.offsets))
      .add("indices", Places(lists.indices))
      .add("distances", std::move(lists.distances));
}

/// Rows by queries, column by column, or of the rows among themselves what lies below the diagonal, likewise.
inline void compute_distances(const Context& context, const AnyDataset& dataset, const DistanceOptions& options,
                              const AnyDataset* queries, double* out) {
  constexpr std::int64_t at_once = 64;
  const auto compute = [&](const auto& one) {
    using Same = std::decay_t<decltype(one)>;
    const DistanceMatrix matrix(context, one, options, queries == nullptr ? nullptr : &std::get<Same>(*queries));
    if (queries != nullptr) return matrix.compute(0, matrix.rows(), 0, matrix.columns(), out);
    const auto n = one.rows();
    std::vector<double> block(static_cast<std::size_t>(at_once * n));
    double* next = out;
    for (std::int64_t first = 0; first + 1 < n; first += at_once) {
      context.check_stop();
      const auto height = std::min(at_once, n - first);
      const auto width = n - first;
      matrix.compute(first, height, first, width, block.data());
      for (std::int64_t i = 0; i < height; ++i)
        next = std::copy(block.data() + i * width + i + 1, block.data() + (i + 1) * width, next);
    }
  };
  std::visit(compute, dataset);
}

}  // namespace sheaf::bindings
