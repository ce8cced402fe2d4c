// The objectives of a block of generalised linear models over the verbs of a device, as the solvers of this folder use
// them. A task has columns() neighbouring columns in every block; vectors of numbers are one a task.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/glm.hpp>

#include "linear/products/ops.hpp"

namespace sheaf::linear {

/// Adds each row's offset, or those of the columns of a task, to the decision values of all tasks; done when the call
/// returns.
template <class T>
void add_offsets(LinearOps<T>& ops, std::span<const double> offsets, Block<T>& z);

template <class T>
class Objective {
 public:
  /// Loads the tables of the sheaf. All must outlive it. Losses are divided by the sums of the row weights, or by
  /// `weight_sums`, one for each column of row weights.
  Objective(LinearOps<T>& ops, const GlmSheaf& sheaf, const GlmParams& params, std::vector<double> weight_sums = {});

  LinearOps<T>& ops() const { return ops_; }
  const GlmSheaf& sheaf() const { return sheaf_; }
  const GlmParams& params() const { return params_; }
  std::int32_t columns() const { return params_.columns; }
  const std::vector<double>& weight_sums() const { return weight_sums_; }
  bool multinomial() const { return params_.columns > 1; }
  bool cox() const { return params_.loss == Loss::cox && !multinomial(); }

  /// From now on blocks hold these tasks of the sheaf, which may be named several times.
  void choose(std::span<const std::int32_t> tasks);
  std::size_t tasks() const { return alphas_.size(); }
  const std::vector<double>& alphas() const { return alphas_; }
  /// A block of zeros for the chosen tasks.
  Block<T> examples_block() const;
  Block<T> weights_block() const;
  /// The rows of a block of weights that the penalty counts: all but the intercept.
  BlockView<T> penalised(Block<T>& block) const;

  /// Mean losses at z + step into `values`, with the derivatives of each row's term; `second`: curvatures;
  /// probabilities for multinomial models; exponentials for Cox models. Computed for the wanted tasks alone.
  void losses(BlockView<const T> z, BlockView<const T> step, Wanted wanted, std::span<double> values,
              BlockView<T> slopes, BlockView<T> second) const;
  /// q becomes the second derivatives of the losses times q; `second` as losses() had it.
  void curvature(const Block<T>& second, Block<T>& q) const;
  /// `second` becomes the second derivatives of each row's term in each decision value by itself; not of Cox models.
  void own_curvatures(Block<T>& second) const;
  /// out[k * tasks() + t]: the k-th inner product of all columns of task t.
  std::vector<double> dots(std::span<const Dot<T>> products) const;
  /// b_t = alpha[t] a_t + beta[t] b_t.
  void combine(std::span<const double> alpha, BlockView<const T> a, std::span<const double> beta, BlockView<T> b) const;
  /// out_t = the sum over k of factors[k * tasks() + t] blocks[k]_t.
  void combine_all(std::span<const double> factors, std::span<const BlockView<const T>> blocks, BlockView<T> out) const;
  /// z = X w and the offsets.
  void apply(const Block<T>& w, Block<T>& z) const;
  /// g = X' slopes + alpha w, the gradient.
  void gradient(const Block<T>& slopes, Block<T>& w, Block<T>& g) const;

  /// One value for each column of a task.
  template <class Value>
  std::vector<Value> per_column(std::span<const Value> per_task) const {
    std::vector<Value> result;
    for (const Value value : per_task) result.insert(result.end(), static_cast<std::size_t>(columns()), value);
    return result;
  }
  /// Columns of blocks of the tasks at these places.
  std::vector<std::int32_t> columns_of(std::span<const std::int32_t> places) const;

  /// The model without features: intercepts (one a column), and the mean curvature there.
  struct Null {
    std::vector<double> intercepts;
    double curvature = 1;
  };
  Null null_model(std::int32_t task) const;

 private:
  LinearOps<T>& ops_;
  const GlmSheaf& sheaf_;
  const GlmParams& params_;
  std::vector<double> weight_sums_;  // the divisors of losses, for each column of row weights
  std::vector<std::int32_t> chosen_;
  std::vector<double> alphas_;
};

}  // namespace sheaf::linear
