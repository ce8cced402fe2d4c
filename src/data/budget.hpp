// Whether a dataset fits CPU memory, asked before it is made.
#pragma once

#include <cstdint>

#include <sheaf/context.hpp>

namespace sheaf {

/// Bytes that data may take on the CPU: the context's budget where it computes there, else what is free.
inline std::int64_t cpu_budget(const Context& context) {
  return context.device().is_cpu() ? context.memory() : describe(Device::cpu()).free_bytes;
}

/// rows * columns * element_bytes as a double, so that no dataset is too large to be named in a message.
inline double dense_bytes(std::int64_t rows, std::int64_t columns, std::int64_t element_bytes) {
  return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(element_bytes);
}

}  // namespace sheaf
