// How one number of a column transform comes from sums over x as it is: written once for both backends.
#pragma once

#include "core/host_device.hpp"

namespace sheaf::linear {

/// sum of d (f (x - s))^2 from the sums of d x^2, d x and d. Returns 0 if rounding leaves less.
template <class T>
SHEAF_HOST_DEVICE inline T transformed_square(T squares, T sums, T total, T shift, T factor) {
  const T centred = squares - 2 * shift * sums + shift * shift * total;
  return centred > 0 ? factor * factor * centred : T(0);
}

}  // namespace sheaf::linear
