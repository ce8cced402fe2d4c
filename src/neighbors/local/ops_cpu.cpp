// Local models on CPU cores: a query is one thread's.
#include "neighbors/local/ops.hpp"

#include <algorithm>
#include <vector>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "neighbors/local/gram_cpu.hpp"
#include "neighbors/local/solve.hpp"

namespace sheaf::neighbors {
namespace {

/// The queries of one thread.
class Query {
 public:
  explicit Query(const LocalProblem& problem)
      : problem_(problem),
        k_(problem.ks.back()),
        gram_(k_, problem.rows.columns),
        stride_(gram_.stride()),
        factor_(static_cast<std::size_t>(stride_ * stride_)),
        y_(static_cast<std::size_t>(k_)),
        slope_(y_.size()) {}

  /// `costs`: ks x lambdas of query q.
  void run(std::int64_t q, double* costs) {
    gram_.compute(problem_.rows,
                  problem_.lists.subspan(static_cast<std::size_t>(q * problem_.length), static_cast<std::size_t>(k_)),
                  problem_.queries.values.data() + q * problem_.queries.columns);
    double trace = 0;
    for (std::int64_t i = 0; i < k_; ++i) trace += gram_.at(i, i);
    const double least = least_regular * (trace > 0 ? trace / static_cast<double>(k_) : 1);
    for (std::size_t l = 0; l < problem_.lambdas.size(); ++l) {
      const double lambda = std::max(problem_.lambdas[l], least);
      if (problem_.rule == LocalRule::convex_hull)
        hulls(lambda, l, costs);
      else
        hyperplanes(lambda, l, costs);
    }
  }

 private:
  double& cost(std::size_t k, std::size_t lambda, double* costs) const {
    return costs[k * problem_.lambdas.size() + lambda];
  }

  void hyperplanes(double lambda, std::size_t l, double* costs) {
    std::copy_n(gram_.values(), factor_.size(), factor_.begin());
    for (std::int64_t i = 0; i < k_; ++i) factor_[static_cast<std::size_t>(i * stride_ + i)] += lambda;
    factor(factor_.data(), k_, stride_);
    std::size_t next = 0;
    solve_ones(factor_.data(), k_, stride_, y_.data(), [&](std::int64_t i, double squares) {
      if (i + 1 == problem_.ks[next]) cost(next++, l, costs) = 1 / squares;
    });
  }

  void hulls(double lambda, std::size_t l, double* costs) {
    for (std::size_t k = 0; k < problem_.ks.size(); ++k)
      cost(k, l, costs) = hull_cost(gram_.values(), problem_.ks[k], stride_, lambda, y_.data(), slope_.data());
  }

  const LocalProblem& problem_;
  std::int64_t k_;
  GramCpu gram_;
  std::int64_t stride_;
  std::vector<double> factor_, y_, slope_;
};

}  // namespace

template <class Set>
void local_costs_cpu(const Context& context, const LocalProblem& problem, std::span<double> costs) {
  const auto each = problem.ks.size() * problem.lambdas.size();
  parallel_ranges(context, problem.queries.rows, 1, [&](Range range) {
    Query query(problem);
    for (auto q = range.begin; q < range.end; ++q) query.run(q, costs.data() + static_cast<std::size_t>(q) * each);
  });
}

template void local_costs_cpu<sets::Compiled>(const Context&, const LocalProblem&, std::span<double>);

}  // namespace sheaf::neighbors
