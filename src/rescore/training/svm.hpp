// Many L2-SVMs over the same PSMs; see svm.cpp for the method.
#pragma once

#include <vector>

#include "rescore/training/ops.hpp"

namespace sheaf::rescore {

/// Trains SVMs and stores the solution of each, so that the next fit, on positives that have changed a little, begins
/// there.
template <class T>
class Svms {
 public:
  /// `first_block`: the first number of a block that no others use. `start`: weights to begin with; empty: zeros.
  Svms(const Context& context, RescoreOps<T>& ops, std::vector<SvmTask> tasks, std::int32_t first_block = 0,
       std::vector<std::vector<double>> start = {});

  /// The optimal weights of every task for the rows' present codes.
  const std::vector<std::vector<double>>& fit();

  /// Drops Hessians and support vectors, so that the next fit depends on nothing but the weights.
  void forget();
  const std::vector<std::vector<double>>& weights() const { return weights_; }

 private:
  /// Tasks that share one look at the rows.
  struct Block {
    std::int32_t first = 0;
    std::int32_t count = 0;
    bool known = false;  // to the verbs, with these Hessians
    std::vector<double> hessians;
  };

  void fit(Block& block, std::int32_t number);
  void forget(Block& block, std::int32_t number);

  const Context& context_;
  RescoreOps<T>& ops_;
  std::vector<SvmTask> tasks_;
  std::int32_t first_block_;
  std::vector<Block> blocks_;
  std::vector<std::vector<double>> weights_;
};

}  // namespace sheaf::rescore
