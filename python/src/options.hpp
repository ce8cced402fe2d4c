// The options of a model of any family.
#pragma once

#include <sheaf/model.hpp>

namespace sheaf::python {

struct AnyOptions {
  ModelOptions any;
};

}  // namespace sheaf::python
