// Local SVMs on CPU cores: a neighbourhood is one thread's.
#include "neighbors/local/svm.hpp"

#include <atomic>
#include <cmath>
#include <vector>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "neighbors/local/gram_cpu.hpp"
#include "neighbors/local/smo.hpp"

namespace sheaf::neighbors {
namespace {

/// Kernel values of some rows, side by side.
struct Part {
  const double* values;
  std::int64_t n;
  double operator()(int s, int t) const { return values[s * n + t]; }
};

/// A team of one core.
class OneCore {
 public:
  explicit OneCore(std::vector<double>& memory) : memory_(memory) {}

  template <class Work>
  void each(int n, const Work& work) const {
    for (int t = 0; t < n; ++t) work(t);
  }
  template <class Visit>
  Choice choose(int n, const Visit& visit) const {
    Choice choice;
    for (int t = 0; t < n; ++t) visit(t, choice);
    return choice;
  }
  template <class Work>
  void once(const Work& work) const {
    work();
  }
  Part part(const double* matrix, std::int64_t stride, const int* rows, int n) const {
    for (int s = 0; s < n; ++s)
      for (int t = 0; t < n; ++t) memory_[static_cast<std::size_t>(s * n + t)] = matrix[rows[s] * stride + rows[t]];
    return {memory_.data(), n};
  }

 private:
  std::vector<double>& memory_;
};

/// The neighbourhoods of one thread.
class Neighborhood {
 public:
  explicit Neighborhood(const LocalSvmProblem& problem)
      : problem_(problem),
        k_(problem.ks.back()),
        gram_(k_, problem.rows.columns),
        matrix_(static_cast<std::size_t>(k_ * k_)),
        part_(matrix_.size()),
        vectors_(static_cast<std::size_t>(4 * k_)),
        rows_(static_cast<std::size_t>(k_)),
        counts_(static_cast<std::size_t>(problem.class_count)) {}

  /// `values`: of the points of neighbourhood p. How many SVMs did not converge.
  std::int64_t run(std::int64_t p, double* values) {
    const auto at = static_cast<std::size_t>(p);
    list_ = problem_.lists.subspan(static_cast<std::size_t>(p * problem_.length), static_cast<std::size_t>(k_));
    first_point_ = problem_.offsets[at];
    points_ = static_cast<int>(problem_.offsets[at + 1] - first_point_);
    if (points_ == 0) return 0;
    const auto size = static_cast<std::size_t>(points_) * problem_.settings() * counts_.size();
    wins_.resize(size);
    if (!all_agree()) {
      gram_.compute(problem_.rows, list_, problem_.centres.values.data() + p * problem_.centres.columns);
      put_point_products(p);
    }
    point_kernels_.resize(static_cast<std::size_t>(points_ * k_));
    std::int64_t failed = 0;
    for (std::size_t g = 0; g < problem_.gammas.size(); ++g) failed += run_gamma(g, values);
    return failed;
  }

 private:
  bool all_agree() const {
    const auto first = class_of(list_[0]);
    for (const auto row : list_)
      if (class_of(row) != first) return false;
    return true;
  }
  std::int32_t class_of(std::int32_t row) const { return problem_.classes[static_cast<std::size_t>(row)]; }

  /// Computes the inputs of the points' kernels: products with the rows less the centre or, for an RBF kernel, squared
  /// distances.
  void put_point_products(std::int64_t p) {
    const auto columns = problem_.rows.columns;
    const double* centre = problem_.centres.values.data() + p * columns;
    products_.resize(static_cast<std::size_t>(points_ * k_));
    for (int i = 0; i < points_; ++i) {
      const double* point = problem_.points.values.data() + (first_point_ + i) * columns;
      for (std::int64_t t = 0; t < k_; ++t) {
        const double* row = gram_.difference(t);
        double sum = 0;
        for (std::int64_t j = 0; j < columns; ++j) {
          const double apart = point[j] - centre[j];
          sum += problem_.kernel == LocalKernel::linear ? row[j] * apart : (row[j] - apart) * (row[j] - apart);
        }
        products_[static_cast<std::size_t>(i * k_ + t)] = sum;
      }
    }
  }

  std::int64_t run_gamma(std::size_t g, double* values) {
    if (!all_agree()) put_kernels(problem_.gammas[g]);
    const SvmSettings settings{problem_.classes.data(),
                               problem_.weights.empty() ? nullptr : problem_.weights.data(),
                               problem_.class_count,
                               problem_.costs.data(),
                               static_cast<int>(problem_.costs.size()),
                               problem_.tolerance};
    const SvmKernels kernels{matrix_.data(), point_kernels_.data(), k_, points_};
    double* memory = vectors_.data();
    const SvmScratch scratch{counts_.data(), rows_.data(), {memory, memory + k_, memory + 2 * k_, memory + 3 * k_}};
    const auto classes = static_cast<std::int64_t>(counts_.size());
    const auto costs = static_cast<std::int64_t>(problem_.costs.size());
    std::int64_t failed = 0;
    for (std::size_t n = 0; n < problem_.ks.size(); ++n) {
      const auto first = static_cast<std::int64_t>(n * problem_.gammas.size() + g) * costs * classes;
      const SvmOutput output{values + first, wins_.data() + first,
                             static_cast<std::int64_t>(problem_.settings()) * classes, classes};
      failed += decide_by_pairs(OneCore(part_), settings, list_.data(), static_cast<int>(problem_.ks[n]), kernels,
                                scratch, output);
    }
    return failed;
  }

  void put_kernels(double gamma) {
    const bool linear = problem_.kernel == LocalKernel::linear;
    for (std::int64_t i = 0; i < k_; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        const double product = gram_.at(i, j);
        const double value = linear ? product : rbf_of_products(gamma, gram_.at(i, i), gram_.at(j, j), product);
        matrix_[static_cast<std::size_t>(i * k_ + j)] = value;
        matrix_[static_cast<std::size_t>(j * k_ + i)] = value;
      }
    for (std::size_t n = 0; n < products_.size(); ++n)
      point_kernels_[n] = linear ? products_[n] : std::exp(-gamma * products_[n]);
  }

  const LocalSvmProblem& problem_;
  std::int64_t k_;
  GramCpu gram_;
  std::vector<double> matrix_, part_, vectors_;
  std::vector<int> rows_, counts_, wins_;
  std::vector<double> products_, point_kernels_;  // points x k
  std::span<const std::int32_t> list_;
  std::int64_t first_point_ = 0;
  int points_ = 0;
};

}  // namespace

template <class Set>
std::int64_t local_svm_values_cpu(const Context& context, const LocalSvmProblem& problem, std::span<double> values) {
  const auto each = problem.settings() * static_cast<std::size_t>(problem.class_count);
  std::atomic<std::int64_t> failed = 0;
  parallel_ranges(context, problem.centres.rows, 1, [&](Range range) {
    Neighborhood neighborhood(problem);
    std::int64_t mine = 0;
    for (auto p = range.begin; p < range.end; ++p)
      mine += neighborhood.run(
          p, values.data() + static_cast<std::size_t>(problem.offsets[static_cast<std::size_t>(p)]) * each);
    failed += mine;
  });
  return failed;
}

template std::int64_t local_svm_values_cpu<sets::Compiled>(const Context&, const LocalSvmProblem&, std::span<double>);

}  // namespace sheaf::neighbors
