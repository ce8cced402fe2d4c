// Generalised linear models in the search: a point is an alpha, a model one task with a column for each decision value.
#include <algorithm>

#include "core/fail.hpp"
#include "linear/model/glm_problem.hpp"
#include "search/families/values.hpp"
#include "search/family.hpp"

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
class GlmFamilySearch : public Family {
 public:
  GlmFamilySearch(const Dataset<T>& dataset, const GlmSearch& search, const SearchOptions& options)
      : dataset_(dataset),
        search_(search),
        row_weights_(options.row_weights),
        keep_decisions_(options.keep_decisions),
        problem_(linear::make_glm_problem(dataset.target, dataset.source, dataset.rows(),
                                          without_class_weights(search.options), {}, dataset.features())),
        space_(product_space({{"alpha", "alpha"}}, {search.alphas})) {
    for (const auto& [name, weight] : search.options.class_weights) find_class(problem_.labels.class_names, name);
    space_.finer = {refinement_of(search.alphas)};
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

  BatchLimits limits(const Context& context, const Plan& plan) const override {
    const auto rows = dataset_.rows();
    const auto per_column = linear::glm_bytes<T>(rows, dataset_.features() + (problem_.params.intercept ? 1 : 0));
    const auto memory = context.memory();
    auto data = 2 * matrix_bytes(dataset_.x);
    if (context.device().is_cuda()) data = std::min(data, memory / 2);  // larger data are streamed
    const auto room = memory - memory / weights_share - data;
    const auto most = context.device().is_cpu() ? worthwhile_on_cpu : worthwhile_on_gpu;
    const auto fitting = std::clamp<std::int64_t>(room / std::max<std::int64_t>(per_column, 1) / 8 * 8, 1, most);
    const auto column = std::max<std::int64_t>(rows, 1) * static_cast<std::int64_t>(sizeof(float));
    const auto splits = std::clamp<std::int64_t>(memory / weights_share / column, 1, plan.all_splits());
    return {memory, static_cast<std::int32_t>(fitting), static_cast<std::int32_t>(splits), false};
  }

  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<GlmTrainer<T>>(context, dataset_, problem_, search_.options, keep_decisions_);
  }
  Model refit(const Context& context, const Point& point) const override {
    auto options = search_.options;
    options.alpha = point.front();
    return train_glm(context, dataset_, options, row_weights_);
  }
  std::string failure(const TaskFit& fit) const override {
    return fmt::format("the gradient is {:.3g} of the one at the start after {} steps, {:.3g} was wanted",
                       fit.gradient_norm, fit.iterations, fit.tolerance);
  }

 private:
  const Dataset<T>& dataset_;
  GlmSearch search_;
  std::span<const float> row_weights_;
  bool keep_decisions_;
  linear::GlmProblem problem_;
  Space space_;
};

}  // namespace

namespace {

/// The deviance of the family, where there is one.
Metric default_score(GlmFamily family) {
  switch (family) {
    case GlmFamily::binomial:
    case GlmFamily::multinomial:
    case GlmFamily::quasi_binomial:
      return Metric::accuracy;
    case GlmFamily::poisson:
    case GlmFamily::quasi_poisson:
    case GlmFamily::negative_binomial:
      return Metric::mean_poisson_deviance;
    case GlmFamily::gamma:
      return Metric::mean_gamma_deviance;
    case GlmFamily::tweedie:
      return Metric::mean_tweedie_deviance;
    case GlmFamily::cox:
      return Metric::partial_likelihood_deviance;
    default:
      return Metric::r2;
  }
}

}  // namespace

template <class T>
FamilyTraits decide_family(const Dataset<T>& dataset, GlmSearch& search, const SearchOptions& /*options*/) {
  if (search.alphas.empty()) search.alphas = default_alphas();
  sort_once(search.alphas);
  search.options = decide_glm(search.options, dataset.target, dataset.source);
  search.options.alpha = 0;
  const auto& kind = linear::glm_kind(search.options.family, search.options.link);
  if (!kind.classes && (search.options.balanced || !search.options.class_weights.empty()))
    fail_usage("class weights are for classes, and the family {} is for numbers", to_string(search.options.family));
  if (search.options.family == GlmFamily::negative_binomial && search.options.theta == 0)
    fail_usage(
        "a search of negative binomial models needs --theta: train one without a penalty (sheaf fit --model glm "
        "--family negative-binomial), which estimates it");
  return {!kind.classes,
          kind.classes,
          default_score(search.options.family),
          Strategy::grid,
          fmt::format("a generalised linear model of the family {}", to_string(search.options.family)),
          search.options.family == GlmFamily::cox};
}

template <class T>
std::unique_ptr<Family> make_glm_family(const Context& /*context*/, const Dataset<T>& dataset, const GlmSearch& search,
                                        const SearchOptions& options) {
  return std::make_unique<GlmFamilySearch<T>>(dataset, search, options);
}

template FamilyTraits decide_family(const Dataset<float>&, GlmSearch&, const SearchOptions&);
template FamilyTraits decide_family(const Dataset<double>&, GlmSearch&, const SearchOptions&);
template std::unique_ptr<Family> make_glm_family(const Context&, const Dataset<float>&, const GlmSearch&,
                                                 const SearchOptions&);
template std::unique_ptr<Family> make_glm_family(const Context&, const Dataset<double>&, const GlmSearch&,
                                                 const SearchOptions&);

}  // namespace sheaf::engine
