// SVMs with a kernel in the search: a point is a cost and, if the kernel has them, gamma and degree; models of one
// kernel share its values.

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/describe/scales.hpp"
#include "data/text/model_file.hpp"
#include "family/family.hpp"
#include "family/values.hpp"
#include "kernel/family/summary.hpp"
#include "kernel/family/trainer.hpp"
#include "kernel/model/file_text.hpp"

namespace sheaf::engine {
namespace {

constexpr std::int64_t decisions_share = 8;  // decision values may take this part of the memory
// A kill can lose a batch; beyond so many tasks sharing gains little more.
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
bool is_open(const SearchSpace& space) {
  return space.numbers("cost").empty() && space.numbers("gamma").empty() && !space.get<SvmOptions>().easy;
}

template <class T>
Space space_of(const Dataset<T>& dataset, const SearchSpace& search, std::span<const float> row_weights) {
  const bool open = is_open(search);
  const auto& options = search.get<SvmOptions>();
  const auto kernel = options.kernel;
  std::vector<SearchAxis> axes{{"cost", "C"}};
  std::vector<std::vector<double>> values{search.numbers("cost")};
  std::vector<Refinement> finer{refinement_of(search.numbers("cost"))};
  if (open && options.kind == SvmKind::nu_svc) values[0] = {1};
  if (open && options.kind != SvmKind::nu_svc) {
    const int unit = is_regression(*options.kind) ? unit_of(standard_deviation(dataset.target.values, row_weights)) : 0;
    values[0] = powers_of_two(unit - 4, unit + 8, 4);
    finer[0] = {unit - 8.0, unit + 16.0, 4};
  }
  if (has_gamma(kernel)) {
    axes.push_back({"gamma", "gamma"});
    values.push_back(search.numbers("gamma"));
    finer.push_back(refinement_of(search.numbers("gamma")));
    if (open) {
      const double middle = middle_gamma(dataset);
      for (const double step : {-8, -4, 0, 4}) values.back().push_back(std::exp2(middle + step));
      finer.back() = {middle - 16, middle + 12, 4};
    }
  }
  if (has_degree(kernel)) {
    axes.push_back({"degree", "degree", false, false});
    values.push_back(search.numbers("degree"));
    finer.emplace_back();
  }
  auto space = product_space(std::move(axes), values);
  space.finer = std::move(finer);
  space.halvings = options.refine;
  return space;
}

/// Steps of one SVM where costs are found from the data: the largest of them may need a hundred times as many as the
/// best one, and would take nearly all of the time. The final model has no such limit.
SvmOptions with_limited_steps(SvmOptions options, bool open, std::int64_t rows) {
  constexpr std::int64_t fewest = 100'000;
  constexpr std::int64_t steps_per_row = 20;
  if (open && options.max_iterations == SvmOptions{}.max_iterations)
    options.max_iterations = std::max(fewest, steps_per_row * rows);
  return options;
}

template <class T>
class SvmSearch : public FamilySearch {
 public:
  SvmSearch(const Context& /*context*/, const Dataset<T>& dataset, const SearchSpace& space,
            const TrainingOptions& options)
      : dataset_(dataset),
        options_(space.get<SvmOptions>()),
        row_weights_(options.row_weights),
        labels_(kernel::make_svm_labels(dataset.target, dataset.source, dataset.rows(), options_, options.row_weights)),
        space_(space_of(dataset, space, options.row_weights)),
        limited_(with_limited_steps(options_, is_open(space), dataset.rows())),
        keep_decisions_(options.keep_decisions) {}

  const Labels& labels() const override { return labels_; }
  std::string title() const override {
    return fmt::format("{}, {} kernel", to_string(*options_.kind), to_string(options_.kernel));
  }
  bool has_probabilities() const override { return false; }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override {
    return static_cast<std::int32_t>(kernel::svms_of(*options_.kind, labels_.class_names.size(), options_.multi_class));
  }
  Point shared_part(const Point& point) const override { return {point.begin() + 1, point.end()}; }
  std::vector<double> complexity(const Point& point, double /*size*/) const override { return point; }

  BatchLimits limits(const Context& context, const SplitCounts& counts) const override {
    const auto memory = context.memory();
    const auto bytes = std::max<std::int64_t>(dataset_.rows(), 1) * std::int64_t{2 * sizeof(double)};
    // A pair of many classes has few of the rows.
    const auto classes = std::ssize(labels_.class_names);
    const bool pairs = tasks() > classes;
    const auto most = most_tasks * (pairs ? std::max<std::int64_t>(1, classes / 4) : 1);
    const auto fitting = std::clamp<std::int64_t>(memory / decisions_share / bytes, 1, most);
    return {memory, static_cast<std::int32_t>(fitting), counts.all, false};
  }

  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<OnDevice>(*this, context);
  }
  std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const override {
    return trained_model(train_svm(context, dataset_, options_at(point), row_weights_));
  }
  std::string failure(const TaskFit& fit) const override {
    return fmt::format("after {} the optimality conditions are violated by {:.3g}, {:.3g} was wanted{}",
                       counted(fit.iterations, "step"), fit.gradient_norm, fit.tolerance,
                       limited_.max_iterations == options_.max_iterations
                           ? ""
                           : "; a search for the best cost takes no more steps, the final model does: with this cost "
                             "and gamma given, all models are trained to the end");
  }
  KernelCounts kernel_counts() const override { return counts_; }

 private:
  class OnDevice : public Trainer {
   public:
    OnDevice(const SvmSearch& family, const Context& context)
        : family_(family),
          trainer_(context, family.dataset_, family.labels_, family.limited_, family.keep_decisions_) {}
    void load(const SplitTable& table) override { trainer_.load(table); }
    std::vector<ModelScores> train(std::span<const Job> jobs, bool /*chosen*/) override {
      const auto kernel = family_.options_at(*jobs.front().point);
      std::vector<SvmJob> some;
      for (const auto& job : jobs) some.push_back({job.split, job.point->front()});
      KernelCounts counts;
      auto scores = trainer_.train(kernel.gamma, kernel.degree, some, counts);
      const std::lock_guard lock(family_.mutex_);
      family_.counts_.computed += counts.computed;
      family_.counts_.unshared += counts.unshared;
      return scores;
    }

   private:
    const SvmSearch& family_;
    SvmTrainer<T> trainer_;
  };

  SvmOptions options_at(const Point& point) const {
    auto options = options_;
    options.cost = point[0];
    if (has_gamma(options.kernel)) options.gamma = point[1];
    if (has_degree(options.kernel)) options.degree = static_cast<int>(point[2]);
    return options;
  }

  const Dataset<T>& dataset_;
  SvmOptions options_;
  std::span<const float> row_weights_;
  Labels labels_;
  Space space_;
  SvmOptions limited_;  // of the models that are scored
  bool keep_decisions_;
  mutable std::mutex mutex_;
  mutable KernelCounts counts_;  // of all devices
};

constexpr double smo_visits = 4;  // of each kernel value
// A search that is refined around its best tries so many gammas, and costs of each, on average.
constexpr double open_kernels = 12;
constexpr double open_costs = 4;

class SvmRow : public FamilyRow<SvmRow, SvmOptions> {
 public:
  std::string_view name() const override { return "svm"; }
  std::string_view section() const override { return "SVMs with a kernel (--model svm)"; }
  std::vector<ModelKind> kinds() const override {
    return {kind("svm", "support vector machine with a kernel", SvmOptions{})};
  }
  SizeWords size_words() const override {
    return {"support vectors", "support_vectors", "vectors", "An SVM whose support vectors are all rows overfits."};
  }

  ModelOptions with_defaults(ModelOptions options, const DataSummary& data) const override {
    auto& own = options.get<SvmOptions>();
    own = sheaf::with_defaults(own, data.target, data.row_weights);
    return options;
  }
  WorkEstimate training_work(const ModelOptions& /*options*/, const DataSummary& data, double models) const override {
    return work(data, models, 1);
  }
  WorkEstimate search_work(const SearchSpace& space, const DataSummary& data, double splits,
                           double levels) const override {
    auto kernels = static_cast<double>(std::max<std::size_t>(1, space.numbers("gamma").size()));
    auto costs = static_cast<double>(std::max<std::size_t>(1, space.numbers("cost").size()));
    if (is_open(space)) {
      kernels = has_gamma(space.get<SvmOptions>().kernel) ? open_kernels : 1;
      costs = open_costs;
    }
    return work(data, kernels * costs * splits * levels, kernels);
  }
  /// Costs and gammas that are left open: those of space_of(), four of each, before they are refined.
  std::int64_t points(const SearchSpace& space) const override {
    const auto given = Family::points(space);
    if (!is_open(space)) return given;
    const auto& options = space.get<SvmOptions>();
    return given * (options.kind == SvmKind::nu_svc ? 1 : 4) * (has_gamma(options.kernel) ? 4 : 1);
  }
  bool wants_scaling(const ModelOptions& options) const override {
    return options.get<SvmOptions>().kernel != KernelType::precomputed;
  }
  std::vector<std::pair<int, std::string>> automatic_kinds(const DataSummary& data) const override {
    if (data.target.survival() || data.target.several()) return {};
    return {{4, "svm"}};
  }
  /// Memory for the rows that are compared with others at once.
  std::int64_t numbers_per_feature() const override { return 8; }

  template <class T>
  using Search = SvmSearch<T>;
  static constexpr auto learn = [](const auto&... given) { return train_svm(given...); };

  template <class T>
  FamilyTraits decide_space(const Dataset<T>& dataset, SearchSpace& space, std::span<const float> row_weights) const {
    space.options = with_defaults(space.options, summary_of(dataset, row_weights));
    auto& svm = space.get<SvmOptions>();
    if (svm.kind == SvmKind::one_class)
      fail_usage("a search compares predictions with labels, which a one-class SVM does not learn from");
    auto& costs = space["cost"].numbers;
    auto& gammas = space["gamma"].numbers;
    auto& degrees = space["degree"].numbers;
    if (svm.easy && (!costs.empty() || !gammas.empty()))
      fail_usage("easy is a grid of its own; leave out cost and gamma");
    const bool gamma = has_gamma(svm.kernel);
    if (!gamma && !gammas.empty()) fail_usage("the {} kernel has no gamma to try", to_string(svm.kernel));
    if (!has_degree(svm.kernel) && !degrees.empty())
      fail_usage("the {} kernel has no degree to try", to_string(svm.kernel));
    const bool open = is_open(space);
    if (svm.easy) {
      costs = powers_of_two(-5, 15, 2);
      if (gamma) gammas = powers_of_two(-15, 3, 2);
      svm.easy = false;
    }
    if (!open && costs.empty()) costs = parse_numbers("0.001:1000:7", "cost");
    if (!open && svm.kind == SvmKind::nu_svc) costs = {1};
    if (!open && gamma && gammas.empty())
      gammas = {1 / static_cast<double>(std::max<std::int64_t>(dataset.features(), 1))};
    if (has_degree(svm.kernel) && degrees.empty()) degrees = {static_cast<double>(svm.degree)};
    svm.cost = 1;
    const bool regression = is_regression(*svm.kind);
    return {regression, false, regression ? Metric::r2 : Metric::accuracy, open ? Strategy::refine : Strategy::grid,
            fmt::format("{}", to_string(*svm.kind))};
  }

  std::unique_ptr<TrainedModel> empty_model() const override { return trained_model(SvmModel()); }
  std::unique_ptr<TrainedModel> read(ModelReader& reader) const override {
    return trained_model(kernel::read_sheaf_svm(reader));
  }
  std::optional<ModelFile> peer_format() const override { return ModelFile::libsvm; }
  std::string_view peer_word() const override { return "svm_type"; }
  std::unique_ptr<TrainedModel> read_peer(ModelReader& reader) const override {
    return trained_model(kernel::read_libsvm_model(reader));
  }
  void check_peer_format(const ModelOptions& options, const Target& target) const override {
    check_libsvm_format(target, options.get<SvmOptions>());
  }
  std::vector<std::string> warnings_before(const Context& context, const Dataset<float>& dataset,
                                           const ModelOptions& options) const override {
    return warn_of_scales(context, dataset, options);
  }
  std::vector<std::string> warnings_before(const Context& context, const Dataset<double>& dataset,
                                           const ModelOptions& options) const override {
    return warn_of_scales(context, dataset, options);
  }

 private:
  template <class T>
  std::vector<std::string> warn_of_scales(const Context& context, const Dataset<T>& dataset,
                                          const ModelOptions& options) const {
    auto list = sheaf::warnings_before(dataset, options.get<SvmOptions>());
    return list.empty() && wants_scaling(options) ? unscaled_distances(context, dataset) : list;
  }
  static WorkEstimate work(const DataSummary& data, double models, double kernels) {
    const auto rows = static_cast<double>(data.rows);
    return {kernels * rows * static_cast<double>(data.stored) + models * smo_visits * rows * rows,
            static_cast<double>(data.bytes)};
  }
};

/// An SVM as a model of any family.
class TrainedSvm : public TrainedModelOf<TrainedSvm, SvmModel> {
 public:
  using TrainedModelOf::TrainedModelOf;

  std::string_view family() const override { return "svm"; }
  bool is_regression() const override { return sheaf::is_regression(model_.kind); }
  ModelTraits traits() const override {
    ModelTraits traits;
    traits.pairs = model_.class_names.size() > 2 && model_.multi_class == MultiClass::one_vs_one;
    return traits;
  }
  ModelSummary summary(std::int64_t rows) const override { return model_summary(model_, rows); }
  std::string summary_json(std::int64_t rows) const override { return model_summary_json(model_, rows); }
  std::optional<std::int64_t> size() const override { return model_.support_vectors(); }
  bool has_precomputed_columns() const override { return model_.kernel.type == KernelType::precomputed; }

  template <class T>
  Predictions predictions(const Context& context, const Dataset<T>& dataset, bool probabilities,
                          std::span<const double> offsets) const {
    refuse_offsets(offsets);
    return predict_svm(context, model_, dataset, probabilities);
  }
  double products_per_value() const override { return static_cast<double>(model_.support_vectors()); }
  /// The values that searches score and calibrations are learnt from.
  std::vector<double> class_decisions(const Predictions& predictions) const override {
    const auto classes = model_.class_names.size();
    if (classes <= 2) return predictions.decisions;
    const auto choice = kernel::ClassChoice::of(model_.kind, classes, model_.multi_class, model_.rule);
    std::vector<double> values;
    for (std::size_t i = 0; i < predictions.decisions.size(); i += static_cast<std::size_t>(choice.svms()))
      for (std::int32_t c = 0; c < choice.classes; ++c)
        values.push_back(choice.value(c, predictions.decisions.data() + i, nullptr));
    return values;
  }
  std::string prediction_text(const Predictions& predictions, std::size_t row) const override {
    if (is_regression()) return fmt::format("{}", predictions.decisions[row]);
    return sheaf::prediction_text(model_, predictions, row);
  }

  void write(ModelWriter& file) const override { kernel::write_sheaf_svm(file, model_); }
  std::optional<ModelFile> peer_format() const override { return ModelFile::libsvm; }
  std::string peer_text() const override { return kernel::format_libsvm_model(model_); }
};

}  // namespace
}  // namespace sheaf::engine

namespace sheaf {

const Family& svm_family() {
  static const engine::SvmRow row;
  return row;
}
const Family& family_of(const SvmOptions& /*options*/) { return svm_family(); }

std::unique_ptr<TrainedModel> trained_model(SvmModel model) {
  return std::make_unique<engine::TrainedSvm>(std::move(model));
}

std::unique_ptr<TrainedModel> trained_model(const SvmModel* model) {
  return std::make_unique<engine::TrainedSvm>(model);
}

}  // namespace sheaf
