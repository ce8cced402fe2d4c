// In a header of its own, since nvcc reads it and compiles no OpenMP.
#pragma once

#include <cstdint>

namespace sheaf {

/// memcpy by several cores: one alone is slower than the way to a GPU.
void parallel_copy(void* to, const void* from, std::int64_t bytes);

}  // namespace sheaf
