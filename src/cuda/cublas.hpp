// cuBLAS, opened when a GPU first needs it: linked, it would cost every start of the program 0.15 s and 200 MB.
#pragma once

#include <cublas_v2.h>

namespace sheaf::cuda {

/// The functions of cuBLAS that we call.
struct Cublas {
  decltype(&cublasCreate) create;
  decltype(&cublasDestroy) destroy;
  decltype(&cublasSetStream) set_stream;
  decltype(&cublasSgemm) sgemm;
  decltype(&cublasDgemm) dgemm;
  decltype(&cublasSgemmStridedBatched) sgemm_strided_batched;
  decltype(&cublasDgemmStridedBatched) dgemm_strided_batched;
  decltype(&cublasGetStatusString) status_string;
};

/// Opens the library at the first call and keeps it open; an Error states what to install if it is missing.
const Cublas& cublas();

}  // namespace sheaf::cuda
