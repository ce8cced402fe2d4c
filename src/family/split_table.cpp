#include "family/split_table.hpp"

#include <cmath>

#include <sheaf/error.hpp>

namespace sheaf::engine {

std::vector<float> SplitTable::draws(std::span<const float> row_weights) const {
  auto result = weights;
  const auto columns = splits.size();
  for (std::size_t i = 0; i < row_weights.size(); ++i)
    for (std::size_t s = 0; s < columns; ++s) {
      float& drawn = result[i * columns + s];
      drawn = row_weights[i] > 0 ? std::round(drawn / row_weights[i]) : 0;
    }
  return result;
}

std::vector<std::int32_t> SplitTable::training_rows(std::span<const float> row_weights) const {
  require(splits.size() == 1, "the training rows of several splits were asked for");
  std::vector<std::int32_t> rows;
  const auto times = draws(row_weights);
  for (std::size_t i = 0; i < times.size(); ++i)
    rows.insert(rows.end(), static_cast<std::size_t>(times[i]), static_cast<std::int32_t>(i));
  return rows;
}

}  // namespace sheaf::engine
