// Compiled snippets that are loaded on a device, and what they can do. Memory is on that device. All verbs have
// finished when they return.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <sheaf/context.hpp>
#include <sheaf/solvers/snippets.hpp>

#include "arrays/functions.hpp"
#include "snippets/compile.hpp"

namespace sheaf::snippets {

/// Arrays that a snippet reads or writes, and how far an element is from the next one: 0 or 1.
struct Operands {
  std::span<void* const> arrays;
  std::span<const long long> steps;
};

class Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  virtual void elementwise(const Context& context, std::int64_t size, const Operands& operands) const = 0;
  /// `out`: an element of `type` for each output of `reach`.
  virtual void reduce(const Context& context, const arrays::Reach& reach, std::int64_t size, const Operands& operands,
                      ElementType type, void* out) const = 0;
  /// `arguments` point to pointers and numbers, as the kernel declares them.
  virtual void launch(const Context& context, const KernelShape& shape, std::span<void* const> arguments) const = 0;
};

std::unique_ptr<Module> load_on_cpu(const HostCode& code);
std::unique_ptr<Module> load_on_gpu(const GpuCode& code, int index);

/// Architecture of a GPU, such as "sm_90".
std::string architecture_of(int index);

}  // namespace sheaf::snippets
