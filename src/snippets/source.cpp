#include "snippets/source.hpp"

#include <regex>

#include <fmt/format.h>

#include "snippets/prologue.hpp"

namespace sheaf::snippets {
namespace {

/// A user's text in its own file, as compilers see it.
std::string quoted(std::string_view file, std::string_view text) {
  return fmt::format("\n#line 1 \"{}\"\n{}\n#line 1 \"wrapper\"\n", file, text);
}

std::string preamble_of(const SnippetOptions& options) {
  return options.preamble.empty() ? std::string() : quoted("preamble", options.preamble);
}

/// ", const double x, double& z": parameters of the function that holds the body.
std::string body_parameters(const std::vector<SnippetParameter>& inputs, const std::vector<SnippetParameter>& outputs) {
  std::string text;
  for (const auto& one : inputs)
    text += fmt::format(", const {}{} {}", to_string(one.type), one.pointer ? "* const" : "", one.name);
  for (const auto& one : outputs) text += fmt::format(", {}& {}", to_string(one.type), one.name);
  return text;
}

/// The arguments of that function for element i: ", sheaf_x[i * sheaf_x_step], sheaf_z[i]".
std::string body_arguments(const std::vector<SnippetParameter>& inputs, const std::vector<SnippetParameter>& outputs) {
  std::string text;
  for (const auto& one : inputs)
    text +=
        one.pointer ? fmt::format(", sheaf_{}", one.name) : fmt::format(", sheaf_{0}[i * sheaf_{0}_step]", one.name);
  for (const auto& one : outputs) text += fmt::format(", sheaf_{}[i]", one.name);
  return text;
}

/// Parameters of the kernel: an array and its step for each, ", const double* sheaf_x, const long long sheaf_x_step".
std::string kernel_parameters(const std::vector<SnippetParameter>& inputs,
                              const std::vector<SnippetParameter>& outputs) {
  std::string text;
  const auto add = [&](const SnippetParameter& one, std::string_view qualifier) {
    text +=
        fmt::format(", {0}{1}* sheaf_{2}, const long long sheaf_{2}_step", qualifier, to_string(one.type), one.name);
  };
  for (const auto& one : inputs) add(one, "const ");
  for (const auto& one : outputs) add(one, "");
  return text;
}

/// The same as variables, from lists of arrays and of steps.
std::string host_variables(const std::vector<SnippetParameter>& inputs, const std::vector<SnippetParameter>& outputs) {
  std::string text;
  std::size_t k = 0;
  const auto add = [&](const SnippetParameter& one, std::string_view qualifier) {
    text += fmt::format("  auto* sheaf_{2} = static_cast<{0}{1}*>(sheaf_arrays[{3}]);\n", qualifier,
                        to_string(one.type), one.name, k);
    text += fmt::format("  [[maybe_unused]] const long long sheaf_{}_step = sheaf_steps[{}];\n", one.name, k);
    ++k;
  };
  for (const auto& one : inputs) add(one, "const ");
  for (const auto& one : outputs) add(one, "");
  return text;
}

/// CUDA gives `extern __shared__` memory by a declaration that C++ has no word for.
std::string with_shared_pointers(std::string_view code) {
  static const std::regex declared(
      R"(extern\s+__shared__\s+([A-Za-z_][A-Za-z0-9_ ]*?)\s+([A-Za-z_][A-Za-z0-9_]*)\s*\[\s*\]\s*;)");
  return std::regex_replace(std::string(code), declared, "$1* $2 = reinterpret_cast<$1*>(sheaf_shared_memory.data());");
}

}  // namespace

SnippetSource elementwise_source(const std::vector<SnippetParameter>& inputs,
                                 const std::vector<SnippetParameter>& outputs, std::string_view body,
                                 const SnippetOptions& options) {
  const auto function = preamble_of(options) +
                        fmt::format("SHEAF_INLINE void sheaf_body(const long long i, const long long n{}) {{{}}}\n",
                                    body_parameters(inputs, outputs), quoted("snippet", body));
  const auto arguments = body_arguments(inputs, outputs);
  SnippetSource source;
  source.cuda = fmt::format(R"({}{}
extern "C" __global__ void sheaf_elementwise(const long long n{}) {{
  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride)
    sheaf_body(i, n{});
}}
)",
                            cuda_prologue, function, kernel_parameters(inputs, outputs), arguments);
  source.host = fmt::format(R"({}{}
extern "C" void sheaf_elementwise(const long long first, const long long last, const long long n,
                                  void* const* sheaf_arrays, const long long* sheaf_steps) {{
{}
  for (long long i = first; i < last; ++i) sheaf_body(i, n{});
}}
)",
                            host_prologue, function, host_variables(inputs, outputs), arguments);
  source.kernel = "sheaf_elementwise";
  source.quoted = {{"snippet", std::string(body)}, {"preamble", options.preamble}};
  source.cache_folder = options.cache_folder;
  return source;
}

SnippetSource reduce_source(const std::vector<SnippetParameter>& inputs, std::string_view map, std::string_view combine,
                            std::string_view identity, ElementType type, const SnippetOptions& options) {
  const auto functions =
      preamble_of(options) + fmt::format(R"(typedef {0} sheaf_type;
SHEAF_INLINE sheaf_type sheaf_map(const long long i, const long long n{1}) {{ return ({2}); }}
SHEAF_INLINE sheaf_type sheaf_combine(const sheaf_type a, const sheaf_type b) {{ return ({3}); }}
SHEAF_INLINE sheaf_type sheaf_identity() {{ return ({4}); }}
)",
                                         to_string(type), body_parameters(inputs, {}), quoted("map", map),
                                         quoted("combine", combine), quoted("identity", identity));
  const auto arguments = body_arguments(inputs, {});
  SnippetSource source;
  // Same scheme as reduce_kernel() in src/arrays/ops_cuda.cu.
  source.cuda = fmt::format(R"({0}{1}
extern "C" __global__ void sheaf_reduce(const long long outputs, const long long count, const long long by_output,
                                        const long long by_step, const long long n, sheaf_type* out{2}) {{
  __shared__ sheaf_type shared[256];
  const long long o = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long each = (count + gridDim.y - 1) / gridDim.y;
  const long long first = blockIdx.y * each;
  const long long last = first + each < count ? first + each : count;
  sheaf_type value = sheaf_identity();
  if (o < outputs)
    for (long long k = first + threadIdx.y; k < last; k += blockDim.y) {{
      const long long i = o * by_output + k * by_step;
      value = sheaf_combine(value, sheaf_map(i, n{3}));
    }}
  const unsigned place = threadIdx.y * blockDim.x + threadIdx.x;
  shared[place] = value;
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {{
    __syncthreads();
    if (threadIdx.y < half) shared[place] = sheaf_combine(shared[place], shared[place + half * blockDim.x]);
  }}
  if (threadIdx.y == 0 && o < outputs) out[blockIdx.y * outputs + o] = shared[place];
}}
extern "C" __global__ void sheaf_combine_parts(const long long outputs, const long long parts,
                                               const sheaf_type* partial, sheaf_type* out) {{
  const long long o = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (o >= outputs) return;
  sheaf_type value = sheaf_identity();
  for (long long p = 0; p < parts; ++p) value = sheaf_combine(value, partial[p * outputs + o]);
  out[o] = value;
}}
)",
                            cuda_prologue, functions, kernel_parameters(inputs, {}), arguments);
  source.host = fmt::format(R"({0}{1}
extern "C" void sheaf_reduce(const long long first_output, const long long last_output, const long long first,
                             const long long last, const long long by_output, const long long by_step,
                             const long long n, void* const* sheaf_arrays, const long long* sheaf_steps,
                             sheaf_type* out) {{
{2}
  const auto add = [&](const long long o, const long long k) {{
    const long long i = o * by_output + k * by_step;
    out[o - first_output] = sheaf_combine(out[o - first_output], sheaf_map(i, n{3}));
  }};
  for (long long o = first_output; o < last_output; ++o) out[o - first_output] = sheaf_identity();
  if (by_output == 1)
    for (long long k = first; k < last; ++k)
      for (long long o = first_output; o < last_output; ++o) add(o, k);
  else
    for (long long o = first_output; o < last_output; ++o)
      for (long long k = first; k < last; ++k) add(o, k);
}}
extern "C" void sheaf_combine_parts(const long long outputs, const long long parts, const sheaf_type* partial,
                                    sheaf_type* out) {{
  for (long long o = 0; o < outputs; ++o) {{
    out[o] = sheaf_identity();
    for (long long p = 0; p < parts; ++p) out[o] = sheaf_combine(out[o], partial[p * outputs + o]);
  }}
}}
)",
                            host_prologue, functions, host_variables(inputs, {}), arguments);
  source.kernel = "sheaf_reduce";
  source.quoted = {{"map", std::string(map)},
                   {"combine", std::string(combine)},
                   {"identity", std::string(identity)},
                   {"preamble", options.preamble}};
  source.cache_folder = options.cache_folder;
  return source;
}

SnippetSource kernel_source(const std::vector<SnippetParameter>& parameters, std::string_view code,
                            std::string_view name, const SnippetOptions& options) {
  std::string arguments;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    arguments += fmt::format("{}*static_cast<{}{}*>(sheaf_arguments[{}])", k == 0 ? "" : ", ",
                             to_string(parameters[k].type), parameters[k].pointer ? "*" : "", k);
  const bool barriers = code.find("__syncthreads") != std::string_view::npos ||
                        options.preamble.find("__syncthreads") != std::string::npos;
  SnippetSource source;
  source.cuda = fmt::format("{}{}{}", cuda_prologue, preamble_of(options), quoted("snippet", code));
  source.host = fmt::format(
      R"({}{}{}{}{}{}
extern "C" void sheaf_kernel(const long long first, const long long last, const unsigned* grid, const unsigned* block,
                             const long long shared_bytes, void* const* sheaf_arguments) {{
  gridDim = {{grid[0], grid[1], grid[2]}};
  blockDim = {{block[0], block[1], block[2]}};
  sheaf_shared_memory.assign(static_cast<std::size_t>(shared_bytes + 7) / 8, 0.0);
  for (long long b = first; b < last; ++b) {{
    blockIdx = sheaf_place(static_cast<unsigned long long>(b), gridDim);
    sheaf_run_block([&] {{ {}({}); }});
  }}
}}
)",
      host_kernel_includes, host_prologue, host_kernel_prologue, barriers ? host_barrier_block : host_plain_block,
      with_shared_pointers(preamble_of(options)), quoted("snippet", with_shared_pointers(code)), name, arguments);
  source.kernel = name;
  source.quoted = {{"snippet", std::string(code)}, {"preamble", options.preamble}};
  source.cache_folder = options.cache_folder;
  return source;
}

}  // namespace sheaf::snippets
