#include "fuzz/cuts_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sheaf::fuzz::check_cuts({reinterpret_cast<const char*>(data), size});
  return 0;
}
