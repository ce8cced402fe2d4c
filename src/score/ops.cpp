#include "score/ops.hpp"

#include <algorithm>

#include <sheaf/error.hpp>

#include "core/instruction_sets.hpp"

namespace sheaf::score {

std::int64_t TestRows::largest() const {
  std::int64_t most = 0;
  for (std::int32_t test = 0; test < count(); ++test) most = std::max(most, size(test));
  return most;
}

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
