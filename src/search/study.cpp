// A study: for each split, every pair of alpha and l1-ratio that the strategy asks for is trained on every fold, the
// best pair chosen by its mean score on the rows that the folds leave out, trained on all rows of the split, and judged
// on those that the split leaves out. All paths of a batch of splits are one sheaf; all final models of the study are
// another.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <sheaf/summary.hpp>

#include "core/fail.hpp"
#include "search/inner_progress.hpp"
#include "search/study_run.hpp"
#include "search/study_tables.hpp"

namespace sheaf {
namespace search {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
// Splits are trained together until so many paths are abreast; a batch is what a kill can lose.
constexpr std::int32_t worthwhile_on_cpu = 64;
constexpr std::int32_t worthwhile_on_gpu = 1024;
constexpr std::int64_t weights_share = 16;  // row weights may take this part of the memory

/// Which features have weights is decided by the final models, so they are trained more closely; float cannot be.
template <class T>
double final_tolerance(double tolerance) {
  constexpr double close = 1e-8;
  return sizeof(T) == sizeof(float) ? tolerance : std::min(tolerance, std::max(tolerance / 100, close));
}

/// That of the work, and one for each device that shares it.
std::vector<Context> contexts_of(const Context& context, const StudyOptions& options, std::int64_t memory,
                                 Progress& progress) {
  std::vector<Context> contexts;
  contexts.push_back(context.with({.memory = memory, .progress = &progress}));
  for (const auto device : options.also)
    contexts.push_back(context.with({.device = device, .memory = 0, .progress = &progress}));
  return contexts;
}

/// Balanced class weights are those of the rows that a part of the plan trains on, and found there.
NetOptions unbalanced(NetOptions net, const Target& target, const std::string& source) {
  if (takes_classes(net, target, source)) net.balanced = false;
  return net;
}

/// To four digits, so that what people read and type is what was trained.
double rounded(double alpha) { return std::stod(fmt::format("{:.4g}", alpha)); }

}  // namespace

template <class T>
Study<T>::Study(const Context& context, const Dataset<T>& dataset, const StudyOptions& options,
                std::span<const float> row_weights, StudyLog* log)
    : context_(context),
      dataset_(dataset),
      options_(decided(options, dataset.target, !dataset.groups.empty(), dataset.source)),
      log_(log),
      made_(linear::make_net_problem(context, dataset.target, dataset.source, dataset.rows(),
                                     unbalanced(options_.net, dataset.target, dataset.source), row_weights)),
      plan_(made_.problem, dataset.groups, options_, context.seed(), context.threads()),
      judge_(contexts_of(context, options_, context.memory(), silent_progress()), dataset, made_.problem,
             linear::judged_as(options_.net, !made_.problem.class_names.empty())) {
  sheaf_.examples = dataset.rows();
  sheaf_.target_columns = made_.problem.sheaf.target_columns;
  sheaf_.targets = made_.problem.sheaf.targets;
  sheaf_.penalty_factors = options_.net.penalty_factors;
  find_alphas();
}

/// Those of an automatic grid begin where all rows leave no feature a weight.
template <class T>
void Study<T>::find_alphas() {
  if (!options_.alphas.empty()) {
    alphas_.assign(options_.l1_ratios.size(), options_.alphas);
    return;
  }
  sheaf_.row_weights = plan_.weights(made_.row_weights);
  for (const double l1_ratio : options_.l1_ratios)
    for (std::int32_t c = 0; c < sheaf_.target_columns; ++c) sheaf_.paths.push_back({0, c, l1_ratio, {}});
  const auto largest = largest_alphas(context_, dataset_, sheaf_, linear::net_params(options_.net));
  const auto columns = static_cast<std::size_t>(sheaf_.target_columns);
  for (std::size_t l = 0; l < options_.l1_ratios.size(); ++l) {
    const auto* begin = largest.data() + l * columns;
    const double from = *std::max_element(begin, begin + columns);
    if (!(from > 0)) fail("{}: no feature goes with the labels at all, so there are no alphas to try", dataset_.source);
    alphas_.push_back(alpha_path(from, options_.smallest_share, options_.alpha_count));
    for (double& alpha : alphas_.back()) alpha = rounded(alpha);
  }
}

template <class T>
std::int32_t Study<T>::most_splits(std::int64_t memory) const {
  const auto bytes =
      std::max<std::int64_t>(dataset_.rows(), 1) * plan_.parts() * static_cast<std::int64_t>(sizeof(float));
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(memory / weights_share / bytes, 1, plan_.splits()));
}

template <class T>
BatchPlan Study<T>::propose() const {
  const auto memory = context_.memory();
  const auto paths = plan_.folds() * static_cast<std::int32_t>(alphas_.size()) * sheaf_.target_columns;
  const auto lanes = context_.device().is_cuda() ? worthwhile_on_gpu : worthwhile_on_cpu;
  const auto wanted = options_.batch > 0 ? options_.batch : (lanes + paths - 1) / paths;
  const auto most = std::clamp(wanted, 1, most_splits(memory));
  if (options_.batch > 0) return {memory, most};
  const auto batches = (plan_.splits() + most - 1) / most;
  return {memory, (plan_.splits() + batches - 1) / batches};  // as equal as can be
}

/// 0: not known before.
template <class T>
std::int64_t Study<T>::models_to_train() const {
  if (options_.strategy == Strategy::refined || options_.strategy == Strategy::descent) return 0;
  const StudyStrategy strategy(options_, static_cast<std::int32_t>(alphas_.front().size()), context_.seed());
  const std::vector<double> nothing(alphas_.size() * alphas_.front().size(), undefined);
  const auto pairs = std::ssize(strategy.next(nothing));
  return (pairs * plan_.folds() + 1) * plan_.splits() * sheaf_.target_columns;
}

template <class T>
void Study<T>::load_splits(std::int32_t first, std::int32_t count) {
  if (first_split_ == first && loaded_splits_ == count) return;
  sheaf_.row_weights = plan_.weights(first, count, made_.row_weights);
  sheaf_.weight_columns = count * plan_.parts();
  judge_.load_tests(plan_.tests(first, count));
  first_split_ = first;
  loaded_splits_ = count;
}

/// Pairs ascend, so that the alphas of each l1-ratio descend.
template <class T>
void Study<T>::add_paths(std::int32_t part, std::span<const std::int32_t> pairs, Places& places) {
  const auto count = static_cast<std::int32_t>(alphas_.front().size());
  for (auto begin = pairs.begin(); begin != pairs.end();) {
    const auto l1 = *begin / count;
    const auto end = std::find_if(begin, pairs.end(), [&](std::int32_t pair) { return pair / count != l1; });
    NetPath path{part, 0, options_.l1_ratios[static_cast<std::size_t>(l1)], {}};
    for (auto pair = begin; pair != end; ++pair)
      path.alphas.push_back(alphas_[static_cast<std::size_t>(l1)][static_cast<std::size_t>(*pair % count)]);
    for (std::int32_t c = 0; c < sheaf_.target_columns; ++c) {
      path.target = c;
      sheaf_.paths.push_back(path);
      places.emplace_back(begin, end);
    }
    begin = end;
  }
}

template <class T>
template <class Use, class Keep>
void Study<T>::train(Contexts contexts, const NetParams& params, bool keep_weights, const Places& places,
                     const Use& use, const Keep& keep) {
  const auto hear = [&](std::size_t context, std::span<NetModel> nets, BlockView<const T> z) {
    std::vector<StudyModel> models;
    std::vector<std::int32_t> columns;
    for (auto& net : nets) {
      const auto& path = sheaf_.paths[static_cast<std::size_t>(net.path)];
      const auto& pairs = places[static_cast<std::size_t>(net.path)];
      models.push_back({path.rows, pairs[static_cast<std::size_t>(net.alpha)]});
      columns.push_back(path.target);
      keep(net, models.back(), path.target);
    }
    judge_.judge(context, z, models, columns, use);
  };
  if (contexts.size() > 1)
    elastic_nets<T>(contexts, dataset_, sheaf_, params, keep_weights, hear);
  else
    elastic_nets<T>(contexts.front(), dataset_, sheaf_, params, keep_weights,
                    [&](std::span<NetModel> nets, BlockView<const T> z) { hear(0, nets, z); });
}

/// Larger is better; NaN: not tried.
template <class T>
std::vector<double> Study<T>::scores_of(const StudySplit& split) const {
  const auto folds = static_cast<std::size_t>(plan_.folds());
  const double sign = info(*options_.score).larger_is_better ? 1 : -1;
  std::vector<double> scores(split.nonzeros.size(), undefined);
  for (std::size_t pair = 0; pair < scores.size(); ++pair) {
    if (std::isnan(split.nonzeros[pair])) continue;
    const double mean = summarise(std::span(split.scores).subspan(pair * folds, folds)).mean;
    scores[pair] = std::isnan(mean) ? -std::numeric_limits<double>::infinity() : sign * mean;
  }
  return scores;
}

/// In rounds, as long as some split's strategy asks for more.
template <class T>
std::vector<StudySplit> Study<T>::try_pairs(Contexts contexts, std::int32_t first, std::int32_t count) {
  const auto folds = static_cast<std::size_t>(plan_.folds());
  const auto pairs = alphas_.size() * alphas_.front().size();
  const StudyStrategy strategy(options_, static_cast<std::int32_t>(alphas_.front().size()), context_.seed());
  std::vector<StudySplit> splits(static_cast<std::size_t>(count));
  for (auto& split : splits) {
    split.scores.assign(pairs * folds, undefined);
    split.nonzeros.assign(pairs, undefined);
  }
  load_splits(first, count);
  while (true) {
    Places places;
    sheaf_.paths.clear();
    for (std::size_t s = 0; s < splits.size(); ++s) {
      const auto more = strategy.next(scores_of(splits[s]));
      for (const auto pair : more) splits[s].nonzeros[static_cast<std::size_t>(pair)] = 0;
      for (std::int32_t f = 0; f < plan_.folds(); ++f)
        add_paths(static_cast<std::int32_t>(s) * plan_.parts() + f, more, places);
    }
    if (sheaf_.paths.empty()) break;
    const auto split_of = [&](const StudyModel& model) -> StudySplit& {
      return splits[static_cast<std::size_t>(model.part / plan_.parts())];
    };
    train(
        contexts, linear::net_params(options_.net), false, places,
        [&](const StudyModel& model, const Scores& scores) {
          const auto fold = static_cast<std::size_t>(model.part % plan_.parts());
          split_of(model).scores[static_cast<std::size_t>(model.pair) * folds + fold] = scores.score(*options_.score);
        },
        [&](const NetModel& net, const StudyModel& model, std::int32_t) {
          auto& split = split_of(model);
          split.nonzeros[static_cast<std::size_t>(model.pair)] += net.fit.nonzeros;  // exact in any order
          split.unconverged += net.fit.converged ? 0 : 1;
        });
  }
  for (auto& split : splits)
    for (double& nonzeros : split.nonzeros) nonzeros /= static_cast<double>(folds);
  return splits;
}

/// Among the pairs that were tried, in the order of how many features they take and, of as many, of falling alphas.
template <class T>
void Study<T>::choose_pair(StudySplit& split) const {
  const auto count = static_cast<std::int32_t>(alphas_.front().size());
  const auto folds = static_cast<std::size_t>(plan_.folds());
  std::vector<std::int32_t> order;
  for (std::int32_t pair = 0; pair < std::ssize(split.nonzeros); ++pair)
    if (!std::isnan(split.nonzeros[static_cast<std::size_t>(pair)])) order.push_back(pair);
  const auto key = [&](std::int32_t pair) {
    return std::tuple(split.nonzeros[static_cast<std::size_t>(pair)],
                      -alphas_[static_cast<std::size_t>(pair / count)][static_cast<std::size_t>(pair % count)], -pair);
  };
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); });
  std::vector<Summarised> table;
  table.reserve(order.size());
  for (const auto pair : order)
    table.push_back(summarise(std::span(split.scores).subspan(static_cast<std::size_t>(pair) * folds, folds)));
  const auto chosen = choose(table, info(*options_.score).larger_is_better, options_.choice).chosen;
  split.l1_ratio = order[chosen] / count;
  split.alpha = order[chosen] % count;
}

template <class T>
std::vector<StudySplit> Study<T>::refit(Contexts contexts, std::int32_t first, std::int32_t count) {
  const auto alphas = static_cast<std::int32_t>(alphas_.front().size());
  load_splits(first, count);
  std::vector<StudySplit> splits;
  Places places;
  sheaf_.paths.clear();
  for (std::int32_t s = 0; s < count; ++s) {
    const auto& split = splits_[static_cast<std::size_t>(first) + static_cast<std::size_t>(s)];
    const std::int32_t pair = split.l1_ratio * alphas + split.alpha;
    add_paths(s * plan_.parts() + plan_.folds(), std::span(&pair, 1), places);
    auto& mine = splits.emplace_back();
    mine.l1_ratio = split.l1_ratio;
    mine.alpha = split.alpha;
    mine.nets.resize(static_cast<std::size_t>(sheaf_.target_columns));
  }
  auto params = linear::net_params(options_.net);
  params.tolerance = final_tolerance<T>(params.tolerance);
  const auto split_of = [&](const StudyModel& model) -> StudySplit& {
    return splits[static_cast<std::size_t>(model.part / plan_.parts())];
  };
  train(
      contexts, params, true, places,
      [&](const StudyModel& model, const Scores& scores) { split_of(model).left_out = {scores, {}, -1}; },
      [&](NetModel& net, const StudyModel& model, std::int32_t column) {
        split_of(model).nets[static_cast<std::size_t>(column)] = std::move(net);
      });
  return splits;
}

template <class T>
template <class Work>
std::vector<StudySplit> Study<T>::remembered(std::int32_t batch, std::int32_t splits, const Work& work) {
  if (const auto* known = log_ != nullptr ? log_->recall(batch) : nullptr) {
    if (std::ssize(*known) != splits) fail("the journal was written by another version of the program");
    return *known;
  }
  auto done = work();
  if (log_ != nullptr) log_->keep(batch, done);
  return done;
}

template <class T>
void Study<T>::run_batches(Contexts contexts, const BatchPlan& plan) {
  std::int32_t batch = 0;
  for (std::int32_t first = 0; first < plan_.splits(); first += plan.tasks, ++batch) {
    const auto count = std::min(plan.tasks, plan_.splits() - first);
    for (auto& split : remembered(batch, count, [&] { return try_pairs(contexts, first, count); })) {
      choose_pair(split);
      splits_.push_back(std::move(split));
    }
  }
  const auto together = most_splits(plan.memory);
  for (std::int32_t first = 0; first < plan_.splits(); first += together, ++batch) {
    const auto count = std::min(together, plan_.splits() - first);
    auto finished = remembered(batch, count, [&] { return refit(contexts, first, count); });
    for (std::size_t s = 0; s < finished.size(); ++s) {
      auto& split = splits_[static_cast<std::size_t>(first) + s];
      split.left_out = std::move(finished[s].left_out);
      split.nets = std::move(finished[s].nets);
    }
  }
}

/// The whole path of one split, at the l1-ratio that it chose.
template <class T>
void Study<T>::train_path(const Context& context, StudyResult& result) {
  if (options_.path_split == 0) return;
  const auto alphas = static_cast<std::int32_t>(alphas_.front().size());
  const auto split = options_.path_split - 1;
  load_splits(split, 1);
  std::vector<std::int32_t> pairs(alphas_.front().size());
  std::iota(pairs.begin(), pairs.end(), splits_[static_cast<std::size_t>(split)].l1_ratio * alphas);
  Places places;
  sheaf_.paths.clear();
  add_paths(plan_.folds(), pairs, places);
  result.path = elastic_nets(context, dataset_, sheaf_, linear::net_params(options_.net));
  std::stable_sort(result.path.begin(), result.path.end(),
                   [](const NetModel& a, const NetModel& b) { return a.alpha < b.alpha; });
}

template <class T>
StudyResult Study<T>::result() const {
  StudyResult result;
  result.options = options_;
  result.seed = context_.seed();
  result.source = dataset_.source;
  result.rows = dataset_.rows();
  result.features = dataset_.features();
  result.groups = plan_.groups();
  result.class_names = made_.problem.class_names;
  result.positive = judge_.positive();
  result.columns = sheaf_.target_columns;
  result.alphas = alphas_;
  result.splits = splits_;
  return result;
}

template <class T>
StudyResult Study<T>::run() {
  const auto plan = log_ != nullptr ? log_->agree(propose()) : propose();
  {
    const Stage stage(context_.progress(), "studying", models_to_train());
    InnerProgress inner(context_.progress());
    run_batches(contexts_of(context_, options_, plan.memory, inner), plan);
  }
  auto answer = result();
  train_path(contexts_of(context_, options_, plan.memory, context_.progress()).front(), answer);
  std::vector<double> deviations;
  for (const auto& feature : summarize(context_, dataset_).per_feature) deviations.push_back(feature.deviation);
  tabulate(answer, dataset_.feature_names, deviations);
  if (!dataset_.groups.empty() && answer.groups == 0)
    answer.notes.emplace_back(
        "the table's groups are not heeded (--split stratified): rows of one group may stand on both sides of a split");
  return answer;
}

template class Study<float>;
template class Study<double>;

}  // namespace search

template <class T>
StudyResult study_nets(const Context& context, const Dataset<T>& dataset, const StudyOptions& options,
                       std::span<const float> row_weights, StudyLog* log) {
  return search::Study<T>(context, dataset, options, row_weights, log).run();
}

template StudyResult study_nets(const Context&, const Dataset<float>&, const StudyOptions&, std::span<const float>,
                                StudyLog*);
template StudyResult study_nets(const Context&, const Dataset<double>&, const StudyOptions&, std::span<const float>,
                                StudyLog*);

}  // namespace sheaf
