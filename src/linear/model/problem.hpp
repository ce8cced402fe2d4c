// A sheaf from a dataset and options, and decision values of blocks of weights: shared by training,
// prediction and the planners above.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <sheaf/solvers/linear.hpp>

#include "core/rounds.hpp"
#include "data/column_transforms.hpp"
#include "data/labels.hpp"

namespace sheaf::linear {

template <class T>
class LinearOps;

struct Problem {
  Labels labels;
  std::vector<double> class_weights;  // one a class
  Sheaf sheaf;                        // one task for each decision value, all over row weights 0
};

/// Labels that do not suit the loss, and class weights of classes that are not there, are Errors.
Problem make_problem(const Context& context, const Target& target, const std::string& source, std::int64_t rows,
                     const LinearOptions& options);

/// One finite number for each row, or none at all; anything else is an Error. With several `class_names` one for each
/// class.
void check_offsets(std::span<const double> offsets, std::int64_t rows, std::span<const std::string> class_names = {});

/// See sheaf::with_defaults(), for weighted rows.
LinearOptions with_weighted_defaults(LinearOptions options, const Target& target, std::span<const float> row_weights);

/// The options with a method chosen, if it was automatic, for so many tasks. A loss or a bias that the method cannot
/// train with is a UsageError.
template <class T>
LinearOptions with_method(const Context& context, const Dataset<T>& dataset, LinearOptions options, std::int64_t tasks);

// Parameters from options whose method is set.
NewtonParams newton_params(const LinearOptions& options);
DualParams dual_params(const LinearOptions& options);

/// The tasks of the sheaf with an L1 penalty in place of the other, as elastic nets; see LinearOptions::penalty.
template <class T>
Fits<T> train_l1(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const LinearOptions& options);

/// Trains all tasks of the sheaf by the method of the options.
template <class T>
Fits<T> train_tasks(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                    const LinearOptions& options);

/// train_linear() on the features after one split's column transforms; its weights belong to those. nullptr: the
/// features as they are.
template <class T>
LinearModel train_seen(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
                       std::span<const float> row_weights, const ColumnTransforms* seen);

/// The model with some of its features; the others must have no weight.
LinearModel keep_features(const LinearModel& model, std::span<const std::int64_t> features);

/// The class that decision values choose, among those with `present` set (empty: all). One value chooses between two.
std::int32_t choose_class(std::span<const double> decisions, std::size_t classes,
                          std::span<const std::uint8_t> present = {});

/// Calls use(round, z) with the decision values of the tasks of each round. `weights` has one row for each feature of
/// the dataset and one for the bias if bias > 0.
template <class T>
using UseDecisions = std::function<void(const Round&, const Block<T>&)>;

/// In CPU memory.
template <class T>
void for_decisions(const Context& context, const Dataset<T>& dataset, const Block<T>& weights, T bias,
                   const UseDecisions<T>& use);

/// The device's verbs may change the decision values of a round before they are used.
template <class T>
using ChangeDecisions = std::function<void(LinearOps<T>&, Block<T>&)>;

/// On the context's device, finished. Rounds hold whole groups of `group` neighbouring tasks and leave `reserved` bytes
/// of the memory free. `seen`: weights are those of its tasks, for features after its transforms.
template <class T>
void for_device_decisions(const Context& context, const Dataset<T>& dataset, const Block<T>& weights, T bias,
                          std::int32_t group, std::int64_t reserved, const UseDecisions<T>& use,
                          const ChangeDecisions<T>& change = {}, const Sheaf* seen = nullptr);

}  // namespace sheaf::linear
