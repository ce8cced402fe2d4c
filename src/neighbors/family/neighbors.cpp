// Models of nearest neighbours in the search. A point is a k and, if they are tried, a vote, a distance, a weighting of
// features, lambda and temperature, or cost and gamma of local SVMs. Points that differ in k, vote, lambda, cost and
// gamma alone share one list of neighbours; that of votes is kept from batch to batch, and folds that share no row are
// kept apart inside the search for neighbours.
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/describe/scales.hpp"
#include "data/text/model_file.hpp"
#include "family/family.hpp"
#include "family/values.hpp"
#include "neighbors/family/summary.hpp"
#include "neighbors/model/decide.hpp"
#include "neighbors/model/file.hpp"
#include "neighbors/model/names.hpp"
#include "neighbors/model/weights.hpp"

namespace sheaf::engine {
namespace {

using neighbors::LocalSetting;
using neighbors::VoteRule;

constexpr std::int64_t decisions_share = 8;  // decision values may take this part of the memory
constexpr std::int64_t weights_share = 16;   // row weights may take this part of the memory
constexpr std::int64_t most_models = 1 << 20;

/// The values of names; an unknown one is a UsageError.
template <class Value>
std::vector<Value> values_of(std::string_view kind, const std::vector<std::string>& names, Value otherwise,
                             const Choices<Value>& choices) {
  if (names.empty()) return {otherwise};
  std::vector<std::string> known;
  for (const auto& choice : choices) known.push_back(choice.first);
  std::vector<Value> values;
  for (const auto& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) fail_unknown(kind, name, known);
    const auto value = choices[static_cast<std::size_t>(found - known.begin())].second;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

/// Parameters that a search may try. A point has those of its models.
enum Axis : std::uint8_t {
  k_axis,
  vote_axis,
  metric_axis,
  weighting_axis,
  lambda_axis,
  temperature_axis,
  cost_axis,
  gamma_axis,
  axis_count
};

bool takes_gamma(const KnnOptions& options) { return trains_svms(options.rule) && options.kernel == LocalKernel::rbf; }

struct Choosable {
  std::vector<Vote> votes;
  std::vector<DistanceType> metrics;
  std::vector<FeatureWeighting> weightings;
};

Choosable choosable(const SearchSpace& space) {
  const auto& options = space.get<KnnOptions>();
  return {values_of("vote", space.names("vote"), options.vote, neighbors::vote_names()),
          values_of("metric", space.names("metric"), options.distance.metric, neighbors::metric_names()),
          values_of("weighting", space.names("weighting"), options.weighting, neighbors::weighting_names())};
}

/// The axes of a search and their places in a point.
class Axes {
 public:
  Axes(const SearchSpace& search, const Choosable& choices) {
    const auto& options = search.get<KnnOptions>();
    const auto rule = options.rule;
    const auto& temperatures = search.numbers("temperature");
    const auto& weightings = choices.weightings;
    const bool tempered =
        std::find(weightings.begin(), weightings.end(), FeatureWeighting::class_ratio) != weightings.end();
    add(k_axis, {"k", "k"}, search.numbers("k"));
    if (rule == LocalRule::votes) add_choice(vote_axis, "vote", choices.votes);
    add_choice(metric_axis, "metric", choices.metrics);
    add_choice(weighting_axis, "weighting", weightings);
    if (rule == LocalRule::hyperplane || rule == LocalRule::convex_hull)
      add(lambda_axis, {"lambda", "lambda"}, search.numbers("lambda"));
    if (tempered || temperatures.size() > 1) add(temperature_axis, {"temperature", "T"}, temperatures);
    if (trains_svms(rule)) add(cost_axis, {"cost", "C"}, search.numbers("cost"));
    if (takes_gamma(options)) add(gamma_axis, {"gamma", "gamma"}, search.numbers("gamma"));
  }

  Space space() const { return product_space(axes_, values_); }
  bool has(Axis axis) const { return places_[axis] >= 0; }
  /// Requires that the search has the axis.
  double value(const Point& point, Axis axis) const { return point[static_cast<std::size_t>(places_[axis])]; }
  double value(const Point& point, Axis axis, double otherwise) const {
    return has(axis) ? value(point, axis) : otherwise;
  }
  /// The values of a choice are 1, 2 ...
  std::size_t choice(const Point& point, Axis axis) const { return static_cast<std::size_t>(value(point, axis)) - 1; }

 private:
  void add(Axis axis, SearchAxis named, std::vector<double> values) {
    places_[axis] = static_cast<int>(axes_.size());
    axes_.push_back(std::move(named));
    values_.push_back(std::move(values));
  }
  template <class Value>
  void add_choice(Axis axis, const std::string& name, const std::vector<Value>& choices) {
    SearchAxis named{name, name, false, false};
    std::vector<double> values;
    for (const auto choice : choices) {
      named.names.emplace_back(to_string(choice));
      values.push_back(static_cast<double>(named.names.size()));
    }
    add(axis, std::move(named), std::move(values));
  }

  std::vector<SearchAxis> axes_;
  std::vector<std::vector<double>> values_;
  std::array<int, axis_count> places_ = {-1, -1, -1, -1, -1, -1, -1, -1};
};

template <class T>
class KnnSearch : public FamilySearch {
 public:
  KnnSearch(const Context& context, const Dataset<T>& dataset, const SearchSpace& space, const TrainingOptions& options)
      : dataset_(dataset),
        options_(space.get<KnnOptions>()),
        ks_(space.numbers("k")),
        choices_(choosable(space)),
        row_weights_(options.row_weights),
        keep_decisions_(options.keep_decisions),
        labels_(make_labels(dataset.target, dataset.source, dataset.rows(), takes_numbers(options_, dataset.target),
                            "--labels")),
        order_(neighbors::label_order(labels_.class_names)),
        axes_(space, choices_),
        space_(axes_.space()) {
    for (const auto metric : choices_.metrics) {
      auto distance = options_.distance;
      distance.metric = metric;
      neighbors::check_values(context, dataset, distance, options_.rule != LocalRule::votes);
    }
  }

  const Labels& labels() const override { return labels_; }
  std::string title() const override {
    if (options_.rule == LocalRule::votes) return "votes of nearest neighbours";
    if (trains_svms(options_.rule))
      return fmt::format("local SVMs with {} kernel{}", options_.kernel == LocalKernel::linear ? "a linear" : "an RBF",
                         options_.rule == LocalRule::falk_svm ? " around centres (FaLK-SVM)" : "");
    return fmt::format("{} of nearest neighbours", to_string(options_.rule));
  }
  bool has_probabilities() const override { return false; }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override { return 1; }
  /// Votes on a training row are those of the others.
  std::int64_t least_rows() const override { return options_.rule == LocalRule::votes ? largest_k() + 1 : 1; }
  Point shared_part(const Point& point) const override {
    return {axes_.value(point, metric_axis), axes_.value(point, weighting_axis),
            axes_.value(point, temperature_axis, options_.temperature)};
  }
  /// The more neighbours, the smoother.
  std::vector<double> complexity(const Point& point, double /*size*/) const override {
    auto key = point;
    key.front() = -key.front();
    return key;
  }

  BatchLimits limits(const Context& context, const SplitCounts& counts) const override {
    const auto each = std::max<std::int64_t>(dataset_.rows(), 1) * std::int64_t{sizeof(double)} *
                      std::max<std::int64_t>(1, std::ssize(labels_.class_names)) * 2;
    const auto models = std::clamp<std::int64_t>(context.memory() / decisions_share / each, 1, most_models);
    const auto column = std::max<std::int64_t>(dataset_.rows(), 1) * static_cast<std::int64_t>(sizeof(float));
    const auto splits = std::clamp<std::int64_t>(context.memory() / weights_share / column, 1, counts.all);
    const auto tasks = std::min<std::int64_t>(models * splits, std::numeric_limits<std::int32_t>::max());
    return {context.memory(), static_cast<std::int32_t>(tasks), static_cast<std::int32_t>(splits), false};
  }

  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<OnDevice>(*this, context);
  }
  std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const override {
    return trained_model(train_knn(context, dataset_, options_at(point), row_weights_));
  }
  std::string failure(const TaskFit& /*fit*/) const override { return {}; }

 private:
  KnnOptions options_at(const Point& point) const {
    auto options = options_;
    options.k = static_cast<std::int64_t>(axes_.value(point, k_axis));
    if (axes_.has(vote_axis)) options.vote = choices_.votes[axes_.choice(point, vote_axis)];
    options.distance.metric = choices_.metrics[axes_.choice(point, metric_axis)];
    options.weighting = choices_.weightings[axes_.choice(point, weighting_axis)];
    if (options.weighting == FeatureWeighting::none) options.distance.weights.clear();
    options.lambda = axes_.value(point, lambda_axis, options.lambda);
    options.temperature = axes_.value(point, temperature_axis, options.temperature);
    options.cost = axes_.value(point, cost_axis, options.cost);
    options.gamma = axes_.value(point, gamma_axis, options.gamma);
    return options;
  }
  std::int64_t largest_k() const { return static_cast<std::int64_t>(*std::max_element(ks_.begin(), ks_.end())); }

  class OnDevice : public Trainer {
   public:
    OnDevice(const KnnSearch& family, const Context& context)
        : family_(family), context_(context), scorer_(context, truth_of(family.labels_), false) {
      if (family.keep_decisions_) scorer_.keep_decisions();
    }

    void load(const SplitTable& table) override {
      table_ = &table;
      scorer_.load_tests(tests_of(table, family_.labels_));
      lists_.clear();
    }

    std::vector<ModelScores> train(std::span<const Job> jobs, bool /*chosen*/) override {
      std::map<std::pair<Point, std::int32_t>, std::vector<std::size_t>> together;  // by shared part and split
      for (std::size_t m = 0; m < jobs.size(); ++m)
        together[{family_.shared_part(*jobs[m].point), jobs[m].split}].push_back(m);
      std::vector<ModelScores> result(jobs.size());
      for (const auto& [key, members] : together) {
        std::vector<KnnOptions> options;
        for (const auto m : members) options.push_back(family_.options_at(*jobs[m].point));
        auto scores = score(key.second, decide(key.first, key.second, options).view(), std::ssize(members));
        for (std::size_t k = 0; k < members.size(); ++k) result[members[k]] = {std::move(scores[k]), {}, -1, {}};
        context_.progress().advance(std::ssize(members) * progress_per_model);
      }
      return result;
    }

   private:
    std::span<const std::int32_t> tests(std::int32_t split) const { return table_->tests.list(split); }
    std::size_t splits() const { return table_->splits.size(); }
    float weight(std::size_t row, std::int32_t split) const {
      return table_->weights[row * splits() + static_cast<std::size_t>(split)];
    }
    std::vector<std::int32_t> training_rows(std::int32_t split) const {
      std::vector<std::int32_t> rows;
      for (std::size_t i = 0; i < static_cast<std::size_t>(family_.labels_.rows); ++i)
        if (weight(i, split) > 0) rows.push_back(static_cast<std::int32_t>(i));
      return rows;
    }

    /// Decision values of models on the test rows of a split, on the device: rows x models x columns.
    Array<double> decide(const Point& shared, std::int32_t split, std::span<const KnnOptions> models) {
      if (models.front().rule == LocalRule::votes) return decide_by_votes(shared, split, models);
      const auto rows = training_rows(split);
      const auto weights = neighbors::learn_weights(context_, family_.dataset_, family_.labels_, rows, models.front());
      std::vector<LocalSetting> settings;
      for (const auto& model : models) settings.push_back({model.k, model.lambda, model.cost, model.gamma});
      const neighbors::Asked<T> queries{family_.dataset_.x, tests(split)};
      if (trains_svms(models.front().rule)) {
        const auto of_rows = row_weights(split);
        return on_device(neighbors::decide_by_svms(context_, models.front(), weights, settings, family_.dataset_,
                                                   family_.labels_, {rows, of_rows, {}}, queries));
      }
      return on_device(neighbors::decide_by_costs(context_, models.front(), weights, settings, family_.dataset_,
                                                  family_.labels_, rows, queries));
    }

    /// Weights of all rows; empty if they are only 0 and 1.
    std::vector<float> row_weights(std::int32_t split) const {
      std::vector<float> weights;
      bool all_one = true;
      for (std::size_t i = 0; i < static_cast<std::size_t>(family_.labels_.rows); ++i) {
        weights.push_back(weight(i, split));
        all_one = all_one && (weights.back() == 0 || weights.back() == 1);
      }
      if (all_one) weights.clear();
      return weights;
    }

    Array<double> on_device(neighbors::Decisions decisions) const {
      return context_.device().is_cpu() ? std::move(decisions.values) : decisions.values.to(context_.device());
    }

    Array<double> decide_by_votes(const Point& shared, std::int32_t split, std::span<const KnnOptions> models) {
      const auto& found = lists(shared, split, models.front());
      std::vector<VoteRule> rules;
      for (const auto& model : models) rules.push_back({std::min(model.k, found.k), model.vote});
      const auto& labels = family_.labels_;
      const auto weights = row_weights(split);
      const neighbors::Voters voters{static_cast<std::int32_t>(labels.class_names.size()), labels.classes,
                                     labels.values, weights};
      return neighbors::count_votes(context_, voters, rules, found);
    }

    /// The neighbours of a split's test rows among its training rows, found once.
    const NeighborLists& lists(const Point& shared, std::int32_t split, const KnnOptions& options) {
      auto& kept = lists_[shared];
      if (kept.empty()) {
        kept.resize(splits());
        const bool learnt = options.weighting != FeatureWeighting::none && options.weighting != FeatureWeighting::given;
        if (!learnt)
          if (const auto fold = folds()) find_together(options, *fold, kept);
      }
      auto& mine = kept[static_cast<std::size_t>(split)];
      if (mine.k == 0) mine = find_in_split(options, split);
      return mine;
    }

    /// The split that tests each row, -1 if none does; nothing if a row is tested twice, or if a split does not train
    /// on all rows that it does not test. With leave-one-out, splits are parts of the rows.
    std::optional<std::vector<std::int32_t>> folds() const {
      const auto rows = static_cast<std::size_t>(family_.labels_.rows);
      std::vector<std::int32_t> fold(rows, -1);
      for (std::int32_t s = 0; s < static_cast<std::int32_t>(splits()); ++s)
        for (const auto row : tests(s)) {
          if (fold[static_cast<std::size_t>(row)] >= 0) return std::nullopt;
          fold[static_cast<std::size_t>(row)] = s;
        }
      for (std::size_t i = 0; i < rows && !table_->leave_one_out_in_folds; ++i)
        for (std::int32_t s = 0; s < static_cast<std::int32_t>(splits()); ++s)
          if ((weight(i, s) > 0) == (fold[i] == s)) return std::nullopt;
      return fold;
    }

    void check_k(std::int64_t there, std::int32_t split) const {
      if (there < family_.largest_k())
        fail_usage("{} neighbours are to be tried, but split {} trains on {} rows; try fewer", family_.largest_k(),
                   table_->splits[static_cast<std::size_t>(split)] + 1, there);
    }

    static NeighborLists empty_lists(std::int64_t queries, std::int64_t k) {
      NeighborLists lists;
      lists.queries = queries;
      lists.k = k;
      lists.indices.resize(static_cast<std::size_t>(lists.queries * lists.k));
      lists.distances.resize(lists.indices.size());
      return lists;
    }

    /// All splits from one search of the rows among themselves: rows of one fold are no neighbours or, if one row is
    /// left out at a time, no row is its own.
    void find_together(const KnnOptions& options, std::span<const std::int32_t> fold,
                       std::vector<NeighborLists>& kept) const {
      const auto rows = family_.labels_.rows;
      std::vector<std::int32_t> tested;
      std::vector<std::int64_t> place(static_cast<std::size_t>(rows));
      for (std::int32_t i = 0; i < rows; ++i)
        if (fold[static_cast<std::size_t>(i)] >= 0) {
          place[static_cast<std::size_t>(i)] = std::ssize(tested);
          tested.push_back(i);
        }
      const bool one_out = table_->leave_one_out_in_folds;
      for (std::int32_t s = 0; s < static_cast<std::int32_t>(splits()); ++s)
        check_k(rows - (one_out ? 1 : std::ssize(tests(s))), s);
      neighbors::Eligible eligible;
      if (!one_out) eligible.folds = fold;
      if (std::ssize(tested) < rows) eligible.queries = tested;
      auto all = empty_lists(std::ssize(tested), family_.largest_k());
      const auto pair = row_pair(options.distance);
      neighbors::make_ops(context_, pair)->nearest(eligible, all.k, all.indices, all.distances);
      for (std::int32_t s = 0; s < static_cast<std::int32_t>(splits()); ++s) {
        auto& mine = kept[static_cast<std::size_t>(s)];
        mine = empty_lists(std::ssize(tests(s)), all.k);
        for (std::int64_t q = 0; q < mine.queries; ++q) {
          const auto from = place[static_cast<std::size_t>(tests(s)[static_cast<std::size_t>(q)])] * all.k;
          std::copy_n(all.indices.begin() + from, all.k, mine.indices.begin() + q * all.k);
          std::copy_n(all.distances.begin() + from, all.k, mine.distances.begin() + q * all.k);
        }
      }
    }

    /// Test rows may be training rows (learning curves). These are not their own neighbours: if there are k training
    /// rows, each of them has k - 1 others, and the lists are one shorter.
    NeighborLists find_in_split(const KnnOptions& options, std::int32_t split) const {
      const auto rows = training_rows(split);
      check_k(std::ssize(rows), split);
      auto distance = options.distance;
      distance.weights = neighbors::learn_weights(context_, family_.dataset_, family_.labels_, rows, options);
      std::vector<std::uint8_t> trains(static_cast<std::size_t>(family_.labels_.rows), 0);
      for (const auto row : rows) trains[static_cast<std::size_t>(row)] = 1;
      neighbors::Eligible eligible;
      eligible.queries = tests(split);
      eligible.data = trains;
      const bool among_themselves = std::any_of(eligible.queries.begin(), eligible.queries.end(),
                                                [&](auto row) { return trains[static_cast<std::size_t>(row)] != 0; });
      const auto others = std::ssize(rows) - (among_themselves ? 1 : 0);
      auto result = empty_lists(std::ssize(tests(split)), std::min(family_.largest_k(), others));
      const auto pair = row_pair(distance);
      neighbors::make_ops(context_, pair)->nearest(eligible, result.k, result.indices, result.distances);
      return result;
    }

    neighbors::AnyRowPair row_pair(const DistanceOptions& distance) const {
      return neighbors::make_row_pair(context_, family_.dataset_, static_cast<const Dataset<T>*>(nullptr), distance);
    }

    /// `values`: test rows x models x columns, on the device, where classes are chosen and scored.
    std::vector<Scores> score(std::int32_t split, View<const double> values, std::int64_t count) {
      const auto& labels = family_.labels_;
      const auto models = static_cast<std::int32_t>(count);
      Block<double> z(labels.rows, models * labels.columns(), context_.device());
      Block<std::int32_t> predicted(labels.rows, labels.regression() ? 0 : models, context_.device());
      neighbors::choose_classes(context_, family_.order_, {values.data, tests(split), z.view(), predicted.view()});
      const std::vector<std::int32_t> splits(static_cast<std::size_t>(count), split);
      return scorer_.score(std::as_const(z).view(), splits, std::as_const(predicted).view());
    }

    const KnnSearch& family_;
    const Context& context_;
    score::Scorer<double> scorer_;
    const SplitTable* table_ = nullptr;
    std::map<Point, std::vector<NeighborLists>> lists_;  // by shared part; of each split
  };

  const Dataset<T>& dataset_;
  KnnOptions options_;
  std::vector<double> ks_;
  Choosable choices_;
  std::span<const float> row_weights_;
  bool keep_decisions_;
  Labels labels_;
  std::vector<std::int32_t> order_;
  Axes axes_;
  Space space_;
};

constexpr std::int64_t local_svm_rows = 40;  // of a neighbourhood, unless given

void decide_svms(std::int64_t features, SearchSpace& space) {
  const auto& options = space.get<KnnOptions>();
  auto& gammas = space["gamma"].numbers;
  auto& costs = space["cost"].numbers;
  if (!takes_gamma(options) && !gammas.empty()) fail_usage("gamma is for the RBF kernel, and the kernel is linear");
  if (costs.empty()) costs = default_values(space.options, "cost");
  if (takes_gamma(options) && gammas.empty()) gammas = {neighbors::gamma_of(options, features)};
}

class NeighborsRow : public FamilyRow<NeighborsRow, KnnOptions> {
 public:
  std::string_view name() const override { return "neighbors"; }
  std::string_view section() const override {
    return "Nearest neighbours and local models (--model knn, hknn, alh, cknn, local-svm, falk-svm)";
  }
  std::vector<ModelKind> kinds() const override {
    KnnOptions hulls, planes, adaptive, local, falk;
    hulls.rule = LocalRule::convex_hull;
    planes.rule = LocalRule::hyperplane;
    adaptive.rule = LocalRule::hyperplane;
    adaptive.weighting = FeatureWeighting::class_ratio;
    local.rule = LocalRule::local_svm;
    local.k = local_svm_rows;
    falk.rule = LocalRule::falk_svm;
    falk.k = local_svm_rows;
    return {kind("knn", "the votes of the k nearest rows", KnnOptions{}),
            kind("cknn", "the nearest convex hull of each class's k nearest rows", hulls),
            kind("hknn", "the nearest hyperplane of each class's k nearest rows", planes),
            kind("alh", "adaptive local hyperplanes: the same with weights of features", adaptive),
            kind("local-svm", "an SVM trained on the k nearest rows, for each prediction", local),
            kind("falk-svm", "local SVMs around rows that cover the others, shared by predictions", falk)};
  }

  ModelOptions with_defaults(ModelOptions options, const DataSummary& /*data*/) const override { return options; }
  WorkEstimate training_work(const ModelOptions& options, const DataSummary& data, double /*models*/) const override {
    const auto stored = static_cast<double>(data.stored);
    const bool covers = options.get<KnnOptions>().rule == LocalRule::falk_svm;
    return {covers ? 2 * static_cast<double>(data.rows) * stored : stored, static_cast<double>(data.bytes)};
  }
  /// A list of neighbours for each distance and weighting, of each level.
  WorkEstimate search_work(const SearchSpace& space, const DataSummary& data, double /*splits*/,
                           double levels) const override {
    const auto lists = static_cast<double>(std::max<std::size_t>(1, space.names("metric").size()) *
                                           std::max<std::size_t>(1, space.names("weighting").size()) *
                                           std::max<std::size_t>(1, space.numbers("temperature").size()));
    return {2 * lists * levels * static_cast<double>(data.rows) * static_cast<double>(data.stored),
            static_cast<double>(data.bytes)};
  }
  std::int64_t numbers_per_feature() const override { return 0; }
  bool wants_scaling(const ModelOptions& options) const override {
    const auto metric =
        options.get<KnnOptions>().distance.metric;  // those of angles and of sets have a scale of their own
    return metric != DistanceType::cosine && metric != DistanceType::correlation && metric != DistanceType::hamming &&
           metric != DistanceType::jaccard;
  }
  std::vector<std::pair<int, std::string>> automatic_kinds(const DataSummary& data) const override {
    if (data.target.survival() || data.target.several()) return {};
    return {{3, "knn"}};
  }
  std::vector<std::string> warnings_before(const Context& context, const Dataset<float>& dataset,
                                           const ModelOptions& options) const override {
    return wants_scaling(options) ? unscaled_distances(context, dataset) : std::vector<std::string>();
  }
  std::vector<std::string> warnings_before(const Context& context, const Dataset<double>& dataset,
                                           const ModelOptions& options) const override {
    return wants_scaling(options) ? unscaled_distances(context, dataset) : std::vector<std::string>();
  }

  template <class T>
  using Search = KnnSearch<T>;
  static constexpr auto learn = [](const auto&... given) { return train_knn(given...); };

  template <class T>
  FamilyTraits decide_space(const Dataset<T>& dataset, SearchSpace& space,
                            std::span<const float> /*row_weights*/) const {
    const auto& options = space.get<KnnOptions>();
    const bool svms = trains_svms(options.rule);
    auto& ks = space["k"].numbers;
    if (ks.empty()) {
      // Nested two-fold splits train on a quarter of the rows: larger k are left out, except for the first.
      for (const double k : neighbors::read_ks(svms ? neighbors::default_local_ks : neighbors::default_ks))
        if (ks.empty() || 4 * k <= static_cast<double>(dataset.rows())) ks.push_back(k);
    }
    if (svms) decide_svms(dataset.features(), space);
    const auto choices = choosable(space);
    const bool regression = takes_numbers(options, dataset.target);
    for (const auto metric : choices.metrics) {
      auto one = options;
      one.distance.metric = metric;
      neighbors::check_options(one, regression);
    }
    if (space["lambda"].empty()) space["lambda"] = {options.lambda};
    if (space["temperature"].empty()) space["temperature"] = {options.temperature};
    const bool weighted = std::any_of(choices.weightings.begin(), choices.weightings.end(),
                                      [](FeatureWeighting weighting) { return weighting != FeatureWeighting::none; });
    FamilyTraits traits{regression, false, regression ? Metric::r2 : Metric::accuracy, Strategy::grid,
                        svms ? "local SVMs" : "votes of neighbours"};
    traits.one_out_is_free = options.rule == LocalRule::votes && !weighted;
    return traits;
  }
  std::unique_ptr<TrainedModel> empty_model() const override { return trained_model(KnnModel()); }
  std::unique_ptr<TrainedModel> read(ModelReader& reader) const override {
    return trained_model(neighbors::read_sheaf_knn(reader));
  }
};

/// Neighbours as a model of any family.
class TrainedNeighbors : public TrainedModelOf<TrainedNeighbors, KnnModel> {
 public:
  using TrainedModelOf::TrainedModelOf;

  std::string_view family() const override { return "neighbors"; }
  bool is_regression() const override { return model_.is_regression(); }
  ModelTraits traits() const override {
    ModelTraits traits;
    traits.decisive_rows = model_.rows();
    return traits;
  }
  ModelSummary summary(std::int64_t rows) const override { return model_summary(model_, rows); }
  std::string summary_json(std::int64_t rows) const override { return model_summary_json(model_, rows); }
  std::optional<DistanceWeights> distance_weights() const override {
    if (!model_.has_feature_weights()) return std::nullopt;
    return DistanceWeights{model_.distance.weights, std::string(to_string(model_.weighting))};
  }
  std::unique_ptr<TrainedModel> without_feature_weights(const Context& context) const override {
    return model_.has_feature_weights() ? trained_model(sheaf::without_feature_weights(context, model_)) : nullptr;
  }
  std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const Dataset<float>& dataset,
                                                      std::int64_t most) const override {
    return sheaf::deciding_rows(context, model_, dataset, most);
  }
  std::vector<std::vector<DecidingRow>> deciding_rows(const Context& context, const Dataset<double>& dataset,
                                                      std::int64_t most) const override {
    return sheaf::deciding_rows(context, model_, dataset, most);
  }

  std::string deciding_label(std::int64_t row) const override {
    const auto at = static_cast<std::size_t>(row);
    return is_regression() ? fmt::format("{}", model_.values[at])
                           : model_.class_names[static_cast<std::size_t>(model_.classes[at])];
  }

  template <class T>
  Predictions predictions(const Context& context, const Dataset<T>& dataset, bool probabilities,
                          std::span<const double> offsets) const {
    refuse_offsets(offsets);
    return predict_knn(context, model_, dataset, probabilities);
  }
  double products_per_value() const override { return static_cast<double>(model_.rows()); }
  std::string prediction_text(const Predictions& predictions, std::size_t row) const override {
    if (model_.is_regression()) return fmt::format("{}", predictions.decisions[row]);
    return model_.class_names[static_cast<std::size_t>(predictions.classes[row])];
  }
  void write(ModelWriter& file) const override { neighbors::write_sheaf_knn(file, model_); }
};

}  // namespace
}  // namespace sheaf::engine

namespace sheaf {

const Family& neighbors_family() {
  static const engine::NeighborsRow row;
  return row;
}
const Family& family_of(const KnnOptions& /*options*/) { return neighbors_family(); }

std::unique_ptr<TrainedModel> trained_model(KnnModel model) {
  return std::make_unique<engine::TrainedNeighbors>(std::move(model));
}

std::unique_ptr<TrainedModel> trained_model(const KnnModel* model) {
  return std::make_unique<engine::TrainedNeighbors>(model);
}

}  // namespace sheaf
