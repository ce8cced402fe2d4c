// NVRTC, opened when a GPU's snippet is first compiled. Its functions are declared here, as they have been since CUDA
// 11.1, so that builds without the CUDA toolkit can compile (and test) snippets if the library is installed.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include <dlfcn.h>

#include "core/fail.hpp"
#include "core/temporary.hpp"
#include "snippets/compile.hpp"

namespace sheaf::snippets {
namespace {

using Program = struct ProgramInside*;

struct Nvrtc {
  int (*create)(Program*, const char* text, const char* name, int headers, const char* const*, const char* const*);
  int (*destroy)(Program*);
  int (*compile)(Program, int options, const char* const*);
  int (*add_name)(Program, const char* expression);
  int (*lowered_name)(Program, const char* expression, const char** lowered);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*code_size)(Program, std::size_t*);
  int (*code)(Program, char*);
  const char* (*describe)(int);
};

/// The loader's own places, the toolkit that the environment names, the usual places of toolkits.
std::vector<std::string> candidates() {
  const std::vector<std::string> names{"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"};
  std::vector<std::string> files = names;
  std::vector<std::string> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(variable); folder != nullptr) folders.emplace_back(folder);
  folders.emplace_back("/usr/local/cuda");
  for (const auto& folder : folders)
    for (const char* sub : {"/lib64/", "/lib/"})
      for (const auto& name : names) files.push_back(folder + (sub + name));
  return files;
}

void* open_library() {
  for (const auto& file : candidates())
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
  throw Error(
      "snippets can't be compiled for a GPU: NVRTC was not found; install CUDA's run-time compiler (package "
      "cuda-nvrtc), "
      "name the toolkit's folder in CUDA_HOME, or use --device cpu");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) fail("NVRTC has no function {}; install a newer one", name);
}

Nvrtc load() {
  void* library = open_library();
  Nvrtc table{};
  find(library, "nvrtcCreateProgram", table.create);
  find(library, "nvrtcDestroyProgram", table.destroy);
  find(library, "nvrtcCompileProgram", table.compile);
  find(library, "nvrtcAddNameExpression", table.add_name);
  find(library, "nvrtcGetLoweredName", table.lowered_name);
  find(library, "nvrtcGetProgramLogSize", table.log_size);
  find(library, "nvrtcGetProgramLog", table.log);
  find(library, "nvrtcGetCUBINSize", table.code_size);
  find(library, "nvrtcGetCUBIN", table.code);
  find(library, "nvrtcGetErrorString", table.describe);
  return table;
}

const Nvrtc& nvrtc() {
  static const Nvrtc table = load();
  return table;
}

void check(int status, const char* what) {
  if (status != 0) fail("{}: {}", what, nvrtc().describe(status));
}

class OwnedProgram {
 public:
  explicit OwnedProgram(const std::string& text) {
    check(nvrtc().create(&program_, text.c_str(), "wrapper", 0, nullptr, nullptr), "preparing a snippet");
  }
  OwnedProgram(const OwnedProgram&) = delete;
  OwnedProgram& operator=(const OwnedProgram&) = delete;
  ~OwnedProgram() { nvrtc().destroy(&program_); }
  operator Program() const { return program_; }  // NOLINT(google-explicit-constructor): it is the program

  std::string log() const {
    std::size_t size = 0;
    check(nvrtc().log_size(program_, &size), "reading the compiler's messages");
    std::string text(size, '\0');
    check(nvrtc().log(program_, text.data()), "reading the compiler's messages");
    return text.substr(0, text.find('\0'));
  }

 private:
  Program program_ = nullptr;
};

/// "snippet(2): error: ..." as other compilers write it, without what NVRTC counts at the end.
std::string readable(std::string log) {
  if (const auto end = log.find("\n\n1 error detected"); end != std::string::npos) log.resize(end);
  while (!log.empty() && log.back() == '\n') log.pop_back();
  return log;
}

constexpr const char* compiler_name = "nvrtc";

/// The first line of a file in the cache is the kernel's name.
bool read_cached(const std::string& path, GpuCode& result) {
  std::ifstream file(path, std::ios::binary);
  if (path.empty() || !file || !std::getline(file, result.kernel)) return false;
  result.code.assign(std::istreambuf_iterator<char>(file), {});
  return !result.code.empty();
}

void write_cached(const std::string& path, const GpuCode& result) {
  if (path.empty()) return;
  TemporaryFile file(path);
  std::ofstream(file.path(), std::ios::binary) << result.kernel << '\n' << result.code;
  file.publish();
}

}  // namespace

GpuCode compile_for_gpu(const SnippetSource& source, const std::string& architecture) {
  const auto path =
      cache_path(source.cache_folder, cache_name(source.cuda + source.kernel, compiler_name + architecture) + ".cubin");
  GpuCode result;
  if (read_cached(path, result)) return result;
  const OwnedProgram program(source.cuda);
  check(nvrtc().add_name(program, source.kernel.c_str()), "naming a snippet's kernel");
  const auto target = "--gpu-architecture=" + architecture;
  const std::vector<const char*> options{target.c_str(), "--std=c++17", "--device-as-default-execution-space"};
  const int status = nvrtc().compile(program, static_cast<int>(options.size()), options.data());
  constexpr int does_not_compile = 6;
  if (status == does_not_compile) fail_usage("the snippet does not compile for a GPU:\n{}", readable(program.log()));
  check(status, "compiling a snippet for a GPU");
  const char* lowered = nullptr;
  check(nvrtc().lowered_name(program, source.kernel.c_str(), &lowered), "finding a snippet's kernel");
  result.kernel = lowered;
  std::size_t size = 0;
  check(nvrtc().code_size(program, &size), "reading a compiled snippet");
  result.code.resize(size);
  check(nvrtc().code(program, result.code.data()), "reading a compiled snippet");
  write_cached(path, result);
  return result;
}

}  // namespace sheaf::snippets
