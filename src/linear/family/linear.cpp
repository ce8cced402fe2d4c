// Linear models with an L2 penalty in the search: a point is a cost, a model one task for each decision value.
#include <algorithm>
#include <map>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "core/text.hpp"
#include "data/matrix_bytes.hpp"
#include "data/text/model_file.hpp"
#include "family/family.hpp"
#include "family/values.hpp"
#include "linear/dual/dual.hpp"
#include "linear/family/work.hpp"
#include "linear/model/formats.hpp"
#include "linear/model/problem.hpp"
#include "linear/newton/newton.hpp"
#include "linear/newton/row_space.hpp"

namespace sheaf::engine {
namespace {

// Beyond so many tasks a wider block gains nothing (measured: 25 tasks cost as much as 50 on sparse text), takes more
// memory, and a kill can lose a batch.
constexpr std::int32_t worthwhile_on_cpu = 32;
constexpr std::int32_t worthwhile_on_gpu = 256;
// With warm starts the costs of a split follow one another in the same columns (linear/newton/chains.cpp), so that a
// batch has all costs of few splits.
constexpr std::int32_t worthwhile_columns = 16;
constexpr std::int32_t worthwhile_along_costs = 512;
// The dual keeps decision values of a batch and no weights; more models are more blocks for the threads to share.
constexpr std::int32_t worthwhile_for_dual = 512;
// In a row space, blocks have few rows of weights.
constexpr std::int32_t worthwhile_in_row_space = 256;
constexpr std::int64_t weights_share = 16;  // row weights may take this part of the memory

/// The tasks of a model at C = 1, class weights aside: those depend on the rows that a split trains on.
LinearOptions unit_options(LinearOptions options) {
  options.cost = 1;
  if (!linear_solver(*options.loss).regression) {
    options.balanced = false;
    options.class_weights.clear();
  }
  return options;
}

template <class T>
class LinearTrainer : public Trainer {
 public:
  /// The cost of a task is that of the point times `cost_factor`. `row_space`: models are trained in row spaces.
  LinearTrainer(const Context& context, const Dataset<T>& dataset, const linear::Problem& problem,
                const LinearOptions& options, double cost_factor, bool keep_decisions, bool row_space)
      : context_(context),
        dataset_(dataset),
        options_(options),
        along_costs_(options.warm_starts),
        cost_factor_(cost_factor),
        labels_(problem.labels),
        sheaf_(problem.sheaf),
        unit_(problem.sheaf.tasks),
        row_space_(row_space),
        spaces_(dataset),
        scorer_(context, truth_of(labels_), linear_solver(*options_.loss).probabilities) {
    if (keep_decisions) scorer_.keep_decisions();
  }

  void load(const SplitTable& table) override {
    sheaf_.row_weights = table.weights;
    sheaf_.weight_columns = static_cast<std::int32_t>(table.splits.size());
    class_counts_ = table.class_counts;
    scorer_.load_tests(table.tests);
  }

  void load_transformed(const SplitTable& table, ColumnTransforms transforms) override {
    load(table);
    sheaf_.column_transforms = transforms.splits;
    sheaf_.shifts = std::move(transforms.shifts);
    sheaf_.factors = std::move(transforms.factors);
  }

  /// The tasks of each job stand side by side in the sheaf.
  std::vector<ModelScores> train(std::span<const Job> jobs, bool /*chosen*/) override {
    sheaf_.tasks.clear();
    for (const auto& job : jobs) add_tasks(job);
    if (options_.method == LinearMethod::dual) return train_dual(jobs);
    auto params = linear::newton_params(options_);
    params.along_costs = along_costs_;
    if (trains_in_row_space()) return train_in_row_space(jobs, linear::in_row_space<T>(params));
    const auto fits = newton(context_, dataset_, sheaf_, params);
    auto scores = score(jobs, dataset_, sheaf_, fits);
    add_fits(fits.tasks, scores);
    return scores;
  }

 private:
  std::vector<ModelScores> train_dual(std::span<const Job> jobs) {
    Block<T> z(dataset_.rows(), static_cast<std::int32_t>(sheaf_.tasks.size()), context_.device());
    const auto fits = linear::train_dual<T>(context_, dataset_, sheaf_, linear::dual_params(options_), {{}, z.view()});
    std::vector<std::int32_t> tests;
    for (const auto& job : jobs) tests.push_back(job.split);
    std::vector<ModelScores> result;
    for (auto& scores : scorer_.score(z.view(), tests)) result.push_back({std::move(scores), {}, -1, {}});
    add_fits(fits, result);
    return result;
  }

  /// Every column transform has a row space of its own. A GPU is faster with all splits in one block.
  bool trains_in_row_space() const {
    return row_space_ && spaces_.take(sheaf_) && (context_.device().is_cpu() || sheaf_.column_transforms == 0);
  }

  std::vector<ModelScores> train_in_row_space(std::span<const Job> jobs, const NewtonParams& params) {
    std::map<std::int32_t, std::vector<std::size_t>> together;  // jobs by column transform
    for (std::size_t k = 0; k < jobs.size(); ++k)
      together[sheaf_.column_transforms > 0 ? jobs[k].split : 0].push_back(k);
    std::vector<ModelScores> result(jobs.size());
    for (const auto& [column, members] : together) {
      std::vector<Job> some;
      std::vector<Task> tasks;
      for (const auto k : members) {
        some.push_back(jobs[k]);
        const auto first = sheaf_.tasks.begin() + static_cast<std::ptrdiff_t>(k * unit_.size());
        tasks.insert(tasks.end(), first, first + std::ssize(unit_));
      }
      const auto& space = spaces_.of(context_, sheaf_, column);
      const auto sheaf = linear::without_transforms(sheaf_, std::move(tasks));
      const auto fits = newton(context_, space.rows, sheaf, params);
      auto scores = score(some, space.rows, sheaf, fits);
      add_fits(fits.tasks, scores);
      for (std::size_t k = 0; k < members.size(); ++k) result[members[k]] = std::move(scores[k]);
    }
    return result;
  }

  void add_fits(const std::vector<TaskFit>& fits, std::vector<ModelScores>& scores) const {
    for (std::size_t t = 0; t < fits.size(); ++t) scores[t / unit_.size()].fits.push_back(fits[t]);
  }

  void add_tasks(const Job& job) {
    const auto classes = labels_.class_names.size();
    const auto counts = std::span(class_counts_).subspan(static_cast<std::size_t>(job.split) * classes, classes);
    const auto weights = weigh_classes({options_.class_weights, options_.balanced}, labels_.class_names, counts);
    const double cost = cost_factor_ * job.point->front();
    for (std::size_t c = 0; c < unit_.size(); ++c) {
      auto task = unit_[c];
      task.rows = job.split;
      task.columns = job.split;
      task.cost_positive = cost * (classes > 0 ? weights[c] : 1);
      task.cost_negative = cost * (classes == 2 ? weights[1] : 1);
      sheaf_.tasks.push_back(task);
    }
  }

  /// `seen`: the rows that the models were trained on.
  std::vector<ModelScores> score(std::span<const Job> jobs, const Dataset<T>& seen, const Sheaf& sheaf,
                                 const Fits<T>& fits) {
    const auto columns = static_cast<std::int32_t>(unit_.size());
    std::vector<std::int32_t> tests;
    for (const auto& job : jobs) tests.push_back(job.split);
    std::vector<ModelScores> result;
    const auto use = [&](const Round& round, const Block<T>& z) {
      const auto first = static_cast<std::size_t>(round.first / columns);
      const auto count = static_cast<std::size_t>(round.count / columns);
      for (auto& scores : scorer_.score(z.view(), std::span(tests).subspan(first, count)))
        result.push_back({std::move(scores), {}, -1, {}});
    };
    linear::for_device_decisions<T>(context_, seen, fits.weights, static_cast<T>(options_.bias), columns,
                                    scorer_.workspace(), use, {}, &sheaf);
    return result;
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  const LinearOptions& options_;
  bool along_costs_;
  double cost_factor_;
  const Labels& labels_;
  Sheaf sheaf_;
  std::vector<Task> unit_;  // of each decision value
  bool row_space_;
  linear::RowSpaces<T> spaces_;
  std::vector<double> class_counts_;
  score::Scorer<T> scorer_;
};

template <class T>
class LinearSearch : public FamilySearch {
 public:
  LinearSearch(const Context& context, const Dataset<T>& dataset, const SearchSpace& space,
               const TrainingOptions& options)
      : dataset_(dataset),
        options_(space.get<LinearOptions>()),
        row_weights_(options.row_weights),
        keep_decisions_(options.keep_decisions),
        problem_(make_problem(context)),
        space_(product_space({{"cost", "C"}}, {space.numbers("cost")})) {
    const auto models = static_cast<std::int64_t>(space_.size()) * options.folds;
    if (options.seen != nullptr) {
      seen_ = *options.seen;
      options_.method = LinearMethod::newton;  // the dual uses features without transforms
    }
    if (options_.warm_starts) require_newton();
    options_ = linear::with_method(context, dataset, options_, models * problem_.sheaf.target_columns);
    // Splits share a row space unless each has its own transform of the features.
    const auto together = (options.seen != nullptr ? space_.size() : models) * problem_.sheaf.target_columns;
    row_space_ = context.team() == nullptr && options_.method == LinearMethod::newton &&
                 linear::row_space_pays(dataset, options_.stop, static_cast<double>(together));
    if (problem_.labels.class_names.size() == 2 && options_.loss == Loss::crammer_singer) halve_problem(context);
    for (const auto& [name, weight] : options_.class_weights) find_class(problem_.labels.class_names, name);
    space_.finer = {refinement_of(space.numbers("cost"))};
    space_.halvings = 3;
  }

  const Labels& labels() const override { return problem_.labels; }
  std::string title() const override { return std::string(solver().about); }
  bool has_probabilities() const override { return solver().probabilities; }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override { return problem_.sheaf.target_columns; }
  std::vector<double> complexity(const Point& point, double /*size*/) const override { return point; }

  BatchLimits limits(const Context& context, const SplitCounts& counts) const override {
    const auto rows = dataset_.rows();
    const auto memory = context.memory();
    auto data = 2 * matrix_bytes(dataset_.x);
    if (context.device().is_cpu()) data = std::min(data, 2 * training_bytes(dataset_.x));
    if (context.device().is_cuda()) data = std::min(data, memory / 2);  // larger data are streamed
    const auto room = memory - memory / weights_share - data;
    const auto fitting = room / std::max<std::int64_t>(bytes_per_task(), 1) / 8 * 8;
    const auto tasks = std::clamp<std::int64_t>(fitting, 1, most_together(context));
    const auto column = std::max<std::int64_t>(rows, 1) * static_cast<std::int64_t>(sizeof(float));
    const auto most = options_.warm_starts ? std::max(1, worthwhile_columns / this->tasks()) : counts.all;
    const auto splits = std::clamp<std::int64_t>(memory / weights_share / column, 1, std::min(most, counts.all));
    return {memory, static_cast<std::int32_t>(tasks), static_cast<std::int32_t>(splits), false};
  }

  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<LinearTrainer<T>>(context, dataset_, problem_, options_, cost_factor_, keep_decisions_,
                                              row_space_);
  }
  std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const override {
    auto options = options_;
    options.loss = asked_loss();
    options.cost = point.front();
    return trained_model(
        linear::train_seen(context, dataset_, options, row_weights_, seen_.splits > 0 ? &seen_ : nullptr));
  }
  std::string failure(const TaskFit& fit) const override {
    if (options_.method == LinearMethod::dual)
      return fmt::format("{:.3g} is left after {} passes, {:.3g} was wanted", fit.gradient_norm, fit.iterations,
                         fit.tolerance);
    return fmt::format("|gradient| is {:.3g} after {}, {:.3g} was wanted", fit.gradient_norm,
                       counted(fit.iterations, "step"), fit.tolerance);
  }

 private:
  bool dual() const { return options_.method == LinearMethod::dual; }

  /// Along costs: no more than its weights, for its column is used by many.
  std::int64_t bytes_per_task() const {
    constexpr std::int64_t size = sizeof(T);
    const auto weights = dataset_.features() + (options_.bias > 0 ? 1 : 0);
    if (dual()) return dataset_.rows() * size;
    if (options_.warm_starts) return 2 * weights * size;
    return linear::NewtonBlock<T>::bytes_per_chain(dataset_.rows(), weights);
  }

  std::int64_t most_together(const Context& context) const {
    if (dual()) return worthwhile_for_dual;
    if (options_.warm_starts) return std::max(worthwhile_along_costs, tasks());
    if (row_space_) return worthwhile_in_row_space;
    return context.device().is_cpu() ? worthwhile_on_cpu : worthwhile_on_gpu;
  }

  void require_newton() {
    if (options_.method == LinearMethod::dual)
      fail_usage("warm starts along the cost are for Newton's method; leave out warm-starts or the solver dual");
    options_.method = LinearMethod::newton;
  }

  Loss asked_loss() const { return cost_factor_ == 1 ? *options_.loss : Loss::crammer_singer; }
  const LinearSolver& solver() const { return linear_solver(asked_loss(), options_.method); }

  linear::Problem make_problem(const Context& context) const {
    return linear::make_problem(context, dataset_.target, dataset_.source, dataset_.rows(), unit_options(options_));
  }

  /// With two classes, the weights of Crammer and Singer's model are u / 2 and -u / 2, with u the weights of the hinge
  /// loss at twice the cost: its one decision value ranks and predicts as those two do.
  void halve_problem(const Context& context) {
    options_.loss = Loss::hinge;
    cost_factor_ = 2;
    problem_ = make_problem(context);
  }

  const Dataset<T>& dataset_;
  LinearOptions options_;
  std::span<const float> row_weights_;
  bool keep_decisions_;
  double cost_factor_ = 1;
  bool row_space_ = false;
  linear::Problem problem_;
  ColumnTransforms seen_;
  Space space_;
};

constexpr double newton_passes = 60;  // products with the matrix and with its transpose
/// Rows are visited one after another: a GPU only gains by many models side by side.
constexpr double many_dual_models = 512;

bool trained_by_dual(const LinearOptions& options, const Target& target) {
  if (options.method == LinearMethod::newton) return false;
  return options.method == LinearMethod::dual ||
         linear_solver(*with_defaults(options, target).loss).method == LinearMethod::dual;
}

class LinearRow : public FamilyRow<LinearRow, LinearOptions> {
 public:
  std::string_view name() const override { return "linear"; }
  std::string_view section() const override { return "Linear models (--model linear)"; }
  std::vector<ModelKind> kinds() const override {
    return {kind("linear", "linear model with an L2 penalty", LinearOptions{})};
  }

  ModelOptions with_defaults(ModelOptions options, const DataSummary& data) const override {
    auto& own = options.get<LinearOptions>();
    own = linear::with_weighted_defaults(own, data.target, data.row_weights);
    return options;
  }
  WorkEstimate training_work(const ModelOptions& options, const DataSummary& data, double models) const override {
    return work(options.get<LinearOptions>(), data, models);
  }
  WorkEstimate search_work(const SearchSpace& space, const DataSummary& data, double splits,
                           double levels) const override {
    return work(space.get<LinearOptions>(), data, static_cast<double>(space.numbers("cost").size()) * splits * levels);
  }
  std::vector<std::pair<int, std::string>> automatic_kinds(const DataSummary& data) const override {
    if (!data.target.looks_like_classes()) return {};  // elastic nets have ridge regression among them
    return {{1, "linear"}};
  }
  bool takes_transforms(const ModelOptions& options) const override {
    const auto& own = options.get<LinearOptions>();
    return own.method != LinearMethod::dual && linear_solver(*own.loss).method == LinearMethod::newton;
  }
  bool shares_rows(const ModelOptions& options) const override {
    return takes_transforms(options) && options.get<LinearOptions>().penalty != LinearPenalty::l1;
  }
  /// The dual takes no column transforms.
  SearchSpace with_known_points(SearchSpace space) const override {
    space.get<LinearOptions>().method = LinearMethod::newton;
    return space;
  }

  template <class T>
  using Search = LinearSearch<T>;
  static constexpr auto learn = [](const auto&... given) { return train_linear(given...); };

  template <class T>
  FamilyTraits decide_space(const Dataset<T>& dataset, SearchSpace& space, std::span<const float> row_weights) const {
    space.options = with_defaults(space.options, summary_of(dataset, row_weights));
    auto& options = space.get<LinearOptions>();
    if (options.penalty == LinearPenalty::l1)
      fail_usage("linear models with an L1 penalty are searched as elastic nets");
    const bool open = space["cost"].empty();
    if (open) space["cost"] = default_values(space.options, "cost");
    if (open && options.loss == Loss::tube)  // whose errors are not squared: costs are of the target's unit
      for (auto& cost : space["cost"].numbers)
        cost = std::ldexp(cost, unit_of(standard_deviation(dataset.target.values, row_weights)));
    options.cost = 1;
    const auto& solver = linear_solver(*options.loss);
    FamilyTraits traits{solver.regression, solver.probabilities, solver.regression ? Metric::r2 : Metric::accuracy,
                        Strategy::grid, std::string(solver.about)};
    traits.open_grid = open;
    return traits;
  }

  std::unique_ptr<TrainedModel> empty_model() const override { return trained_model(LinearModel()); }
  std::unique_ptr<TrainedModel> read(ModelReader& reader) const override {
    return trained_model(linear::read_sheaf_model(reader, name()));
  }
  std::optional<ModelFile> peer_format() const override { return ModelFile::liblinear; }
  std::string_view peer_word() const override { return "solver_type"; }
  std::unique_ptr<TrainedModel> read_peer(ModelReader& reader) const override {
    return trained_model(linear::read_liblinear_model(reader));
  }

 private:
  static WorkEstimate work(const LinearOptions& options, const DataSummary& data, double models) {
    if (trained_by_dual(options, data.target) && models * linear::columns_of(data.target) < many_dual_models)
      return {0, static_cast<double>(data.bytes)};
    return linear::work_of_passes(data, models * newton_passes);
  }
};

}  // namespace
}  // namespace sheaf::engine

namespace sheaf {

const Family& linear_family() {
  static const engine::LinearRow row;
  return row;
}
const Family& family_of(const LinearOptions& /*options*/) { return linear_family(); }

}  // namespace sheaf
