// Coordinate descent on the dual variables of linear models, each: min over w of w'w / 2 + sum_i c_i loss(x_i'w, y_i).
// losses.hpp has the duals and the update of one row; multiclass.hpp those of Crammer and Singer's model, whose weights
// of all classes are one problem.
//
// Hsieh et al. 2008, Keerthi et al. 2008, Yu et al. 2011, Ho and Lin 2012; stopping and shrinking (some passes skip
// rows) as in LIBLINEAR. Differences: models that differ in fold, cost or class are trained side by side in blocks,
// and one read of a row serves all models of a block that still visit it; a row held out by a model's fold has no
// variable in that model. Models of a block have about the same cost, for that decides how many passes they need, and
// those that no longer share their rows with others (the others are finished, or have left the rows out) continue
// alone. Blocks are independent of each other: threads take whole blocks, and only the blocks at work have weights in
// memory. The rule StopRule::suboptimality is ours: the duality gap is estimated from the visits of a pass and measured
// exactly once it may be small enough.
#include "linear/dual/dual.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "linear/dual/losses.hpp"
#include "linear/dual/ops.hpp"
#include "linear/fit_progress.hpp"

namespace sheaf::linear {
namespace {

using dual::DualOps;
using dual::Measure;
using dual::PassBounds;
using dual::PassSums;
using dual::Start;

/// Newton steps of a visit (logistic loss) end at this slope, and in later passes at smaller ones.
constexpr double first_inner_tolerance = 0.01;
constexpr double least_inner_tolerance = 1e-8;

/// The gap is measured again once the visits show that it is at most this many times smaller.
constexpr double largest_gap_ratio = 10;
/// Coupled: all variables are visited again, and the gap is measured, each time that it is so many times smaller. A
/// class that is left out stays out until then, and a row has many.
constexpr double gap_between_recalls = 10;
/// The same after so many passes: on the variables that are left the gap may fall slowly for want of the others.
constexpr int passes_between_recalls = 20;
/// Models of a block that visit a row together, on average; with fewer, each is trained alone.
constexpr double fewest_together = 2.5;

/// One model of a block.
struct ModelState {
  std::int32_t task = -1;  // in the sheaf, the first of several; -1: padding
  bool finished = true;
  bool measured = false;  // the fit has its objective
  Start start;
  PassBounds bounds;
  double first_amount = -1;
  bool from_all = true;    // coupled: the pass begins with all variables
  double recall_at = 0;    // coupled: all variables are visited again once the violation, or the gap, is below it
  int recalled = 0;        // coupled: passes before that
  double left_out = 0;     // rows
  double visited_gap = 0;  // the estimate of the gap by the visits of a pass, when it was measured last
  double gap_ratio = 1;    // of the gap to that
  double objective = -1;   // < 0: not known
  TaskFit fit;
  FitProgress progress;
};

/// The next step of a model after a pass.
enum class Next : std::uint8_t { pass, all_rows, measure, finish };

struct Rule {
  Loss loss;
  DualParams params;
  double noise;  // the smallest gap, as a share of the losses at w = 0, that the precision distinguishes from 0

  bool by_gap() const { return params.stop == StopRule::suboptimality; }
  bool is_tube() const { return is_regression(loss); }
  bool is_coupled() const { return loss == Loss::crammer_singer; }

  void begin(ModelState& model) const {
    model.bounds = {};
    model.bounds.visited = true;
    if (loss == Loss::logistic) model.bounds.upper = first_inner_tolerance;
  }

  /// The quantity that LIBLINEAR's solvers compare with their tolerance.
  double violation(const PassSums& sums) const {
    if (loss == Loss::logistic || is_coupled()) return sums.largest;
    return is_tube() ? sums.amount : sums.largest - sums.smallest;
  }

  void tighten(const PassSums& sums, ModelState& model) const {
    constexpr double none = std::numeric_limits<double>::infinity();
    auto& bounds = model.bounds;
    if (loss == Loss::logistic) {
      const double least = std::max(std::min(least_inner_tolerance, params.tolerance), noise);
      if (sums.amount <= model.start.rows / 10) bounds.upper = std::max(least, bounds.upper / 10);
      return;
    }
    if (is_coupled()) return;
    bounds.upper = sums.largest > 0 || is_tube() ? sums.largest : none;
    bounds.lower = sums.smallest < 0 ? sums.smallest : -none;
  }

  Next after_pass(const PassSums& sums, ModelState& model) const {
    ++model.fit.iterations;
    model.left_out += sums.left_out;
    const double found = violation(sums);
    if (model.first_amount < 0) model.first_amount = sums.amount;
    if (by_gap()) return after_pass_by_gap(sums, found, model);
    model.fit.gradient_norm = found;
    if (is_coupled()) return after_coupled_pass(model);
    model.fit.tolerance = params.tolerance * (is_tube() ? model.first_amount : 1);
    const bool small = found <= model.fit.tolerance;
    model.fit.converged = small && model.left_out == 0;
    if (model.fit.converged || model.fit.iterations >= params.max_iterations) return Next::finish;
    if (small) return Next::all_rows;
    tighten(sums, model);
    return Next::pass;
  }

  /// LIBLINEAR's rule for Crammer and Singer's model: each time that the violation falls below a bound, all variables
  /// are visited again, and the bound is halved.
  Next after_coupled_pass(ModelState& model) const {
    const double found = model.fit.gradient_norm;
    model.fit.tolerance = params.tolerance;
    model.fit.converged = found <= params.tolerance && model.from_all;
    if (model.fit.converged || model.fit.iterations >= params.max_iterations) return Next::finish;
    if (model.recall_at == 0) model.recall_at = std::max(10 * params.tolerance, 1.0);
    model.from_all = found < model.recall_at;
    if (!model.from_all) return Next::pass;
    model.recall_at = std::max(model.recall_at / 2, params.tolerance);
    return Next::all_rows;
  }

  Next after_pass_by_gap(const PassSums& sums, double found, ModelState& model) const {
    model.fit.gradient_norm = sums.gap * model.gap_ratio;
    model.fit.tolerance = wanted_gap(model);
    const bool still = found == 0 && loss != Loss::logistic;  // every variable is at its best
    const bool last = model.fit.iterations >= params.max_iterations || (still && model.left_out == 0);
    const bool recall = is_coupled() && (model.fit.gradient_norm <= model.recall_at ||
                                         model.fit.iterations >= model.recalled + passes_between_recalls);
    if (last || still || recall || model.fit.gradient_norm <= model.fit.tolerance) {
      model.visited_gap = sums.gap;
      model.finished = last;
      return Next::measure;
    }
    tighten(sums, model);
    return Next::pass;
  }

  double wanted_gap(const ModelState& model) const {
    const double gained = model.start.losses - std::max(model.objective, 0.0);
    return std::max(params.tolerance * std::max(gained, 0.0), noise * model.start.losses);
  }

  /// The next step after a measurement, by StopRule::suboptimality.
  Next after_measure(const Measure& measure, ModelState& model) const {
    keep(measure, model);
    model.fit.gradient_norm = std::max(measure.gap, 0.0);
    model.fit.tolerance = wanted_gap(model);
    model.fit.converged = measure.gap <= model.fit.tolerance;
    if (model.fit.converged || model.finished) return Next::finish;
    model.recall_at = measure.gap / gap_between_recalls;
    model.recalled = model.fit.iterations;
    // The estimate by visits does not include rows that were left out.
    const bool comparable = model.left_out == 0 && model.visited_gap > 0;
    model.gap_ratio = comparable ? std::clamp(measure.gap / model.visited_gap, 1.0, largest_gap_ratio) : 1.0;
    return Next::all_rows;
  }

  static void keep(const Measure& measure, ModelState& model) {
    model.objective = model.fit.objective = measure.squares / 2 + measure.losses;
    model.measured = true;
  }
};

template <class T>
class DualRun {
 public:
  DualRun(const Context& context, DualOps<T>& ops, const Sheaf& sheaf, const Rule& rule, const DualOutput<T>& output,
          std::vector<TaskFit>& fits)
      : context_(context),
        ops_(ops),
        sheaf_(sheaf),
        rule_(rule),
        output_(output),
        fits_(fits),
        tasks_of_model_(rule.is_coupled() ? sheaf.target_columns : 1) {
    make_blocks();
  }

  void run() {
    const auto count = static_cast<std::int32_t>(blocks_.size());
    const std::int64_t room = context_.memory() - ops_.data_bytes();
    if (room < ops_.block_bytes())
      fail("a block of {} models takes {} beside the data's {}, more than the {} that may be used", ops_.width(),
           format_bytes(ops_.block_bytes()), format_bytes(ops_.data_bytes()), format_bytes(context_.memory()));
    const auto fitting = static_cast<std::int32_t>(std::min<std::int64_t>(room / ops_.block_bytes(), count));
    blocks_.resize(blocks_.size() + sheaf_.tasks.size());  // behind them room for each model alone
    ops_.reserve(static_cast<std::int32_t>(blocks_.size()));
    if (!ops_.together()) {
      const auto work = [&](std::int64_t b) {
        start(static_cast<std::int32_t>(b));
        train(std::vector{static_cast<std::int32_t>(b)}, 0);
      };
      return parallel_for(context_.with({.threads = std::min(context_.threads(), fitting)}), count, work);
    }
    for (std::int32_t first = 0; first < count; first += fitting) {
      std::vector<std::int32_t> blocks(static_cast<std::size_t>(std::min(fitting, count - first)));
      std::iota(blocks.begin(), blocks.end(), first);
      for (const std::int32_t b : blocks) start(b);
      train(blocks, 0);
    }
  }

 private:
  struct TrainedBlock {
    std::vector<ModelState> models;
    double together = 0;
  };
  TrainedBlock& block(std::int32_t b) { return blocks_[static_cast<std::size_t>(b)]; }

  /// Models of the same cost, then those of the same rows side by side; the largest costs, which take longest, first.
  void make_blocks() {
    std::vector<std::int32_t> order(sheaf_.tasks.size() / static_cast<std::size_t>(tasks_of_model_));
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<std::int32_t>(k) * tasks_of_model_;
    const auto key = [&](std::int32_t t) {
      const Task& task = sheaf_.tasks[static_cast<std::size_t>(t)];
      return std::tuple(-task.cost_negative, task.rows, task.target, t);
    };
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
    const auto models = static_cast<std::int64_t>(order.size());
    const std::int64_t count = (models + ops_.width() - 1) / ops_.width();
    for (std::int64_t b = 0; b < count; ++b) {
      blocks_.push_back({std::vector<ModelState>(static_cast<std::size_t>(ops_.width()))});
      const Range range = part_of(models, count, b);
      for (std::int64_t k = range.begin; k < range.end; ++k) {
        auto& model = blocks_.back().models[static_cast<std::size_t>(k - range.begin)];
        model.task = order[static_cast<std::size_t>(k)];
        model.finished = false;
      }
    }
    trained_blocks_ = static_cast<std::int32_t>(blocks_.size());
  }

  void start(std::int32_t b) {
    std::vector<Task> tasks;
    for (const auto& model : block(b).models)
      for (std::int32_t c = 0; c < tasks_of_model_ && model.task >= 0; ++c)
        tasks.push_back(sheaf_.tasks[static_cast<std::size_t>(model.task + c)]);
    std::vector<Start> starts(block(b).models.size());
    ops_.start(b, tasks, starts);
    for (std::size_t t = 0; t < starts.size(); ++t) {
      auto& model = block(b).models[t];
      if (model.task < 0) continue;
      model.start = starts[t];
      rule_.begin(model);
    }
  }

  void train(std::vector<std::int32_t> going, std::int64_t first_pass) {
    for (std::int64_t pass = first_pass; !going.empty(); ++pass) {
      context_.check_stop();
      make_pass(going, pass);
      std::erase_if(going, [&](std::int32_t b) {
        auto& models = block(b).models;
        if (models.size() > 1 && ops_.moves_out() && block(b).together < fewest_together) train_alone(b, pass + 1);
        if (!std::all_of(models.begin(), models.end(), [](const auto& model) { return model.finished; })) return false;
        finish(b);
        return true;
      });
    }
  }

  /// The models of a block that are not finished, one after another.
  void train_alone(std::int32_t b, std::int64_t pass) {
    for (std::size_t t = 0; t < block(b).models.size(); ++t) {
      auto& model = block(b).models[t];
      if (model.finished) continue;
      const std::int32_t alone = trained_blocks_ + model.task;
      ops_.move_out(b, static_cast<std::int32_t>(t), alone);
      block(alone).models = {model};
      model = ModelState{};
      train({alone}, pass);
    }
  }

  void make_pass(const std::vector<std::int32_t>& going, std::int64_t pass) {
    std::vector<PassBounds> bounds;
    for (const std::int32_t b : going)
      for (const auto& model : block(b).models) bounds.push_back(model.bounds);
    std::vector<PassSums> sums(bounds.size());
    ops_.pass(going, pass, rule_.by_gap(), bounds, sums);
    std::size_t first = 0;
    for (const std::int32_t b : going) {
      const auto width = block(b).models.size();
      after_pass(b, std::span<const PassSums>(sums).subspan(first, width));
      first += width;
    }
  }

  /// Models that visited a row together in the last pass, on average, of those that are not finished.
  void count_together(std::int32_t b, std::span<const PassSums> sums) {
    double visits = 0;
    for (std::size_t t = 0; t < sums.size(); ++t) visits += block(b).models[t].finished ? 0 : sums[t].visits;
    block(b).together = visits / std::max(sums[0].shared, 1.0);
  }

  void after_pass(std::int32_t b, std::span<const PassSums> sums) {
    auto& models = block(b).models;
    const auto width = models.size();
    std::vector<Next> next(width, Next::pass);
    for (std::size_t t = 0; t < width; ++t)
      if (models[t].bounds.visited) next[t] = rule_.after_pass(sums[t], models[t]);
    if (std::count(next.begin(), next.end(), Next::measure) > 0) {
      const std::vector<std::int32_t> nowhere(width, -1);
      std::vector<Measure> measures(width);
      ops_.measure(b, nowhere, {}, measures);
      for (std::size_t t = 0; t < width; ++t)
        if (next[t] == Next::measure) next[t] = rule_.after_measure(measures[t], models[t]);
    }
    std::vector<std::uint8_t> all_rows(width, 0);
    for (std::size_t t = 0; t < width; ++t) {
      auto& model = models[t];
      if (!model.bounds.visited) continue;
      context_.progress().advance(model.progress.approach(model.fit.gradient_norm, model.fit.tolerance));
      if (next[t] == Next::finish) {
        model.finished = true;
        model.bounds.visited = false;
      } else if (next[t] == Next::all_rows) {
        const double inner = model.bounds.upper;
        all_rows[t] = model.left_out > 0 ? 1 : 0;
        model.left_out = 0;
        rule_.begin(model);
        if (rule_.loss == Loss::logistic) model.bounds.upper = inner;
      }
    }
    if (std::count(all_rows.begin(), all_rows.end(), 1) > 0) ops_.take_back(b, all_rows);
    count_together(b, sums);
  }

  void finish(std::int32_t b) {
    auto& models = block(b).models;
    const auto width = models.size();
    std::vector<std::int32_t> columns;
    for (const auto& model : models) columns.push_back(model.task);
    const bool unknown =
        std::any_of(models.begin(), models.end(), [](const auto& model) { return model.task >= 0 && !model.measured; });
    if (unknown || output_.decisions.data != nullptr) {
      std::vector<Measure> measures(width);
      ops_.measure(b, columns, output_.decisions, measures);
      for (std::size_t t = 0; t < width; ++t) Rule::keep(measures[t], models[t]);
    }
    if (output_.weights.data != nullptr) ops_.copy_weights(b, columns, output_.weights);
    ops_.release(b);
    for (auto& model : models) {
      if (model.task < 0) continue;
      for (std::int32_t c = 0; c < tasks_of_model_; ++c) fits_[static_cast<std::size_t>(model.task + c)] = model.fit;
      context_.progress().advance(model.progress.finish());
    }
  }

  const Context& context_;
  DualOps<T>& ops_;
  const Sheaf& sheaf_;
  const Rule& rule_;
  const DualOutput<T>& output_;
  std::vector<TaskFit>& fits_;
  std::int32_t tasks_of_model_;  // in a row in the sheaf
  std::vector<TrainedBlock> blocks_;
  std::int32_t trained_blocks_ = 0;
};

/// Each model has a task for each class, in the order of the targets, over the same rows.
void check_models(const Sheaf& sheaf) {
  for (std::size_t t = 0; t < sheaf.tasks.size(); ++t) {
    const auto& task = sheaf.tasks[t];
    require(task.target == static_cast<std::int32_t>(t) % sheaf.target_columns, "a class of a model is missing");
    require(task.target == 0 || task.rows == sheaf.tasks[t - 1].rows, "the classes of a model have different rows");
  }
  require(sheaf.tasks.size() % static_cast<std::size_t>(sheaf.target_columns) == 0, "a class of a model is missing");
}

}  // namespace

bool has_dual_solver(Loss loss) {
  return loss == Loss::crammer_singer || dual::with_dual(loss, [](auto) {});
}

template <class T>
std::vector<TaskFit> train_dual(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf,
                                const DualParams& params, const DualOutput<T>& output) {
  require(has_dual_solver(params.loss), "the dual is not trained with this loss");
  require(sheaf.column_transforms == 0, "the dual takes no column transforms");
  require(sheaf.examples == dataset.rows(), "a sheaf was made for another dataset");
  if (params.loss == Loss::crammer_singer) check_models(sheaf);
  const auto tasks = static_cast<std::int32_t>(sheaf.tasks.size());
  std::vector<TaskFit> fits(sheaf.tasks.size());
  if (tasks == 0) return fits;
  const auto models = params.loss == Loss::crammer_singer ? tasks / sheaf.target_columns : tasks;
  Stage stage(context.progress(), "training", models * progress_per_model);
  const auto ops = dual::make_dual_ops<T>(context, dataset, sheaf, params.loss, static_cast<T>(params.bias), tasks);
  const Rule rule{params.loss, params, 16 * static_cast<double>(std::numeric_limits<T>::epsilon())};
  DualRun<T>(context, *ops, sheaf, rule, output, fits).run();
  return fits;
}

template std::vector<TaskFit> train_dual(const Context&, const Dataset<float>&, const Sheaf&, const DualParams&,
                                         const DualOutput<float>&);
template std::vector<TaskFit> train_dual(const Context&, const Dataset<double>&, const Sheaf&, const DualParams&,
                                         const DualOutput<double>&);

}  // namespace sheaf::linear

namespace sheaf {

template <class T>
Fits<T> dual_descent(const Context& context, const Dataset<T>& dataset, const Sheaf& sheaf, const DualParams& params) {
  Fits<T> fits;
  fits.weights =
      Block<T>(dataset.features() + (params.bias > 0 ? 1 : 0), static_cast<std::int32_t>(sheaf.tasks.size()));
  fits.tasks = linear::train_dual<T>(context, dataset, sheaf, params, {fits.weights.view(), {}});
  return fits;
}

template Fits<float> dual_descent(const Context&, const Dataset<float>&, const Sheaf&, const DualParams&);
template Fits<double> dual_descent(const Context&, const Dataset<double>&, const Sheaf&, const DualParams&);

}  // namespace sheaf
