// Snippets on one NVIDIA GPU.
#include <algorithm>
#include <string>
#include <vector>

#include "cuda/check.cuh"
#include "snippets/module.hpp"

namespace sheaf::snippets {
namespace {

constexpr unsigned threads = 256;

/// Machine code in the memory of a GPU.
class LoadedCode {
 public:
  LoadedCode(const std::string& code, int index) {
    const cuda::Current current(index);
    cuda::check(cudaLibraryLoadData(&library_, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                "loading a compiled snippet");
  }
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  ~LoadedCode() { cudaLibraryUnload(library_); }
  cudaKernel_t kernel(const std::string& name) const {
    cudaKernel_t found = nullptr;
    cuda::check(cudaLibraryGetKernel(&found, library_, name.c_str()), "finding a snippet's kernel");
    return found;
  }

 private:
  cudaLibrary_t library_ = nullptr;
};

/// Pointers to the arguments of a launch, whatever their types.
class Arguments {
 public:
  template <class T>
  void add(const T& value) {
    list_.push_back(const_cast<T*>(&value));
  }
  void add(const Operands& operands) {
    for (std::size_t k = 0; k < operands.arrays.size(); ++k) {
      add(operands.arrays[k]);
      add(operands.steps[k]);
    }
  }
  void** data() { return list_.data(); }

 private:
  std::vector<void*> list_;
};

class CudaModule final : public Module {
 public:
  CudaModule(const GpuCode& code, int index) : index_(index), code_(code.code, index), kernel_(code.kernel) {}

  void elementwise(const Context& /*context*/, std::int64_t size, const Operands& operands) const override {
    const long long n = size;
    Arguments arguments;
    arguments.add(n);
    arguments.add(operands);
    const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>((size + threads - 1) / threads, 1, 1 << 16));
    run(kernel_, blocks, threads, 0, arguments);
  }

  void reduce(const Context& context, const arrays::Reach& reach, std::int64_t size, const Operands& operands,
              ElementType type, void* out) const override {
    const dim3 block = reach.by_output == 1 ? dim3(32, threads / 32) : dim3(1, threads);
    const auto wide = static_cast<unsigned>((reach.outputs + block.x - 1) / block.x);
    constexpr std::int64_t enough_blocks = 1024, elements_a_block = 4 * threads;
    const auto parts =
        std::clamp<std::int64_t>(std::min(reach.count / elements_a_block, enough_blocks / std::int64_t{wide}), 1, 1024);
    Array<char> partial(parts > 1 ? parts * reach.outputs * element_size(type) : 0, context.device());
    const long long outputs = reach.outputs, count = reach.count, by_output = reach.by_output, by_step = reach.by_step,
                    n = size;
    void* const first_out = parts > 1 ? partial.data() : out;
    Arguments arguments;
    arguments.add(outputs);
    arguments.add(count);
    arguments.add(by_output);
    arguments.add(by_step);
    arguments.add(n);
    arguments.add(first_out);
    arguments.add(operands);
    run(kernel_, dim3(wide, static_cast<unsigned>(parts)), block, 0, arguments);
    if (parts == 1) return;
    const long long of_parts = parts;
    const void* const from = partial.data();
    Arguments last;
    last.add(outputs);
    last.add(of_parts);
    last.add(from);
    last.add(out);
    run("sheaf_combine_parts", static_cast<unsigned>((reach.outputs + threads - 1) / threads), threads, 0, last);
  }

  void launch(const Context& /*context*/, const KernelShape& shape, std::span<void* const> arguments) const override {
    std::vector<void*> pointers(arguments.begin(), arguments.end());
    run(kernel_, dim3(shape.grid[0], shape.grid[1], shape.grid[2]),
        dim3(shape.block[0], shape.block[1], shape.block[2]), static_cast<std::size_t>(shape.shared_bytes),
        pointers.data());
  }

 private:
  void run(const std::string& name, dim3 grid, dim3 block, std::size_t shared, void** arguments) const {
    const cuda::Current current(index_);
    const cuda::Stream stream;
    const auto kernel = code_.kernel(name);
    if (shared > default_shared)
      cuda::check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                       cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)),
                  "giving a snippet's kernel shared memory");
    cuda::check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, arguments, shared, stream),
                "starting a snippet's kernel");
    stream.synchronize();
  }
  void run(const std::string& name, dim3 grid, dim3 block, std::size_t shared, Arguments& arguments) const {
    run(name, grid, block, shared, arguments.data());
  }

  static constexpr std::size_t default_shared = 48 << 10;  // more must be asked for

  int index_;
  LoadedCode code_;
  std::string kernel_;
};

}  // namespace

std::unique_ptr<Module> load_on_gpu(const GpuCode& code, int index) {
  return std::make_unique<CudaModule>(code, index);
}

std::string architecture_of(int index) {
  int major = 0, minor = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index), "asking a GPU for its kind");
  cuda::check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, index), "asking a GPU for its kind");
  return "sm_" + std::to_string(major) + std::to_string(minor);
}

}  // namespace sheaf::snippets
