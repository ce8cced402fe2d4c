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
  cublasStatus_t (*gemm_ex)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int, const void*,
                            const void*, cudaDataType, int, const void*, cudaDataType, int, const void*, void*,
                            cudaDataType, int, cublasComputeType_t, cublasGemmAlgo_t);
  decltype(&cublasSgemmStridedBatched) sgemm_strided_batched;
  decltype(&cublasDgemmStridedBatched) dgemm_strided_batched;
  decltype(&cublasGetStatusString) status_string;
};

/// Opens the library at the first call and keeps it open; an Error says what to install when it is missing.
const Cublas& cublas();

}  // namespace sheaf::cuda
