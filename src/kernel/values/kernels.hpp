// Kernel functions: names, parameters and formulas, and the value of each from an inner product, as host/device
// functors written once for both backends. A new kernel is a functor here with its `function`, a place in AllKernels,
// and a member of KernelType. `A` is the type in which inner products are summed. Values of distances are float; others
// are of type A, so that offsets (kernel_offsets() in table.hpp) are subtracted before they are rounded.
#pragma once

#include <cmath>

#include <sheaf/solvers/svm.hpp>

#include "core/host_device.hpp"

namespace sheaf::kernel {

/// Functors take x'y of two rows and a term of each: its squared norm for kernels of the distance, else its offset,
/// which is subtracted from the value.
template <class A>
struct Linear {
  static constexpr KernelFunction function{
      .type = KernelType::linear, .name = "linear", .title = "linear kernel", .formula = "x'y", .libsvm = 0};

  explicit Linear(const KernelParams&) {}
  SHEAF_HOST_DEVICE A operator()(A dot, A offset, A other) const { return dot - offset - other; }
};

template <class A>
struct Polynomial {
  static constexpr KernelFunction function{.type = KernelType::polynomial,
                                           .name = "polynomial",
                                           .title = "polynomial kernel",
                                           .formula = "(gamma x'y + coef0)^degree",
                                           .has_gamma = true,
                                           .has_degree = true,
                                           .has_coef0 = true,
                                           .libsvm = 1};
  A gamma, coef0;
  int degree;

  explicit Polynomial(const KernelParams& params)
      : gamma(static_cast<A>(params.gamma)), coef0(static_cast<A>(params.coef0)), degree(params.degree) {}
  SHEAF_HOST_DEVICE A operator()(A dot, A offset, A other) const {
    A base = gamma * dot + coef0;
    A result = 1;
    for (int power = degree; power > 0; power /= 2) {
      if (power % 2 == 1) result *= base;
      base *= base;
    }
    return result - offset - other;
  }
};

/// gamma |x - y|^2.
template <class A>
SHEAF_HOST_DEVICE float scaled_distance(A gamma, A dot, A norm, A other_norm) {
  const A distance = norm + other_norm - 2 * dot;
  return static_cast<float>(gamma * (distance > 0 ? distance : A(0)));
}

/// A kernel that is a function `of` the scaled distance t and changes nowhere faster than t: its error is at most that
/// of t.
template <class Kernel>
concept OfDistance = requires(float t) {
  Kernel::of(t);
};

template <class A>
struct Rbf {
  static constexpr KernelFunction function{.type = KernelType::rbf,
                                           .name = "rbf",
                                           .title = "radial basis function",
                                           .formula = "exp(-gamma |x-y|^2)",
                                           .has_gamma = true,
                                           .libsvm = 2};
  A gamma;

  explicit Rbf(const KernelParams& params) : gamma(static_cast<A>(params.gamma)) {}
  SHEAF_HOST_DEVICE static float of(float t) { return std::exp(-t); }
  SHEAF_HOST_DEVICE float operator()(A dot, A norm, A other_norm) const {
    return of(scaled_distance(gamma, dot, norm, other_norm));
  }
};

template <class A>
struct Sigmoid {
  static constexpr KernelFunction function{.type = KernelType::sigmoid,
                                           .name = "sigmoid",
                                           .title = "sigmoid kernel",
                                           .formula = "tanh(gamma x'y + coef0)",
                                           .has_gamma = true,
                                           .has_coef0 = true,
                                           .libsvm = 3};
  A gamma, coef0;

  explicit Sigmoid(const KernelParams& params)
      : gamma(static_cast<A>(params.gamma)), coef0(static_cast<A>(params.coef0)) {}
  SHEAF_HOST_DEVICE A operator()(A dot, A offset, A other) const {
    return std::tanh(gamma * dot + coef0) - offset - other;
  }
};

template <class... Kernels>
struct KernelList {};

template <class A>
using AllKernels = KernelList<Linear<A>, Polynomial<A>, Rbf<A>, Sigmoid<A>>;

template <class Work, class... Kernels>
void with_kernel_of(const KernelParams& params, const Work& work, KernelList<Kernels...> /*all*/) {
  static_cast<void>(((params.type == Kernels::function.type && (work(Kernels(params)), true)) || ...));
}

/// Calls work(functor) with the kernel's functor. Precomputed kernels have none: work is not called.
template <class A, class Work>
void with_kernel(const KernelParams& params, const Work& work) {
  with_kernel_of(params, work, AllKernels<A>{});
}

}  // namespace sheaf::kernel
