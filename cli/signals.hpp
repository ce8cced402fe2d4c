// Interrupts and requests to end. The first one requests a stop, and the work ends in order; the second one ends the
// program at once. Neither leaves a file half written.
#pragma once

#include <stop_token>

namespace sheaf::cli {

/// Opens those of standard input, output and error that are closed. To be called first.
void open_standard_streams();

/// From here on SIGINT, SIGTERM, SIGHUP and SIGXCPU are handled so; SIGPIPE ends the program at once.
void handle_signals();

/// A stop is requested by the first of these signals.
std::stop_token stop_on_signal();

/// After the work has stopped: ends the program as the signal itself would have done, so that shells see it (130 after
/// SIGINT, 143 after SIGTERM). Returns 1 if there was no signal.
int end_as_signalled();

}  // namespace sheaf::cli
