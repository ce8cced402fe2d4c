// Snippets on the cores: functions of a shared object, called for parts of the elements, outputs or blocks.
#include <algorithm>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "snippets/module.hpp"

namespace sheaf::snippets {
namespace {

using Number = long long;
using Elementwise = void (*)(Number first, Number last, Number n, void* const* arrays, const Number* steps);
using Reduce = void (*)(Number first_output, Number last_output, Number first, Number last, Number by_output,
                        Number by_step, Number n, void* const* arrays, const Number* steps, void* out);
using CombineParts = void (*)(Number outputs, Number parts, const void* partial, void* out);
using Kernel = void (*)(Number first, Number last, const unsigned* grid, const unsigned* block, Number shared_bytes,
                        void* const* arguments);

constexpr std::int64_t grain = 1 << 13;

class CpuModule final : public Module {
 public:
  explicit CpuModule(const HostCode& code) : library_(dlopen(code.path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (code.temporary) unlink(code.path.c_str());
    if (library_ == nullptr) fail("a compiled snippet can't be loaded: {}", dlerror());
  }
  ~CpuModule() override { dlclose(library_); }

  void elementwise(const Context& context, std::int64_t size, const Operands& operands) const override {
    const auto function = find<Elementwise>("sheaf_elementwise");
    parallel_ranges(context, size, grain, [&](Range range) {
      function(range.begin, range.end, size, operands.arrays.data(), operands.steps.data());
    });
  }

  /// By parts whose size depends on the shape alone, so that results are the same for any number of threads.
  void reduce(const Context& context, const arrays::Reach& reach, std::int64_t size, const Operands& operands,
              ElementType type, void* out) const override {
    const auto function = find<Reduce>("sheaf_reduce");
    const auto width = element_size(type);
    const auto call = [&](Range outputs, Range steps, char* to) {
      function(outputs.begin, outputs.end, steps.begin, steps.end, reach.by_output, reach.by_step, size,
               operands.arrays.data(), operands.steps.data(), to);
    };
    const std::int64_t parts = std::max<std::int64_t>((reach.count + grain - 1) / grain, 1);
    if (reach.outputs > 1 || parts == 1) {
      const auto each = std::max<std::int64_t>(grain / std::max<std::int64_t>(reach.count, 1), 1);
      return parallel_ranges(context, reach.outputs, each, [&](Range outputs) {
        call(outputs, {0, reach.count}, static_cast<char*>(out) + outputs.begin * width);
      });
    }
    Array<char> partial(parts * width);
    parallel_for(context, parts, [&](std::int64_t part) {
      call({0, 1}, part_of(reach.count, parts, part), partial.data() + part * width);
    });
    find<CombineParts>("sheaf_combine_parts")(1, parts, partial.data(), out);
  }

  void launch(const Context& context, const KernelShape& shape, std::span<void* const> arguments) const override {
    const auto function = find<Kernel>("sheaf_kernel");
    const auto blocks = std::int64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
    parallel_ranges(context, blocks, 1, [&](Range range) {
      function(range.begin, range.end, shape.grid.data(), shape.block.data(), shape.shared_bytes, arguments.data());
    });
  }

 private:
  template <class Function>
  Function find(const char* name) const {
    void* found = dlsym(library_, name);
    require(found != nullptr, "a compiled snippet has no such function");
    return reinterpret_cast<Function>(found);
  }

  void* library_;
};

}  // namespace

std::unique_ptr<Module> load_on_cpu(const HostCode& code) { return std::make_unique<CpuModule>(code); }

}  // namespace sheaf::snippets
