#include <sheaf/progress.hpp>

namespace sheaf {

void Progress::begin(std::string_view /*stage*/, std::int64_t /*total*/) {}
void Progress::advance(std::int64_t /*by*/) {}
void Progress::end() {}

Progress& silent_progress() {
  static Progress silent;
  return silent;
}

}  // namespace sheaf
