// How a model that can learn both takes its labels.
#pragma once

#include <cstdint>

namespace sheaf {

enum class LabelKind : std::uint8_t {
  automatic,  ///< numbers, where they do not look like classes
  classes,
  numbers,  ///< a regression
};

}  // namespace sheaf
