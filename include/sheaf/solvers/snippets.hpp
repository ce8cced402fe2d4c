// Snippets of CUDA C++ that are compiled at run time, for one GPU or, from the same text, for the CPU.
//
//   ElementwiseSnippet f("double x, double y", "double z", "z = exp(x) * y;");
//   auto z = f(context, {{x, y}});
//
// On a GPU NVRTC compiles them, which is opened when it is first needed; on the CPU the system's C++ compiler does: the
// one that the environment variable CXX names, else c++. Nothing falls back from one to the other. Compiled snippets
// are kept in memory, and in a folder if one is given. A snippet that does not compile is a UsageError with the
// compiler's words, the line of the snippet and a caret below the place.
//
// Parameters are declared as in C++: double, float, int or unsigned char and a name. Arrays must be of the declared
// types, and all on one device, on which the work is done and the results are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/solvers/device_array.hpp>

namespace sheaf {

struct SnippetOptions {
  std::string preamble = {};      ///< functions and constants, placed before the snippet
  std::string cache_folder = {};  ///< keeps compiled code for other processes; empty: none
};

/// A declared parameter.
struct SnippetParameter {
  ElementType type = ElementType::float64;
  std::string name;
  bool pointer = false;  ///< a whole array: declared with "raw", or as a pointer of a kernel
};

/// Source texts of a snippet for both compilers, shared by its three kinds.
struct SnippetSource;

/// A function of the elements of arrays, such as "z = exp(x) * y;".
class ElementwiseSnippet {
 public:
  /// The body has the inputs, the outputs, the number i of the element and the number n of all. Of "raw" inputs it has
  /// the whole array: "raw double table".
  ElementwiseSnippet(std::string_view inputs, std::string_view outputs, std::string_view body,
                     const SnippetOptions& options = {});
  const std::vector<SnippetParameter>& inputs() const { return inputs_; }
  const std::vector<SnippetParameter>& outputs() const { return outputs_; }
  /// Inputs of one element serve all elements; the others (but for raw ones) have the same size. Outputs have the shape
  /// of the first of these.
  std::vector<DeviceArray> operator()(const Context& context, std::span<const DeviceArray> inputs) const;
  /// Compiles for a GPU that need not be there, such as "sm_90".
  void compile_for(const std::string& architecture) const;

 private:
  std::vector<SnippetParameter> inputs_, outputs_;
  std::shared_ptr<const SnippetSource> source_;
};

/// A fold of the elements of arrays: map("x * x"), then combine("a + b") in an order that is the same every time.
class ReduceSnippet {
 public:
  /// `map` has the inputs, i and n; `combine` has a and b, results of type `type`, and must not depend on their order;
  /// `identity` changes nothing when combined.
  ReduceSnippet(std::string_view inputs, std::string_view map, std::string_view combine, std::string_view identity,
                ElementType type = ElementType::float64, const SnippetOptions& options = {});
  const std::vector<SnippetParameter>& inputs() const { return inputs_; }
  DeviceArray operator()(const Context& context, std::span<const DeviceArray> inputs,
                         Margin margin = Margin::all) const;
  void compile_for(const std::string& architecture) const;

 private:
  std::vector<SnippetParameter> inputs_;
  ElementType type_;
  std::shared_ptr<const SnippetSource> source_;
};

/// How many blocks, and how many threads in each, by dimension; and bytes of `extern __shared__` memory.
struct KernelShape {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::int64_t shared_bytes = 0;
};

using KernelArgument = std::variant<DeviceArray, double>;

/// A kernel: `__global__ void name(...)`. On the CPU the threads of a block take turns between barriers
/// (__syncthreads()); functions of warps are not available.
class KernelSnippet {
 public:
  KernelSnippet(std::string_view code, std::string_view name, const SnippetOptions& options = {});
  const std::vector<SnippetParameter>& parameters() const { return parameters_; }
  /// Writes into the arrays. Returns when all blocks have finished.
  void operator()(const Context& context, const KernelShape& shape, std::span<const KernelArgument> arguments) const;
  void compile_for(const std::string& architecture) const;

 private:
  std::vector<SnippetParameter> parameters_;
  std::shared_ptr<const SnippetSource> source_;
};

}  // namespace sheaf
