// How far the work in a folder of results is, while it goes on: the last line of progress, see docs/app.md.
#pragma once

namespace sheaf::queue {

inline constexpr const char* progress_name = ".progress.json";

}  // namespace sheaf::queue
