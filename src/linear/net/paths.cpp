// Paths of elastic nets in lockstep.
//
// A path goes from large alphas to small ones and starts each model at the one before; of each path one model is active
// at a time. In each turn one block product X'u serves all active models: it decides by the duality gap which are
// finished (those paths continue with their next alpha at once, with the same X'u; results.cpp), and which features the
// others work on: all with a weight and those nearest to their bound. Then each model solves its small problem by
// itself (model_solver.hpp). segments.cpp plans which models are active at once.
#include "linear/net/paths.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <utility>

#include <sheaf/error.hpp>

#include "core/parallel.hpp"

namespace sheaf::linear {

template <class T>
NetRun<T>::NetRun(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const NetParams& params,
                  bool keep_weights, bool wants_decisions, const UseNets<T>& use, PathWatch* watch)
    : context_(context),
      dataset_(dataset),
      sheaf_(sheaf),
      params_(params),
      keep_weights_(keep_weights),
      wants_decisions_(wants_decisions),
      use_(use),
      watch_(watch),
      features_(dataset.features()),
      totals_(check_nets(sheaf, params, dataset.rows(), dataset.features())),
      risk_(std::make_shared<const RiskTables>(risk_tables(sheaf, params))),
      nulls_(null_models(sheaf, params, *risk_, totals_)),
      linear_(make_ops<T>(context, dataset, 0, context.memory() / 2)),
      ops_(make_net_ops<T>(context, dataset, *linear_)) {
  ops_->load_tables(sheaf, params, *risk_, totals_);
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
      wants_decisions_(whole.wants_decisions_),
      use_(use),
      features_(whole.features_),
      totals_(whole.totals_),
      risk_(whole.risk_),
      nulls_(whole.nulls_),
      linear_(std::move(linear)),
      ops_(std::move(ops)),
      parallel_(whole.parallel_) {}

/// In a small problem, threads that synchronise after every step spend their time waiting for each other. Instead each
/// thread trains some paths by itself. Their number at a time does not depend on the number of threads, so results do
/// not either.
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
    auto ops = ops_->clone_for_thread(*linear);
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
  if (run_by_covariance(paths)) return;
  if (context_.device().is_cpu() && run_apart(paths)) return;
  plan_segments(paths);
  const auto all = static_cast<std::int32_t>(segments_.size());
  for (const auto& [from, to] : {std::pair{0, first_pass_}, std::pair{first_pass_, all}})
    for (std::int32_t first = from; first < to; first += most_models())
      run_segments(first, std::min(to, first + most_models()));
}

/// Models of the features that have no penalty, and of these alone: the penalty of all others is out of reach.
template <class T>
void NetRun<T>::train_unpenalised() {
  constexpr double precise = sizeof(T) == 4 ? 1e-7 : 1e-14;  // of the deviance without features
  constexpr double out_of_reach = 1e6;
  constexpr int most_turns = 20;
  for (auto& state : states_) {
    state.alpha = 1;
    state.inner_tolerance = precise * null_of(state).deviance / 2;
  }
  for (int turn = 0; turn < most_turns; ++turn) {
    context_.check_stop();
    ops_->update_gradients(*linear_, blocks());
    std::fill(moved_.begin(), moved_.end(), std::uint8_t{1});
    choose_models();
    compute_gaps();
    bool done = turn > 0;
    for (std::int32_t t = 0; t < count(); ++t) {
      auto& state = states_[static_cast<std::size_t>(t)];
      const double ratio = sums_of(t).ratio;
      if (turn == 0) state.alpha = out_of_reach * (ratio > 0 && std::isfinite(ratio) ? ratio : 1.0);
      const bool rounded = turn > 2 && state.gap > state.last_gap / 2;
      done = done && (rounded || state.gap <= precise * null_of(state).deviance);
    }
    if (done) return;
    if (turn == 0) choose_models();
    choose_features();
    solve();
  }
}

/// At alpha = 1 and without weights, the largest |X'u| / penalty determines how far alpha may fall before a weight
/// appears. Features without a penalty have their weights there. Limits make no difference to paths: those of glmnet
/// begin there as well.
template <class T>
std::vector<double> NetRun<T>::largest_alphas() {
  constexpr double smallest_l1_ratio = 1e-3;
  std::vector<double> result;
  const auto paths = static_cast<std::int32_t>(sheaf_.paths.size());
  for (std::int32_t p = 0; p < paths; ++p) segments_.push_back({p, {}, -1, -1});
  for (std::int32_t first = 0; first < paths; first += most_models()) {
    context_.check_stop();
    begin(first, std::min(paths, first + most_models()));
    if (std::count(sheaf_.penalty_factors.begin(), sheaf_.penalty_factors.end(), 0.0) > 0) train_unpenalised();
    std::vector<ActiveModel> models;
    for (const auto& state : states_)
      add_active(state, std::max(path_of(state).l1_ratio, smallest_l1_ratio), 0, models);
    for (auto& model : models) model.limits = false;
    ops_->choose_models(models);
    ops_->update_gradients(*linear_, blocks());
    sums_.assign(states_.size() * static_cast<std::size_t>(parts()), {});
    ops_->feature_sums(blocks(), {}, sums_);
    for (std::int32_t t = 0; t < count(); ++t) result.push_back(sums_of(t).ratio);
  }
  return result;
}

template <class T>
void NetRun<T>::run_segments(std::int32_t first, std::int32_t last) {
  begin(first, last);
  while (true) {
    context_.check_stop();
    ops_->update_gradients(*linear_, blocks());
    std::fill(moved_.begin(), moved_.end(), std::uint8_t{1});
    do {
      choose_models();
      compute_gaps();
    } while (advance_finished());
    compact();
    if (states_.empty()) return;
    choose_features();
    solve();
  }
}

template <class T>
std::vector<std::int32_t> NetRun<T>::columns_of(std::span<const std::int32_t> models) const {
  std::vector<std::int32_t> columns;
  for (const auto t : models)
    for (std::int32_t c = 0; c < classes(); ++c) columns.push_back(t * classes() + c);
  return columns;
}

/// Sums over all classes of the t-th active model.
template <class T>
FeatureSums NetRun<T>::sums_of(std::int32_t t) const {
  FeatureSums all;
  const auto mine = std::span(sums_).subspan(static_cast<std::size_t>(std::int64_t{t} * parts()));
  for (const auto& part : mine.first(static_cast<std::size_t>(parts()))) all.join(part);
  return all;
}

template <class T>
void NetRun<T>::add_active(const ModelState& state, double alpha1, double alpha2,
                           std::vector<ActiveModel>& models) const {
  const auto& path = path_of(state);
  const auto& null = null_of(state);
  for (std::int32_t c = 0; c < classes(); ++c)
    models.push_back({path.rows, path.target + c, alpha1, alpha2, null.total, null.center, null.curvature,
                      state.id * classes() + c, c, null.width, true, penalty_shape(path, null)});
}

template <class T>
void NetRun<T>::choose_models() {
  std::vector<ActiveModel> models;
  for (const auto& state : states_) {
    const auto shape = penalty_shape(path_of(state), null_of(state));
    add_active(state, state.alpha * shape.l1, state.alpha * shape.l2, models);
  }
  ops_->choose_models(models);
}

template <class T>
void NetRun<T>::compute_gaps() {
  const auto columns = static_cast<std::size_t>(std::int64_t{count()} * classes());
  sums_.resize(static_cast<std::size_t>(std::int64_t{count()} * parts()));
  ops_->feature_sums(blocks(), moved_, sums_);
  std::vector<double> scales;
  std::vector<double> duals(columns);
  with_net_loss(params_.loss, [&](auto functor) {
    using Functor = decltype(functor);
    for (std::int32_t t = 0; t < count(); ++t)
      scales.insert(scales.end(), static_cast<std::size_t>(classes()),
                    dual_scale<Functor>(sums_of(t), states_[static_cast<std::size_t>(t)].rows, has_limits(sheaf_)));
    if constexpr (Functor::quadratic)  // of all targets together
      for (std::size_t t = 0; t < states_.size(); ++t) {
        const auto first = t * static_cast<std::size_t>(classes());
        duals[first] = squared_dual(states_[t].rows, scales[first]);
      }
    else
      ops_->dual_values(params_.loss, blocks(), scales, duals);
  });
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& state = states_[static_cast<std::size_t>(t)];
    const auto sums = sums_of(t);
    const auto* dual = duals.data() + t * classes();
    state.objective = state.rows.loss + sums.penalty();
    state.gap = duality_gap(sums, state.rows, scales[static_cast<std::size_t>(std::int64_t{t} * classes())],
                            std::accumulate(dual, dual + classes(), 0.0));
    if (!state.finished && !intermediate(state))
      context_.progress().advance(state.progress.approach(state.gap, tolerance_of(state)));
  }
}

template <class T>
void NetRun<T>::compact() {
  std::vector<std::int32_t> stay;
  for (std::int32_t t = 0; t < count(); ++t)
    if (!states_[static_cast<std::size_t>(t)].finished) stay.push_back(t);
  if (static_cast<std::int32_t>(stay.size()) == count()) return;
  const auto columns = columns_of(stay);
  std::vector<ModelState> states;
  std::vector<FeatureSums> sums;
  for (const auto t : stay) {
    states.push_back(std::move(states_[static_cast<std::size_t>(t)]));
    const auto first = sums_.begin() + static_cast<std::ptrdiff_t>(t) * parts();
    sums.insert(sums.end(), first, first + parts());
  }
  states_ = std::move(states);
  sums_ = std::move(sums);
  moved_.assign(sums_.size(), 1);
  if (states_.empty()) return;
  for (Block<T>* block : {&w_, &g_, &z_, &u_}) *block = kept_columns(*linear_, *block, columns);
  choose_models();
}

template <class T>
void NetRun<T>::choose_features() {
  constexpr std::int32_t smallest_set = 128;
  const bool all = params_.solver != NetSolver::automatic;
  std::vector<FeatureChoice> choices;
  for (std::int32_t t = 0; t < count(); ++t) {
    auto& state = states_[static_cast<std::size_t>(t)];
    const auto sums = sums_of(t);
    const auto nonzeros = static_cast<std::int32_t>(sums.nonzeros);
    // A round that did not bring the gap down by half had too few features to work on.
    if (state.rounds > 0 && state.gap > state.last_gap / 2)
      state.wanted = static_cast<std::int32_t>(std::min<std::int64_t>(2 * std::int64_t{state.wanted}, features_));
    constexpr double falls = 0.9;
    state.stalled = !all && state.rounds > 0 && state.gap > falls * state.last_gap ? state.stalled + 1 : 0;
    state.last_gap = state.gap;
    state.wanted = std::max({smallest_set, 2 * nonzeros, state.wanted});
    const double radius = all || sums.ratio == std::numeric_limits<double>::infinity()
                              ? std::numeric_limits<double>::infinity()
                              : std::sqrt(2 * state.gap * largest_curvature(params_.loss));
    choices.push_back(
        {t * classes(), all ? static_cast<std::int32_t>(features_) : state.wanted, feasible_scale(sums.ratio), radius});
  }
  std::vector<std::int32_t> sizes(choices.size());
  ops_->choose_features(blocks(), choices, sizes);
}

template <class T>
void NetRun<T>::solve() {
  std::vector<SolveOrder> orders;
  std::vector<double> intercepts;
  for (std::int32_t t = 0; t < count(); ++t) {
    const auto& state = states_[static_cast<std::size_t>(t)];
    const DescentRules rules{params_.solver, std::max(1, params_.max_epochs - state.epochs),
                             state.parallel > 0 ? state.parallel : parallel_,
                             context_.seed() + static_cast<std::uint64_t>(state.segment)};
    orders.push_back({t * classes(), std::max(state.inner_tolerance, 0.1 * state.gap), rules});
    intercepts.insert(intercepts.end(), state.intercepts.begin(), state.intercepts.end());
  }
  std::vector<SolveReport> reports(orders.size());
  ops_->solve(params_.loss, blocks(), orders, intercepts, reports);
  context_.check_stop();
  for (std::size_t t = 0; t < reports.size(); ++t) {
    auto& state = states_[t];
    state.rows = reports[t].rows;
    std::copy_n(intercepts.begin() + static_cast<std::ptrdiff_t>(t) * classes(), classes(), state.intercepts.begin());
    state.epochs += reports[t].epochs;
    state.parallel = reports[t].parallel;
    // The working set was solved and the whole was not: solve it better the next time.
    if (orders[t].tolerance <= state.inner_tolerance) state.inner_tolerance /= 4;
    ++state.rounds;
  }
}

template class NetRun<float>;
template class NetRun<double>;

}  // namespace sheaf::linear
