// Kernel functions as users name them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace sheaf {

/// kernel_functions() describes each. Precomputed: feature j of row i is the kernel value of row i and training row j.
enum class KernelType : std::uint8_t { linear, polynomial, rbf, sigmoid, precomputed };

struct KernelParams {
  KernelType type = KernelType::rbf;
  int degree = 3;
  double gamma = 1;
  double coef0 = 0;
};

/// What is known of a kernel function but its values.
struct KernelFunction {
  KernelType type;
  std::string_view name;   ///< as users and model files spell it
  std::string_view title;  ///< in sentences
  std::string_view formula;
  bool has_gamma = false;
  bool has_degree = false;
  bool has_coef0 = false;
  int libsvm = -1;  ///< its number in LIBSVM; -1: LIBSVM has no such kernel
};

/// All there are. Precomputed is the last.
std::span<const KernelFunction> kernel_functions();
const KernelFunction& kernel_function(KernelType type);
/// Its name.
std::string_view to_string(KernelType type);

}  // namespace sheaf
