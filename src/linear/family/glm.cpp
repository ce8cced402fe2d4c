// Generalised linear models in the search: a point is an alpha, a model one task with a column for each decision value.
#include <algorithm>

#include <sheaf/solvers/losses.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/matrix_bytes.hpp"
#include "data/text/model_file.hpp"
#include "family/family.hpp"
#include "family/values.hpp"
#include "linear/family/work.hpp"
#include "linear/model/formats.hpp"
#include "linear/model/glm_problem.hpp"

namespace sheaf::engine {
namespace {

// Columns beyond which a wider block gains nothing, as for other linear models.
constexpr std::int32_t worthwhile_on_cpu = 64;
constexpr std::int32_t worthwhile_on_gpu = 512;
constexpr std::int64_t weights_share = 16;  // row weights may take this part of the memory

/// Class weights depend on the rows that a split trains on.
GlmOptions without_class_weights(GlmOptions options) {
  options.balanced = false;
  options.class_weights.clear();
  return options;
}

template <class T>
class GlmTrainer : public Trainer {
 public:
  GlmTrainer(const Context& context, const Dataset<T>& dataset, const linear::GlmProblem& problem,
             const GlmOptions& options, bool keep_decisions)
      : context_(context),
        dataset_(dataset),
        options_(options),
        problem_(problem),
        scorer_(context, truth_of(problem_.labels), problem.kind.classes) {
    if (keep_decisions) scorer_.keep_decisions();
  }

  void load(const SplitTable& table) override {
    const auto splits = table.splits.size();
    const auto classes = problem_.labels.class_names.size();
    problem_.sheaf.row_weights = table.weights;
    problem_.sheaf.weight_columns = static_cast<std::int32_t>(splits);
    for (std::size_t split = 0; split < splits && classes > 0; ++split)
      linear::weigh_rows(problem_.labels,
                         weigh_classes({options_.class_weights, options_.balanced}, problem_.labels.class_names,
                                       std::span(table.class_counts).subspan(split * classes, classes)),
                         split, splits, problem_.sheaf.row_weights);
    scorer_.load_tests(tests_of(table, problem_.labels));
  }

  std::vector<ModelScores> train(std::span<const Job> jobs, bool /*chosen*/) override {
    problem_.sheaf.tasks.clear();
    std::vector<std::int32_t> tests;
    for (const auto& job : jobs) {
      problem_.sheaf.tasks.push_back({job.split, 0, job.point->front()});
      tests.push_back(job.split);
    }
    const auto fits = train_glms(context_, dataset_, problem_.sheaf, problem_.params);
    std::vector<ModelScores> result;
    linear::for_glm_predictions<T>(
        context_, dataset_, problem_, fits.weights, scorer_.workspace(), [&](const Round& round, const Block<T>& z) {
          const auto first = static_cast<std::size_t>(round.first / problem_.params.columns);
          const auto count = static_cast<std::size_t>(round.count / problem_.params.columns);
          for (auto& scores : scorer_.score(z.view(), std::span(tests).subspan(first, count)))
            result.push_back({std::move(scores), {}, -1, {}});
        });
    for (std::size_t m = 0; m < result.size(); ++m) result[m].fits.push_back(fits.tasks[m]);
    return result;
  }

 private:
  const Context& context_;
  const Dataset<T>& dataset_;
  const GlmOptions& options_;
  linear::GlmProblem problem_;
  score::Scorer<T> scorer_;
};

template <class T>
class GlmSearch : public FamilySearch {
 public:
  GlmSearch(const Context& /*context*/, const Dataset<T>& dataset, const SearchSpace& space,
            const TrainingOptions& options)
      : dataset_(dataset),
        options_(space.get<GlmOptions>()),
        row_weights_(options.row_weights),
        keep_decisions_(options.keep_decisions),
        problem_(linear::make_glm_problem(dataset.target, dataset.source, dataset.rows(),
                                          without_class_weights(options_), {}, dataset.features())),
        space_(product_space({{"alpha", "alpha"}}, {space.numbers("alpha")})) {
    for (const auto& [name, weight] : options_.class_weights) find_class(problem_.labels.class_names, name);
    space_.finer = {refinement_of(space.numbers("alpha"))};
    space_.halvings = 3;
  }

  const Labels& labels() const override { return problem_.labels; }
  std::string title() const override {
    return fmt::format("generalised linear model ({}, {})", to_string(problem_.kind.family),
                       to_string(problem_.kind.link));
  }
  bool has_probabilities() const override { return problem_.kind.classes; }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override { return problem_.params.columns; }
  /// The larger the penalty, the simpler the model.
  std::vector<double> complexity(const Point& point, double /*size*/) const override { return {-point.front()}; }

  BatchLimits limits(const Context& context, const SplitCounts& counts) const override {
    const auto rows = dataset_.rows();
    const auto per_column = linear::glm_bytes<T>(rows, dataset_.features() + (problem_.params.intercept ? 1 : 0));
    const auto memory = context.memory();
    auto data = 2 * matrix_bytes(dataset_.x);
    if (context.device().is_cpu()) data = std::min(data, 2 * training_bytes(dataset_.x));
    if (context.device().is_cuda()) data = std::min(data, memory / 2);  // larger data are streamed
    const auto room = memory - memory / weights_share - data;
    const auto most = context.device().is_cpu() ? worthwhile_on_cpu : worthwhile_on_gpu;
    const auto fitting = std::clamp<std::int64_t>(room / std::max<std::int64_t>(per_column, 1) / 8 * 8, 1, most);
    const auto column = std::max<std::int64_t>(rows, 1) * static_cast<std::int64_t>(sizeof(float));
    const auto splits = std::clamp<std::int64_t>(memory / weights_share / column, 1, counts.all);
    return {memory, static_cast<std::int32_t>(fitting), static_cast<std::int32_t>(splits), false};
  }

  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<GlmTrainer<T>>(context, dataset_, problem_, options_, keep_decisions_);
  }
  std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const override {
    auto options = options_;
    options.alpha = point.front();
    return trained_model(train_glm(context, dataset_, options, row_weights_));
  }
  std::string failure(const TaskFit& fit) const override {
    return fmt::format("the gradient is {:.3g} of the one at the start after {}, {:.3g} was wanted", fit.gradient_norm,
                       counted(fit.iterations, "step"), fit.tolerance);
  }

 private:
  const Dataset<T>& dataset_;
  GlmOptions options_;
  std::span<const float> row_weights_;
  bool keep_decisions_;
  linear::GlmProblem problem_;
  Space space_;
};

constexpr double lbfgs_passes = 60;  // products with the matrix and with its transpose

class GlmRow : public FamilyRow<GlmRow, GlmOptions> {
 public:
  std::string_view name() const override { return "glm"; }
  std::string_view section() const override { return "Generalised linear models (--model glm, multinomial)"; }
  std::vector<ModelKind> kinds() const override {
    GlmOptions multinomial;
    multinomial.family = GlmFamily::multinomial;
    return {kind("glm", "generalised linear model with an L2 penalty or none, with standard errors", GlmOptions{}),
            kind("multinomial", "logistic regression of all classes in one model", multinomial)};
  }

  bool has_likelihood() const override { return true; }
  void withhold_tests(TrainedModel& model) const override {
    auto* own = static_cast<LinearModel*>(model.owns(typeid(LinearModel)));
    require(own != nullptr && own->glm, "a model of another family");
    auto& statistics = own->glm->statistics;
    statistics.errors.clear();
    statistics.covariance.clear();
    statistics.survival.wald = statistics.survival.score = 0;
  }

  ModelOptions with_defaults(ModelOptions options, const DataSummary& data) const override {
    auto& own = options.get<GlmOptions>();
    own = decide_glm(own, data.target, data.source);
    return options;
  }
  /// The partial likelihood of Cox models is no sum over rows, and saga visits rows in an order of all of them.
  bool shares_rows(const ModelOptions& options) const override {
    const auto& own = options.get<GlmOptions>();
    return own.family != GlmFamily::cox && own.solver != GlmSolver::saga;
  }
  WorkEstimate training_work(const ModelOptions& /*options*/, const DataSummary& data, double models) const override {
    return linear::work_of_passes(data, models * lbfgs_passes);
  }
  WorkEstimate search_work(const SearchSpace& space, const DataSummary& data, double splits,
                           double levels) const override {
    return linear::work_of_passes(data,
                                  static_cast<double>(space.numbers("alpha").size()) * splits * levels * lbfgs_passes);
  }

  template <class T>
  using Search = GlmSearch<T>;
  static constexpr auto learn = [](const auto&... given) { return train_glm(given...); };

  template <class T>
  FamilyTraits decide_space(const Dataset<T>& dataset, SearchSpace& space, std::span<const float> row_weights) const {
    if (space["alpha"].empty()) space["alpha"] = default_values(space.options, "alpha");
    space.options = with_defaults(space.options, summary_of(dataset, row_weights));
    auto& options = space.get<GlmOptions>();
    options.alpha = 0;
    const auto& kind = linear::glm_kind(options.family, options.link);
    if (!kind.classes && (options.balanced || !options.class_weights.empty()))
      fail_usage("class weights are for classes, and the family {} is for numbers", to_string(options.family));
    if (options.family == GlmFamily::negative_binomial && options.theta == 0)
      fail_usage(
          "a search of negative binomial models needs --theta: train one without a penalty (sheaf fit --model glm "
          "--family negative-binomial), which estimates it");
    return {!kind.classes,
            kind.classes,
            info(options.family).score,
            Strategy::grid,
            fmt::format("a generalised linear model of the family {}", to_string(options.family)),
            options.family == GlmFamily::cox};
  }
  std::unique_ptr<TrainedModel> empty_model() const override { return trained_model(LinearModel()); }
  std::unique_ptr<TrainedModel> read(ModelReader& reader) const override {
    return trained_model(linear::read_sheaf_model(reader, name()));
  }
  std::optional<ModelFile> peer_format() const override { return ModelFile::liblinear; }
};

}  // namespace
}  // namespace sheaf::engine

namespace sheaf {

const Family& glm_family() {
  static const engine::GlmRow row;
  return row;
}
const Family& family_of(const GlmOptions& /*options*/) { return glm_family(); }

}  // namespace sheaf
