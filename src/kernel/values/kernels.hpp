// How one kernel value comes from an inner product: host/device functors, written once for both backends. `A` is the
// type inner products were summed in; values are float.
#pragma once

#include <cmath>

#include <sheaf/kernel.hpp>

#include "core/host_device.hpp"

namespace sheaf::kernel {

/// x'y of two rows, with their squared norms.
template <class A>
struct Linear {
  SHEAF_HOST_DEVICE float operator()(A dot, A, A) const { return static_cast<float>(dot); }
};

template <class A>
struct Polynomial {
  A gamma, coef0;
  int degree;
  SHEAF_HOST_DEVICE float operator()(A dot, A, A) const {
    A base = gamma * dot + coef0;
    A result = 1;
    for (int power = degree; power > 0; power /= 2) {
      if (power % 2 == 1) result *= base;
      base *= base;
    }
    return static_cast<float>(result);
  }
};

template <class A>
struct Rbf {
  A gamma;
  /// Of the exponential; 0 or less.
  SHEAF_HOST_DEVICE float argument(A dot, A norm, A other_norm) const {
    const A distance = norm + other_norm - 2 * dot;
    return -static_cast<float>(gamma * (distance > 0 ? distance : A(0)));
  }
  SHEAF_HOST_DEVICE float operator()(A dot, A norm, A other_norm) const {
    return std::exp(argument(dot, norm, other_norm));
  }
};

template <class A>
struct Sigmoid {
  A gamma, coef0;
  SHEAF_HOST_DEVICE float operator()(A dot, A, A) const { return static_cast<float>(std::tanh(gamma * dot + coef0)); }
};

/// Calls work(functor) with the kernel's functor. Precomputed values pass as they are.
template <class A, class Work>
void with_kernel(const KernelParams& params, Work&& work) {
  const auto gamma = static_cast<A>(params.gamma);
  const auto coef0 = static_cast<A>(params.coef0);
  switch (params.type) {
    case KernelType::polynomial:
      return work(Polynomial<A>{gamma, coef0, params.degree});
    case KernelType::rbf:
      return work(Rbf<A>{gamma});
    case KernelType::sigmoid:
      return work(Sigmoid<A>{gamma, coef0});
    case KernelType::linear:
    case KernelType::precomputed:
      return work(Linear<A>{});
  }
}

}  // namespace sheaf::kernel
