#include <sheaf/model.hpp>

#include "family/family.hpp"

namespace sheaf {

template <class T>
WorkEstimate training_work(const Dataset<T>& dataset, const ModelOptions& options, double models) {
  return options.family().training_work(options, summary_of(dataset), models);
}

template <class T>
WorkEstimate prediction_work(const Dataset<T>& dataset, const Model& model) {
  return {2 * static_cast<double>(stored(dataset.x)) * model.trained().products_per_value(),
          static_cast<double>(matrix_bytes(dataset.x))};
}

template WorkEstimate training_work(const Dataset<float>&, const ModelOptions&, double);
template WorkEstimate training_work(const Dataset<double>&, const ModelOptions&, double);
template WorkEstimate prediction_work(const Dataset<float>&, const Model&);
template WorkEstimate prediction_work(const Dataset<double>&, const Model&);

}  // namespace sheaf
