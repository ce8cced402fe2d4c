#include "signals.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <semaphore.h>
#include <unistd.h>

#include "core/temporary.hpp"

namespace sheaf::cli {
namespace {

std::atomic<int> received{0};  // the first signal
static_assert(std::atomic<int>::is_always_lock_free);
sem_t arrived;

/// Never destroyed: a signal may come while the program ends.
std::stop_source& source() {
  static auto* const it = new std::stop_source();
  return *it;
}

void raise_by_default(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

/// A handler may not lock, so that it can't request the stop itself: it wakes the thread that does.
extern "C" void on_signal(int signal) {
  const int error = errno;
  int none = 0;
  if (signal != SIGPIPE && received.compare_exchange_strong(none, signal)) {
    sem_post(&arrived);
  } else {
    remove_temporaries();
    raise_by_default(signal);  // takes effect when this handler returns
  }
  errno = error;
}

void request_stop_on_arrival() {
  while (sem_wait(&arrived) != 0) {
  }
  source().request_stop();
}

}  // namespace

void open_standard_streams() {
  // A closed one would be taken by the next file that is opened, and messages or results would be written into it. What
  // is opened here refuses its use: reading, writing results; messages vanish.
  constexpr int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
  for (int k = STDIN_FILENO; k <= STDERR_FILENO; ++k)
    if (::fcntl(k, F_GETFD) < 0 && ::open("/dev/null", modes[k]) < 0) ::_exit(1);
}

void handle_signals() {
  sem_init(&arrived, 0, 0);
  source();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that would become too large is an error of the write
  try {
    std::thread(request_stop_on_arrival).detach();
  } catch (const std::system_error&) {  // no thread: the first signal ends the program as the second one does
    received = SIGTERM;
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGXCPU, SIGPIPE}) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN && signal != SIGPIPE) continue;  // nohup
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

std::stop_token stop_on_signal() { return source().get_token(); }

int end_as_signalled() {
  std::fflush(nullptr);
  if (const int signal = received; signal != 0) raise_by_default(signal);
  return 1;
}

}  // namespace sheaf::cli
