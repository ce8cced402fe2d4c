// How much arithmetic training and prediction take, roughly: enough to tell a job for a GPU from one that ends before
// the GPU has started. The numbers of passes are those that the benchmarks print, rounded.
#include <sheaf/model.hpp>

namespace sheaf {
namespace {

constexpr double newton_passes = 60;   // products with the matrix and with its transpose
constexpr double lbfgs_passes = 60;    // likewise, of generalised linear models
constexpr double descent_passes = 20;  // epochs of coordinate descent
constexpr double smo_visits = 4;       // of each kernel value

/// Rows are visited one after another: a GPU only gains by many models side by side.
constexpr double many_dual_models = 512;

bool trained_by_dual(const ModelOptions& options, const Target& target) {
  const auto* linear = std::get_if<LinearOptions>(&options);
  if (linear == nullptr || linear->method == LinearMethod::newton) return false;
  return linear->method == LinearMethod::dual ||
         linear_solver(*with_defaults(*linear, target).loss).method == LinearMethod::dual;
}

/// Decision values of a linear model.
double columns_of(const Target& target) {
  return target.class_names.size() > 2 ? static_cast<double>(target.class_names.size()) : target.targets();
}

}  // namespace

template <class T>
WorkEstimate training_work(const Dataset<T>& dataset, const ModelOptions& options, double models, double kernels) {
  const auto entries = static_cast<double>(stored(dataset.x));
  const auto rows = static_cast<double>(dataset.rows());
  WorkEstimate work{0, static_cast<double>(matrix_bytes(dataset.x))};
  if (const auto* knn = std::get_if<KnnOptions>(&options))  // a search finds neighbours `kernels` times
    work.operations = models == 0 || knn->rule == LocalRule::falk_svm ? 2 * kernels * rows * entries : entries;
  else if (std::holds_alternative<SvmOptions>(options))
    work.operations = kernels * rows * entries + models * smo_visits * rows * rows;
  else
    work.operations = 2 * entries * columns_of(dataset.target) * models *
                      (std::holds_alternative<LinearOptions>(options) ? newton_passes
                       : std::holds_alternative<GlmOptions>(options)  ? lbfgs_passes
                                                                      : descent_passes);
  if (trained_by_dual(options, dataset.target) && models * columns_of(dataset.target) < many_dual_models)
    work.operations = 0;
  return work;
}

template <class T>
WorkEstimate prediction_work(const Dataset<T>& dataset, const Model& model) {
  const auto values = model.svm() != nullptr         ? static_cast<double>(model.svm()->support_vectors())
                      : model.neighbors() != nullptr ? static_cast<double>(model.neighbors()->rows())
                                                     : static_cast<double>(model.linear()->columns);
  return {2 * static_cast<double>(stored(dataset.x)) * values, static_cast<double>(matrix_bytes(dataset.x))};
}

template WorkEstimate training_work(const Dataset<float>&, const ModelOptions&, double, double);
template WorkEstimate training_work(const Dataset<double>&, const ModelOptions&, double, double);
template WorkEstimate prediction_work(const Dataset<float>&, const Model&);
template WorkEstimate prediction_work(const Dataset<double>&, const Model&);

}  // namespace sheaf
