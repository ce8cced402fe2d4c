#include <sheaf/svm_search.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <tuple>

#include "core/fail.hpp"
#include "search/explorer.hpp"
#include "search/inner_progress.hpp"
#include "search/plan.hpp"
#include "search/svm_grid.hpp"
#include "search/svm_region.hpp"

namespace sheaf {
namespace search {
namespace {

constexpr std::int64_t decisions_share = 8;  // decision values may take this part of the memory
// A batch is what a kill can lose; beyond so many tasks sharing gains little more.
constexpr std::int64_t most_tasks = 4096;

bool before(const SvmPoint& a, const SvmPoint& b) {
  return std::tie(a.cost, a.gamma, a.degree) < std::tie(b.cost, b.gamma, b.degree);
}

linear::Problem problem_of(const kernel::SvmLabels& labels) {
  linear::Problem problem;
  problem.class_names = labels.class_names;
  problem.classes = labels.classes;
  problem.sheaf.examples = labels.rows;
  return problem;
}

/// What one search, of level 0 or of an outer fold's rows, knows.
struct LevelState {
  std::map<std::size_t, std::vector<ModelScores>> models;  // by point: one a split
  std::vector<Explorer> explorers;                         // automatic: one a degree
};

template <class T>
class SvmSearch {
 public:
  SvmSearch(const Context& context, const Dataset<T>& dataset, const SvmSearchOptions& options, SearchLog* log)
      : context_(context),
        dataset_(dataset),
        options_(decided(options)),
        log_(log),
        labels_(kernel::make_labels(dataset.target, dataset.source, dataset.rows(), options_.svm)),
        plan_((check_labels(), problem_of(labels_)), dataset.groups, options_.common, context.seed()),
        grid_(dataset_, labels_, options_.svm),
        states_(static_cast<std::size_t>(plan_.outer_folds()) + 1) {
    check_splits(plan_, problem_of(labels_), labels_.values, *options_.common.score, context.threads());
  }

  SvmSearchResult run();

 private:
  struct Wanted {
    std::size_t level = 0, point = 0;
    std::size_t explorer = 0;  // that asks for it, and where it stands there
    Coordinates place = {};
  };

  void check_labels() const;
  BatchPlan propose() const;
  std::size_t point_number(const SvmPoint& point);
  std::vector<Wanted> grid_points();
  std::vector<Wanted> explore(bool first);
  void evaluate(const std::vector<Wanted>& wanted);
  /// What is wanted of one kernel: models in batches, the first of which has number `first`.
  struct KernelWork {
    std::vector<std::pair<GridModel, Wanted>> models;
    std::vector<ModelScores> scores;
    std::int32_t first = 0;
  };
  std::vector<KernelWork> share_out(const std::vector<Wanted>& wanted);
  std::size_t together() const;
  void train_kernel(const Context& context, KernelWork& work);
  void train_kernels(std::vector<KernelWork>& work);
  std::vector<ModelScores> batch(const Context& context, std::int32_t number, const SvmPoint& kernel,
                                 const std::vector<GridModel>& models);
  SplitRows rows_of(std::vector<GridModel>& models) const;
  Summarised summary(std::size_t level, std::size_t point) const;
  std::vector<std::size_t> tried(std::size_t level) const;
  Chosen choose_level(std::size_t level, std::vector<std::size_t>& order) const;
  void judge_outer(SvmSearchResult& result);
  void warn(std::int32_t split, const SvmPoint& point, const ModelScores& model);
  void finish(SvmSearchResult& result);
  void note_edges(SvmSearchResult& result) const;
  std::string name_of(const SvmPoint& point) const;

  const Context& context_;
  const Dataset<T>& dataset_;
  SvmSearchOptions options_;
  SearchLog* log_;
  kernel::SvmLabels labels_;
  Plan plan_;
  SvmGrid<T> grid_;
  std::vector<LevelState> states_;
  std::vector<SvmPoint> points_;  // in the order of their discovery
  BatchPlan batches_;
  std::int32_t next_batch_ = 0;
  std::mutex log_mutex_;
  std::vector<std::string> warnings_;
};

template <class T>
void SvmSearch<T>::check_labels() const {
  if (labels_.class_names.size() == 1)
    fail("{}: all rows are of class {}; there is nothing to tell apart", dataset_.source, labels_.class_names[0]);
}

template <class T>
BatchPlan SvmSearch<T>::propose() const {
  const auto memory = context_.memory();
  const auto bytes = std::max<std::int64_t>(dataset_.rows(), 1) * std::int64_t{2 * sizeof(double)};
  const auto fitting = std::clamp<std::int64_t>(memory / decisions_share / bytes, 1, most_tasks);
  return {memory, options_.common.batch > 0 ? options_.common.batch : static_cast<std::int32_t>(fitting)};
}

template <class T>
std::size_t SvmSearch<T>::point_number(const SvmPoint& point) {
  const auto found = std::find(points_.begin(), points_.end(), point);
  if (found != points_.end()) return static_cast<std::size_t>(found - points_.begin());
  points_.push_back(point);
  return points_.size() - 1;
}

template <class T>
std::vector<typename SvmSearch<T>::Wanted> SvmSearch<T>::grid_points() {
  std::vector<Wanted> wanted;
  for (const int degree : options_.degrees)
    for (const double gamma : options_.gammas)
      for (const double cost : options_.common.costs)
        for (std::size_t level = 0; level < states_.size(); ++level)
          wanted.push_back({level, point_number({cost, gamma, degree}), 0, {}});
  return wanted;
}

/// The next points of every level; each looks only at what its own rows have told.
template <class T>
std::vector<typename SvmSearch<T>::Wanted> SvmSearch<T>::explore(bool first) {
  std::vector<Wanted> wanted;
  const double sign = info(*options_.common.score).larger_is_better ? 1 : -1;
  const bool gamma = has_gamma(options_.svm.kernel);
  const auto region = first ? region_of(dataset_, options_) : Region{};
  for (std::size_t level = 0; level < states_.size(); ++level) {
    auto& state = states_[level];
    if (first) state.explorers.assign(options_.degrees.size(), Explorer(region));
    for (std::size_t d = 0; d < state.explorers.size(); ++d)
      for (const auto& place : state.explorers[d].propose()) {
        const auto point =
            point_number({std::exp2(place.cost), gamma ? std::exp2(place.gamma) : 0.0, options_.degrees[d]});
        wanted.push_back({level, point, d, place});
      }
  }
  evaluate(wanted);
  for (const auto& one : wanted)
    states_[one.level].explorers[one.explorer].learn(one.place, sign * summary(one.level, one.point).mean);
  return wanted;
}

/// Kernel by kernel: all that is wanted of one shares its values.
template <class T>
void SvmSearch<T>::evaluate(const std::vector<Wanted>& wanted) {
  auto work = share_out(wanted);
  const auto tasks = static_cast<std::int64_t>(wanted.size()) * plan_.splits() * grid_.machines();
  const Stage stage(context_.progress(), "searching", tasks);
  train_kernels(work);
  for (auto& kernel : work)
    for (std::size_t m = 0; m < kernel.models.size(); ++m) {
      const auto& [model, one] = kernel.models[m];
      warn(model.split, points_[one.point], kernel.scores[m]);
      states_[one.level].models[one.point].push_back(std::move(kernel.scores[m]));
    }
}

template <class T>
std::size_t SvmSearch<T>::together() const {
  return static_cast<std::size_t>(std::max(1, batches_.tasks / std::max(grid_.machines(), 1)));
}

/// Batches are numbered here, so that they are the same whichever device trains them.
template <class T>
std::vector<typename SvmSearch<T>::KernelWork> SvmSearch<T>::share_out(const std::vector<Wanted>& wanted) {
  std::map<std::pair<int, double>, KernelWork> kernels;
  for (const auto& one : wanted) {
    const auto& point = points_[one.point];
    auto& models = kernels[{point.degree, point.gamma}].models;
    for (std::int32_t s = 0; s < plan_.splits(); ++s)
      models.push_back({{static_cast<std::int32_t>(one.level) * plan_.splits() + s, point.cost}, one});
  }
  std::vector<KernelWork> work;
  for (auto& [kernel, some] : kernels) {
    some.first = next_batch_;
    next_batch_ += static_cast<std::int32_t>((some.models.size() + together() - 1) / together());
    work.push_back(std::move(some));
  }
  return work;
}

/// Each device takes the next kernel when it is free.
template <class T>
void SvmSearch<T>::train_kernels(std::vector<KernelWork>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr error;
  const auto run = [&](Device device, std::int64_t memory) {
    try {
      InnerProgress inner(context_.progress());
      const auto context = context_.with({.device = device, .memory = memory, .progress = &inner});
      for (std::size_t k = next++; k < work.size(); k = next++) train_kernel(context, work[k]);
    } catch (...) {
      const std::lock_guard lock(mutex);
      next = work.size();
      if (!error) error = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    for (const Device device : options_.also) others.emplace_back(run, device, 0);
    run(context_.device(), batches_.memory);
  }
  if (error) std::rethrow_exception(error);
}

template <class T>
void SvmSearch<T>::train_kernel(const Context& context, KernelWork& work) {
  auto number = work.first;
  for (std::size_t begin = 0; begin < work.models.size(); begin += together()) {
    const std::size_t end = std::min(work.models.size(), begin + together());
    std::vector<GridModel> some;
    for (std::size_t m = begin; m < end; ++m) some.push_back(work.models[m].first);
    for (auto& scores : batch(context, number++, points_[work.models.front().second.point], some))
      work.scores.push_back(std::move(scores));
  }
}

/// Renumbers the splits of the models to those that are there.
template <class T>
SplitRows SvmSearch<T>::rows_of(std::vector<GridModel>& models) const {
  SplitRows rows;
  std::map<std::int32_t, std::int32_t> place;
  for (auto& model : models) {
    const auto [found, fresh] = place.try_emplace(model.split, static_cast<std::int32_t>(place.size()));
    if (fresh) {
      rows.weights.push_back(plan_.weights(model.split, 1, context_.threads()));
      rows.tests.push_back(plan_.test_rows(model.split));
    }
    model.split = found->second;
  }
  return rows;
}

template <class T>
std::vector<ModelScores> SvmSearch<T>::batch(const Context& context, std::int32_t number, const SvmPoint& kernel,
                                             const std::vector<GridModel>& models) {
  if (log_ != nullptr) {
    const std::lock_guard lock(log_mutex_);
    if (const auto* known = log_->recall(number)) {
      if (known->size() != models.size()) fail("the journal was written by another version of the program");
      context_.progress().advance(static_cast<std::int64_t>(models.size()) * grid_.machines());
      return *known;
    }
  }
  auto some = models;
  const auto rows = rows_of(some);
  auto scores = grid_.train(context, kernel.gamma, kernel.degree, rows, some);
  if (log_ != nullptr) {
    const std::lock_guard lock(log_mutex_);
    log_->keep(number, scores);
  }
  return scores;
}

template <class T>
std::string SvmSearch<T>::name_of(const SvmPoint& point) const {
  std::string text = fmt::format("C = {:.6g}", point.cost);
  if (has_gamma(options_.svm.kernel) && point.gamma > 0) text += fmt::format(", gamma = {:.6g}", point.gamma);
  if (options_.svm.kernel == KernelType::polynomial) text += fmt::format(", degree {}", point.degree);
  return text;
}

template <class T>
void SvmSearch<T>::warn(std::int32_t split, const SvmPoint& point, const ModelScores& model) {
  const auto& fit = model.fits.front();
  if (!fit.converged)
    warnings_.push_back(
        fmt::format("{}, {} did not converge: after {} steps the optimality conditions are violated by "
                    "{:.3g}, {:.3g} was wanted",
                    name_of(point), plan_.name(split), fit.iterations, fit.gradient_norm, fit.tolerance));
}

template <class T>
Summarised SvmSearch<T>::summary(std::size_t level, std::size_t point) const {
  std::vector<double> scores;
  for (const auto& model : states_[level].models.at(point)) scores.push_back(model.score(*options_.common.score));
  return summarise(scores);
}

/// The points a level has tried, ascending by cost, gamma and degree.
template <class T>
std::vector<std::size_t> SvmSearch<T>::tried(std::size_t level) const {
  std::vector<std::size_t> order;
  for (const auto& [point, models] : states_[level].models) order.push_back(point);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return before(points_[a], points_[b]); });
  return order;
}

template <class T>
Chosen SvmSearch<T>::choose_level(std::size_t level, std::vector<std::size_t>& order) const {
  order = tried(level);
  std::vector<Summarised> table;
  table.reserve(order.size());
  for (const auto point : order) table.push_back(summary(level, point));
  return choose(table, info(*options_.common.score).larger_is_better, options_.common.choice);
}

template <class T>
void SvmSearch<T>::judge_outer(SvmSearchResult& result) {
  if (states_.size() == 1) return;
  const Stage stage(context_.progress(), "validating",
                    static_cast<std::int64_t>(states_.size() - 1) * grid_.machines());
  for (std::size_t level = 1; level < states_.size(); ++level) {
    std::vector<std::size_t> order;
    const auto chosen = choose_level(level, order).chosen;
    const auto point = points_[order[chosen]];
    const auto split = plan_.inner_splits() + static_cast<std::int32_t>(level) - 1;
    InnerProgress inner(context_.progress());
    const auto context = context_.with({.memory = batches_.memory, .progress = &inner});
    auto scores = batch(context, next_batch_++, point, {{split, point.cost}});
    warn(split, point, scores.front());
    result.outer.push_back({point, summary(level, order[chosen]), std::move(scores.front())});
  }
}

/// What a grid that ends too early leaves open: the score still rises at its edge.
template <class T>
void SvmSearch<T>::note_edges(SvmSearchResult& result) const {
  const auto& best = result.points[result.chosen.best];
  const auto note = [&](const char* what, double SvmPoint::*member) {
    double low = best.*member;
    double high = low;
    for (const auto& point : result.points) {
      low = std::min(low, point.*member);
      high = std::max(high, point.*member);
    }
    if (low == high || (best.*member != low && best.*member != high)) return;
    const bool smallest = best.*member == low;
    result.notes.push_back(fmt::format("the best {}, {:.6g}, is the {} that was tried; {} ones may be better still",
                                       what, best.*member, smallest ? "smallest" : "largest",
                                       smallest ? "smaller" : "larger"));
  };
  note("cost", &SvmPoint::cost);
  if (has_gamma(options_.svm.kernel)) note("gamma", &SvmPoint::gamma);
}

template <class T>
void SvmSearch<T>::finish(SvmSearchResult& result) {
  std::vector<std::size_t> order;
  result.chosen = choose_level(0, order);
  for (const auto point : order) {
    result.points.push_back(points_[point]);
    for (auto& model : states_[0].models[point]) result.models.push_back(std::move(model));
  }
  note_edges(result);
  auto best = options_.svm;
  best.cost = result.point().cost;
  best.gamma = result.point().gamma;
  best.degree = result.point().degree;
  const auto context = context_.with({.memory = batches_.memory});
  result.model = train_svm(context, dataset_, best);
  for (const auto& warning : warnings_of(result.model)) warnings_.push_back("the final model: " + warning);
}

template <class T>
SvmSearchResult SvmSearch<T>::run() {
  batches_ = log_ != nullptr ? log_->agree(propose()) : propose();
  if (grid_kind(options_) == SvmGridKind::automatic) {
    bool first = true;
    while (!explore(first).empty()) first = false;
  } else {
    evaluate(grid_points());
  }
  SvmSearchResult result;
  judge_outer(result);
  finish(result);
  result.options = options_;
  result.seed = context_.seed();
  result.source = dataset_.source;
  result.rows = dataset_.rows();
  result.features = dataset_.features();
  result.class_names = labels_.class_names;
  result.positive = grid_.positive();
  result.splits = plan_.splits();
  result.counts = grid_.counts();
  result.warnings = std::move(warnings_);
  return result;
}

}  // namespace
}  // namespace search

template <class T>
SvmSearchResult search_svm(const Context& context, const Dataset<T>& dataset, const SvmSearchOptions& options,
                           SearchLog* log) {
  return search::SvmSearch<T>(context, dataset, options, log).run();
}

template SvmSearchResult search_svm(const Context&, const Dataset<float>&, const SvmSearchOptions&, SearchLog*);
template SvmSearchResult search_svm(const Context&, const Dataset<double>&, const SvmSearchOptions&, SearchLog*);

std::vector<double> SvmSearchResult::scores(std::size_t point, Metric metric) const {
  std::vector<double> result;
  const auto count = static_cast<std::size_t>(splits);
  for (std::size_t s = 0; s < count; ++s) result.push_back(models[point * count + s].score(metric));
  return result;
}

double SvmSearchResult::support(std::size_t point) const {
  const auto count = static_cast<std::size_t>(splits);
  double sum = 0;
  for (std::size_t s = 0; s < count; ++s) sum += static_cast<double>(models[point * count + s].support);
  return sum / static_cast<double>(count);
}

std::vector<Metric> SvmSearchResult::known() const {
  std::vector<Metric> result;
  for (const auto& row : metrics())
    if (row.suits(static_cast<std::int32_t>(class_names.size()), false) &&
        std::any_of(models.begin(), models.end(), [&](const auto& m) { return !std::isnan(m.score(row.metric)); }))
      result.push_back(row.metric);
  return result;
}

}  // namespace sheaf
