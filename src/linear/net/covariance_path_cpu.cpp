// Selects the datasets that have covariance paths, and prepares the data shared by the paths of one dataset.
#include "core/instruction_sets.hpp"
#include "linear/net/covariance_decisions.hpp"
#include "linear/net/covariance_targets.hpp"
#include "linear/net/covariance_walk.hpp"

namespace sheaf::linear {
namespace {

using covariance::ColumnProducts;
using covariance::SharedProducts;

template <class T>
class CpuCovarianceSolver final : public CovarianceSolver<T> {
 public:
  CpuCovarianceSolver(const Dataset<T>& dataset, int threads)
      : dataset_(dataset), x_(dataset, threads), threads_(threads) {}

  bool serves(Loss loss, std::int32_t classes, bool ridge, bool grouped) const override {
    constexpr std::int64_t most_members = 8192;  // products of so many take 0.5 GB
    constexpr std::int64_t most_target_rows = 1024;
    if (grouped && (loss != Loss::squared || ridge)) return false;
    // Squares of several targets: features that have weights are no more than weights of rows.
    if (grouped) return knows_products_of_targets() || x_.rows() * classes <= most_target_rows;
    constexpr std::int64_t most_features = 16384;
    constexpr std::int64_t most_ridge_features = 1024;
    constexpr std::int64_t most_coupled_features = 256;
    if (loss == Loss::cox && x_.features() > most_coupled_features) return false;
    constexpr std::int64_t most_class_weights = 2048;
    if (loss == Loss::softmax) return x_.features() * classes <= most_class_weights && gradient_is_cheap();
    if (loss != Loss::squared && loss != Loss::logistic && loss != Loss::poisson && loss != Loss::cox) return false;
    if (x_.features() > (ridge ? most_ridge_features : most_features)) return false;
    // A lasso has no more weights than rows.
    return std::min(x_.features(), x_.rows()) <= most_members && gradient_is_cheap();
  }

  void share(Loss loss, std::span<const ModelTask<T>> tasks) override {
    if (loss != Loss::squared || tasks.empty() || !shares_products()) return;
    shared_ = std::make_unique<SharedProducts>(covariance::share_products(x_, tasks, threads_));
  }

  std::unique_ptr<CovariancePath> path(Loss loss, const ModelTask<T>& task,
                                       std::span<const double> intercepts) const override {
    if (loss == Loss::squared && intercepts.size() > 1)
      return std::make_unique<covariance::TargetsWalk<T>>(x_, task, intercepts.size(),
                                                          knows_products_of_targets() ? shared_.get() : nullptr);
    return std::make_unique<covariance::PathWalk<T>>(x_, loss, task, intercepts, shared_.get());
  }

  void decide(std::span<const NetModel> models, std::span<const std::int32_t> rows, BlockView<T> out) const override {
    using covariance::ModelColumns;
    for (std::size_t first = 0; first < models.size(); first += ModelColumns::together) {
      const auto some = models.subspan(first, std::min<std::size_t>(ModelColumns::together, models.size() - first));
      auto part = out;
      part.data += first;
      part.tasks = static_cast<std::int32_t>(some.size());
      ModelColumns(some, x_.features()).decide(dataset_.x, rows, part);
    }
  }

 private:
  /// Products of all features pay if they cost less than looking at all rows for each of 100 models.
  bool shares_products() const {
    constexpr std::int64_t few_features = 1024;
    return x_.features() <= few_features && x_.features() <= 2 * x_.rows();
  }
  /// Whether those of models of several targets are all found.
  bool knows_products_of_targets() const { return shares_products() && x_.features() <= x_.rows(); }
  /// Whether all products of a model with the features cost little beside its own work.
  bool gradient_is_cheap() const {
    constexpr std::int64_t few_entries = 1 << 20;
    return x_.features() <= 4 * x_.rows() || (x_.sparse() && x_.entries() <= few_entries);
  }

  const Dataset<T>& dataset_;
  ColumnProducts<T> x_;
  int threads_;
  std::unique_ptr<SharedProducts> shared_;
};

}  // namespace

template <class Set, class T>
std::unique_ptr<CovarianceSolver<T>> make_covariance_solver_for(const Dataset<T>& dataset, int threads) {
  return std::make_unique<CpuCovarianceSolver<T>>(dataset, threads);
}
template std::unique_ptr<CovarianceSolver<float>> make_covariance_solver_for<sets::Compiled>(const Dataset<float>&,
                                                                                             int);
template std::unique_ptr<CovarianceSolver<double>> make_covariance_solver_for<sets::Compiled>(const Dataset<double>&,
                                                                                              int);

}  // namespace sheaf::linear
