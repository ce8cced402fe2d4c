// Entry point of libFuzzer: runs the target that SHEAF_FUZZ names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/targets.hpp"

namespace {

const sheaf::fuzz::Target* chosen = nullptr;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  const char* name = std::getenv("SHEAF_FUZZ");
  chosen = name == nullptr ? nullptr : sheaf::fuzz::find_target(name);
  if (chosen != nullptr) return 0;
  std::fprintf(stderr, "SHEAF_FUZZ must name a target:");
  for (const auto& target : sheaf::fuzz::targets())
    std::fprintf(stderr, " %.*s", static_cast<int>(target.name.size()), target.name.data());
  std::fprintf(stderr, "\n");
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen->check({reinterpret_cast<const char*>(data), size});
  return 0;
}
