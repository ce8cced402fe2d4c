// Row weights of training, whoever gives them.
#pragma once

#include <cstdint>
#include <span>

namespace sheaf {

/// An Error unless there are none or `rows` finite numbers of 0 or more, not all 0.
void check_row_weights(std::span<const float> row_weights, std::int64_t rows);

}  // namespace sheaf
