#include <sheaf/version.hpp>

namespace sheaf {

const char* version() { return SHEAF_VERSION; }

}  // namespace sheaf
