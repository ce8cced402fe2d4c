// SAGA over batches of rows for a block of generalised linear models; see saga.cpp for the method.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/random.hpp"
#include "linear/glm/coordinates.hpp"
#include "linear/glm/descent.hpp"

namespace sheaf::linear {

template <class T>
class Saga final : public Descent<T> {
 public:
  Saga(const Context& context, const Dataset<T>& dataset, Objective<T>& objective, Round round);

  /// Device bytes of one column of a task; in addition the batches have a copy of the dataset.
  static std::int64_t bytes(std::int64_t examples, std::int64_t weights) {
    return descent_bytes<T>(examples, weights, 6) + 3 * examples * static_cast<std::int64_t>(sizeof(T));
  }

 protected:
  std::vector<double> find_directions() override;
  void keep(std::span<const std::int32_t> places) override;
  double default_tolerance() const override { return 1e-5; }

 private:
  /// Some rows, whose losses are those of the objective times the number of batches.
  struct Batch {
    Batch(const Context& context, const Dataset<T>& dataset, const Objective<T>& whole,
          std::span<const std::int32_t> places, double batches);

    Dataset<T> rows;
    GlmSheaf sheaf;
    std::unique_ptr<LinearOps<T>> ops;
    Objective<T> objective;
    Block<T> slopes;  // when the batch was last visited
    Block<T> fresh, z;
  };

  void choose_in_batches(std::span<const std::int32_t> tasks);
  void visit(Batch& batch, const Block<T>& w);
  void load_slopes();
  void run_pass();
  void adapt_rates();
  bool all_converged(const std::vector<double>& measures) const;
  void replace_astray();

  const Context& context_;
  Coordinates<T> coordinates_;
  Random random_;
  std::vector<std::unique_ptr<Batch>> batches_;
  std::vector<double> rates_;  // step lengths in the coordinates, one a task
  int passes_ = 0;
  std::vector<std::uint8_t> astray_;  // whether a task's last pass did not lead down
  Block<T> mean_;                     // of the batches' gradients by their slopes, without the penalty
  Block<T> change_, step_, gradient_, scratch_, iterate_;
};

}  // namespace sheaf::linear
