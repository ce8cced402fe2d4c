#include <sheaf/search.hpp>

#include <algorithm>
#include <cmath>

#include "core/fail.hpp"
#include "linear/newton/newton.hpp"
#include "score/scorer.hpp"
#include "search/inner_progress.hpp"
#include "search/plan.hpp"
#include "search/truth.hpp"

namespace sheaf {
namespace search {
namespace {

// Beyond so many tasks a wider block gains nothing (measured: 25 tasks cost as much as 50 on sparse text), takes more
// memory, and a batch is what a kill can lose.
constexpr std::int32_t worthwhile_on_cpu = 32;
constexpr std::int32_t worthwhile_on_gpu = 256;
constexpr std::int64_t weights_share = 16;  // row weights may take this part of the memory

Context context_of(const Context& context, std::int64_t memory, Progress& progress) {
  return context.with({.memory = memory, .progress = &progress});
}

/// What a grid that ends too early leaves open: the score still rises at its edge.
std::vector<std::string> notes_of(const std::vector<double>& costs, std::span<const Summarised> table,
                                  std::size_t best) {
  const bool first = best == 0;
  if (costs.size() < 2 || (!first && best + 1 < costs.size())) return {};
  if (table[best].mean == table[first ? 1 : best - 1].mean) return {};
  return {fmt::format("the best cost, {:.6g}, is the {} that was tried; {} ones may be better still", costs[best],
                      first ? "smallest" : "largest", first ? "smaller" : "larger")};
}

template <class T>
class Search {
 public:
  Search(const Context& context, const Dataset<T>& dataset, const SearchOptions& options, SearchLog* log)
      : context_(context),
        dataset_(dataset),
        options_(decided(options)),
        log_(log),
        problem_(linear::make_problem(context, dataset.target, dataset.source, dataset.rows(), unweighted())),
        plan_((check_classes(), problem_), dataset.groups, options_, context.seed()),
        judge_(context, truth_of(problem_, dataset.target), linear_solver(options_.linear.loss).probabilities),
        columns_(problem_.sheaf.target_columns),
        unit_(problem_.sheaf.tasks) {
    counts_ = check_splits(plan_, problem_, dataset.target.values, *options_.score, context.threads());
  }

  SearchResult run();

 private:
  LinearOptions unweighted() const;
  void check_classes() const;
  BatchPlan propose() const;
  std::int32_t most_splits(std::int64_t memory) const;
  std::vector<Task> tasks_of(std::int32_t split, double cost) const;
  void balance(std::int32_t split, std::vector<Task>& tasks) const;
  std::vector<ModelScores> train(const Context& context, std::int32_t first_split, std::int32_t splits,
                                 const std::vector<std::pair<std::int32_t, double>>& models);
  std::vector<ModelScores> score(const Context& context, const Fits<T>& fits,
                                 const std::vector<std::pair<std::int32_t, double>>& models);
  void load_splits(std::int32_t first, std::int32_t count, int threads);
  void run_batch(const Context& context, std::int32_t number, const Batch& batch);
  void judge_outer(const Context& context, std::int32_t number, SearchResult& result);
  std::vector<Summarised> table_of(std::int32_t level) const;
  Chosen choose_level(std::int32_t level) const;
  Summarised summary(std::int32_t level, std::size_t cost) const;
  void warn(std::int32_t split, double cost, const ModelScores& model);
  const std::vector<ModelScores>* recall(std::int32_t number) const {
    return log_ != nullptr ? log_->recall(number) : nullptr;
  }
  std::size_t place(std::size_t cost, std::int32_t split) const {
    return cost * static_cast<std::size_t>(plan_.inner_splits()) + static_cast<std::size_t>(split);
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  SearchOptions options_;
  SearchLog* log_;
  linear::Problem problem_;
  Plan plan_;
  score::Scorer<T> judge_;
  std::int32_t columns_;
  std::vector<Task> unit_;  // of each decision value at C = 1
  ClassCounts counts_;
  std::vector<ModelScores> models_;  // costs x inner splits of all levels
  std::int32_t table_first_ = -1;    // the splits whose rows stand in the sheaf and with the judge
  std::int32_t table_count_ = 0;
  std::vector<std::string> warnings_;
};

/// Balanced class weights are those of the rows that a split trains on, and found there.
template <class T>
LinearOptions Search<T>::unweighted() const {
  auto linear = options_.linear;
  if (!linear_solver(linear.loss).regression) linear.balanced = false;
  return linear;
}

template <class T>
void Search<T>::check_classes() const {
  if (problem_.class_names.size() == 1)
    fail("{}: all rows are of class {}; there is nothing to tell apart", dataset_.source, problem_.class_names[0]);
}

template <class T>
BatchPlan Search<T>::propose() const {
  const auto per_task =
      linear::NewtonBlock<T>::bytes_per_task(dataset_.rows(), dataset_.features() + (options_.linear.bias > 0 ? 1 : 0));
  const auto memory = context_.memory();
  auto data = 2 * matrix_bytes(dataset_.x);
  if (context_.device().is_cuda()) data = std::min(data, memory / 2);  // larger data are streamed
  const auto room = memory - memory / weights_share - data;
  const auto most = context_.device().is_cpu() ? worthwhile_on_cpu : worthwhile_on_gpu;
  const auto fitting = std::clamp<std::int64_t>(room / std::max<std::int64_t>(per_task, 1) / 8 * 8, 1, most);
  return {memory, options_.batch > 0 ? options_.batch : static_cast<std::int32_t>(fitting)};
}

template <class T>
std::int32_t Search<T>::most_splits(std::int64_t memory) const {
  const auto bytes = std::max<std::int64_t>(dataset_.rows(), 1) * static_cast<std::int64_t>(sizeof(float));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(memory / weights_share / bytes, 1, plan_.all_splits()));
}

template <class T>
void Search<T>::balance(std::int32_t split, std::vector<Task>& tasks) const {
  const auto classes = problem_.class_names.size();
  const auto counts = std::span(counts_.train).subspan(static_cast<std::size_t>(split) * classes, classes);
  double rows = 0;
  for (const double count : counts) rows += count;
  const auto weight = [&](std::size_t c) {
    for (const auto& [name, unused] : options_.linear.class_weights)
      if (canonical_label(name) == canonical_label(problem_.class_names[c])) return 1.0;  // weighed by name
    return rows / (static_cast<double>(classes) * counts[c]);
  };
  for (std::size_t c = 0; c < tasks.size(); ++c) tasks[c].cost_positive *= weight(c);
  if (classes == 2) tasks[0].cost_negative *= weight(1);
}

template <class T>
std::vector<Task> Search<T>::tasks_of(std::int32_t split, double cost) const {
  auto tasks = unit_;
  if (options_.linear.balanced && !problem_.class_names.empty()) balance(split, tasks);
  for (auto& task : tasks) {
    task.rows = split - table_first_;
    task.cost_positive *= cost;
    task.cost_negative *= cost;
  }
  return tasks;
}

/// Batches over the same splits follow one another.
template <class T>
void Search<T>::load_splits(std::int32_t first, std::int32_t count, int threads) {
  if (table_first_ == first && table_count_ == count) return;
  problem_.sheaf.row_weights = plan_.weights(first, count, threads);
  problem_.sheaf.weight_columns = count;
  judge_.load_tests(plan_.tests(first, count, threads));
  table_first_ = first;
  table_count_ = count;
}

/// Each of `models` is a split and a cost; its `columns_` tasks stand side by side in the sheaf.
template <class T>
std::vector<ModelScores> Search<T>::train(const Context& context, std::int32_t first_split, std::int32_t splits,
                                          const std::vector<std::pair<std::int32_t, double>>& models) {
  auto& sheaf = problem_.sheaf;
  load_splits(first_split, splits, context.threads());
  sheaf.tasks.clear();
  for (const auto& [split, cost] : models) {
    const auto tasks = tasks_of(split, cost);
    sheaf.tasks.insert(sheaf.tasks.end(), tasks.begin(), tasks.end());
  }
  const auto fits = newton(context, dataset_, sheaf, linear::newton_params(options_.linear));
  return score(context, fits, models);
}

template <class T>
std::vector<ModelScores> Search<T>::score(const Context& context, const Fits<T>& fits,
                                          const std::vector<std::pair<std::int32_t, double>>& models) {
  std::vector<std::int32_t> tests;
  tests.reserve(models.size());
  for (const auto& [split, cost] : models) tests.push_back(split - table_first_);
  std::vector<ModelScores> result;
  const auto judge = [&](const Round& round, const Block<T>& z) {
    const auto first = static_cast<std::size_t>(round.first / columns_);
    const auto count = static_cast<std::size_t>(round.count / columns_);
    for (auto& model : judge_.score(z.view(), std::span(tests).subspan(first, count)))
      result.push_back({std::move(model), {}, -1});
  };
  linear::for_device_decisions<T>(context, dataset_, fits.weights, static_cast<T>(options_.linear.bias), columns_,
                                  judge_.workspace(), judge);
  for (std::size_t t = 0; t < fits.tasks.size(); ++t)
    result[t / static_cast<std::size_t>(columns_)].fits.push_back(fits.tasks[t]);
  return result;
}

template <class T>
void Search<T>::run_batch(const Context& context, std::int32_t number, const Batch& batch) {
  std::vector<std::pair<std::int32_t, double>> models;
  std::vector<std::size_t> places;
  for (std::int32_t c = batch.first_cost; c < batch.first_cost + batch.costs; ++c)
    for (std::int32_t s = batch.first_split; s < batch.first_split + batch.splits; ++s) {
      models.emplace_back(s, options_.costs[static_cast<std::size_t>(c)]);
      places.push_back(place(static_cast<std::size_t>(c), s));
    }
  const auto* known = recall(number);
  std::vector<ModelScores> trained;
  if (known == nullptr) {
    trained = train(context, batch.first_split, batch.splits, models);
    if (log_ != nullptr) log_->keep(number, trained);
  } else {
    context.progress().advance(static_cast<std::int64_t>(models.size()) * columns_);
  }
  const auto& found = known != nullptr ? *known : trained;
  if (found.size() != models.size()) fail("the journal was written by another version of the program");
  for (std::size_t m = 0; m < models.size(); ++m) {
    warn(models[m].first, models[m].second, found[m]);
    models_[places[m]] = found[m];
  }
}

template <class T>
void Search<T>::warn(std::int32_t split, double cost, const ModelScores& model) {
  for (std::size_t c = 0; c < model.fits.size(); ++c) {
    const auto& fit = model.fits[c];
    if (fit.converged) continue;
    const auto what = problem_.class_names.empty() ? "" : fmt::format(", class {}", problem_.class_names[c]);
    warnings_.push_back(
        fmt::format("C = {}, {}{} did not converge: |gradient| is {:.3g} after {} steps, {:.3g} was wanted", cost,
                    plan_.name(split), what, fit.gradient_norm, fit.iterations, fit.tolerance));
  }
}

template <class T>
Summarised Search<T>::summary(std::int32_t level, std::size_t cost) const {
  std::vector<double> scores;
  scores.reserve(static_cast<std::size_t>(plan_.splits()));
  for (std::int32_t s = 0; s < plan_.splits(); ++s)
    scores.push_back(models_[place(cost, level * plan_.splits() + s)].score(*options_.score));
  return summarise(scores);
}

template <class T>
std::vector<Summarised> Search<T>::table_of(std::int32_t level) const {
  std::vector<Summarised> table;
  table.reserve(options_.costs.size());
  for (std::size_t c = 0; c < options_.costs.size(); ++c) table.push_back(summary(level, c));
  return table;
}

template <class T>
Chosen Search<T>::choose_level(std::int32_t level) const {
  return choose(table_of(level), info(*options_.score).larger_is_better, options_.choice);
}

template <class T>
void Search<T>::judge_outer(const Context& context, std::int32_t number, SearchResult& result) {
  std::vector<std::pair<std::int32_t, double>> models;
  for (std::int32_t k = 0; k < plan_.outer_folds(); ++k) {
    const auto chosen = choose_level(k + 1).chosen;
    models.emplace_back(plan_.inner_splits() + k, options_.costs[chosen]);
    result.outer.push_back({chosen, summary(k + 1, chosen), {}});
  }
  if (models.empty()) return;
  const auto* known = recall(number);
  std::vector<ModelScores> trained;
  if (known == nullptr) {
    trained = train(context, plan_.inner_splits(), plan_.outer_folds(), models);
    if (log_ != nullptr) log_->keep(number, trained);
  }
  const auto& found = known != nullptr ? *known : trained;
  for (std::size_t k = 0; k < models.size(); ++k) {
    warn(models[k].first, models[k].second, found[k]);
    result.outer[k].scores = found[k];
  }
}

template <class T>
SearchResult Search<T>::run() {
  const auto plan = log_ != nullptr ? log_->agree(propose()) : propose();
  const auto costs = static_cast<std::int32_t>(options_.costs.size());
  const auto batches = plan_batches(plan_.inner_splits(), costs, columns_, plan.tasks, most_splits(plan.memory));
  models_.resize(static_cast<std::size_t>(plan_.inner_splits()) * options_.costs.size());
  SearchResult result;
  {
    const Stage stage(context_.progress(), "searching",
                      std::int64_t{1} * columns_ * (plan_.inner_splits() * costs + plan_.outer_folds()));
    InnerProgress inner(context_.progress());
    const auto context = context_of(context_, plan.memory, inner);
    for (std::size_t b = 0; b < batches.size(); ++b) run_batch(context, static_cast<std::int32_t>(b), batches[b]);
    judge_outer(context, static_cast<std::int32_t>(batches.size()), result);
  }
  result.chosen = choose_level(0);
  result.notes = notes_of(options_.costs, table_of(0), result.chosen.best);
  for (std::size_t c = 0; c < options_.costs.size(); ++c)
    for (std::int32_t s = 0; s < plan_.splits(); ++s) result.models.push_back(std::move(models_[place(c, s)]));
  options_.linear.cost = options_.costs[result.chosen.chosen];
  result.model = train_linear(context_of(context_, plan.memory, context_.progress()), dataset_, options_.linear);
  for (const auto& warning : warnings_of(result.model)) warnings_.push_back("the final model: " + warning);
  result.options = options_;
  result.seed = context_.seed();
  result.source = dataset_.source;
  result.rows = dataset_.rows();
  result.features = dataset_.features();
  result.class_names = problem_.class_names;
  result.positive = positive_class(problem_, dataset_.target);
  result.splits = plan_.splits();
  result.warnings = std::move(warnings_);
  return result;
}

}  // namespace
}  // namespace search

SearchOptions decided(SearchOptions options) {
  const auto& solver = linear_solver(options.linear.loss);
  if (options.costs.empty()) options.costs = default_costs();
  std::sort(options.costs.begin(), options.costs.end());
  options.costs.erase(std::unique(options.costs.begin(), options.costs.end()), options.costs.end());
  if (!options.split) options.split = solver.regression ? SplitKind::k_fold : SplitKind::stratified_k_fold;
  if (!options.score) options.score = solver.regression ? Metric::r2 : Metric::accuracy;
  const auto& score = info(*options.score);
  if (score.regression != solver.regression)
    fail_usage("{} is a score of {}, which {} does not predict", score.name, score.regression ? "amounts" : "classes",
               solver.about);
  if (score.probabilities && !solver.probabilities)
    fail_usage("{} needs probabilities, which only logistic regression has", score.name);
  options.linear.cost = 1;
  return options;
}

template <class T>
SearchResult search_linear(const Context& context, const Dataset<T>& dataset, const SearchOptions& options,
                           SearchLog* log) {
  return search::Search<T>(context, dataset, options, log).run();
}

template SearchResult search_linear(const Context&, const Dataset<float>&, const SearchOptions&, SearchLog*);
template SearchResult search_linear(const Context&, const Dataset<double>&, const SearchOptions&, SearchLog*);

}  // namespace sheaf
