#include "rescore/confidence/ops.hpp"

#include <sheaf/error.hpp>

namespace sheaf::rescore {

std::unique_ptr<ConfidenceOps> make_confidence_ops(const Context& context, const TrainingRows& rows) {
  if (context.device().is_cpu()) return make_cpu_confidence_ops(context, rows);
#if SHEAF_CUDA
  return make_cuda_confidence_ops(context, rows);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

}  // namespace sheaf::rescore
