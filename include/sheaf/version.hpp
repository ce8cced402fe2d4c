// The version of these headers, for programs that need it at compile time. The build reads it from here.
#pragma once

#define SHEAF_VERSION_MAJOR 0
#define SHEAF_VERSION_MINOR 1
#define SHEAF_VERSION_PATCH 0
#define SHEAF_VERSION "0.1.0"

namespace sheaf {

/// The version of the library that is linked.
const char* version();

}  // namespace sheaf
