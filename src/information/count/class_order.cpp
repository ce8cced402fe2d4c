#include "information/count/class_order.hpp"

#include "information/count/columns.hpp"

namespace sheaf::information {

ClassOrder order_by_class(const Problem& problem, std::int64_t unit) {
  ClassOrder order;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(problem.class_count), 0);
  for (const std::int32_t y : problem.classes) ++counts[static_cast<std::size_t>(y)];
  for (const std::int64_t count : counts) {
    order.begins.push_back(order.stride);
    order.ends.push_back(order.stride + count);
    order.stride += (count + unit - 1) / unit * unit;
  }
  std::vector<std::int64_t> next = order.begins;
  for (const std::int32_t y : problem.classes) order.places.push_back(next[static_cast<std::size_t>(y)]++);
  return order;
}

template <class Code>
void place_columns(const BinnedTable& table, const ClassOrder& order, Range features, int threads, Code* out) {
  parallel_ranges(threads, features.end - features.begin, 1, [&](Range part) {
    std::vector<Code> column;
    for (std::int64_t k = part.begin; k < part.end; ++k) {
      read_column(table, features.begin + k, column);
      Code* to = out + k * order.stride;
      for (std::size_t i = 0; i < column.size(); ++i) to[order.places[i]] = column[i];
    }
  });
}

template void place_columns(const BinnedTable&, const ClassOrder&, Range, int, std::uint8_t*);
template void place_columns(const BinnedTable&, const ClassOrder&, Range, int, std::uint16_t*);

}  // namespace sheaf::information
