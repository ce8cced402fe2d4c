#include "score/ops.hpp"

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::score {

template <class T>
std::unique_ptr<ScoreOps<T>> make_cpu_score_ops(const Context& context, const Truth& truth) {
  return with_instruction_set([&](auto set) { return make_cpu_score_ops_for<decltype(set), T>(context, truth); });
}

template <class T>
std::unique_ptr<ScoreOps<T>> make_score_ops(const Context& context, const Truth& truth) {
  if (context.device().is_cpu()) return make_cpu_score_ops<T>(context, truth);
#if SHEAF_CUDA
  return make_cuda_score_ops<T>(context, truth);
#else
  throw InternalError("a GPU was chosen in a build without CUDA");
#endif
}

template std::unique_ptr<ScoreOps<float>> make_score_ops(const Context&, const Truth&);
template std::unique_ptr<ScoreOps<double>> make_score_ops(const Context&, const Truth&);

}  // namespace sheaf::score
