#include "kernel/values/kernels.hpp"

#include <algorithm>
#include <array>

namespace sheaf {
namespace {

constexpr KernelFunction precomputed{.type = KernelType::precomputed,
                                     .name = "precomputed",
                                     .title = "precomputed kernel",
                                     .formula = "the features are the kernel values with all training rows",
                                     .libsvm = 4};

template <class... Kernels>
constexpr auto functions_of(kernel::KernelList<Kernels...> /*all*/) {
  return std::array{Kernels::function..., precomputed};
}

constexpr auto functions = functions_of(kernel::AllKernels<float>{});

}  // namespace

std::span<const KernelFunction> kernel_functions() { return functions; }

const KernelFunction& kernel_function(KernelType type) {
  return *std::find_if(functions.begin(), functions.end(), [&](const auto& function) { return function.type == type; });
}

std::string_view to_string(KernelType type) { return kernel_function(type).name; }

}  // namespace sheaf
