// A sheaf of elastic nets from a dataset and options: shared by training and the search.
#pragma once

#include <span>
#include <vector>

#include <sheaf/solvers/elastic_net.hpp>

#include "linear/model/problem.hpp"

namespace sheaf::linear {

/// Classes and their order are those of other linear models.
struct NetProblem {
  Problem problem;                 // its sheaf's targets are the nets'
  std::vector<float> row_weights;  // those given times those of the classes; empty: all 1
};

/// Options of a linear model that reads its labels, and scores its decision values, as the net does.
LinearOptions scored_as(const NetOptions& options, bool classes);

/// Options as decide_net() returns them. Labels that do not suit, a single class, and weights that are not 0 or more
/// are Errors.
NetProblem make_net_problem(const Context& context, const Target& target, const std::string& source, std::int64_t rows,
                            const NetOptions& options, std::span<const float> row_weights);

/// The option that is the parameter of the options' loss; 0: it has none.
double loss_parameter(const NetOptions& options);

/// One path for each target of the sheaf, or of softmax and grouped penalties one for all; sets the sheaf's classes.
void add_paths(const NetPath& path, const NetOptions& options, NetSheaf& sheaf);

/// Limits of the weights of so many features.
void add_limits(const NetOptions& options, std::int64_t features, NetSheaf& sheaf);

/// Decision values of a loss whose models predict something else (NetLossInfo::responds) become predictions, in place;
/// offsets are added.
template <class T>
void respond(LinearOps<T>& ops, Loss loss, const NetSheaf& sheaf, Block<T>& z);

NetParams net_params(const NetOptions& options);

/// Turns weights of the features into weights of the features after a split's column transforms.
void see_weights(const ColumnTransforms& transforms, std::int32_t split, NetModel& net);

/// Models without a penalty for trained models of a sheaf, in the same order and on the same rows; each has the
/// features that the trained model has in some class. `nets` come with their weights and with all classes of a model
/// side by side. Models without features stay as they are, and so do those with more features than the rows with a
/// weight less 3, which rows would not determine.
template <class T>
std::vector<NetModel> relaxed_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                   const NetParams& params, std::span<const NetModel> nets);
/// `share` of the weights of the penalised model and the rest of those of the relaxed one. Its fit is that of the
/// first, and has converged if both have.
NetModel mix_nets(const NetModel& penalised, const NetModel& relaxed, double share);

/// All models of a sheaf, with weights, relaxed as the options say; in the order of paths, alphas and classes.
template <class T>
std::vector<NetModel> train_nets(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                                 const NetOptions& options);

/// train_net() on the features after one split's column transforms; its weights belong to those. nullptr: the features
/// as they are.
template <class T>
LinearModel train_net_seen(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
                           std::span<const float> row_weights, const ColumnTransforms* seen);
/// The models of descending alphas on the same features and rows, in the order of alphas and decision values, with the
/// weights of some features, ascending.
template <class T>
std::vector<NetModel> net_path_seen(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
                                    std::span<const double> alphas, std::span<const float> row_weights,
                                    const ColumnTransforms* seen, std::span<const std::int32_t> features);

}  // namespace sheaf::linear
