// Checks whether a dataset fits CPU memory, before it is made.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>

#include "core/fail.hpp"

namespace sheaf {

/// Bytes that data may take on the CPU: the context's budget if it computes there, else the free memory.
inline std::int64_t cpu_budget(const Context& context) {
  return context.device().is_cpu() ? context.memory() : describe(Device::cpu()).free_bytes;
}

/// rows * columns * element_bytes as a double, so that no dataset is too large to be named in a message.
inline double dense_bytes(std::int64_t rows, std::int64_t columns, std::int64_t element_bytes) {
  return static_cast<double>(rows) * static_cast<double>(columns) * static_cast<double>(element_bytes);
}

/// An Error unless `bytes` for each feature are within the budget. A sparse dataset of few values may have an index far
/// out, and memory per feature is needed from 1 up to it. `what` is kept: "the weights of a model".
template <class T>
void check_feature_memory(const Context& context, const Dataset<T>& dataset, std::int64_t bytes,
                          std::string_view what) {
  const double need = dense_bytes(1, dataset.features(), bytes);
  const auto budget = cpu_budget(context);
  if (need <= static_cast<double>(budget)) return;
  constexpr double unit = 1 << 20;
  fail(
      "{}: {} take {:.0f} MiB for its {} features, and the memory budget is {}; number the features without gaps, or "
      "give --memory {:.0f}M or more",
      dataset.source, what, std::ceil(need / unit), dataset.features(), format_bytes(budget), std::ceil(need / unit));
}

}  // namespace sheaf
