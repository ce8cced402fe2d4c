// Kernel functions as users name them.
#pragma once

#include <cstdint>

namespace sheaf {

/// x'y; (gamma x'y + coef0)^degree; exp(-gamma |x - y|^2); tanh(gamma x'y + coef0). Precomputed: feature j of row i is
/// the kernel value of row i and training row j.
enum class KernelType : std::uint8_t { linear, polynomial, rbf, sigmoid, precomputed };

struct KernelParams {
  KernelType type = KernelType::rbf;
  int degree = 3;
  double gamma = 1;
  double coef0 = 0;
};

}  // namespace sheaf
