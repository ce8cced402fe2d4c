#include <sheaf/solvers/snippets.hpp>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/fail.hpp"
#include "snippets/declare.hpp"
#include "snippets/module.hpp"

namespace sheaf {
namespace {

using snippets::Module;

std::unique_ptr<Module> compile_on(const SnippetSource& source, Device device) {
  if (device.is_cpu()) return snippets::load_on_cpu(snippets::compile_for_host(source));
#if SHEAF_CUDA
  return snippets::load_on_gpu(snippets::compile_for_gpu(source, snippets::architecture_of(device.index)),
                               device.index);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

/// Every text is compiled and loaded once on each device. Never destroyed: the driver may be gone before us.
const Module& module_of(const SnippetSource& source, Device device) {
  static auto* modules = new std::map<std::string, std::unique_ptr<Module>>();
  static std::mutex mutex;
  const auto& text = device.is_cpu() ? source.host : source.cuda;
  const auto key = snippets::cache_name(text, to_string(device) + source.kernel);
  const std::lock_guard lock(mutex);
  auto& module = (*modules)[key];
  if (!module) module = compile_on(source, device);
  return *module;
}

/// Properties shared by the inputs of one call.
struct Inputs {
  Device device;
  std::int64_t rows = 0, columns = 0;
  std::vector<void*> arrays;
  std::vector<long long> steps;

  std::int64_t size() const { return rows * columns; }
  snippets::Operands operands() const { return {arrays, steps}; }
  void add(const DeviceArray& array, bool stays) {
    arrays.push_back(const_cast<void*>(array.data()));  // NOLINT: one list for what is read and what is written
    steps.push_back(stays ? 0 : 1);
  }
};

void check_type(const DeviceArray& array, const SnippetParameter& parameter) {
  if (array.type() != parameter.type)
    fail_usage("argument '{}': is an array of {}, but was declared {}; convert the array or the declaration",
               parameter.name, to_string(array.type()), to_string(parameter.type));
}

Inputs check_inputs(std::span<const DeviceArray> given, const std::vector<SnippetParameter>& declared) {
  if (given.size() != declared.size())
    fail_usage("the snippet has {} inputs, and {} were given", declared.size(), given.size());
  Inputs inputs;
  bool found = false;
  for (std::size_t k = 0; k < given.size(); ++k) {
    check_type(given[k], declared[k]);
    if (k == 0) inputs.device = given[k].device();
    if (given[k].device() != inputs.device)
      fail_usage("argument '{}': is on {}, and others are on {}; bring all to one device", declared[k].name,
                 to_string(given[k].device()), to_string(inputs.device));
    if (declared[k].pointer || (found && given[k].size() == 1)) continue;
    if (found && inputs.size() != 1 && given[k].size() != inputs.size())
      fail_usage("argument '{}': has {} elements, and others have {}", declared[k].name, given[k].size(),
                 inputs.size());
    inputs.rows = given[k].rows();
    inputs.columns = given[k].columns();
    found = true;
  }
  if (!found) fail_usage("the snippet has no input that says how many elements there are; declare one without 'raw'");
  for (const auto& array : given) inputs.add(array, array.size() == 1);
  return inputs;
}

std::vector<SnippetParameter> without_pointers(std::vector<SnippetParameter> outputs) {
  for (const auto& one : outputs)
    if (one.pointer) fail_usage("argument 'outputs': '{}' can't be raw", one.name);
  return outputs;
}

}  // namespace

ElementwiseSnippet::ElementwiseSnippet(std::string_view inputs, std::string_view outputs, std::string_view body,
                                       const SnippetOptions& options)
    : inputs_(snippets::parse_declarations(inputs, "inputs")),
      outputs_(without_pointers(snippets::parse_declarations(outputs, "outputs"))) {
  for (const auto& one : outputs_)
    if (std::any_of(inputs_.begin(), inputs_.end(), [&](const auto& other) { return other.name == one.name; }))
      fail_usage("argument 'outputs': '{}' is an input too", one.name);
  source_ = std::make_shared<const SnippetSource>(snippets::elementwise_source(inputs_, outputs_, body, options));
}

std::vector<DeviceArray> ElementwiseSnippet::operator()(const Context& context,
                                                        std::span<const DeviceArray> given) const {
  auto inputs = check_inputs(given, inputs_);
  std::vector<DeviceArray> results;
  for (const auto& one : outputs_) {
    results.emplace_back(one.type, inputs.rows, inputs.columns, inputs.device);
    inputs.add(results.back(), false);
  }
  const auto& module = module_of(*source_, inputs.device);
  if (inputs.size() > 0) module.elementwise(context.with({.device = inputs.device}), inputs.size(), inputs.operands());
  return results;
}

void ElementwiseSnippet::compile_for(const std::string& architecture) const {
  snippets::compile_for_gpu(*source_, architecture);
}

ReduceSnippet::ReduceSnippet(std::string_view inputs, std::string_view map, std::string_view combine,
                             std::string_view identity, ElementType type, const SnippetOptions& options)
    : inputs_(snippets::parse_declarations(inputs, "inputs")), type_(type) {
  for (const auto& one : inputs_)
    if (one.name == "a" || one.name == "b")
      fail_usage("argument 'inputs': the name '{}' is taken by the expression that combines", one.name);
  source_ =
      std::make_shared<const SnippetSource>(snippets::reduce_source(inputs_, map, combine, identity, type, options));
}

DeviceArray ReduceSnippet::operator()(const Context& context, std::span<const DeviceArray> given, Margin margin) const {
  const auto inputs = check_inputs(given, inputs_);
  const auto reach = arrays::reach_of(margin, inputs.rows, inputs.columns);
  DeviceArray result(type_, reach.outputs, 1, inputs.device);
  const auto& module = module_of(*source_, inputs.device);
  if (reach.outputs > 0)
    module.reduce(context.with({.device = inputs.device}), reach, inputs.size(), inputs.operands(), type_,
                  result.data());
  return result;
}

void ReduceSnippet::compile_for(const std::string& architecture) const {
  snippets::compile_for_gpu(*source_, architecture);
}

KernelSnippet::KernelSnippet(std::string_view code, std::string_view name, const SnippetOptions& options)
    : parameters_(snippets::parse_kernel(code, name)),
      source_(std::make_shared<const SnippetSource>(snippets::kernel_source(parameters_, code, name, options))) {}

void KernelSnippet::compile_for(const std::string& architecture) const {
  snippets::compile_for_gpu(*source_, architecture);
}

namespace {

/// A kernel's argument in memory, as it was declared.
union Value {
  double float64;
  float float32;
  std::int32_t int32;
  std::uint8_t uint8;
  void* array;
};

Value number_as(double number, const SnippetParameter& parameter) {
  Value value{};
  switch (parameter.type) {
    case ElementType::float64:
      value.float64 = number;
      return value;
    case ElementType::float32:
      value.float32 = static_cast<float>(number);
      return value;
    case ElementType::int32:
      value.int32 = static_cast<std::int32_t>(number);
      break;
    case ElementType::uint8:
      value.uint8 = static_cast<std::uint8_t>(number);
      break;
  }
  const bool same = parameter.type == ElementType::int32 ? value.int32 == number : value.uint8 == number;
  if (!same) fail_usage("argument '{}': {} is no {}", parameter.name, number, to_string(parameter.type));
  return value;
}

void check_shape(const KernelShape& shape) {
  const auto threads = std::int64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  constexpr std::int64_t most_threads = 1024;
  if (threads < 1 || threads > most_threads)
    fail_usage("argument 'block': a block has 1 to {} threads, not {}", most_threads, threads);
  if (std::min({shape.grid[0], shape.grid[1], shape.grid[2]}) < 1)
    fail_usage("argument 'grid': a grid has one block at least in each dimension");
}

}  // namespace

void KernelSnippet::operator()(const Context& context, const KernelShape& shape,
                               std::span<const KernelArgument> given) const {
  check_shape(shape);
  if (given.size() != parameters_.size())
    fail_usage("the kernel has {} parameters, and {} arguments were given", parameters_.size(), given.size());
  Device device = context.device();
  bool found = false;
  std::vector<Value> values(given.size());
  std::vector<void*> pointers;
  for (std::size_t k = 0; k < given.size(); ++k) {
    const auto& parameter = parameters_[k];
    const auto* array = std::get_if<DeviceArray>(&given[k]);
    if ((array != nullptr) != parameter.pointer)
      fail_usage("argument '{}': should be {}", parameter.name, parameter.pointer ? "an array" : "a number");
    if (array != nullptr) {
      check_type(*array, parameter);
      if (found && array->device() != device)
        fail_usage("argument '{}': is on {}, and others are on {}; bring all to one device", parameter.name,
                   to_string(array->device()), to_string(device));
      device = array->device();
      found = true;
      values[k].array = const_cast<void*>(array->data());  // NOLINT: kernels write into arrays
    } else {
      values[k] = number_as(std::get<double>(given[k]), parameter);
    }
    pointers.push_back(&values[k]);
  }
  module_of(*source_, device).launch(context.with({.device = device}), shape, pointers);
}

}  // namespace sheaf
