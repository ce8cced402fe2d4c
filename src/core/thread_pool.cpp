// The library's threads. A caller posts its loop as a job and begins to work on it; threads that are free join and take
// indices until none is left. The caller then waits for those who joined, never for one that did not come: on a busy
// machine it does all the work itself rather than wait for a core.
//
// A thread without work spins for a while, waiting for the next job (decision 30 explains how long and why), then
// sleeps. Losing a core meanwhile is the sign of a busy machine: for some time threads then sleep at once, since
// spinning takes time from work.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/futex.hpp"
#include "core/parallel.hpp"

namespace sheaf {
namespace {

using Clock = std::chrono::steady_clock;
using Duration = Clock::duration;
using namespace std::chrono_literals;

constexpr std::size_t cache_line = 128;  // of the largest: neighbours in one would slow each other down

/// This thread is inside a loop: those inside it run on it alone.
thread_local bool in_loop = false;

inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb");  // some tens of cycles; "yield" takes none
#endif
}

/// Whether this thread's core is taken from it again and again, as on a machine with more to do than cores. A single
/// time is no sign, nor are moments: the system itself has something to do now and then.
class PreemptionDetector {
 public:
  /// Cheap to call often: looks up the system's counts once in a millisecond.
  bool again(Clock::time_point now) { return now - looked_ >= 1ms && again_now(now); }
  /// The same without a rest. Time that went by is no sign of itself: a virtual machine's host may have taken it.
  bool again_now(Clock::time_point now) {
    const PreemptionDetector before = *this;
    look(now);
    const Duration passed = now - before.looked_;
    const Duration gone = passed - (worked_ - before.worked_);
    const bool lost = switches_ != before.switches_ && gone > std::max(shortest, passed / 8);
    return lost && now - std::exchange(lost_, now) < 20ms;
  }
  /// The thread slept until now.
  void rested() { look(Clock::now()); }

 private:
  static constexpr Duration shortest = 500us;

  void look(Clock::time_point now) {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    looked_ = now;
    switches_ = usage.ru_nivcsw;
    const auto time = [](const timeval& t) {
      return std::chrono::seconds(t.tv_sec) + std::chrono::microseconds(t.tv_usec);
    };
    worked_ = time(usage.ru_utime) + time(usage.ru_stime);
  }

  Clock::time_point looked_;
  Duration worked_{0};
  long switches_ = 0;
  Clock::time_point lost_;
};
thread_local PreemptionDetector preemption;

/// Threads of all programs that run or are ready to; 0: unknown.
int runnable_threads() {
  const int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::array<char, 128> text{};
  const auto size = read(file, text.data(), text.size() - 1);
  close(file);
  // Three averages, and then "runnable/all".
  int runnable = 0;
  return size > 0 && std::sscanf(text.data(), "%*f %*f %*f %d/", &runnable) == 1 ? runnable : 0;
}

/// Spins while waiting for something that will come soon, then sleeps.
class Patience {
 public:
  /// True as soon as done() is; false: it may take long, sleep.
  template <class Done>
  bool wait(const Done& done) {
    const auto start = Clock::now();
    if (preemption.again(start) || sees_crowd(start)) note_crowd(start);
    const Duration longest = is_crowded(start) ? busy_longest : quiet_longest;
    for (auto last = start;;) {
      for (int poll = 0; poll < 16; ++poll) {
        if (done()) return true;
        relax();
      }
      const auto now = Clock::now();
      if (now - last > interruption) {
        if (preemption.again_now(now)) note_crowd(now);
        return done();
      }
      if (now - start > longest) return false;
      last = now;
    }
  }

 private:
  static constexpr Duration quiet_longest = 4ms;
  static constexpr Duration busy_longest = 2us;
  static constexpr Duration interruption = 100us;  // no interrupt takes so long: another had the core
  static constexpr Duration look_interval = 20ms;
  static constexpr Duration first_pause = 10ms;
  static constexpr Duration longest_pause = 3200ms;

  /// Looks about now and then. Others that run for a moment are no crowd: they are there at two looks in turn.
  bool sees_crowd(Clock::time_point now) {
    const Duration::rep time = now.time_since_epoch().count();
    auto last = looked_.load(std::memory_order_relaxed);
    if (time - last < look_interval.count() || !looked_.compare_exchange_strong(last, time)) return false;
    static const auto cores = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    const bool many = runnable_threads() > cores;
    return many_.exchange(many, std::memory_order_relaxed) && many;
  }

  bool is_crowded(Clock::time_point now) const {
    return now.time_since_epoch().count() < crowded_until_.load(std::memory_order_relaxed);
  }

  /// Pauses get longer while the machine is found crowded again soon after each.
  void note_crowd(Clock::time_point now) {
    const Duration::rep time = now.time_since_epoch().count();
    const Duration::rep until = crowded_until_.load(std::memory_order_relaxed);
    Duration::rep pause = pause_.load(std::memory_order_relaxed);
    if (time > until)
      pause = time - until < 2 * pause ? std::min(2 * pause, longest_pause.count()) : first_pause.count();
    pause_.store(pause, std::memory_order_relaxed);
    crowded_until_.store(time + pause, std::memory_order_relaxed);
  }

  std::atomic<Duration::rep> looked_{0};
  std::atomic<bool> many_{false};
  std::atomic<Duration::rep> crowded_until_{0};
  std::atomic<Duration::rep> pause_{first_pause.count()};
};

/// One loop. Lives in the pool, so that a late helper may still look at it.
class alignas(cache_line) Job {  // NOLINT(clang-analyzer-optin.performance.Padding): shared data are kept apart
 public:
  /// False: another caller has it.
  bool claim() {
    std::uint32_t free = 0;
    return state_.load(std::memory_order_relaxed) == 0 && state_.compare_exchange_strong(free, claimed);
  }

  void open(IndexWork work, std::int64_t count, int threads) {
    work_ = work;
    count_.store(count, std::memory_order_relaxed);
    threads_.store(static_cast<std::uint32_t>(threads), std::memory_order_relaxed);
    failed_.store(count, std::memory_order_relaxed);
    next_.store(0, std::memory_order_relaxed);
    state_.store(claimed | opened, std::memory_order_release);
  }

  /// A helper joins if there is something left to do and a place free.
  bool join() {
    auto state = state_.load(std::memory_order_acquire);
    while ((state & opened) != 0 && (state & helpers) + 1 < threads_.load(std::memory_order_relaxed) && has_more())
      if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) return true;
    return false;
  }

  void leave() {
    const auto before = state_.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & asleep) != 0 && (before & helpers) == 1) futex_wake(state_, 1);
  }

  /// Takes indices until none is left. If there is one for each thread, a thread takes the same one in every such loop:
  /// the core may still have its data.
  void take_indices(std::int64_t thread) {
    const auto count = count_.load(std::memory_order_relaxed);
    const auto next = [&] { return next_.fetch_add(1, std::memory_order_relaxed); };
    if (!one_each(count)) {
      for (auto i = next(); i < count; i = next()) call(i);
      return;
    }
    for (std::int64_t k = 0; k < count; ++k) {
      const auto i = (thread + k) % count;
      const auto bit = std::int64_t{1} << i;
      const auto taken = next_.load(std::memory_order_relaxed) & bit;
      if (taken == 0 && (next_.fetch_or(bit, std::memory_order_relaxed) & bit) == 0) call(i);
    }
  }

  /// No helper joins from here on; returns when all have left.
  void close(Patience& patience, Progress& progress) {
    state_.fetch_and(~opened, std::memory_order_acq_rel);
    const auto alone = [&] { return (state_.load(std::memory_order_acquire) & helpers) == 0; };
    while (!alone()) {
      if (patience.wait(alone)) break;
      const auto state = state_.fetch_or(asleep, std::memory_order_acq_rel) | asleep;
      if ((state & helpers) != 0) futex_wait(state_, state, 100ms);
      preemption.rested();
      try {
        progress.deliver();
      } catch (...) {
        note_error(-1);
      }
    }
  }

  /// Gives the place back; the error of the loop, if any.
  std::exception_ptr release() {
    auto error = std::exchange(error_, nullptr);
    state_.store(0, std::memory_order_release);
    return error;
  }

 private:
  static constexpr std::uint32_t claimed = 1U << 31;
  static constexpr std::uint32_t opened = 1U << 30;
  static constexpr std::uint32_t asleep = 1U << 29;  // the caller is
  static constexpr std::uint32_t helpers = asleep - 1;

  bool one_each(std::int64_t count) const { return count < 63 && count <= threads_.load(std::memory_order_relaxed); }
  bool has_more() const {
    const auto count = count_.load(std::memory_order_relaxed);
    const auto next = next_.load(std::memory_order_relaxed);
    return one_each(count) ? next != (std::int64_t{1} << count) - 1 : next < count;
  }

  void call(std::int64_t i) {
    if (i > failed_.load(std::memory_order_relaxed)) return;
    try {
      work_(i);
    } catch (...) {
      note_error(i);
    }
  }

  /// That of the lowest index is kept; -1: the listener's.
  void note_error(std::int64_t i) {
    const std::lock_guard lock(mutex_);
    if (i >= failed_.load(std::memory_order_relaxed)) return;
    failed_.store(i, std::memory_order_relaxed);
    error_ = std::current_exception();
  }

  FutexWord state_{0};
  std::atomic<std::uint32_t> threads_{0};
  std::atomic<std::int64_t> count_{0};
  IndexWork work_{[](std::int64_t) {}};
  std::mutex mutex_;  // of the error
  std::exception_ptr error_;
  std::atomic<std::int64_t> failed_{0};                    // the lowest index that failed
  alignas(cache_line) std::atomic<std::int64_t> next_{0};  // the next index, or one bit for each that was taken
};

class Pool {
 public:
  /// Never destroyed: its threads may still sleep on it when the process ends.
  static Pool& instance() {
    static Pool* const pool = [] {
      auto* made = new Pool();
      pthread_atfork(nullptr, nullptr, start_anew);
      return made;
    }();
    return *pool;
  }

  void run(int threads, std::int64_t count, IndexWork work, Progress& progress) {
    Job* job = claim_job();
    if (job == nullptr) return run_alone(count, work);
    job->open(work, count, threads);
    call_helpers(static_cast<int>(std::min<std::int64_t>(threads, count)) - 1);
    in_loop = true;
    job->take_indices(0);
    in_loop = false;
    job->close(patience_, progress);
    if (auto error = job->release()) std::rethrow_exception(error);
  }

  static void run_alone(std::int64_t count, IndexWork work) {
    for (std::int64_t i = 0; i < count; ++i) work(i);
  }

 private:
  static constexpr Duration idle_longest = 5s;  // then a thread ends, and its memory is freed

  /// A process that was forked has one thread, whatever its parent had.
  static void start_anew() { new (&instance()) Pool(); }

  /// nullptr: too many callers at once.
  Job* claim_job() {
    for (int k = 0; k < most_jobs; ++k) {
      if (!jobs_[static_cast<std::size_t>(k)].claim()) continue;
      if (jobs_used_.load(std::memory_order_relaxed) <= k) raise_jobs_used(k + 1);
      return &jobs_[static_cast<std::size_t>(k)];
    }
    return nullptr;
  }
  void raise_jobs_used(int to) {
    int used = jobs_used_.load();
    while (used < to && !jobs_used_.compare_exchange_weak(used, to)) {
    }
  }

  void call_helpers(int wanted) {
    if (threads_.load(std::memory_order_relaxed) < wanted) start_threads(wanted);
    news_.fetch_add(1);
    const int missing = wanted - looking_.load();
    if (missing > 0 && sleeping_.load() > 0) futex_wake(news_, missing);
  }

  /// Fewer than wanted if the system has no more: the caller does their work.
  void start_threads(int wanted) {
    const std::lock_guard lock(mutex_);
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // signals are for the program's own threads
    try {
      while (threads_.load() < std::min(wanted, most_threads)) {
        std::thread([this, number = started_ + 1] { help(number); }).detach();
        ++started_;
        ++threads_;
      }
    } catch (const std::system_error&) {
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  /// The life of a thread.
  void help(std::int64_t number) {
    pthread_setname_np(pthread_self(), "sheaf");
    in_loop = true;
    for (;;) {
      const auto seen = news_.load();
      if (help_one(number) || wait_for_news(seen)) continue;
      --threads_;
      return;
    }
  }

  bool help_one(std::int64_t number) {
    const auto used = static_cast<std::size_t>(jobs_used_.load());
    for (std::size_t k = 0; k < used; ++k) {
      if (!jobs_[k].join()) continue;
      jobs_[k].take_indices(number);
      jobs_[k].leave();
      return true;
    }
    return false;
  }

  /// False: nothing has come for long.
  bool wait_for_news(std::uint32_t seen) {
    const auto come = [&] { return news_.load(std::memory_order_acquire) != seen; };
    looking_.fetch_add(1);
    const bool soon = patience_.wait(come);
    looking_.fetch_sub(1);
    if (soon) return true;
    sleeping_.fetch_add(1);
    futex_wait(news_, seen, idle_longest);
    sleeping_.fetch_sub(1);
    preemption.rested();
    return come();
  }

  static constexpr int most_jobs = 64;
  static constexpr int most_threads = 4096;

  alignas(cache_line) FutexWord news_{0};  // counts the jobs posted
  alignas(cache_line) std::atomic<int> looking_{0};
  std::atomic<int> sleeping_{0};
  alignas(cache_line) Patience patience_;
  std::atomic<int> threads_{0};
  std::atomic<int> jobs_used_{0};
  std::mutex mutex_;  // of starting threads
  std::int64_t started_ = 0;
  std::array<Job, most_jobs> jobs_;
};

}  // namespace

void run_on_pool(int threads, std::int64_t count, IndexWork work, Progress& progress) {
  if (in_loop) return Pool::run_alone(count, work);
  Pool::instance().run(threads, count, work, progress);
}

}  // namespace sheaf
