// How one kernel value comes from an inner product: host/device functors, written once for both backends. `A` is the
// type inner products were summed in; values are float.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <sheaf/kernel.hpp>

#include "core/host_device.hpp"

namespace sheaf::kernel {

/// e^x for x <= 0, to about 1e-7 of its value, without a branch: loops over it become vectors. Below e^-87 it is 0.
SHEAF_HOST_DEVICE inline float exp_of_negative(float x) {
#ifdef __CUDA_ARCH__
  return expf(x);
#else
  const float clipped = x < -87.0F ? -87.0F : x;
  const float whole = static_cast<float>(static_cast<std::int32_t>(clipped * 1.44269504F - 0.5F));  // rounds: x <= 0
  const float rest = (clipped - whole * 0.693359375F) + whole * 2.12194440e-4F;
  float sum = 1.9875691500e-4F;
  sum = sum * rest + 1.3981999507e-3F;
  sum = sum * rest + 8.3334519073e-3F;
  sum = sum * rest + 4.1665795894e-2F;
  sum = sum * rest + 1.6666665459e-1F;
  sum = sum * rest + 5.0000001201e-1F;
  sum = sum * rest * rest + rest + 1.0F;
  std::int32_t bits = 0;
  std::memcpy(&bits, &sum, sizeof bits);
  bits += static_cast<std::int32_t>(whole) * (1 << 23);
  float result = 0;
  std::memcpy(&result, &bits, sizeof result);
  return x < -87.0F ? 0.0F : result;
#endif
}

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
  SHEAF_HOST_DEVICE float operator()(A dot, A norm, A other_norm) const {
    const A distance = norm + other_norm - 2 * dot;
    return exp_of_negative(-static_cast<float>(gamma * (distance > 0 ? distance : A(0))));
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
