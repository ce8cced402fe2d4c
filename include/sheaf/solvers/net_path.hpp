// One path of elastic nets that ends by itself, as those of glmnet do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sheaf/solvers/elastic_net.hpp>

namespace sheaf {

/// After which model a path ends, though alphas are left. Shares are of the deviance of the model without features.
struct PathEnd {
  double least_gain = 0;      ///< of the share that is explained, over `models` models; 0: however little it is
  bool relative = false;      ///< the gain is a share of the explained deviance
  std::int32_t models = 1;    ///< over which the gain is taken
  double most_explained = 1;  ///< beyond this share nothing is left to explain
  std::int32_t fewest = 5;    ///< models that a path has at least

  /// `explained` are the shares of the models so far.
  bool reached(std::span<const double> explained) const;
};

struct EndedPath {
  std::vector<NetModel> models;   ///< in the order of alphas and classes, with weights
  std::vector<double> explained;  ///< the share of the deviance, one an alpha
};

/// The smallest alpha at which all weights of nets with these options are 0; see largest_alphas().
template <class T>
double largest_alpha(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
                     std::span<const float> row_weights = {});

/// The models of the only path of a sheaf; see elastic_nets(). Decision values are not computed for all rows unless
/// training needs them.
template <class T>
EndedPath elastic_net_path(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf,
                           const NetParams& params, const PathEnd& end);

}  // namespace sheaf
