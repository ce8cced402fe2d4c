// Paths of elastic nets in lockstep.
//
// A lane is one model in work; its path goes from large alphas to small ones and starts each model at the one before.
// In each turn one block product X'u serves all lanes: it decides by the duality gap which models are finished (those
// lanes go on to their next alpha at once, with the same X'u), and which features the others work on: all with a weight
// and those nearest to their bound. Then each lane solves its small problem by itself (net_lane.hpp).
// Which lanes there are is planned in net_plan.cpp.
#include "linear/net/paths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <utility>

#include <sheaf/error.hpp>

#include "core/parallel.hpp"

namespace sheaf::linear {
namespace {

/// A GPU has so many features at work at once that it pays to know which of them matter before a model is asked for:
/// alphas fall by at most this factor, and models on the way are as good as the next needs them. Three alphas of table
/// A a decade apart took 2.13 s without and 0.86 s with these; cores would only have more to do.
constexpr double longest_step_on_gpu = 1.5;
constexpr double tolerance_on_the_way = 30;
constexpr std::int32_t smallest_set = 128;
constexpr std::int32_t most_rounds = 200;

LaneOrder order_of(NetSolver solver) {
  switch (solver) {
    case NetSolver::automatic:
      return LaneOrder::active;
    case NetSolver::cyclic:
      return LaneOrder::cyclic;
    case NetSolver::shooting:
      return LaneOrder::random;
    case NetSolver::shotgun:
      break;
  }
  return LaneOrder::parallel;
}

}  // namespace

template <class T>
NetRun<T>::NetRun(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
                  bool keep_weights, const UseNets<T>& use)
    : context_(context),
      dataset_(dataset),
      sheaf_(sheaf),
      params_(params),
      keep_weights_(keep_weights),
      use_(use),
      features_(dataset.features()),
      totals_(check_nets(sheaf, params, dataset.rows(), dataset.features())),
      nulls_(null_models(sheaf, params, totals_)),
      linear_(make_ops<T>(context, dataset, 0, context.memory() / 2)),
      ops_(make_net_ops<T>(context, dataset, *linear_)) {
  ops_->load_tables(sheaf, params, totals_);
  if (params.solver == NetSolver::shotgun)
    parallel_ = params.parallel > 0 ? params.parallel : estimate_parallel<T>(context, *linear_, *ops_, sheaf, totals_);
}

template <class T>
NetRun<T>::NetRun(const NetRun& whole, const Context& context, std::unique_ptr<LinearOps<T>> linear,
                  std::unique_ptr<NetOps<T>> ops, const UseNets<T>& use)
    : context_(context),
      dataset_(whole.dataset_),
      sheaf_(whole.sheaf_),
      params_(whole.params_),
      keep_weights_(whole.keep_weights_),
      use_(use),
      features_(whole.features_),
      totals_(whole.totals_),
      nulls_(whole.nulls_),
      linear_(std::move(linear)),
      ops_(std::move(ops)),
      parallel_(whole.parallel_) {}

/// In a small problem threads that meet after every step spend their time waiting for each other: there each takes some
/// paths and goes its own way. As many at a time whatever the number of threads, so that results are the same.
template <class T>
bool NetRun<T>::run_apart(std::span<const std::int32_t> paths) {
  constexpr std::size_t paths_together = 3;
  if (paths.size() <= paths_together) return false;
  const auto alone = context_.with({.threads = 1, .memory = context_.memory() / context_.threads()});
  std::mutex using_mutex;
  const UseNets<T> use = [&](std::span<NetModel> models, BlockView<const T> decisions) {
    const std::lock_guard lock(using_mutex);
    use_(models, decisions);
  };
  const auto make = [&] {
    auto linear = make_ops<T>(alone, dataset_, 0, alone.memory() / 2);
    auto ops = ops_->apart(*linear);
    return ops ? std::unique_ptr<NetRun>(new NetRun(*this, alone, std::move(linear), std::move(ops), use)) : nullptr;
  };
  if (!make()) return false;
  const std::size_t parts = (paths.size() + paths_together - 1) / paths_together;
  parallel_for(context_.threads(), static_cast<std::int64_t>(parts), [&](std::int64_t part) {
    const auto first = static_cast<std::size_t>(part) * paths_together;
    make()->run(paths.subspan(first, std::min(paths_together, paths.size() - first)));
  });
  return true;
}

template <class T>
void NetRun<T>::run(std::span<const std::int32_t> paths) {
  if (context_.device().is_cpu() && run_apart(paths)) return;
  plan_stretches(paths);
  const auto all = static_cast<std::int32_t>(stretches_.size());
  for (const auto& [from, to] : {std::pair{0, heads_}, std::pair{heads_, all}})
    for (std::int32_t first = from; first < to; first += most_lanes())
      run_stretches(first, std::min(to, first + most_lanes()));
}

/// At alpha = 1 and without weights, the largest |X'u| / penalty says how far alpha may fall before a weight appears.
template <class T>
std::vector<double> NetRun<T>::largest_alphas() {
  constexpr double smallest_l1_ratio = 1e-3;
  std::vector<double> result;
  const auto paths = static_cast<std::int32_t>(sheaf_.paths.size());
  for (std::int32_t p = 0; p < paths; ++p) stretches_.push_back({p, {}, -1, -1});
  for (std::int32_t first = 0; first < paths; first += most_lanes()) {
    context_.check_stop();
    begin(first, std::min(paths, first + most_lanes()));
    std::vector<NetLane> lanes;
    for (const auto& course : courses_) {
      const auto p = static_cast<std::size_t>(stretch_of(course).path);
      const auto& path = sheaf_.paths[p];
      lanes.push_back({path.rows, path.target, std::max(path.l1_ratio, smallest_l1_ratio), 0, nulls_[p].total,
                       nulls_[p].center, course.id});
    }
    ops_->choose_lanes(lanes);
    take_gradients();
    sums_.assign(courses_.size(), {});
    ops_->judge(blocks(), {}, sums_);
    for (const auto& sums : sums_) result.push_back(sums.ratio);
  }
  return result;
}

template <class T>
void NetRun<T>::run_stretches(std::int32_t first, std::int32_t last) {
  begin(first, last);
  while (true) {
    context_.check_stop();
    take_gradients();
    std::fill(moved_.begin(), moved_.end(), std::uint8_t{1});
    do {
      choose_lanes();
      judge();
    } while (hand_out_finished());
    compact();
    if (courses_.empty()) return;
    choose_features();
    solve();
  }
}

template <class T>
void NetRun<T>::begin(std::int32_t first, std::int32_t last) {
  courses_.clear();
  for (std::int32_t s = first; s < last; ++s) {
    NetCourse course;
    const auto& stretch = stretches_[static_cast<std::size_t>(s)];
    if (stretch.from >= 0) course = held_[static_cast<std::size_t>(stretch.from)];
    course.stretch = s;
    course.at = 0;
    course.id = begun_++;
    course.finished = false;
    course.fresh = stretch.from < 0;
    course.alpha = goal_of(course);
    advance(course);
    courses_.push_back(course);
  }
  moved_.assign(courses_.size(), 1);
  const Device device = context_.device();
  w_ = Block<T>(features_, count(), device);
  g_ = Block<T>(features_, count(), device);
  z_ = Block<T>(sheaf_.examples, count(), device);
  if (stretches_[static_cast<std::size_t>(first)].from < 0) {
    begin_fresh();
  } else {
    u_ = Block<T>(sheaf_.examples, count(), device);
    begin_from_held();
  }
}

/// No weights, and the intercept that is best without any.
template <class T>
void NetRun<T>::begin_fresh() {
  Block<T> u(sheaf_.examples, count());
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& course = courses_[static_cast<std::size_t>(t)];
    const auto& path = sheaf_.paths[static_cast<std::size_t>(stretch_of(course).path)];
    const auto& null = nulls_[static_cast<std::size_t>(stretch_of(course).path)];
    course.intercept = null.intercept;
    course.rows = {null.deviance / 2, null.deviance, null.deviance, null.deviance / 2};
    const double chance = 1 / (1 + std::exp(-null.intercept));
    for (std::int64_t i = 0; i < sheaf_.examples; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const double s = sheaf_.row_weights.empty()
                           ? 1.0
                           : double(sheaf_.row_weights[at * static_cast<std::size_t>(sheaf_.weight_columns) +
                                                       static_cast<std::size_t>(path.rows)]);
      const double y =
          sheaf_.targets[at * static_cast<std::size_t>(sheaf_.target_columns) + static_cast<std::size_t>(path.target)];
      const double residual = params_.loss == Loss::logistic ? (y > 0 ? 1 - chance : -chance) : y - null.intercept;
      u(i, t) = static_cast<T>(s * residual);
    }
  }
  u_ = u.to(context_.device());
}

template <class T>
void NetRun<T>::begin_from_held() {
  std::vector<std::int32_t> from;
  for (const auto& course : courses_) from.push_back(stretch_of(course).from);
  linear_->keep_tasks(std::as_const(held_w_).view(), from, w_.view());
  linear_->keep_tasks(std::as_const(held_z_).view(), from, z_.view());
  linear_->keep_tasks(std::as_const(held_u_).view(), from, u_.view());
}

template <class T>
void NetRun<T>::take_gradients() {
  ops_->take_gradients(*linear_, blocks());
}

template <class T>
double NetRun<T>::goal_of(const NetCourse& course) const {
  const auto& stretch = stretch_of(course);
  const auto& path = sheaf_.paths[static_cast<std::size_t>(stretch.path)];
  return stretch.alphas.empty() ? 0 : path.alphas[static_cast<std::size_t>(stretch.alphas[course.at])];
}

template <class T>
double NetRun<T>::tolerance_of(const NetCourse& course) const {
  return (on_the_way(course) ? tolerance_on_the_way : 1) * params_.tolerance *
         nulls_[static_cast<std::size_t>(stretch_of(course).path)].deviance;
}

template <class T>
void NetRun<T>::choose_lanes() {
  std::vector<NetLane> lanes;
  for (const auto& course : courses_) {
    const auto p = static_cast<std::size_t>(stretch_of(course).path);
    const auto& path = sheaf_.paths[p];
    lanes.push_back({path.rows, path.target, course.alpha * path.l1_ratio, course.alpha * (1 - path.l1_ratio),
                     nulls_[p].total, nulls_[p].center, course.id});
  }
  ops_->choose_lanes(lanes);
}

template <class T>
void NetRun<T>::judge() {
  sums_.resize(courses_.size());
  ops_->judge(blocks(), moved_, sums_);
  std::vector<double> scaled(courses_.size(), 0.0);
  if (params_.loss == Loss::logistic) {
    std::vector<double> scales;
    for (const auto& sums : sums_) scales.push_back(feasible_scale(sums.ratio));
    ops_->entropies(std::as_const(u_).view(), scales, scaled);
  }
  for (std::size_t t = 0; t < courses_.size(); ++t) {
    auto& course = courses_[t];
    course.objective = primal_of(sums_[t], course.rows);
    course.gap = params_.loss == Loss::logistic ? logistic_gap(sums_[t], course.rows, scaled[t])
                                                : squared_gap(sums_[t], course.rows);
    if (!course.finished && !on_the_way(course))
      context_.progress().advance(course.progress.approach(course.gap, tolerance_of(course)));
  }
}

template <class T>
double NetRun<T>::longest_step() const {
  return context_.device().is_cuda() && params_.solver == NetSolver::automatic
             ? longest_step_on_gpu
             : std::numeric_limits<double>::infinity();
}

/// A lane without weights begins just below the alpha at which it gets its first. False: it is there already.
template <class T>
bool NetRun<T>::step_in(NetCourse& course, const FeatureSums& sums) const {
  if (!std::exchange(course.fresh, false) || !std::isfinite(sums.ratio) || sums.ratio <= longest_step()) return false;
  course.alpha *= sums.ratio;
  return true;
}

/// Hands out the models that are finished and sends their lanes on, to the next alpha or towards it. False: none went.
template <class T>
bool NetRun<T>::hand_out_finished() {
  std::vector<std::int32_t> lanes;
  std::vector<std::int32_t> going;
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& course = courses_[static_cast<std::size_t>(t)];
    if (course.finished) continue;
    const bool given_up = course.epochs >= params_.max_epochs || course.rounds >= most_rounds;
    if (step_in(course, sums_[static_cast<std::size_t>(t)]))
      going.push_back(t);
    else if (course.gap <= tolerance_of(course) || given_up)
      (on_the_way(course) ? going : lanes).push_back(t);
  }
  if (lanes.empty() && going.empty()) return false;
  if (!lanes.empty()) hand_out(lanes);
  std::fill(moved_.begin(), moved_.end(), std::uint8_t{0});
  for (const auto t : lanes) {
    auto& course = courses_[static_cast<std::size_t>(t)];
    context_.progress().advance(course.progress.finish());
    if (course.at + 1 == stretch_of(course).alphas.size()) {
      course.finished = true;
    } else {
      ++course.at;
      going.push_back(t);
    }
  }
  for (const auto t : going) {
    auto& course = courses_[static_cast<std::size_t>(t)];
    const double goal = goal_of(course);
    course.alpha = goal > 0 ? std::max(goal, course.alpha / longest_step()) : goal;
    advance(course);
    moved_[static_cast<std::size_t>(t)] = 1;
  }
  return !going.empty();
}

template <class T>
void NetRun<T>::hand_out(std::span<const std::int32_t> lanes) {
  std::vector<NetModel> models;
  std::vector<double> intercepts;
  std::vector<std::int32_t> held_lanes, held_at;
  for (const auto t : lanes) {
    const auto& course = courses_[static_cast<std::size_t>(t)];
    const auto& stretch = stretch_of(course);
    NetModel model;
    model.path = stretch.path;
    model.alpha = stretch.alphas[course.at];
    model.intercept = course.intercept;
    model.fit = {course.objective,
                 course.gap,
                 tolerance_of(course),
                 static_cast<std::int32_t>(sums_[static_cast<std::size_t>(t)].nonzeros),
                 course.epochs,
                 std::max(course.parallel, 1),
                 course.gap <= tolerance_of(course)};
    if (keep_weights_) ops_->fetch_weights(std::as_const(w_).view(), t, model.features, model.weights);
    intercepts.push_back(course.intercept);
    models.push_back(std::move(model));
    if (stretch.hold < 0) continue;
    held_lanes.push_back(t);
    held_at.push_back(stretch.hold + static_cast<std::int32_t>(course.at));
    held_[static_cast<std::size_t>(held_at.back())] = course;
  }
  Block<T> z(sheaf_.examples, static_cast<std::int32_t>(lanes.size()), context_.device());
  ops_->decisions(std::as_const(z_).view(), lanes, intercepts, z.view());
  use_(models, std::as_const(z).view());
  if (held_lanes.empty()) return;
  const auto hold = [&](const Block<T>& from, Block<T>& to) {
    Block<T> some(from.rows(), static_cast<std::int32_t>(held_lanes.size()), context_.device());
    linear_->keep_tasks(from.view(), held_lanes, some.view());
    linear_->place_tasks(std::as_const(some).view(), held_at, to.view());
    linear_->synchronize();
  };
  hold(w_, held_w_);
  hold(z_, held_z_);
  hold(u_, held_u_);
}

/// Everything that is counted anew for each alpha.
template <class T>
void NetRun<T>::advance(NetCourse& course) {
  course.epochs = 0;
  course.rounds = 0;
  course.wanted = 0;
  course.progress = {};
  course.inner_tolerance = tolerance_of(course) / 2;
}

template <class T>
void NetRun<T>::compact() {
  std::vector<std::int32_t> stay;
  for (std::int32_t t = 0; t < count(); ++t)
    if (!courses_[static_cast<std::size_t>(t)].finished) stay.push_back(t);
  if (static_cast<std::int32_t>(stay.size()) == count()) return;
  std::vector<NetCourse> courses;
  std::vector<FeatureSums> sums;
  for (const auto t : stay) {
    courses.push_back(courses_[static_cast<std::size_t>(t)]);
    sums.push_back(sums_[static_cast<std::size_t>(t)]);
  }
  courses_ = std::move(courses);
  sums_ = std::move(sums);
  moved_.assign(courses_.size(), 1);
  if (courses_.empty()) return;
  for (Block<T>* block : {&w_, &g_, &z_, &u_}) keep(*block, stay);
  choose_lanes();
}

template <class T>
void NetRun<T>::keep(Block<T>& block, std::span<const std::int32_t> columns) {
  Block<T> rest(block.rows(), static_cast<std::int32_t>(columns.size()), context_.device());
  linear_->keep_tasks(std::as_const(block).view(), columns, rest.view());
  linear_->synchronize();
  block = std::move(rest);
}

template <class T>
void NetRun<T>::choose_features() {
  const bool all = params_.solver != NetSolver::automatic;
  std::vector<NetChoice> choices;
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& course = courses_[static_cast<std::size_t>(t)];
    const auto& sums = sums_[static_cast<std::size_t>(t)];
    const auto nonzeros = static_cast<std::int32_t>(sums.nonzeros);
    // A round that did not bring the gap down by half had too few features to work on.
    if (course.rounds > 0 && course.gap > course.last_gap / 2)
      course.wanted = static_cast<std::int32_t>(std::min<std::int64_t>(2 * std::int64_t{course.wanted}, features_));
    course.last_gap = course.gap;
    course.wanted = std::max({smallest_set, 2 * nonzeros, course.wanted});
    const double radius = all || sums.ratio == std::numeric_limits<double>::infinity()
                              ? std::numeric_limits<double>::infinity()
                              : std::sqrt(2 * course.gap * largest_bend(params_.loss));
    choices.push_back(
        {t, all ? static_cast<std::int32_t>(features_) : course.wanted, feasible_scale(sums.ratio), radius});
  }
  std::vector<std::int32_t> sizes(choices.size());
  ops_->choose_features(blocks(), choices, sizes);
}

template <class T>
void NetRun<T>::solve() {
  std::vector<NetOrder> orders;
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& course = courses_[static_cast<std::size_t>(t)];
    NetOrder order;
    order.lane = t;
    order.intercept = course.intercept;
    order.tolerance = std::max(course.inner_tolerance, 0.1 * course.gap);
    order.rules.order = order_of(params_.solver);
    order.rules.max_epochs = std::max(1, params_.max_epochs - course.epochs);
    order.rules.seed = context_.seed() + static_cast<std::uint64_t>(course.stretch);
    order.rules.parallel = course.parallel > 0 ? course.parallel : parallel_;
    orders.push_back(order);
  }
  std::vector<LaneReport> reports(orders.size());
  ops_->solve(params_.loss, blocks(), orders, reports);
  context_.check_stop();
  for (std::size_t t = 0; t < reports.size(); ++t) {
    auto& course = courses_[t];
    course.rows = reports[t].rows;
    course.intercept = reports[t].intercept;
    course.epochs += reports[t].epochs;
    course.parallel = reports[t].parallel;
    // The set was solved and the whole was not: solve it better the next time.
    if (orders[t].tolerance <= course.inner_tolerance) course.inner_tolerance /= 4;
    ++course.rounds;
  }
}

template class NetRun<float>;
template class NetRun<double>;

}  // namespace sheaf::linear
