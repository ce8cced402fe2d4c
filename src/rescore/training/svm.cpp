// min over w of f(w) = |w|^2 / 2 + sum_i C_i / 2 max(0, 1 - y_i x_i'w)^2, the bias penalised, for a block of tasks.
//
// Newton's method with the generalised Hessian I + sum over support vectors of C_i x_i x_i' (Mangasarian 2002, A finite
// Newton method for classification; Keerthi, DeCoste 2005). f is piecewise quadratic: once a full step changes no
// support vector, it has reached the optimum. Differences from Percolator's L2-SVM-MFN: PSMs have few features, so the
// Hessian is kept and solved with directly instead of by conjugate gradients; it changes only by rows that become or
// cease to be support vectors, few from step to step and from one fit to the next; and one pass over the rows serves
// all tasks of a block.
#include "rescore/training/svm.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sheaf::rescore {
namespace {

constexpr int most_steps = 100;
/// Blocks whose support vectors are stored (4 bytes per PSM each).
constexpr std::size_t most_known = 4;
constexpr double sufficient_decrease = 1e-4;

/// A task on its way.
struct Descent {
  std::vector<double> w, g, step;
  double f = 0;
  double slope = 0;   // g'step
  double length = 1;  // of the step that is tried
  bool done = false;
};

/// step = -(I + H)^-1 g by Cholesky's method; H's lower triangle.
void find_step(std::span<const double> h, Descent& task) {
  const std::size_t d = task.w.size();
  std::vector<double> l(d * d);
  auto& b = task.step;
  b.resize(d);
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = h[i * d + j] + (i == j ? 1 : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= l[i * d + k] * l[j * d + k];
      l[i * d + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / l[j * d + j];
    }
    b[i] = -task.g[i];
    for (std::size_t k = 0; k < i; ++k) b[i] -= l[i * d + k] * b[k];
    b[i] /= l[i * d + i];
  }
  for (std::size_t i = d; i-- > 0;) {
    for (std::size_t k = i + 1; k < d; ++k) b[i] -= l[k * d + i] * b[k];
    b[i] /= l[i * d + i];
  }
  task.slope = std::inner_product(task.g.begin(), task.g.end(), b.begin(), 0.0);
  task.length = 1;
}

/// A step that promises a smaller relative decrease is the last: it is taken unseen, since Newton steps this near the
/// optimum are exact but for a few rows. Sums of floats settle no more.
template <class T>
constexpr double last_decrease = sizeof(T) == sizeof(float) ? 1e-7 : 1e-14;

}  // namespace

template <class T>
Svms<T>::Svms(const Context& context, RescoreOps<T>& ops, std::vector<SvmTask> tasks, std::int32_t first_block,
              std::vector<std::vector<double>> start)
    : context_(context), ops_(ops), tasks_(std::move(tasks)), first_block_(first_block), weights_(std::move(start)) {
  weights_.resize(tasks_.size(), std::vector<double>(static_cast<std::size_t>(ops.weights()), 0.0));
  const auto count = static_cast<std::int32_t>(tasks_.size());
  for (std::int32_t first = 0; first < count; first += most_svms)
    blocks_.push_back({first, std::min(most_svms, count - first), false, {}});
}

template <class T>
const std::vector<std::vector<double>>& Svms<T>::fit() {
  for (std::size_t b = 0; b < blocks_.size(); ++b) fit(blocks_[b], first_block_ + static_cast<std::int32_t>(b));
  return weights_;
}

template <class T>
void Svms<T>::fit(Block& block, std::int32_t number) {
  const auto tasks = static_cast<std::size_t>(block.count);
  const auto d = static_cast<std::size_t>(ops_.weights());
  if (!block.known) {
    ops_.set_svms(number, std::span(tasks_).subspan(static_cast<std::size_t>(block.first), tasks));
    block.hessians.assign(tasks * d * d, 0.0);
    block.known = true;
  }
  std::vector<Descent> descents(tasks);
  std::vector<std::vector<double>> trials(tasks);
  for (std::size_t t = 0; t < tasks; ++t) {
    descents[t].w = weights_[static_cast<std::size_t>(block.first) + t];
    trials[t] = descents[t].w;
  }
  for (int step = 0; step <= most_steps; ++step) {
    context_.check_stop();
    const SvmSums sums = ops_.pass(number, trials, block.hessians);
    bool all_done = true;
    for (std::size_t t = 0; t < tasks; ++t) {
      Descent& task = descents[t];
      if (task.done) continue;
      const double f =
          sums.losses[t] + std::inner_product(trials[t].begin(), trials[t].end(), trials[t].begin(), 0.0) / 2;
      const bool first = step == 0;
      const double allowed = task.f + sufficient_decrease * task.length * task.slope + 1e-12 * std::abs(task.f);
      if (first || f <= allowed || task.length < 1e-6) {
        task.w = trials[t];
        task.f = f;
        task.g.resize(d);
        for (std::size_t j = 0; j < d; ++j) task.g[j] = sums.gradients[t * d + j] + task.w[j];
        const bool exact = !first && task.length == 1 && sums.switched[t] == 0;
        find_step(std::span(block.hessians).subspan(t * d * d, d * d), task);
        const bool last = -task.slope <= last_decrease<T> * std::abs(task.f);
        if (last)
          for (std::size_t j = 0; j < d; ++j) task.w[j] += task.step[j];
        task.done = exact || last;
      } else {
        task.length /= 2;
      }
      all_done = all_done && task.done;
      for (std::size_t j = 0; j < d; ++j) trials[t][j] = task.done ? task.w[j] : task.w[j] + task.length * task.step[j];
    }
    if (all_done) break;
  }
  for (std::size_t t = 0; t < tasks; ++t) weights_[static_cast<std::size_t>(block.first) + t] = descents[t].w;
  if (blocks_.size() > most_known) forget(block, number);
}

template <class T>
void Svms<T>::forget(Block& block, std::int32_t number) {
  if (block.known) ops_.forget_svms(number);
  block = {block.first, block.count, false, {}};
}

template <class T>
void Svms<T>::forget() {
  for (std::size_t b = 0; b < blocks_.size(); ++b) forget(blocks_[b], first_block_ + static_cast<std::int32_t>(b));
}

template class Svms<float>;
template class Svms<double>;

}  // namespace sheaf::rescore
