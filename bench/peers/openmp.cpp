#include "peers/openmp.hpp"

namespace sheaf::bench {

#if SHEAF_PEER_OPENMP
bool has_openmp() { return true; }

void openmp_region(int threads, void (*work)(long), long argument) {
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int t = 0; t < threads; ++t) work(argument);
}
#else
bool has_openmp() { return false; }
void openmp_region(int, void (*)(long), long) {}
#endif

}  // namespace sheaf::bench
