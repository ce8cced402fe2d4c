// Local models on CPU cores: a query is one thread's.
#include "neighbors/local/ops.hpp"

#include <algorithm>
#include <vector>

#include "core/instruction_sets.hpp"
#include "core/parallel.hpp"
#include "core/simd.hpp"
#include "neighbors/local/solve.hpp"

namespace sheaf::neighbors {
namespace {

constexpr int width = native_vector_bytes / static_cast<int>(sizeof(double));
using Lane = Lanes<double, width>;
/// Rows and columns of the inner products that are summed side by side.
constexpr int together = 4;

double total(const Lane& lane) {
  double values[width];
  lane.store(values);
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

/// Memory of one thread.
struct Scratch {
  std::vector<double> differences;  // K x padded columns
  std::vector<double> gram, factor;
  std::vector<double> y, slope;
};

class Query {
 public:
  Query(const LocalProblem& problem, Scratch& scratch)
      : problem_(problem),
        scratch_(scratch),
        k_(problem.ks.back()),
        padded_((problem.rows.columns + width - 1) / width * width) {
    const auto count = (k_ + together - 1) / together * together;
    scratch.differences.assign(static_cast<std::size_t>(count * padded_), 0.0);
    scratch.gram.assign(static_cast<std::size_t>(count * count), 0.0);
    scratch.factor.resize(scratch.gram.size());
    scratch.y.resize(static_cast<std::size_t>(k_));
    scratch.slope.resize(static_cast<std::size_t>(k_));
    stride_ = count;
  }

  /// `costs`: ks x lambdas of query q.
  void run(std::int64_t q, double* costs) {
    put_differences(q);
    put_gram();
    double trace = 0;
    for (std::int64_t i = 0; i < k_; ++i) trace += scratch_.gram[static_cast<std::size_t>(i * stride_ + i)];
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

  void put_differences(std::int64_t q) {
    const auto columns = problem_.rows.columns;
    const double* query = problem_.queries.values.data() + q * columns;
    for (std::int64_t i = 0; i < k_; ++i) {
      const auto row = problem_.lists[static_cast<std::size_t>(q * problem_.length + i)];
      const double* from = problem_.rows.values.data() + row * columns;
      double* to = scratch_.differences.data() + i * padded_;
      for (std::int64_t j = 0; j < columns; ++j) to[j] = from[j] - query[j];
    }
  }

  /// The lower triangle, in blocks of together x together.
  void put_gram() {
    for (std::int64_t i = 0; i < k_; i += together)
      for (std::int64_t j = 0; j <= i; j += together) {
        Lane sums[together][together];
        for (auto& row : sums)
          for (auto& sum : row) sum = Lane::zero();
        const double* a = scratch_.differences.data() + i * padded_;
        const double* b = scratch_.differences.data() + j * padded_;
        for (std::int64_t c = 0; c < padded_; c += width)
          for (int r = 0; r < together; ++r)
            for (int s = 0; s < together; ++s) sums[r][s].add_product(a + r * padded_ + c, b + s * padded_ + c);
        for (int r = 0; r < together; ++r)
          for (int s = 0; s < together; ++s)
            scratch_.gram[static_cast<std::size_t>((i + r) * stride_ + j + s)] = total(sums[r][s]);
      }
  }

  void hyperplanes(double lambda, std::size_t l, double* costs) {
    scratch_.factor = scratch_.gram;
    for (std::int64_t i = 0; i < k_; ++i) scratch_.factor[static_cast<std::size_t>(i * stride_ + i)] += lambda;
    factor(scratch_.factor.data(), k_, stride_);
    std::size_t next = 0;
    solve_ones(scratch_.factor.data(), k_, stride_, scratch_.y.data(), [&](std::int64_t i, double squares) {
      if (i + 1 == problem_.ks[next]) cost(next++, l, costs) = 1 / squares;
    });
  }

  void hulls(double lambda, std::size_t l, double* costs) {
    for (std::size_t k = 0; k < problem_.ks.size(); ++k)
      cost(k, l, costs) =
          hull_cost(scratch_.gram.data(), problem_.ks[k], stride_, lambda, scratch_.y.data(), scratch_.slope.data());
  }

  const LocalProblem& problem_;
  Scratch& scratch_;
  std::int64_t k_;
  std::int64_t padded_;
  std::int64_t stride_ = 0;
};

}  // namespace

template <class Set>
void local_costs_cpu(const Context& context, const LocalProblem& problem, std::span<double> costs) {
  const auto each = problem.ks.size() * problem.lambdas.size();
  parallel_ranges(context, problem.queries.rows, 1, [&](Range range) {
    Scratch scratch;
    Query query(problem, scratch);
    for (auto q = range.begin; q < range.end; ++q) query.run(q, costs.data() + static_cast<std::size_t>(q) * each);
  });
}

template void local_costs_cpu<sets::Compiled>(const Context&, const LocalProblem&, std::span<double>);

}  // namespace sheaf::neighbors
