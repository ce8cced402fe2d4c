// Which weights of a model are the largest.
#pragma once

#include <cstdint>
#include <vector>

#include <sheaf/linear_model.hpp>

namespace sheaf::report {

/// Features with the largest weights of one decision value, largest first, up to `most`; neither zeros nor the bias.
std::vector<std::int64_t> largest_weights(const LinearModel& model, std::int32_t column, std::size_t most);

}  // namespace sheaf::report
