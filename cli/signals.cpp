#include "signals.hpp"

#include <csignal>

#include <unistd.h>

#include "core/temporary.hpp"

namespace sheaf::cli {
namespace {

extern "C" void clean_up(int signal) {
  remove_temporaries();
  if (signal == SIGINT) {
    static constexpr char text[] = "\nsheaf: interrupted; nothing was left half written\n";
    [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text, sizeof text - 1);
  }
  // The handler is gone (SA_RESETHAND): the signal now does what it does to every program, so that shells see it.
  ::raise(signal);
}

}  // namespace

void clean_up_on_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN && signal != SIGPIPE) continue;  // nohup
    struct sigaction action {};
    action.sa_handler = clean_up;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &action, nullptr);
  }
}

}  // namespace sheaf::cli
