// SVMs with a kernel in the search: a point is a cost and what the kernel has of gamma and degree; models of one kernel
// share its values.
#include "search/families/svm.hpp"

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "search/families/values.hpp"
#include "search/family.hpp"

namespace sheaf::engine {
namespace {

constexpr std::int64_t decisions_share = 8;  // decision values may take this part of the memory
// A batch is what a kill can lose; beyond so many tasks sharing gains little more.
constexpr std::int64_t most_tasks = 4096;

bool has_gamma(KernelType kernel) { return kernel_function(kernel).has_gamma; }
bool has_degree(KernelType kernel) { return kernel_function(kernel).has_degree; }

std::vector<double> powers_of_two(int from, int to, int step) {
  std::vector<double> values;
  for (int k = from; k <= to; k += step) values.push_back(std::exp2(k));
  return values;
}

/// Half the mean squared distance of two rows: the sum of all variances.
template <class T>
double spread_of(const Dataset<T>& dataset) {
  const auto rows = static_cast<double>(dataset.rows());
  std::vector<double> sums(static_cast<std::size_t>(dataset.features()), 0.0);
  double squares = 0;
  const auto add = [&](std::int64_t column, T value) {
    sums[static_cast<std::size_t>(column)] += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
  };
  if (const auto* dense = std::get_if<DenseMatrix<T>>(&dataset.x)) {
    for (std::int64_t k = 0; k < dense->values.size(); ++k) add(k % dense->columns, dense->values[k]);
  } else {
    const auto& sparse = std::get<SparseMatrix<T>>(dataset.x);
    for (std::int64_t k = 0; k < sparse.values.size(); ++k) add(sparse.indices[k], sparse.values[k]);
  }
  double spread = squares / rows;
  for (const double sum : sums) spread -= sum / rows * (sum / rows);
  return spread;
}

/// Around the gamma that the distances between rows suggest.
template <class T>
double middle_gamma(const Dataset<T>& dataset) {
  const double spread = spread_of(dataset);
  return spread > 0 && std::isfinite(spread) ? std::round(-std::log2(2 * spread)) : 0;
}

/// Whether costs and gammas are found from the data, ever finer near the best.
bool is_open(const SvmSearch& search) { return search.costs.empty() && search.gammas.empty() && !search.easy; }

template <class T>
Space space_of(const Dataset<T>& dataset, const SvmSearch& search) {
  const bool open = is_open(search);
  const auto kernel = search.options.kernel;
  std::vector<SearchAxis> axes{{"cost", "C"}};
  std::vector<std::vector<double>> values{search.costs};
  std::vector<Refinement> finer{refinement_of(search.costs)};
  if (open && search.options.kind == SvmKind::nu_svc) values[0] = {1};
  if (open && search.options.kind != SvmKind::nu_svc) {
    values[0] = powers_of_two(-4, 8, 4);
    finer[0] = {-8, 16, 4};
  }
  if (has_gamma(kernel)) {
    axes.push_back({"gamma", "gamma"});
    values.push_back(search.gammas);
    finer.push_back(refinement_of(search.gammas));
    if (open) {
      const double middle = middle_gamma(dataset);
      for (const double step : {-8, -4, 0, 4}) values.back().push_back(std::exp2(middle + step));
      finer.back() = {middle - 16, middle + 12, 4};
    }
  }
  if (has_degree(kernel)) {
    axes.push_back({"degree", "degree", false, false});
    values.emplace_back(search.degrees.begin(), search.degrees.end());
    finer.emplace_back();
  }
  auto space = product_space(std::move(axes), values);
  space.finer = std::move(finer);
  space.halvings = search.refine;
  return space;
}

template <class T>
class SvmFamily : public Family {
 public:
  SvmFamily(const Dataset<T>& dataset, const SvmSearch& search, const SearchOptions& options)
      : dataset_(dataset),
        search_(search),
        row_weights_(options.row_weights),
        labels_(kernel::make_svm_labels(dataset.target, dataset.source, dataset.rows(), search.options,
                                        options.row_weights)),
        space_(space_of(dataset, search)),
        shared_(dataset, labels_, search_.options, options.keep_decisions) {}

  const Labels& labels() const override { return labels_; }
  std::string title() const override {
    return fmt::format("{}, {} kernel", to_string(*search_.options.kind), to_string(search_.options.kernel));
  }
  bool has_probabilities() const override { return false; }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override { return shared_.tasks(); }
  Point shared_part(const Point& point) const override { return {point.begin() + 1, point.end()}; }
  std::vector<double> complexity(const Point& point, double /*size*/) const override { return point; }

  BatchLimits limits(const Context& context, const Plan& plan) const override {
    const auto memory = context.memory();
    const auto bytes = std::max<std::int64_t>(dataset_.rows(), 1) * std::int64_t{2 * sizeof(double)};
    const auto fitting = std::clamp<std::int64_t>(memory / decisions_share / bytes, 1, most_tasks);
    return {memory, static_cast<std::int32_t>(fitting), plan.all_splits(), false};
  }

  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<OnDevice>(*this, context);
  }
  Model refit(const Context& context, const Point& point) const override {
    return train_svm(context, dataset_, options_at(point), row_weights_);
  }
  std::string failure(const TaskFit& fit) const override {
    return fmt::format("after {} steps the optimality conditions are violated by {:.3g}, {:.3g} was wanted",
                       fit.iterations, fit.gradient_norm, fit.tolerance);
  }
  void add_notes(SearchResult& result) const override { result.counts = shared_.counts(); }

 private:
  class OnDevice : public Trainer {
   public:
    OnDevice(const SvmFamily& family, const Context& context) : family_(family), context_(context) {}
    void load(const SplitTable& table) override { table_ = &table; }
    std::vector<ModelScores> train(std::span<const Job> jobs, bool /*chosen*/) override {
      const auto kernel = family_.options_at(*jobs.front().point);
      std::vector<SvmJob> some;
      for (const auto& job : jobs) some.push_back({job.split, job.point->front()});
      return family_.shared_.train(context_, kernel.gamma, kernel.degree, *table_, some);
    }

   private:
    const SvmFamily& family_;
    const Context& context_;
    const SplitTable* table_ = nullptr;
  };

  SvmOptions options_at(const Point& point) const {
    auto options = search_.options;
    options.cost = point[0];
    if (has_gamma(options.kernel)) options.gamma = point[1];
    if (has_degree(options.kernel)) options.degree = static_cast<int>(point[2]);
    return options;
  }

  const Dataset<T>& dataset_;
  SvmSearch search_;
  std::span<const float> row_weights_;
  Labels labels_;
  Space space_;
  mutable SvmTrainer<T> shared_;  // counts what all devices compute
};

}  // namespace

template <class T>
FamilyTraits decide_family(const Dataset<T>& dataset, SvmSearch& search, const SearchOptions& /*options*/) {
  auto& svm = search.options;
  svm = with_defaults(svm, dataset.target);
  if (svm.kind == SvmKind::one_class)
    fail_usage("a search compares predictions with labels, which a one-class SVM does not learn from");
  if (search.easy && (!search.costs.empty() || !search.gammas.empty()))
    fail_usage("easy is a grid of its own; leave out cost and gamma");
  const bool gamma = has_gamma(svm.kernel);
  if (!gamma && !search.gammas.empty()) fail_usage("the {} kernel has no gamma to try", to_string(svm.kernel));
  if (!has_degree(svm.kernel) && !search.degrees.empty())
    fail_usage("the {} kernel has no degree to try", to_string(svm.kernel));
  const bool open = is_open(search);
  if (search.easy) {
    search.costs = powers_of_two(-5, 15, 2);
    if (gamma) search.gammas = powers_of_two(-15, 3, 2);
    search.easy = false;
  }
  if (!open && search.costs.empty()) search.costs = default_costs();
  if (!open && svm.kind == SvmKind::nu_svc) search.costs = {1};
  if (!open && gamma && search.gammas.empty())
    search.gammas = {1 / static_cast<double>(std::max<std::int64_t>(dataset.features(), 1))};
  if (has_degree(svm.kernel) && search.degrees.empty()) search.degrees = {svm.degree};
  sort_once(search.costs);
  sort_once(search.gammas);
  sort_once(search.degrees);
  svm.cost = 1;
  const bool regression = is_regression(*svm.kind);
  return {regression, false, regression ? Metric::r2 : Metric::accuracy, open ? Strategy::refine : Strategy::grid,
          fmt::format("{}", to_string(*svm.kind))};
}

template <class T>
std::unique_ptr<Family> make_svm_family(const Context& /*context*/, const Dataset<T>& dataset, const SvmSearch& search,
                                        const SearchOptions& options) {
  return std::make_unique<SvmFamily<T>>(dataset, search, options);
}

template FamilyTraits decide_family(const Dataset<float>&, SvmSearch&, const SearchOptions&);
template FamilyTraits decide_family(const Dataset<double>&, SvmSearch&, const SearchOptions&);
template std::unique_ptr<Family> make_svm_family(const Context&, const Dataset<float>&, const SvmSearch&,
                                                 const SearchOptions&);
template std::unique_ptr<Family> make_svm_family(const Context&, const Dataset<double>&, const SvmSearch&,
                                                 const SearchOptions&);

}  // namespace sheaf::engine
