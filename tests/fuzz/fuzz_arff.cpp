#include "fuzz/reader_check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sheaf::fuzz::check_format("arff", {reinterpret_cast<const char*>(data), size});
  return 0;
}
