// The same loop over OpenMP's threads.
#pragma once

namespace sheaf::bench {

/// Whether this build has OpenMP.
bool has_openmp();

/// Calls work(argument) once on each of `threads` threads.
void openmp_region(int threads, void (*work)(long), long argument);

}  // namespace sheaf::bench
