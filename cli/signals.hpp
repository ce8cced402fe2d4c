#pragma once

namespace sheaf::cli {

/// From here on an interrupt, a request to end or a reader that went away ends the program as usual, but leaves no file
/// half written.
void clean_up_on_signals();

}  // namespace sheaf::cli
