// The search engine. In rounds: the strategy of each level asks for points; what they come to on the splits of the
// level is trained in batches, on whichever device is free; the strategies learn from the scores. Then each level
// chooses, the chosen models are trained on all rows of their levels and scored on the outer folds, and the choice over
// all rows is trained on them. Knows no family: see family/search.hpp.
#include "search/engine.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>

#include "core/fail.hpp"
#include "core/memory/less_memory.hpp"
#include "core/text.hpp"
#include "data/describe/split_summary.hpp"
#include "queue/units.hpp"
#include "search/batches.hpp"
#include "search/candidates/race.hpp"
#include "search/journal/place.hpp"
#include "search/plan/choose_among.hpp"
#include "search/plan/inner_progress.hpp"
#include "search/plan/make_search.hpp"
#include "search/results/calibrated_scores.hpp"
#include "search/results/result.hpp"

namespace sheaf::engine {
namespace {

/// The scores of one point on one level.
struct Tried {
  std::vector<ModelScores> models;  // of the first splits
};

struct LevelState {
  std::unique_ptr<PointStrategy> strategy;
  std::map<std::int32_t, Tried> tried;  // by place in points_
};

/// A model that did not converge.
struct Failure {
  std::int32_t point = 0;  // place in points_
  std::string text;
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
  bool run_batch(Worker& worker, std::int32_t number, const Batch& batch, bool chosen,
                 std::vector<ModelScores>& scores);
  bool recall(std::int32_t number, const Batch& batch, std::vector<ModelScores>& scores);
  void keep(std::int32_t number, const Batch& batch, std::vector<ModelScores>& scores);
  void train_batches(const std::vector<Batch>& batches, bool chosen, std::vector<std::vector<ModelScores>>& scores);
  std::int32_t model_of(const Cell& cell) const { return models_of_points_[static_cast<std::size_t>(cell.point)]; }
  const FamilySearch& family_of(const Cell& cell) const { return *models_[static_cast<std::size_t>(model_of(cell))]; }
  bool matches_this_search(const ModelScores& model, const Cell& cell) const;
  void note_failures(const ModelScores& model, const Cell& cell);
  void warn_of_failures(const SearchResult& result);
  bool complete(const Tried& tried) const { return std::ssize(tried.models) == plan_.splits(); }
  bool is_cut_short();
  bool ends_here();
  std::vector<double> scores_of(const Tried& tried) const;
  SearchLevel take_level(std::int32_t level, const std::vector<std::int32_t>& order);
  void run_outer(SearchResult& result);
  void order_points(SearchResult& result, std::vector<std::int32_t>& order);
  std::int64_t models_to_train(const std::vector<StrategyOptions>& strategies) const;
  std::string step_name(const std::vector<Cell>& cells) const;
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
  std::vector<Failure> failures_;
  Clock::time_point begin_ = Clock::now();
  bool cut_short_ = false;
  bool calibrates_ = false;
  std::int64_t total_ = 0;  // of models; 0: not known before
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
  calibrates_ = chooses_by_calibrated(options) && can_calibrate(plan, family.labels());
  for (std::int32_t l = 0; l < plan_.levels(); ++l) {
    auto& level = levels_.emplace_back();
    if (models_.front() == &family)
      level.strategy = make_strategy(family.space(), strategies.front());
    else
      level.strategy = std::make_unique<Race>(family, strategies, work);
  }
  proposed.models = total_ = models_to_train(strategies);
  const auto agreed = log != nullptr ? log->agree(proposed) : proposed;
  if (agreed.sizes.size() != limits_.size())
    fail("the journal is that of a search of {}, and there are {}; begin again (--force)",
         counted(agreed.sizes.size(), "model"), limits_.size());
  // Free memory differs a little from run to run; solvers choose by it, and the same memory gives the same bits.
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

/// Processes that share a search end it after the same round.
bool Engine::is_cut_short() {
  if (options_.time <= 0) return false;
  const bool over = std::chrono::duration<double>(Clock::now() - begin_).count() > options_.time;
  cut_short_ = log_ != nullptr ? log_->agree_to_end(next_batch_, over) : over;
  return cut_short_;
}

/// Whether this process trains the final model. False: another one has, and published the results.
bool Engine::ends_here() {
  if (log_ == nullptr) return true;
  auto ending = SearchEnding::elsewhere;
  const auto ask = [&](std::size_t, Range) {
    context_.check_stop();
    ending = log_->claim_ending();
    return ending != SearchEnding::elsewhere;
  };
  queue::run_units(1, 1, ask, {.stop = context_.stop()});
  return ending == SearchEnding::here;
}

/// The score on each split, larger being better.
std::vector<double> Engine::scores_of(const Tried& tried) const {
  const double sign = info(*options_.score).larger_is_better ? 1 : -1;
  std::vector<double> scores;
  for (const auto& model : tried.models) scores.push_back(sign * model.score(*options_.score));
  return scores;
}

/// 0: not known before.
std::int64_t Engine::models_to_train(const std::vector<StrategyOptions>& strategies) const {
  std::vector<std::int64_t> points;
  for (const auto* model : models_) points.push_back(model->space().size());
  const auto of_level = trainings(points, strategies);
  return of_level == 0 ? 0 : plan_.levels() * of_level + plan_.outer_folds();
}

/// "searching svm, this step" if that is one of several models.
std::string Engine::step_name(const std::vector<Cell>& cells) const {
  const auto model = model_of(cells.front());
  const bool one = std::all_of(cells.begin(), cells.end(), [&](const Cell& cell) { return model_of(cell) == model; });
  if (models_.size() == 1 || !one) return "searching, this step";
  return fmt::format("searching {}, this step", family_.space().axes.front().names[static_cast<std::size_t>(model)]);
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
  if (!first && is_cut_short()) return false;
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
  {
    std::optional<Stage> step;
    if (total_ == 0 && !cells.empty()) {
      std::int64_t tasks = 0;
      for (const auto& cell : cells) tasks += family_of(cell).tasks();
      step.emplace(context_.progress(), step_name(cells), tasks);
    }
    train_batches(batches, chosen, found);
  }
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

void Engine::train_batches(const std::vector<Batch>& batches, bool chosen,
                           std::vector<std::vector<ModelScores>>& scores) {
  InnerProgress inner(context_.progress());
  if (workers_.empty())
    for (auto& context :
         queue::device_contexts(context_.with({.memory = limits_.front().memory}), options_.extra_devices))
      workers_.push_back({std::move(context)});
  for (auto& worker : workers_) worker.context = worker.context.with({.progress = &inner});
  const auto work = [&](std::size_t w, Range units) {
    const auto b = static_cast<std::size_t>(units.begin);
    return run_batch(workers_[w], next_batch_ + static_cast<std::int32_t>(b), batches[b], chosen, scores[b]);
  };
  queue::run_units(workers_.size(), std::ssize(batches), work, {.stop = context_.stop()});
}

/// False: another process trains it.
bool Engine::run_batch(Worker& worker, std::int32_t number, const Batch& batch, bool chosen,
                       std::vector<ModelScores>& scores) {
  worker.context.check_stop();
  if (log_ != nullptr) {
    const std::lock_guard lock(mutex_);
    if (recall(number, batch, scores)) {
      worker.context.progress().advance(std::ssize(batch.cells) * family_of(batch.cells.front()).tasks() *
                                        progress_per_model);
      return true;
    }
    if (!log_->claim(number)) return false;
  }
  std::vector<Job> jobs;
  for (const auto& cell : batch.cells) {
    const auto column = std::lower_bound(batch.splits.begin(), batch.splits.end(), cell.split) - batch.splits.begin();
    jobs.push_back({&points_[static_cast<std::size_t>(cell.point)], static_cast<std::int32_t>(column)});
  }
  const auto train = [&](const Context& context) {
    if (&context != &worker.context) worker.context = context;  // from now on; trainers keep a reference
    if (!worker.trainer) worker.trainer = family_.trainer(worker.context);
    try {
      if (worker.table.splits != batch.splits) {
        worker.table = plan_.table(batch.splits, worker.context.threads());
        worker.trainer->load(worker.table);
      }
      return worker.trainer->train(jobs, chosen);
    } catch (const OutOfMemory&) {
      worker.trainer.reset();
      worker.table = {};
      throw;
    }
  };
  scores = retry_in_less_memory(worker.context, train, [&](std::string note) {
    const std::lock_guard lock(mutex_);
    warnings_.push_back(std::move(note));
  });
  for (std::size_t k = 0; k < scores.size(); ++k) {
    if (calibrates_)
      calibrate_scores(*options_.calibrate, family_.labels(), plan_.test_rows(batch.cells[k].split), scores[k]);
    if (!options_.keep_decisions) scores[k].decisions = {};
  }
  for (std::size_t k = 0; k < scores.size(); ++k) {
    const auto level = batch.cells[k].split / plan_.splits();
    const bool inner = level < plan_.levels() && level >= plan_.levels() - plan_.outer_folds();
    if (inner) scores[k].drop_curves();  // of which there are many, and nobody sees
  }
  if (log_ != nullptr) keep(number, batch, scores);
  return true;
}

bool Engine::recall(std::int32_t number, const Batch& batch, std::vector<ModelScores>& scores) {
  auto known = log_->recall(number);
  if (!known) return false;
  bool ours = known->size() == batch.cells.size();
  for (std::size_t k = 0; k < known->size() && ours; ++k) ours = matches_this_search((*known)[k], batch.cells[k]);
  if (!ours) fail("the journal is that of another search or of another version of Sheaf; begin again (--force)");
  scores = std::move(*known);
  for (auto& model : scores) model.place.reset();
  return true;
}

/// If another process was first, its scores count.
void Engine::keep(std::int32_t number, const Batch& batch, std::vector<ModelScores>& scores) {
  for (std::size_t k = 0; k < scores.size(); ++k)
    scores[k].place = model_place(plan_, batch.cells[k].split, family_.space().axes,
                                  points_[static_cast<std::size_t>(batch.cells[k].point)]);
  const std::lock_guard lock(mutex_);
  log_->keep(number, scores);
  for (auto& model : scores) model.place.reset();
  recall(number, batch, scores);
}

/// Whether lists that a journal brought are as long as those that this search makes.
bool Engine::matches_this_search(const ModelScores& model, const Cell& cell) const {
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
    failures_.push_back(
        {cell.point, fmt::format("{}, {}{} did not converge: {}", describe_point(family_.space().axes, point),
                                 plan_.name(cell.split), what, family_of(cell).failure(fit))});
  }
}

/// One warning for each model of a chosen point, and one for all others, which may be many.
void Engine::warn_of_failures(const SearchResult& result) {
  std::set<std::int32_t> chosen;
  if (options_.full) chosen.insert(place_of(result.chosen()));
  for (const auto& fold : result.outer) chosen.insert(place_of(result.point(fold.level, fold.level.chosen.chosen)));
  std::vector<const Failure*> others;
  for (const auto& failure : failures_)
    if (chosen.contains(failure.point))
      warnings_.push_back(failure.text);
    else
      others.push_back(&failure);
  if (others.size() == 1) warnings_.push_back(others.front()->text);
  if (others.size() > 1)
    warnings_.push_back(
        fmt::format("{} models of points that were not chosen did not converge, so that their scores "
                    "may be too low; the first: {}",
                    grouped(std::ssize(others)), others.front()->text));
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
    std::optional<Stage> stage;  // else each step has one of its own, whose end can be foreseen
    if (total_ > 0) stage.emplace(context_.progress(), "searching", total_ * family_.tasks());
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
    workers_.clear();  // their memory is the final model's
    result.published_elsewhere = !ends_here();
  }
  if (result.published_elsewhere) return;
  warn_of_failures(result);
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
    result.notes.push_back(fmt::format("the time given, {} s, was over before the search was, after {}", options_.time,
                                       counted(result.points.size(), "point")));
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

}  // namespace

void run_search(const Context& context, const FamilySearch& family, const Plan& plan, const SearchOptions& options,
                const std::vector<StrategyOptions>& strategies, std::span<const double> work, SearchLog* log,
                SearchResult& result) {
  Engine(context, family, plan, options, strategies, work, log).run(result);
}

}  // namespace sheaf::engine
