// The numbers that a target may be.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <sheaf/solvers/losses.hpp>

namespace sheaf::linear {

/// A number outside the range is an Error that names its row and place. The table has `columns` numbers a row; `who` is
/// whose range it is.
void check_targets(TargetRange range, std::span<const double> targets, std::int32_t columns, std::string_view source,
                   std::string_view who);

}  // namespace sheaf::linear
