#include "peers/cusparse.hpp"

#include <chrono>
#include <limits>
#include <vector>

#include <cuda_runtime.h>
#include <cusparse.h>

#include "core/fail.hpp"

namespace sheaf::bench {
namespace {

void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS) fail("cuSPARSE: {}", cusparseGetErrorString(status));
}

template <class T>
T* untyped(const T* pointer) {
  return const_cast<T*>(pointer);
}

struct Product {
  cusparseHandle_t handle{};
  cusparseSpMatDescr_t a{};
  cusparseDnMatDescr_t b{};
  cusparseDnMatDescr_t out{};
  cusparseSpMMAlg_t algorithm = CUSPARSE_SPMM_CSR_ALG2;
  Array<std::int32_t> offsets;  // cuSPARSE needs offsets and columns of one width
  Array<char> buffer;

  void use(cusparseSpMMAlg_t next) {
    algorithm = next;
    const float one = 1;
    const float zero = 0;
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a,
                                  b, &zero, out, CUDA_R_32F, algorithm, &bytes));
    buffer = Array<char>(static_cast<std::int64_t>(bytes) + 1, Device::cuda());
    check(cusparseSpMM_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a,
                                  b, &zero, out, CUDA_R_32F, algorithm, buffer.data()));
  }
  void run(int repeats) {
    const float one = 1;
    const float zero = 0;
    for (int r = 0; r < repeats; ++r)
      check(cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, a, b, &zero,
                         out, CUDA_R_32F, algorithm, buffer.data()));
    cudaDeviceSynchronize();
  }
  double seconds() {
    run(3);
    const auto start = std::chrono::steady_clock::now();
    run(10);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  ~Product() {
    cusparseDestroySpMat(a);
    cusparseDestroyDnMat(b);
    cusparseDestroyDnMat(out);
    cusparseDestroy(handle);
  }
};

}  // namespace

std::function<void(int)> cusparse_product(const SparseMatrix<float>& a, BlockView<const float> b,
                                          BlockView<float> out) {
  auto product = std::make_shared<Product>();
  check(cusparseCreate(&product->handle));
  const auto offsets = a.offsets.to(Device::cpu());
  const std::vector<std::int32_t> narrowed(offsets.begin(), offsets.end());
  product->offsets = Array<std::int32_t>::copy_of(narrowed, a.values.device());
  check(cusparseCreateCsr(&product->a, a.rows, a.columns, a.nonzeros(), product->offsets.data(),
                          untyped(a.indices.data()), untyped(a.values.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  check(cusparseCreateDnMat(&product->b, b.rows, b.tasks, b.stride, untyped(b.data), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  check(cusparseCreateDnMat(&product->out, out.rows, out.tasks, out.stride, out.data, CUDA_R_32F, CUSPARSE_ORDER_ROW));
  auto best = CUSPARSE_SPMM_CSR_ALG2;
  double least = std::numeric_limits<double>::infinity();
  for (const auto algorithm : {CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3}) {
    product->use(algorithm);
    const double seconds = product->seconds();
    if (seconds < least) {
      least = seconds;
      best = algorithm;
    }
  }
  product->use(best);
  return [product](int repeats) { product->run(repeats); };
}

}  // namespace sheaf::bench
