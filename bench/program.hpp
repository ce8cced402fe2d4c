// The main() of every benchmark: runs it, or prints why not.
#pragma once

#include <cstdio>
#include <exception>

namespace sheaf::bench {

template <class Run>
int run_program(const char* name, Run&& run) {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace sheaf::bench
