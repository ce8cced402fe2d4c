// The error of a device that has too little memory left.
#pragma once

#include <sheaf/error.hpp>

namespace sheaf {

/// Other programs may have taken the memory since the work was planned: see retry_in_less_memory().
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

}  // namespace sheaf
