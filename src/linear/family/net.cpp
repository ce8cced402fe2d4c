// Elastic nets in the search: a point is an l1-ratio and an alpha, the points of one l1-ratio on one split are a path.
// For relaxed models it is also a share of the penalised model: the models of one alpha are mixtures of the same two.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <sheaf/solvers/losses.hpp>
#include <sheaf/solvers/profile.hpp>

#include "core/fail.hpp"
#include "core/text.hpp"
#include "data/text/model_file.hpp"
#include "data/text/number.hpp"
#include "family/family.hpp"
#include "family/values.hpp"
#include "linear/family/work.hpp"
#include "linear/model/formats.hpp"
#include "linear/model/net_problem.hpp"
#include "linear/products/ops.hpp"

namespace sheaf::engine {
namespace {

// Splits are trained together until so many paths are active; a kill can lose a batch.
constexpr std::int32_t worthwhile_on_cpu = 64;
constexpr std::int32_t worthwhile_on_gpu = 1024;
constexpr std::int64_t weights_share = 16;  // row weights may take this part of the memory

/// The chosen models determine which features have weights, so they are trained more closely; float cannot be.
template <class T>
double chosen_tolerance(double tolerance) {
  constexpr double close = 1e-8;
  return sizeof(T) == sizeof(float) ? tolerance : std::min(tolerance, std::max(tolerance / 100, close));
}

/// Class weights are those of the rows that a split trains on, and found there.
NetOptions unweighted(NetOptions options) {
  options.balanced = false;
  options.class_weights.clear();
  return options;
}

/// The share of the penalised model at a point: one of `shares`, whose number from 1 on is its third value; 1 if there
/// are none.
double relax_of(std::span<const double> shares, const Point& point) {
  return shares.empty() ? 1.0 : shares[static_cast<std::size_t>(point[2]) - 1];
}

/// To four digits, or to as many more as keep descending alphas apart, so that printed alphas are exactly those that
/// were trained.
std::vector<double> rounded(const std::vector<double>& alphas) {
  constexpr int most_digits = 17;  // enough to distinguish every double
  std::vector<double> result(alphas.size());
  for (int digits = 4; digits <= most_digits; ++digits) {
    for (std::size_t k = 0; k < alphas.size(); ++k)
      parse_whole_number(fmt::format("{:.{}g}", alphas[k], digits), result[k]);
    if (std::adjacent_find(result.begin(), result.end()) == result.end()) return result;
  }
  fail_usage(
      "there are no {} different alphas from {:.6g} to {:.6g}; take fewer (alpha-count) or a smaller end "
      "(smallest-share)",
      alphas.size(), alphas.front(), alphas.back());
}

FeatureWeights weights_of(NetModel& net) { return {net.intercept, std::move(net.features), std::move(net.weights)}; }

/// Multiplies the row weights of each split by the class weights of its training rows.
void weigh_rows(const Labels& labels, const ClassWeights& how, std::span<const double> counts, std::size_t splits,
                std::vector<float>& weights) {
  if (how.empty()) return;
  const auto classes = labels.class_names.size();
  std::vector<float> factors;
  for (std::size_t s = 0; s < splits; ++s)
    for (const double weight : weigh_classes(how, labels.class_names, counts.subspan(s * classes, classes)))
      factors.push_back(static_cast<float>(weight));
  for (std::size_t k = 0; k < weights.size(); ++k)
    weights[k] *= factors[k % splits * classes + static_cast<std::size_t>(labels.classes[k / splits])];
}

template <class T>
class NetTrainer : public Trainer {
 public:
  NetTrainer(const Context& context, const Dataset<T>& dataset, const NetSheaf& sheaf, const Labels& labels,
             const NetOptions& options, std::span<const double> relax, bool keep_decisions)
      : context_(context),
        dataset_(dataset),
        labels_(labels),
        options_(options),
        relax_(relax),
        sheaf_(sheaf),
        scorer_(context, truth_of(labels), net_solver(options_.loss, !labels.class_names.empty()).probabilities) {
    if (keep_decisions) scorer_.keep_decisions();
    if (columns() > 1 || info(options_.loss).net.responds) ops_ = linear::make_ops<T>(context, dataset);
    if (!relax_.empty()) products_ = linear::make_ops<T>(context, dataset, T(1));
  }

  void load(const SplitTable& table) override {
    sheaf_.row_weights = table.weights;
    sheaf_.weight_columns = static_cast<std::int32_t>(table.splits.size());
    weigh_rows(labels_, {options_.class_weights, options_.balanced}, table.class_counts, table.splits.size(),
               sheaf_.row_weights);
    sheaf_.decision_rows.clear();
    // Scores of survival models need values of the training rows too.
    for (std::int32_t k = 0; k < table.tests.count() && labels_.events.empty(); ++k) {
      const auto rows = table.tests.list(k);
      sheaf_.decision_rows.emplace_back(rows.begin(), rows.end());
    }
    scorer_.load_tests(tests_of(table, labels_));
  }

  /// The intercept makes up for shifts, so that factors are all a net needs.
  void load_transformed(const SplitTable& table, ColumnTransforms transforms) override {
    load(table);
    sheaf_.column_factors = transforms.factors;
    transforms_ = std::move(transforms);
  }

  std::vector<ModelScores> train(std::span<const Job> jobs, bool chosen) override {
    add_paths(jobs);
    auto params = linear::net_params(options_);
    if (chosen) params.tolerance = chosen_tolerance<T>(params.tolerance);
    std::vector<ModelScores> scores(jobs.size());
    for (auto& one : scores) {
      one.size = 0;
      one.fits.resize(static_cast<std::size_t>(columns()));
      if (chosen) one.weights.resize(static_cast<std::size_t>(columns()));
    }
    if (!relax_.empty()) {
      train_relaxed(jobs, params, chosen, scores);
      return scores;
    }
    const auto use = [&](std::span<NetModel> nets, BlockView<const T> z) {
      std::vector<std::size_t> of;
      for (const auto& net : nets) of.push_back(jobs_of(net).front());
      take(jobs, of, nets, z, chosen, scores);
    };
    elastic_nets<T>(context_, dataset_, sheaf_, params, chosen, use);
    return scores;
  }

 private:
  struct Parts {
    Block<T> decisions;
    std::int32_t missing = 0;
  };

  std::int32_t columns() const { return sheaf_.target_columns; }

  /// The jobs that a trained model is for: one, or one for each share of it.
  const std::vector<std::size_t>& jobs_of(const NetModel& net) const {
    return jobs_of_[static_cast<std::size_t>(net.path)][static_cast<std::size_t>(net.alpha)];
  }

  /// Alphas descend along a path; those of one l1-ratio and split are one path for each decision value.
  void add_paths(std::span<const Job> jobs) {
    std::map<std::pair<std::int32_t, double>, std::map<double, std::vector<std::size_t>, std::greater<>>> groups;
    for (std::size_t k = 0; k < jobs.size(); ++k)
      groups[{jobs[k].split, jobs[k].point->at(0)}][jobs[k].point->at(1)].push_back(k);
    sheaf_.paths.clear();
    jobs_of_.clear();
    for (const auto& [key, members] : groups) {
      NetPath path{key.first, 0, key.second, {}};
      std::vector<std::vector<std::size_t>> of_alphas;
      for (const auto& [alpha, some] : members) {
        path.alphas.push_back(alpha);
        of_alphas.push_back(some);
      }
      linear::add_paths(path, options_, sheaf_);
      jobs_of_.resize(sheaf_.paths.size(), of_alphas);
    }
  }

  /// Models, relaxed models and then their mixtures, some at a time.
  void train_relaxed(std::span<const Job> jobs, const NetParams& params, bool chosen,
                     std::vector<ModelScores>& scores) {
    constexpr std::size_t together = 64;
    const auto nets = elastic_nets<T>(context_, dataset_, sheaf_, params);
    const auto relaxed = linear::relaxed_nets<T>(context_, dataset_, sheaf_, params, nets);
    const auto classes = static_cast<std::size_t>(sheaf_.classes);
    std::vector<NetModel> mixed;
    std::vector<std::size_t> of;
    const auto take_mixed = [&] {
      if (mixed.empty()) return;
      const auto z = decisions_of(mixed);
      take(jobs, of, mixed, std::as_const(z).view(), chosen, scores);
      mixed.clear();
      of.clear();
    };
    for (std::size_t m = 0; m < nets.size(); m += classes)
      for (const auto job : jobs_of(nets[m])) {
        for (std::size_t c = m; c < m + classes; ++c) {
          mixed.push_back(linear::mix_nets(nets[c], relaxed[c], relax_of(relax_, *jobs[job].point)));
          of.push_back(job);
        }
        if (mixed.size() >= together) take_mixed();
      }
    take_mixed();
  }

  /// Decision values of all rows, computed from the weights.
  Block<T> decisions_of(std::span<const NetModel> nets) {
    const auto count = static_cast<std::int32_t>(nets.size());
    Block<T> w(products_->weights(), count);
    for (std::int32_t t = 0; t < count; ++t) {
      const auto& net = nets[static_cast<std::size_t>(t)];
      for (std::size_t k = 0; k < net.features.size(); ++k) w(net.features[k], t) = static_cast<T>(net.weights[k]);
      w(dataset_.features(), t) = static_cast<T>(net.intercept);
    }
    const auto on_device = w.to(context_.device());
    Block<T> z(dataset_.rows(), count, context_.device());
    products_->multiply(on_device.view(), z.view());
    products_->synchronize();
    return z;
  }

  /// `of` are the jobs of the nets, `z` their decision values.
  void take(std::span<const Job> jobs, std::span<const std::size_t> of, std::span<NetModel> nets, BlockView<const T> z,
            bool chosen, std::vector<ModelScores>& scores) {
    std::vector<std::int32_t> targets;
    for (std::size_t t = 0; t < nets.size(); ++t) {
      auto& net = nets[t];
      targets.push_back(sheaf_.paths[static_cast<std::size_t>(net.path)].target + net.column);
      auto& model = scores[of[t]];
      const auto column = static_cast<std::size_t>(targets.back());
      model.size += net.fit.nonzeros;
      model.fits[column] = {net.fit.objective, net.fit.gap, net.fit.tolerance, net.fit.epochs, 0, net.fit.converged};
      if (!chosen) continue;
      if (transforms_.splits > 0) linear::see_weights(transforms_, jobs[of[t]].split, net);
      model.weights[column] = weights_of(net);
    }
    if (columns() == sheaf_.classes)
      score_all(jobs, of, z, scores);
    else
      for (std::size_t t = 0; t < of.size(); ++t)
        gather(jobs, of[t], z, static_cast<std::int32_t>(t), targets[t], scores);
  }

  /// All decision values of each model are there, side by side.
  void score_all(std::span<const Job> jobs, std::span<const std::size_t> of, BlockView<const T> z,
                 std::vector<ModelScores>& scores) {
    const auto step = static_cast<std::size_t>(columns());
    std::vector<std::int32_t> tests;
    for (std::size_t t = 0; t < of.size(); t += step) tests.push_back(jobs[of[t]].split);
    auto found = info(options_.loss).net.responds ? scorer_.score(responses(z).view(), tests) : scorer_.score(z, tests);
    for (std::size_t m = 0; m < found.size(); ++m) static_cast<Scores&>(scores[of[m * step]]) = std::move(found[m]);
  }

  Block<T> responses(BlockView<const T> z) {
    std::vector<std::int32_t> all(static_cast<std::size_t>(z.tasks));
    std::iota(all.begin(), all.end(), 0);
    Block<T> result(z.rows, z.tasks, context_.device());
    ops_->keep_tasks(z, all, result.view());
    linear::respond(*ops_, options_.loss, sheaf_, result);
    return result;
  }

  /// Decision values of one model come one by one, in any order; it is scored once they are complete.
  void gather(std::span<const Job> jobs, std::size_t job, BlockView<const T> z, std::int32_t from, std::int32_t column,
              std::vector<ModelScores>& scores) {
    auto [found, added] = waiting_.try_emplace(job);
    auto& parts = found->second;
    if (added) parts = {Block<T>(dataset_.rows(), columns(), context_.device()), columns()};
    Block<T> one(dataset_.rows(), 1, context_.device());
    ops_->keep_tasks(z, std::span(&from, 1), one.view());
    ops_->place_tasks(std::as_const(one).view(), std::span(&column, 1), parts.decisions.view());
    ops_->synchronize();
    if (--parts.missing > 0) return;
    static_cast<Scores&>(scores[job]) =
        std::move(scorer_.score(std::as_const(parts.decisions).view(), std::span(&jobs[job].split, 1)).front());
    waiting_.erase(found);
  }

  const Context& context_;
  const Dataset<T>& dataset_;
  const Labels& labels_;
  const NetOptions& options_;
  std::span<const double> relax_;
  NetSheaf sheaf_;
  ColumnTransforms transforms_;
  std::vector<std::vector<std::vector<std::size_t>>> jobs_of_;  // by path and alpha
  score::Scorer<T> scorer_;
  std::unique_ptr<linear::LinearOps<T>> ops_;       // three classes or more, and counts
  std::unique_ptr<linear::LinearOps<T>> products_;  // with the intercept; if models are relaxed
  std::map<std::size_t, Parts> waiting_;            // by job
};

template <class T>
class NetSearch : public FamilySearch {
 public:
  NetSearch(const Context& context, const Dataset<T>& dataset, const SearchSpace& space, const TrainingOptions& options)
      : dataset_(dataset),
        options_(space.get<NetOptions>()),
        alphas_(space.numbers("alpha")),
        l1_ratios_(space.numbers("l1-ratio")),
        relax_(space.numbers("relax")),
        row_weights_(options.row_weights),
        keep_decisions_(options.keep_decisions),
        problem_(
            linear::make_net_problem(context, dataset.target, dataset.source, dataset.rows(), unweighted(options_), {})
                .problem) {
    for (const auto& [name, weight] : options_.class_weights) find_class(labels().class_names, name);
    sheaf_.examples = dataset.rows();
    sheaf_.target_columns = problem_.sheaf.target_columns;
    sheaf_.targets = problem_.sheaf.targets;
    if (options_.loss == Loss::cox) sheaf_.risk = problem_.labels.risk_times();
    sheaf_.offsets = options_.offsets;
    sheaf_.penalty_factors = options_.penalty_factors;
    linear::add_limits(options_, dataset.features(), sheaf_);
    if (options.seen != nullptr) seen_ = *options.seen;
    find_space(context);
  }

  const Labels& labels() const override { return problem_.labels; }
  std::string title() const override {
    const auto targets = labels().targets;
    return std::string(solver().about) + (targets > 1 ? fmt::format(", {}", counted(targets, "target")) : "") +
           (options_.grouped ? ", grouped penalties" : "") + (options_.standardise ? ", standardised" : "");
  }
  bool has_probabilities() const override { return solver().probabilities; }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override { return sheaf_.target_columns; }
  /// Fewer weights, then a larger alpha, then a larger share of the L1 penalty, and of the penalised model.
  std::vector<double> complexity(const Point& point, double size) const override {
    return {size, -point[1], -point[0], -relax_of(relax_, point)};
  }

  BatchLimits limits(const Context& context, const SplitCounts& counts) const override {
    const auto memory = context.memory();
    const auto paths = space_.shape[0] * sheaf_.target_columns;
    const auto wanted = context.device().is_cuda() ? worthwhile_on_gpu : worthwhile_on_cpu;
    const auto models = (wanted + paths - 1) / paths * space_.size() * sheaf_.target_columns;
    const auto column = std::max<std::int64_t>(dataset_.rows(), 1) * static_cast<std::int64_t>(sizeof(float));
    const auto splits = std::clamp<std::int64_t>(memory / weights_share / column, 1, counts.all);
    return {memory, models, static_cast<std::int32_t>(splits), true};
  }

  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<NetTrainer<T>>(context, dataset_, sheaf_, labels(), options_, relax_, keep_decisions_);
  }
  std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const override {
    return trained_model(linear::train_net_seen(context, dataset_, options_at(point), row_weights_, seen()));
  }

  std::vector<PathStep> refit_path(const Context& context, const Point& point,
                                   std::span<const std::int32_t> features) const override {
    auto alphas = alphas_of(point[0]);
    std::erase_if(alphas, [&](double alpha) { return alpha < point[1]; });
    return steps_of(
        alphas, linear::net_path_seen(context, dataset_, options_at(point), alphas, row_weights_, seen(), features));
  }

  std::vector<PathStep> path(const Context& context, const SplitTable& table, const Point& point) const override {
    auto sheaf = sheaf_;
    sheaf.row_weights = table.weights;
    weigh_rows(labels(), class_weights(), table.class_counts, 1, sheaf.row_weights);
    const auto alphas = alphas_of(point[0]);
    linear::add_paths({0, 0, point[0], alphas}, options_, sheaf);
    return steps_of(alphas, linear::train_nets<T>(context, dataset_, sheaf, options_at(point)));
  }

  std::string failure(const TaskFit& fit) const override {
    return fmt::format(
        "the duality gap is {:.3g} after {}, {:.3g} was wanted; standardise the features, or take "
        "more epochs or larger alphas",
        fit.gradient_norm, counted(fit.iterations, "epoch"), fit.tolerance);
  }

  std::vector<std::string> notes(const SearchOutcome& outcome) const override {
    std::vector<std::string> list;
    note_scales(list);
    note_choices(outcome, list);
    return list;
  }

 private:
  const LinearSolver& solver() const { return net_solver(options_.loss, !problem_.labels.class_names.empty()); }
  ClassWeights class_weights() const { return {options_.class_weights, options_.balanced}; }
  const ColumnTransforms* seen() const { return seen_.splits > 0 ? &seen_ : nullptr; }

  NetOptions options_at(const Point& point) const {
    auto options = options_;
    options.l1_ratio = point[0];
    options.alpha = point[1];
    options.relax = relax_of(relax_, point);
    return options;
  }

  /// The alphas that are tried with an l1-ratio, descending.
  std::vector<double> alphas_of(double l1_ratio) const {
    std::vector<double> alphas;
    for (const auto& one : space_.lattice)
      if (one[0] == l1_ratio && (alphas.empty() || one[1] != alphas.back())) alphas.push_back(one[1]);
    return alphas;
  }

  static std::vector<PathStep> steps_of(std::span<const double> alphas, std::vector<NetModel> nets) {
    std::vector<PathStep> steps;
    for (const double alpha : alphas) steps.push_back({alpha, {}});
    for (auto& net : nets) steps[static_cast<std::size_t>(net.alpha)].weights.push_back(weights_of(net));
    return steps;
  }

  void find_space(const Context& context) {
    space_.axes = {{"l1-ratio", "l1-ratio", false, false}, {"alpha", "alpha", true, false}};
    const auto alphas = find_alphas(context);
    space_.shape = {static_cast<std::int32_t>(alphas.size()), static_cast<std::int32_t>(alphas.front().size())};
    const auto shares = relax_.size();
    if (shares > 0) {
      SearchAxis axis{"relax", "relax", false, false};
      for (const double share : relax_) axis.names.push_back(fmt::format("{}", share));
      space_.axes.push_back(std::move(axis));
      space_.shape.push_back(static_cast<std::int32_t>(shares));
    }
    for (std::size_t l = 0; l < alphas.size(); ++l)
      for (const double alpha : alphas[l]) {
        if (shares == 0) space_.lattice.push_back({l1_ratios_[l], alpha});
        for (std::size_t k = 1; k <= shares; ++k)
          space_.lattice.push_back({l1_ratios_[l], alpha, static_cast<double>(k)});
      }
  }

  /// The last alpha of a path as a share of its first.
  double smallest_share(double l1_ratio) const {
    if (options_.smallest_share > 0) return options_.smallest_share;
    const double share = dataset_.rows() > dataset_.features() ? 1e-4 : 1e-2;
    return l1_ratio == 0 ? share * share : share;
  }

  /// The alphas of each l1-ratio. An automatic grid begins at the smallest alpha that leaves no weights, over all rows.
  std::vector<std::vector<double>> find_alphas(const Context& context) const {
    const auto ratios = l1_ratios_.size();
    if (!alphas_.empty()) return std::vector(ratios, alphas_);
    auto sheaf = sheaf_;
    sheaf.column_factors = seen_.factors;
    if (!row_weights_.empty() || !class_weights().empty()) {
      sheaf.row_weights.assign(static_cast<std::size_t>(dataset_.rows()), 1.0F);
      std::copy(row_weights_.begin(), row_weights_.end(), sheaf.row_weights.begin());
      weigh_rows(labels(), class_weights(), count_classes(labels()), 1, sheaf.row_weights);
    }
    for (const double l1_ratio : l1_ratios_) linear::add_paths({0, 0, l1_ratio, {}}, options_, sheaf);
    const auto largest = largest_alphas(context, dataset_, sheaf, linear::net_params(options_));
    const auto paths = sheaf.paths.size() / ratios;
    std::vector<std::vector<double>> alphas;
    for (std::size_t l = 0; l < ratios; ++l) {
      const auto* begin = largest.data() + l * paths;
      const double from = *std::max_element(begin, begin + paths);
      if (!(from > 0))
        fail("{}: no feature goes with the labels at all, so there are no alphas to try", dataset_.source);
      alphas.push_back(rounded(alpha_path(from, smallest_share(l1_ratios_[l]), options_.alpha_count)));
    }
    return alphas;
  }

  /// Large features need small weights, which cost little.
  void note_scales(std::vector<std::string>& list) const {
    constexpr double much = 100;
    if (options_.standardise) return;
    std::vector<double> varying;
    const auto features = summarize(Context(), dataset_).per_feature;
    for (std::size_t j = 0; j < features.size(); ++j) {
      const double factor = j < seen_.factors.size() ? std::abs(static_cast<double>(seen_.factors[j])) : 1;
      if (factor * features[j].standard_deviation > 0) varying.push_back(factor * features[j].standard_deviation);
    }
    if (varying.size() < 2) return;
    std::sort(varying.begin(), varying.end());
    const double low = varying[varying.size() / 20];
    const double high = varying[varying.size() - 1 - varying.size() / 20];
    if (high > much * low)
      list.push_back(
          fmt::format("features are on scales as different as {:.3g} and {:.3g} (standard deviations), and the penalty "
                      "spares those with large values; standardise treats them alike",
                      low, high));
  }

  /// Notes on grids that end too early, and on choices without features.
  void note_choices(const SearchOutcome& outcome, std::vector<std::string>& list) const {
    std::size_t smallest = 0;
    for (const auto& point : outcome.chosen) {
      double least = point[1];
      for (const auto& one : space_.lattice)
        if (one[0] == point[0]) least = std::min(least, one[1]);
      smallest += point[1] == least && space_.shape[1] > 1 ? 1 : 0;
    }
    if (smallest * 2 > outcome.chosen.size())
      list.push_back(fmt::format(
          "{} of {} searches chose the smallest alpha that was tried; smaller ones may be better still ({})", smallest,
          outcome.chosen.size(), alphas_.empty() ? "smallest-share" : "alpha"));
    std::size_t empty = 0;
    for (const auto* scores : outcome.outer)
      empty += !scores->weights.empty() && std::all_of(scores->weights.begin(), scores->weights.end(),
                                                       [](const auto& one) { return one.features.empty(); });
    if (empty > 0)
      list.push_back(
          fmt::format("{} of {} outer resamples chose a model without features", empty, outcome.outer.size()));
    if (l1_ratios_.front() == 0 && outcome.study)
      list.emplace_back("at l1-ratio 0 every feature has a weight, so that nothing is selected there");
  }

  const Dataset<T>& dataset_;
  NetOptions options_;
  std::vector<double> alphas_;     // descending; none: found from the data
  std::vector<double> l1_ratios_;  // ascending
  std::vector<double> relax_;      // ascending; none: models are not relaxed
  std::span<const float> row_weights_;
  bool keep_decisions_;
  linear::Problem problem_;
  NetSheaf sheaf_;  // without paths
  ColumnTransforms seen_;
  Space space_;
};

constexpr double descent_passes = 20;  // epochs of coordinate descent

/// Features without a penalty have a factor of 0.
void free_features(const DataSummary& data, NetOptions& options) {
  if (options.unpenalised.empty()) return;
  options.penalty_factors.resize(static_cast<std::size_t>(data.features), 1.0);
  for (const auto j : find_features(options.unpenalised, data.feature_names, data.features))
    options.penalty_factors[static_cast<std::size_t>(j)] = 0;
  options.unpenalised.clear();
}

class NetRow : public FamilyRow<NetRow, NetOptions> {
 public:
  std::string_view name() const override { return "elastic-net"; }
  std::string_view section() const override { return "Elastic nets (--model elastic-net and its kinds)"; }
  std::vector<ModelKind> kinds() const override {
    std::vector<ModelKind> rows;
    for (const auto& one : net_kinds()) {
      NetOptions options;
      options.loss = one.loss;
      if (one.l1_ratio) options.l1_ratio = *one.l1_ratio;
      rows.push_back(kind(std::string(one.name), std::string(one.about), options));
    }
    return rows;
  }

  ModelOptions with_defaults(ModelOptions options, const DataSummary& data) const override {
    auto& own = options.get<NetOptions>();
    if (own.solver != NetSolver::shotgun && own.parallel != NetOptions{}.parallel)
      fail_usage("parallel is for the solver shotgun");
    own = decide_net(own, data.target, data.source, data.row_weights);
    free_features(data, own);
    return options;
  }
  WorkEstimate training_work(const ModelOptions& /*options*/, const DataSummary& data, double models) const override {
    return linear::work_of_passes(data, models * descent_passes);
  }
  WorkEstimate search_work(const SearchSpace& space, const DataSummary& data, double splits,
                           double levels) const override {
    return linear::work_of_passes(data, static_cast<double>(points(space)) * splits * levels * descent_passes);
  }
  /// Alphas that were left open are found from the data, but not how many.
  std::int64_t points(const SearchSpace& space) const override {
    const auto given = Family::points(space);
    return space.numbers("alpha").empty() ? given * space.get<NetOptions>().alpha_count : given;
  }
  bool selects_features(const ModelOptions& options) const override { return options.get<NetOptions>().l1_ratio != 0; }
  bool wants_scaling(const ModelOptions& options) const override { return !options.get<NetOptions>().standardise; }
  /// Classes: nets with probabilities.
  std::vector<std::pair<int, std::string>> automatic_kinds(const DataSummary& data) const override {
    if (!data.target.looks_like_classes()) return {{2, "elastic-net"}};
    return {{2, data.target.class_names.size() > 2 ? "elastic-net-multinomial" : "elastic-net-logistic"}};
  }
  bool takes_transforms(const ModelOptions& options) const override {
    const auto& own = options.get<NetOptions>();
    return own.intercept && !own.standardise;
  }
  SearchSpace with_known_points(SearchSpace space) const override {
    space["alpha"] = {1.0};
    return space;
  }

  template <class T>
  using Search = NetSearch<T>;
  static constexpr auto learn = [](const auto&... given) { return train_net(given...); };

  template <class T>
  FamilyTraits decide_space(const Dataset<T>& dataset, SearchSpace& space, std::span<const float> row_weights) const {
    const bool classes = takes_classes(space.get<NetOptions>(), dataset.target, dataset.source);
    const bool ratio_is_fixed = is_fixed_ratio(space.options.kind());
    space.options = with_defaults(space.options, summary_of(dataset, row_weights));
    const auto& options = space.get<NetOptions>();
    auto& ratios = space["l1-ratio"];
    if (ratio_is_fixed) ratios = {options.l1_ratio};
    if (ratios.empty()) ratios = default_values(space.options, "l1-ratio");
    if (space.numbers("relax") == std::vector{1.0}) space["relax"] = TriedValues();
    auto& alphas = space["alpha"].numbers;
    if (!alphas.empty() &&
        (options.alpha_count != NetOptions{}.alpha_count || options.smallest_share != NetOptions{}.smallest_share))
      fail_usage("alpha says which to try; leave out alpha-count and smallest-share");
    std::reverse(alphas.begin(), alphas.end());
    const auto& solver = net_solver(options.loss, classes);
    const bool survival = options.loss == Loss::cox;
    return {!classes,
            solver.probabilities,
            classes ? Metric::auc : info(options.loss).net.score,
            Strategy::grid,
            solver.probabilities || options.loss != Loss::squared ? std::string(solver.about)
            : classes                                             ? "the elastic net on classes"
                                                                  : "the elastic net",
            survival};
  }
  std::unique_ptr<TrainedModel> empty_model() const override { return trained_model(LinearModel()); }
  std::unique_ptr<TrainedModel> read(ModelReader& reader) const override {
    return trained_model(linear::read_sheaf_model(reader, name()));
  }
  std::optional<ModelFile> peer_format() const override { return ModelFile::liblinear; }

 private:
  /// True for the lasso and ridge regression, whose l1-ratio is fixed.
  static bool is_fixed_ratio(std::string_view kind) {
    const auto* known = find_net_kind(kind);
    return known != nullptr && known->l1_ratio.has_value();
  }
};

}  // namespace
}  // namespace sheaf::engine

namespace sheaf {

const Family& net_family() {
  static const engine::NetRow row;
  return row;
}
const Family& family_of(const NetOptions& /*options*/) { return net_family(); }

}  // namespace sheaf
