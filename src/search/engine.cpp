// The search engine. In rounds: the strategy of each level asks for points; what they come to on the splits of the
// level is trained in batches, on whichever device is free; the strategies learn from the scores. Then each level
// chooses, the chosen models are trained on all rows of their levels and scored on the outer folds, and the choice over
// all rows is trained on them. Knows no family: see family/search.hpp.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include <sheaf/solvers/profile.hpp>

#include "core/fail.hpp"
#include "data/describe/split_summary.hpp"
#include "data/name_source.hpp"
#include "family/family.hpp"
#include "pipeline/learn.hpp"
#include "search/batches.hpp"
#include "search/candidates/race.hpp"
#include "search/journal/place.hpp"
#include "search/plan/choose_among.hpp"
#include "search/plan/inner_progress.hpp"
#include "search/plan/make_search.hpp"
#include "search/plan/plan_rows.hpp"
#include "search/plan/strategy.hpp"
#include "search/results/held_out.hpp"
#include "search/results/learning_curve.hpp"
#include "search/results/one_class.hpp"
#include "search/results/permutation_test.hpp"
#include "search/results/result.hpp"
#include "search/results/stack.hpp"
#include "search/results/weights_effect.hpp"

namespace sheaf {
namespace engine {
namespace {

/// The scores of one point on one level.
struct Tried {
  std::vector<ModelScores> models;  // of the first splits
};

struct LevelState {
  std::unique_ptr<PointStrategy> strategy;
  std::map<std::int32_t, Tried> tried;  // by place in points_
};

/// A device at work: its trainer, and the splits that are loaded there.
struct Worker {
  Context context;
  std::unique_ptr<Trainer> trainer = nullptr;
  SplitTable table = {};
};

class Engine {
 public:
  /// `strategies` and `work`: of each of the family's models.
  Engine(const Context& context, const FamilySearch& family, const Plan& plan, const SearchOptions& options,
         const std::vector<StrategyOptions>& strategies, std::span<const double> work, SearchLog* log);

  void run(SearchResult& result);

 private:
  using Clock = std::chrono::steady_clock;

  std::int32_t place_of(const Point& point);
  bool round(bool first);
  void evaluate(const std::vector<Cell>& cells, bool chosen, std::vector<ModelScores>& scores);
  void run_batch(Worker& worker, std::int32_t number, const Batch& batch, bool chosen,
                 std::vector<ModelScores>& scores);
  void train_batches(const std::vector<Batch>& batches, bool chosen, std::vector<std::vector<ModelScores>>& scores);
  std::int32_t model_of(const Cell& cell) const { return models_of_points_[static_cast<std::size_t>(cell.point)]; }
  const FamilySearch& family_of(const Cell& cell) const { return *models_[static_cast<std::size_t>(model_of(cell))]; }
  bool could_be_ours(const ModelScores& model, const Cell& cell) const;
  void note_failures(const ModelScores& model, const Cell& cell);
  bool complete(const Tried& tried) const { return std::ssize(tried.models) == plan_.splits(); }
  bool out_of_time() const;
  std::vector<double> scores_of(const Tried& tried) const;
  SearchLevel take_level(std::int32_t level, const std::vector<std::int32_t>& order);
  void run_outer(SearchResult& result);
  void order_points(SearchResult& result, std::vector<std::int32_t>& order);
  std::int64_t models_to_train() const;
  void take_race(SearchResult& result) const;

  const Context& context_;
  const FamilySearch& family_;
  std::vector<const FamilySearch*> models_;
  const Plan& plan_;
  const SearchOptions& options_;
  SearchLog* log_;
  std::vector<BatchLimits> limits_;  // of each model
  std::vector<Worker> workers_;
  std::vector<LevelState> levels_;
  std::vector<Point> points_;  // in the order of their discovery
  std::map<Point, std::int32_t> places_;
  std::vector<std::int32_t> groups_;            // of each point: which share most
  std::vector<std::int32_t> models_of_points_;  // the model of each point
  std::map<Point, std::int32_t> shared_;
  std::int32_t next_batch_ = 0;
  std::mutex mutex_;  // of the log and the warnings
  std::vector<std::string> warnings_;
  Clock::time_point begin_ = Clock::now();
  bool cut_short_ = false;
};

Engine::Engine(const Context& context, const FamilySearch& family, const Plan& plan, const SearchOptions& options,
               const std::vector<StrategyOptions>& strategies, std::span<const double> work, SearchLog* log)
    : context_(context), family_(family), models_(family.models()), plan_(plan), options_(options), log_(log) {
  BatchPlan proposed;
  for (const auto* model : models_) {
    limits_.push_back(model->limits(context, plan.split_counts()));
    if (options.batch > 0) limits_.back().tasks = options.batch;
    proposed.sizes.push_back({limits_.back().tasks, limits_.back().splits});
  }
  proposed.memory = limits_.front().memory;
  const auto agreed = log != nullptr ? log->agree(proposed) : proposed;
  if (agreed.sizes.size() != limits_.size())
    fail("the journal is that of a search of {} models, and there are {}; begin again (--force)", agreed.sizes.size(),
         limits_.size());
  // What is free differs a little from run to run; solvers choose by it, and the same memory gives the same bits.
  const bool as_then = agreed.memory <= proposed.memory + proposed.memory / 4;
  for (std::size_t m = 0; m < limits_.size(); ++m) {
    limits_[m].tasks = agreed.sizes[m].tasks;
    limits_[m].splits = agreed.sizes[m].splits;
    if (as_then) limits_[m].memory = agreed.memory;
  }
  if (!as_then)
    warnings_.push_back(
        fmt::format("the search began with {} of memory and went on with {}; last digits may differ from those of a "
                    "search in one run",
                    format_bytes(agreed.memory), format_bytes(proposed.memory)));
  levels_.resize(static_cast<std::size_t>(plan.levels()));
  for (auto& level : levels_) {
    if (models_.front() == &family)
      level.strategy = make_strategy(family.space(), strategies.front());
    else
      level.strategy = std::make_unique<Race>(family, strategies, work);
  }
}

std::int32_t Engine::place_of(const Point& point) {
  const auto [found, fresh] = places_.try_emplace(point, static_cast<std::int32_t>(points_.size()));
  if (fresh) {
    points_.push_back(point);
    const auto next = static_cast<std::int32_t>(shared_.size());
    groups_.push_back(shared_.try_emplace(family_.shared_part(point), next).first->second);
    models_of_points_.push_back(family_.own_point(point).model);
  }
  return found->second;
}

bool Engine::out_of_time() const {
  return options_.time > 0 && std::chrono::duration<double>(Clock::now() - begin_).count() > options_.time;
}

/// The score on each split, larger being better.
std::vector<double> Engine::scores_of(const Tried& tried) const {
  const double sign = info(*options_.score).larger_is_better ? 1 : -1;
  std::vector<double> scores;
  for (const auto& model : tried.models) scores.push_back(sign * model.score(*options_.score));
  return scores;
}

/// 0: not known before.
std::int64_t Engine::models_to_train() const {
  if (options_.strategy != Strategy::grid || options_.extend || models_.size() > 1) return 0;
  return (std::int64_t{1} * family_.space().size() * plan_.splits() * plan_.levels() + plan_.outer_folds()) *
         family_.tasks();
}

/// False: no level asks for more.
bool Engine::round(bool first) {
  context_.check_stop();
  std::vector<Cell> cells;
  std::vector<std::pair<std::int32_t, std::int32_t>> asked;  // level and point
  for (std::int32_t l = 0; l < plan_.levels(); ++l) {
    auto& level = levels_[static_cast<std::size_t>(l)];
    for (const auto& trial : level.strategy->next()) {
      const auto point = place_of(trial.point);
      asked.emplace_back(l, point);
      const auto done = static_cast<std::int32_t>(level.tried[point].models.size());
      for (std::int32_t s = done; s < trial.splits; ++s) cells.push_back({point, plan_.inner_split(l, s)});
    }
  }
  if (asked.empty()) return false;
  if (!first && out_of_time()) {
    cut_short_ = true;
    return false;
  }
  std::vector<ModelScores> scores;
  evaluate(cells, false, scores);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const auto level = static_cast<std::size_t>(cells[k].split / plan_.splits());
    levels_[level].tried[cells[k].point].models.push_back(std::move(scores[k]));
  }
  for (const auto& [l, point] : asked) {
    auto& level = levels_[static_cast<std::size_t>(l)];
    const auto found = scores_of(level.tried[point]);
    level.strategy->learn_splits(points_[static_cast<std::size_t>(point)], found, summarise(found).mean);
  }
  return true;
}

/// Scores in the order of the cells. Batches are numbered here, so that they are the same whichever device trains them.
void Engine::evaluate(const std::vector<Cell>& cells, bool chosen, std::vector<ModelScores>& scores) {
  std::vector<Batch> batches;
  for (std::size_t m = 0; m < models_.size(); ++m) {
    std::vector<Cell> own;
    for (const auto& cell : cells)
      if (model_of(cell) == static_cast<std::int32_t>(m)) own.push_back(cell);
    for (auto& batch : plan_batches(own, groups_, limits_[m], models_[m]->tasks())) batches.push_back(std::move(batch));
  }
  std::vector<std::vector<ModelScores>> found(batches.size());
  train_batches(batches, chosen, found);
  next_batch_ += static_cast<std::int32_t>(batches.size());
  std::map<std::pair<std::int32_t, std::int32_t>, std::size_t> where;
  for (std::size_t k = 0; k < cells.size(); ++k) where[{cells[k].point, cells[k].split}] = k;
  scores.resize(cells.size());
  for (std::size_t b = 0; b < batches.size(); ++b)
    for (std::size_t k = 0; k < batches[b].cells.size(); ++k) {
      const auto& cell = batches[b].cells[k];
      note_failures(found[b][k], cell);
      scores[where.at({cell.point, cell.split})] = std::move(found[b][k]);
    }
}

/// Each device takes the next batch when it is free, so that unequal ones end together.
void Engine::train_batches(const std::vector<Batch>& batches, bool chosen,
                           std::vector<std::vector<ModelScores>>& scores) {
  InnerProgress inner(context_.progress());
  if (workers_.empty()) {
    workers_.push_back({context_.with({.memory = limits_.front().memory})});
    for (const Device device : options_.also) workers_.push_back({context_.with({.device = device, .memory = 0})});
  }
  std::atomic<std::size_t> next = 0;
  std::exception_ptr error;
  const auto work = [&](Worker& worker, Progress& progress) {
    try {
      worker.context = worker.context.with({.progress = &progress});
      for (std::size_t b = next++; b < batches.size(); b = next++)
        run_batch(worker, next_batch_ + static_cast<std::int32_t>(b), batches[b], chosen, scores[b]);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      next = batches.size();
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t w = 1; w < workers_.size(); ++w) others.emplace_back([&, w] { work(workers_[w], inner); });
    work(workers_.front(), inner);
  }
  if (error) std::rethrow_exception(error);
}

void Engine::run_batch(Worker& worker, std::int32_t number, const Batch& batch, bool chosen,
                       std::vector<ModelScores>& scores) {
  worker.context.check_stop();
  if (log_ != nullptr) {
    const std::lock_guard lock(mutex_);
    if (const auto* known = log_->recall(number)) {
      bool ours = known->size() == batch.cells.size();
      for (std::size_t k = 0; k < known->size() && ours; ++k) ours = could_be_ours((*known)[k], batch.cells[k]);
      if (!ours) fail("the journal is that of another search or of another version of Sheaf; begin again (--force)");
      scores = *known;
      worker.context.progress().advance(std::ssize(batch.cells) * family_of(batch.cells.front()).tasks() *
                                        progress_per_model);
      return;
    }
  }
  if (!worker.trainer) worker.trainer = family_.trainer(worker.context);
  if (worker.table.splits != batch.splits) {
    worker.table = plan_.table(batch.splits, worker.context.threads());
    worker.trainer->load(worker.table);
  }
  std::vector<Job> jobs;
  for (const auto& cell : batch.cells) {
    const auto column = std::lower_bound(batch.splits.begin(), batch.splits.end(), cell.split) - batch.splits.begin();
    jobs.push_back({&points_[static_cast<std::size_t>(cell.point)], static_cast<std::int32_t>(column)});
  }
  scores = worker.trainer->train(jobs, chosen);
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const auto level = batch.cells[k].split / plan_.splits();
    const bool inner = level < plan_.levels() && level >= plan_.levels() - plan_.outer_folds();
    if (inner) scores[k].drop_curves();  // of which there are many, and nobody sees
  }
  if (log_ == nullptr) return;
  for (std::size_t k = 0; k < scores.size(); ++k)
    scores[k].place = place_json(plan_, batch.cells[k].split, family_.space().axes,
                                 points_[static_cast<std::size_t>(batch.cells[k].point)]);
  const std::lock_guard lock(mutex_);
  log_->keep(number, scores);
  for (auto& model : scores) model.place.clear();
}

/// Whether lists that a journal brought are as long as those that this search makes.
bool Engine::could_be_ours(const ModelScores& model, const Cell& cell) const {
  const auto classes = family_.labels().class_names.size();
  const auto either = [](std::size_t size, std::size_t full) { return size == 0 || size == full; };
  return either(model.roc.size(), roc_points) && either(model.precision_recall.size(), roc_points) &&
         either(model.recall.size(), classes) && either(model.confusion.size(), classes * classes) &&
         std::ssize(model.fits) <= std::max<std::ptrdiff_t>(family_of(cell).tasks(), 1) &&
         std::all_of(model.weights.begin(), model.weights.end(),
                     [](const auto& of) { return of.features.size() == of.weights.size(); });
}

void Engine::note_failures(const ModelScores& model, const Cell& cell) {
  for (std::size_t c = 0; c < model.fits.size(); ++c) {
    const auto& fit = model.fits[c];
    if (fit.converged) continue;
    const auto& names = family_.labels().class_names;
    const auto what = c < names.size() && family_of(cell).tasks() == std::ssize(model.fits)
                          ? fmt::format(", class {}", names[c])
                          : "";
    const auto& point = points_[static_cast<std::size_t>(cell.point)];
    warnings_.push_back(fmt::format("{}, {}{} did not converge: {}", describe_point(family_.space().axes, point),
                                    plan_.name(cell.split), what, family_of(cell).failure(fit)));
  }
}

/// The points that all levels together tried on all their splits, in the order of the axes.
void Engine::order_points(SearchResult& result, std::vector<std::int32_t>& order) {
  for (std::int32_t p = 0; p < std::ssize(points_); ++p)
    if (std::any_of(levels_.begin(), levels_.end(), [&](const auto& level) {
          const auto found = level.tried.find(p);
          return found != level.tried.end() && complete(found->second);
        }))
      order.push_back(p);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) {
    return comes_before(family_.space(), points_[static_cast<std::size_t>(a)], points_[static_cast<std::size_t>(b)]);
  });
  for (const auto p : order) result.points.push_back(points_[static_cast<std::size_t>(p)]);
}

SearchLevel Engine::take_level(std::int32_t level, const std::vector<std::int32_t>& order) {
  SearchLevel result;
  auto& state = levels_[static_cast<std::size_t>(level)];
  for (std::size_t k = 0; k < order.size(); ++k) {
    const auto found = state.tried.find(order[k]);
    if (found == state.tried.end() || !complete(found->second)) continue;
    result.points.push_back(static_cast<std::int32_t>(k));
    for (auto& model : found->second.models) result.models.push_back(std::move(model));
  }
  return result;
}

void Engine::run_outer(SearchResult& result) {
  std::vector<Cell> cells;
  for (std::int32_t k = 0; k < plan_.outer_folds(); ++k) {
    const auto& level = result.outer[static_cast<std::size_t>(k)].level;
    cells.push_back({place_of(result.point(level, level.chosen.chosen)), plan_.outer_split(k)});
  }
  if (cells.empty()) return;
  std::vector<ModelScores> scores;
  evaluate(cells, true, scores);
  for (std::size_t k = 0; k < cells.size(); ++k) result.outer[k].scores = std::move(scores[k]);
}

void Engine::run(SearchResult& result) {
  {
    const Stage stage(context_.progress(), "searching", models_to_train());
    bool first = true;
    while (round(first)) first = false;
    std::vector<std::int32_t> order;
    order_points(result, order);
    if (options_.full) result.level = take_level(0, order);
    for (std::int32_t k = 0; k < plan_.outer_folds(); ++k)
      result.outer.push_back({take_level(plan_.level_of(k), order), {}});
    take_race(result);
    if (options_.full) result.level.chosen = choose_among(family_, options_, result.points, result.level);
    for (auto& fold : result.outer) fold.level.chosen = choose_among(family_, options_, result.points, fold.level);
    run_outer(result);
  }
  workers_.clear();  // their memory is the final model's
  if (options_.full && options_.refit) {
    result.model = refit_model(context_.with({.memory = limits_.front().memory}), family_, result.chosen());
    for (const auto& warning : result.model->warnings()) warnings_.push_back("the final model: " + warning);
  }
  if (options_.path_split > 0) {
    const auto outer = options_.path_split - 1;
    const auto& level = result.outer[static_cast<std::size_t>(outer)].level;
    result.path = family_.path(context_, plan_.table({plan_.outer_split(outer)}, context_.threads()),
                               result.point(level, level.chosen.chosen));
  }
  result.warnings = std::move(warnings_);
  if (cut_short_)
    result.notes.push_back(fmt::format("the time given, {} s, was over before the search was: {} points were tried",
                                       options_.time, result.points.size()));
}

/// Records how far each model came in the search over all rows.
void Engine::take_race(SearchResult& result) const {
  const auto* race = dynamic_cast<const Race*>(levels_.front().strategy.get());
  if (race == nullptr || !options_.full) return;
  const double sign = info(*options_.score).larger_is_better ? 1 : -1;
  const auto outcomes = race->outcomes();
  for (std::size_t m = 0; m < outcomes.size(); ++m) {
    auto& model = result.models[m];
    model.points = outcomes[m].points;
    model.dropped_after = outcomes[m].dropped_after;
    model.dropped_score = sign * outcomes[m].dropped_score;
  }
}

/// A note for each axis whose best value is at the edge of the grid, where the score still rises.
void note_edges(SearchResult& result) {
  const bool went_on = result.options.extend && result.options.strategy == Strategy::grid;
  if (result.level.points.empty() || went_on) return;
  const auto& best = result.point(result.level, result.level.chosen.best);
  const auto* model = result.model_of(best);
  if (model != nullptr && model->candidate.extend && model->candidate.strategy == Strategy::grid) return;
  for (std::size_t axis = 0; axis < result.axes.size(); ++axis) {
    if (best[axis] == SearchAxis::absent) continue;
    double low = best[axis];
    double high = low;
    for (const auto p : result.level.points) {
      if (result.model_of(result.points[static_cast<std::size_t>(p)]) != model) continue;
      low = std::min(low, result.points[static_cast<std::size_t>(p)][axis]);
      high = std::max(high, result.points[static_cast<std::size_t>(p)][axis]);
    }
    if (low == high || (best[axis] != low && best[axis] != high)) continue;
    if (!result.axes[axis].open_ended) continue;
    const bool smallest = best[axis] == low;
    result.notes.push_back(fmt::format("the best {}, {:.6g}, is the {} that was tried; {} ones may be better still",
                                       result.axes[axis].name, best[axis], smallest ? "smallest" : "largest",
                                       smallest ? "smaller" : "larger"));
  }
}

/// A note where one class is so frequent that accuracy says little.
void note_balance(const Labels& labels, SearchResult& result) {
  if (labels.regression() || labels.rows == 0) return;
  std::vector<std::int64_t> rows(labels.class_names.size(), 0);
  for (const auto c : labels.classes) ++rows[static_cast<std::size_t>(c)];
  const auto most = std::max_element(rows.begin(), rows.end());
  const double share = static_cast<double>(*most) / static_cast<double>(labels.rows);
  if (share < frequent_class) return;
  if (result.options.score != Metric::accuracy) {
    if (result.options.score == Metric::auc || result.options.score == Metric::balanced_accuracy)
      result.notes.push_back(fmt::format(
          "{:.0f} % of the rows are of class {}, so that accuracy says little; models are chosen by {}", 100 * share,
          labels.class_names[static_cast<std::size_t>(most - rows.begin())], info(*result.options.score).title));
    return;
  }
  result.notes.push_back(fmt::format(
      "{:.0f} % of the rows are of class {}: a model that knew nothing else would have that accuracy; the scores "
      "balanced-accuracy and {} ask for more",
      100 * share, labels.class_names[static_cast<std::size_t>(most - rows.begin())],
      labels.class_names.size() == 2 ? "auc" : "f1-macro"));
}

void note_one_out(SearchResult& result) {
  if (!result.options.one_out_in_parts) return;
  result.notes.push_back(fmt::format(
      "each row is predicted by all others (leave-one-out), which costs votes of neighbours nothing; the deviations "
      "of scores are those of {} parts of the rows. For folds give their number (folds)",
      result.splits));
}

SearchOutcome outcome_of(const SearchResult& result) {
  SearchOutcome outcome;
  outcome.study = !result.options.full;
  if (result.model) outcome.chosen.push_back(result.chosen());
  for (const auto& fold : result.outer) {
    outcome.chosen.push_back(result.point(fold.level, fold.level.chosen.chosen));
    outcome.outer.push_back(&fold.scores);
  }
  return outcome;
}

std::vector<Metric> metrics_of(const FamilySearch& family) {
  std::vector<Metric> result;
  for (const auto& row : metrics())
    if (row.suits(static_cast<std::int32_t>(family.labels().class_names.size()), family.has_probabilities(),
                  !family.labels().events.empty()))
      result.push_back(row.metric);
  return result;
}

/// Of the features behind some steps, of which there is one at least; rows go through them in parts, so that no copy of
/// all is made.
template <class T>
std::vector<double> deviations_behind(const Context& context, const Pipeline& steps, const Dataset<T>& dataset) {
  constexpr std::int64_t rows_at_once = 4096;
  std::vector<double> means, squares;
  for (std::int64_t first = 0; first < dataset.rows(); first += rows_at_once) {
    std::vector<std::int32_t> rows;
    for (auto i = first; i < std::min(first + rows_at_once, dataset.rows()); ++i)
      rows.push_back(static_cast<std::int32_t>(i));
    const auto changed = apply_pipeline(context, steps, take_rows(dataset, rows, context.threads()));
    const auto features = summarize_features(context, changed);
    const auto before = static_cast<double>(first);
    const auto count = static_cast<double>(rows.size());
    means.resize(features.size(), 0);
    squares.resize(means.size(), 0);
    for (std::size_t j = 0; j < means.size(); ++j) {
      const double distance = features[j].mean - means[j];
      squares[j] += count * (features[j].standard_deviation * features[j].standard_deviation +
                             distance * distance * before / (before + count));
      means[j] += distance * count / (before + count);
    }
  }
  for (double& square : squares) square = std::sqrt(square / static_cast<double>(dataset.rows()));
  return squares;
}

/// Of the features as a linear model sees them. What the last steps do to a deviation is known without looking at rows.
template <class T>
std::vector<double> standard_deviations(const Context& context, const Model& model, const Dataset<T>& dataset,
                                        const std::function<std::vector<FeatureSummary>()>& summarize) {
  const auto known = [](const PipelineStep& step) {
    return std::holds_alternative<TakeStep>(step) || std::holds_alternative<Scaling>(step);
  };
  auto front = model.pipeline();
  std::vector<PipelineStep> last;
  for (auto& steps = front.steps; !steps.empty() && known(steps.back()); steps.pop_back()) last.push_back(steps.back());
  std::vector<double> deviations;
  if (front.empty())
    for (const auto& feature : summarize()) deviations.push_back(feature.standard_deviation);
  else
    deviations = deviations_behind(context, front, dataset);
  for (; !last.empty(); last.pop_back()) {
    if (const auto* scaling = std::get_if<Scaling>(&last.back())) {
      for (std::size_t j = 0; j < deviations.size(); ++j) deviations[j] *= std::abs(scaling->factor[j]);
      continue;
    }
    std::vector<double> taken;
    for (const auto j : std::get<TakeStep>(last.back()).features)
      taken.push_back(deviations[static_cast<std::size_t>(j)]);
    deviations = std::move(taken);
  }
  return deviations;
}

/// Of the final model: what it keeps of the training rows, and the deviations that its weights are compared by. Both
/// look at the features once.
template <class T>
void describe_model(const Context& context, const Dataset<T>& dataset, std::span<const FeatureSummary> known,
                    SearchResult& result) {
  std::vector<FeatureSummary> features(known.begin(), known.end());
  const auto summarize = [&] {
    if (features.empty()) features = summarize_features(context, dataset);
    return features;
  };
  if (result.stack) {  // whose members look at the features
    describe_stack(context, dataset, summarize, *result.model);
    return;
  }
  auto pipeline = result.model->pipeline();
  pipeline::describe_training(context, dataset, summarize, pipeline);
  result.model->set_pipeline(std::move(pipeline));
  if (result.model->coefficients())
    result.standard_deviations = standard_deviations(context, *result.model, dataset, summarize);
}

ComparedModel compared_model(const Candidate& candidate, const FamilySearch& search, std::size_t place) {
  const auto& own = *search.models()[place];
  ComparedModel result;
  result.candidate = candidate;
  result.title = own.title();
  result.size_words = candidate.space.options.family().size_words();
  // Values that tell the places of its axes from one another.
  Point numbers(own.space().axes.size());
  std::iota(numbers.begin(), numbers.end(), 0.0);
  const auto joined = search.joined_point(static_cast<std::int32_t>(place), numbers);
  result.axes.resize(numbers.size());
  for (std::size_t axis = 1; axis < joined.size(); ++axis)
    if (joined[axis] != SearchAxis::absent)
      result.axes[static_cast<std::size_t>(joined[axis])] = static_cast<std::int32_t>(axis);
  return result;
}

void check_threshold(const SearchOptions& options, const Labels& labels) {
  if (options.threshold && labels.class_names.size() != 2)
    fail_usage("a threshold is for two classes, and the dataset has {}", labels.class_names.size());
}

}  // namespace
}  // namespace engine

template <class T>
SearchResult search(const Context& given, const Dataset<T>& dataset, const SearchSpace& space,
                    const SearchOptions& options, SearchLog* log) {
  SearchResult result;
  SearchSpace decided = space;
  result.options = options;
  decide(dataset, decided, result.options);
  result.space = decided;
  result.notes = decided.notes;
  result.size_words = decided.options.family().size_words();
  if (options.keep_decisions && log != nullptr) fail_usage("a log keeps no decision values; search without one");
  const auto context = given.for_work(search_work(dataset, decided, result.options));
  const auto trained = decided.candidates.empty()
                           ? engine::make_search(context, dataset, decided, result.options)
                           : engine::make_models_search(context, dataset, decided, result.options, result.notes);
  check_two_classes(trained->labels(), dataset.source);
  const auto planned = name_source(dataset.source, [&] {
    engine::check_threshold(result.options, trained->labels());
    return engine::plan_rows(context, dataset, trained->labels(), result.options);
  });
  const auto& plan = planned.plan;
  result.seed = context.seed();
  result.source = dataset.source;
  result.label = dataset.target.name;
  result.title = trained->title();
  result.rows = dataset.rows();
  result.features = dataset.features();
  result.groups = planned.groups;
  result.class_names = trained->labels().class_names;
  result.target_names = dataset.target.target_names();
  result.positive = trained->labels().positive;
  result.columns = trained->labels().columns();
  result.metrics = engine::metrics_of(*trained);
  result.axes = trained->space().axes;
  result.splits = plan.splits();
  std::vector<double> work;
  std::vector<engine::StrategyOptions> strategies;
  for (const auto& candidate : decided.candidates) {
    result.models.push_back(engine::compared_model(candidate, *trained, result.models.size()));
    work.push_back(search_work(dataset, candidate.space, result.options).operations);
    strategies.push_back({candidate.strategy, result.options.trials, plan.splits(), context.seed(), candidate.extend});
  }
  if (strategies.empty())
    strategies.push_back(
        {result.options.strategy, result.options.trials, plan.splits(), context.seed(), result.options.extend});
  auto run_options = result.options;
  if (result.options.stack > 0) run_options.refit = false;  // the final model is the stack
  engine::Engine(context, *trained, plan, run_options, strategies, work, log).run(result);
  if (result.options.stack > 0) engine::add_stack(context, dataset, *trained, plan, result);
  if (const auto* chosen = result.models.empty() ? nullptr : result.model_of(result.chosen())) {
    result.space = chosen->candidate.space;
    result.options.pipeline = chosen->candidate.pipeline;
    result.title = chosen->title;
    result.size_words = chosen->size_words;
  }
  if (result.model) engine::describe_model(context, dataset, trained->dataset_features(), result);
  if (!result.options.full) {
    if (needs_pipeline(dataset, result.options.pipeline)) {
      auto steps = result.options.pipeline;
      steps.select.clear();
      const auto prepared = apply_pipeline(context, learn_pipeline(context, dataset, steps), dataset);
      result.features = prepared.features();
      engine::add_stability(context, prepared, result);
    } else {
      engine::add_stability(context, dataset, result);
    }
  }
  if (!result.options.full) result.chance = engine::stability_by_chance(context, dataset, space, options);
  result.selection_binning = selection_binning(dataset, result.options.pipeline);
  if (result.options.predictions || result.options.calibrate || result.options.threshold ||
      result.options.permutation_importance > 0)
    engine::use_held_out(context, dataset, trained->labels(), plan, result);
  if (result.options.learning_curve)
    result.learning_curve = engine::learning_curve(
        context, *trained, plan, result.groups > 0 ? dataset.groups : std::vector<std::int32_t>(), result);
  result.weights_effect = engine::weights_effect(context, dataset, plan, result);
  if (result.options.permutation_test > 0)
    result.permutation_test = engine::permutation_test(context, dataset, space, options.pipeline, result);
  result.notes.insert(result.notes.end(), planned.notes.begin(), planned.notes.end());
  result.warnings.insert(result.warnings.begin(), planned.warnings.begin(), planned.warnings.end());
  engine::note_edges(result);
  engine::note_one_out(result);
  engine::note_balance(trained->labels(), result);
  if (auto warning = engine::one_class_warning(result); !warning.empty()) result.warnings.push_back(std::move(warning));
  for (auto& note : pipeline_notes(dataset, result.options.pipeline)) result.notes.push_back(std::move(note));
  if (!result.stack)
    for (auto& note : trained->notes(engine::outcome_of(result))) result.notes.push_back(std::move(note));
  result.counts = trained->kernel_counts();
  if (!dataset.groups.empty() && result.groups == 0)
    result.notes.emplace_back(
        "the groups of rows are not kept together: rows of one group may stand on both sides of a split");
  return result;
}

template SearchResult search(const Context&, const Dataset<float>&, const SearchSpace&, const SearchOptions&,
                             SearchLog*);
template SearchResult search(const Context&, const Dataset<double>&, const SearchSpace&, const SearchOptions&,
                             SearchLog*);

}  // namespace sheaf
