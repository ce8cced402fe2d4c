#include "cuda/cublas.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <sheaf/error.hpp>

#include "core/gpu_runtime.hpp"

namespace sheaf::cuda {
namespace {

// The file of the version that the headers describe, such as libcublas.so.13; another one may have other signatures.
std::string file_name() { return "libcublas.so." + std::to_string(CUBLAS_VER_MAJOR); }

/// Places to search, in this order: the loader's own, the toolkit the environment names, the one we were built
/// with.
std::vector<std::string> candidates() {
  std::vector<std::string> files{file_name()};
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* folder = std::getenv(variable); folder != nullptr)
      for (const char* sub : {"/lib64/", "/lib/"}) files.push_back(folder + (sub + file_name()));
  files.push_back(SHEAF_CUDA_LIBRARIES "/" + file_name());
  return files;
}

void* open_library() {
  std::string why;
  for (const auto& file : candidates()) {
    if (void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); library != nullptr) return library;
    if (why.empty()) why = dlerror();
  }
  throw Error("the GPU can't be used: cuBLAS was not found (" + why + "); install the CUDA libraries, version " +
              std::to_string(CUBLAS_VER_MAJOR) +
              " (package libcublas), name the toolkit's folder in CUDA_HOME, or use --device cpu");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) throw Error(std::string("cuBLAS has no function ") + name + "; install a newer one");
}

Cublas load() {
  void* library = open_library();
  Cublas table{};
  find(library, "cublasCreate_v2", table.create);
  find(library, "cublasDestroy_v2", table.destroy);
  find(library, "cublasSetStream_v2", table.set_stream);
  find(library, "cublasSgemm_v2", table.sgemm);
  find(library, "cublasDgemm_v2", table.dgemm);
  find(library, "cublasSgemmStridedBatched", table.sgemm_strided_batched);
  find(library, "cublasDgemmStridedBatched", table.dgemm_strided_batched);
  find(library, "cublasGetStatusString", table.status_string);
  return table;
}

}  // namespace

const Cublas& cublas() {
  static const Cublas table = load();
  return table;
}

bool libraries_found() try {
  cublas();
  return true;
} catch (const Error&) {
  return false;
}

}  // namespace sheaf::cuda
