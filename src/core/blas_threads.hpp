// The threads of OpenBLAS, for those who share work among our own threads and call OpenBLAS for parts of it.
#pragma once

#include <mutex>

#include <cblas.h>

namespace sheaf {

/// A build of OpenBLAS over OpenMP starts threads of its own in every thread that calls it, whatever its settings.
inline bool over_openmp() { return openblas_get_parallel() == 2; }

/// While one lives, OpenBLAS works with so many threads. Their number belongs to the whole process: the first to come
/// notes it, the last to go restores it.
class BlasThreads {
 public:
  explicit BlasThreads(int threads) {
    const std::lock_guard lock(mutex_);
    if (users_++ > 0) return;
    before_ = openblas_get_num_threads();
    if (before_ != threads) openblas_set_num_threads(threads);
  }
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;
  ~BlasThreads() {
    const std::lock_guard lock(mutex_);
    if (--users_ == 0 && before_ != openblas_get_num_threads()) openblas_set_num_threads(before_);
  }

 private:
  inline static std::mutex mutex_;
  inline static int users_ = 0;
  inline static int before_ = 1;
};

}  // namespace sheaf
