#include "rescore/training/train.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "rescore/training/ranking.hpp"
#include "rescore/training/svm.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::int32_t fold_count = 3;
constexpr std::array costs_positive{10.0, 1.0, 0.1};
constexpr std::array cost_ratios{1.0, 3.0, 10.0};
/// Where no feature separates anything, the safe rules look at these rates too.
constexpr std::array wider_rates{0.02, 0.05, 0.1, 0.2, 0.5};

struct CostPair {
  double positive;
  double ratio;        // of negatives to positives
  double in_units_of;  // what `ratio` is a multiple of
};

template <class T>
class Trainer {
 public:
  Trainer(const Context& context, RescoreOps<T>& ops, const TrainingRows& rows, const InitialDirection& initial,
          const RescoreOptions& options, ParkMiller& random)
      : context_(context), ops_(ops), rows_(rows), initial_(initial), options_(options), random_(random) {
    train_fdr_ = options.train_fdr > 0 ? options.train_fdr : options.test_fdr;
    initial_fdr_ = options.initial_fdr > 0 ? options.initial_fdr : train_fdr_;
    choose_costs();
  }

  Trained train() {
    draw_folds();
    result_.weights = initial_.weights.empty() ? best_features(initial_fdr_) : std::vector(folds_, initial_.weights);
    result_.initial_accepted = count_tested();
    log(1, fmt::format("Found {} test set positives with q<{:g} in initial direction", result_.initial_accepted,
                       options_.test_fdr));
    start_weights_ = result_.weights;
    const Stage stage(context_.progress(), "training", options_.iterations, context_.stop());
    for (int k = 0; k < options_.iterations && !has_converged(); ++k) {
      iterate(k == 0 ? initial_fdr_ : train_fdr_, k);
      context_.progress().advance(1);
    }
    result_.trained_accepted = count_tested();
    log(1, fmt::format("Found {} test set PSMs with q<{:g}.", result_.trained_accepted, options_.test_fdr));
    finish();
    return std::move(result_);
  }

 private:
  bool safe() const { return options_.rules == RescoreRules::safe; }
  void log(int level, const std::string& line) const {
    if (options_.log) options_.log(level, line);
  }

  bool in_training(std::size_t row, std::int32_t fold) const {
    return result_.folds[row] != fold && (trained_on_.empty() || trained_on_[row] == 0);
  }

  void choose_costs();
  void draw_folds();
  void draw_nested(std::int32_t fold);
  std::vector<std::vector<double>> best_features(double rate);
  bool try_features(double rate, std::vector<std::vector<double>>& weights);
  std::int64_t count_tested();
  void iterate(double rate, int number);
  void mark(std::int32_t fold, double rate, FoldStep& step);
  std::vector<std::uint8_t> best_of_spectra(std::int32_t fold, double above);
  SvmTask task(std::int32_t fold, std::int32_t left_out, const CostPair& pair) const;
  std::vector<SvmTask> all_tasks() const;
  void choose(RescoreIteration& iteration);
  bool has_converged() const;
  bool is_worse() const;
  void finish();

  const Context& context_;
  RescoreOps<T>& ops_;
  const TrainingRows& rows_;
  const InitialDirection& initial_;
  const RescoreOptions& options_;
  ParkMiller& random_;
  double train_fdr_ = 0;
  double initial_fdr_ = 0;
  std::size_t folds_ = fold_count;
  std::vector<CostPair> pairs_;
  std::vector<std::uint16_t> trained_on_;  // 0: in the subset to train on; empty: all are
  std::unique_ptr<Svms<T>> svms_;
  std::vector<std::vector<double>> start_weights_;
  Trained result_;
};

template <class T>
void Trainer<T>::choose_costs() {
  const auto targets = std::count(rows_.labels.begin(), rows_.labels.end(), 1);
  const double ratio = static_cast<double>(targets) / static_cast<double>(rows_.size() - targets);
  if (options_.quick) {
    pairs_ = {{1, 1, 1}};
    return;
  }
  std::vector<double> positives(costs_positive.begin(), costs_positive.end());
  if (options_.cost_positive > 0) positives = {options_.cost_positive};
  for (const double positive : positives) {
    if (options_.cost_positive > 0 && options_.cost_negative > 0)
      pairs_.push_back({positive, options_.cost_negative / options_.cost_positive, 1});
    else
      for (const double multiple : cost_ratios) pairs_.push_back({positive, multiple * ratio, ratio});
  }
}

template <class T>
void Trainer<T>::draw_folds() {
  std::vector<std::int32_t> all(static_cast<std::size_t>(rows_.size()));
  std::iota(all.begin(), all.end(), 0);
  result_.folds = safe() ? spectrum_folds(rows_.keys, rows_.file_hashes, all, fold_count, options_.seed)
                         : percolator_folds(rows_.keys, all, fold_count, random_);
  if (safe() && options_.subset > 0 && options_.subset < rows_.size()) {
    const auto shares = static_cast<std::int32_t>(std::min<std::int64_t>(rows_.size() / options_.subset, 60000));
    trained_on_ = spectrum_folds(rows_.keys, rows_.file_hashes, all, std::max(shares, 1), ~options_.seed);
  }
  std::vector<std::uint16_t> bins(all.size());
  for (std::int32_t f = 0; f < fold_count; ++f) {
    for (std::size_t i = 0; i < bins.size(); ++i) bins[i] = in_training(i, f) ? 1 : 0;
    ops_.set_part(f, bins);
  }
  for (std::size_t i = 0; i < bins.size(); ++i) bins[i] = static_cast<std::uint16_t>(result_.folds[i] + 1);
  ops_.set_part(fold_count, bins);
}

/// Nested folds within a training part.
template <class T>
void Trainer<T>::draw_nested(std::int32_t fold) {
  std::vector<std::int32_t> members;
  for (std::size_t i = 0; i < result_.folds.size(); ++i)
    if (in_training(i, fold)) members.push_back(static_cast<std::int32_t>(i));
  const auto nested = safe() ? spectrum_folds(rows_.keys, rows_.file_hashes, members, options_.nested,
                                              options_.seed + static_cast<std::uint64_t>(result_.iterations.size()) + 1)
                             : percolator_folds(rows_.keys, members, options_.nested, random_);
  std::vector<std::uint16_t> bins(result_.folds.size(), 0);
  for (std::size_t k = 0; k < members.size(); ++k)
    bins[static_cast<std::size_t>(members[k])] = static_cast<std::uint16_t>(nested[k] + 1);
  ops_.set_part(fold, bins);
}

/// For each fold, the feature that separates most targets of its training part; false: one has none.
template <class T>
bool Trainer<T>::try_features(double rate, std::vector<std::vector<double>>& weights) {
  const auto d = static_cast<std::size_t>(ops_.weights());
  std::vector<AcceptQuery> queries;
  std::vector<std::vector<double>> directions;
  for (std::size_t f = 0; f < folds_; ++f)
    for (std::size_t j = 0; j + 1 < d; ++j)
      for (const double sign : {-1.0, 1.0}) {
        queries.push_back({.part = static_cast<std::int32_t>(f), .limit = rate});
        directions.emplace_back(d, 0.0);
        directions.back()[j] = sign;
      }
  const auto accepted = ops_.accept(queries, directions);
  const std::size_t each = queries.size() / folds_;
  bool found = true;
  for (std::size_t f = 0; f < folds_; ++f) {
    const auto begin = accepted.begin() + static_cast<std::ptrdiff_t>(f * each);
    const auto best = std::max_element(begin, begin + static_cast<std::ptrdiff_t>(each),
                                       [](const Accepted& a, const Accepted& b) { return a.targets < b.targets; });
    weights[f] = directions[static_cast<std::size_t>(best - accepted.begin())];
    found = found && best->targets > 0;
    const auto feature = (best - begin) / 2 + 1;
    log(2, fmt::format("Split {}:\tSelected feature {} as initial direction. Could separate {} training set positives "
                       "with q<{:g} in that direction.",
                       f + 1, feature, best->targets, rate));
  }
  return found;
}

template <class T>
std::vector<std::vector<double>> Trainer<T>::best_features(double rate) {
  std::vector<std::vector<double>> weights(folds_);
  if (try_features(rate, weights)) return weights;
  if (!safe() && !options_.tolerant)
    fail(
        "no feature separates targets from decoys at an FDR of {:g}: there is no direction to begin with; raise "
        "--train-fdr-initial",
        rate);
  if (safe())
    for (const double wider : wider_rates)
      if (wider > rate && try_features(wider, weights)) {
        result_.warnings.push_back(fmt::format(
            "no feature separates targets from decoys at an FDR of {:g}; training begins with those at {:g}", rate,
            wider));
        initial_fdr_ = std::max(initial_fdr_, wider);
        return weights;
      }
  result_.warnings.emplace_back("no feature separates targets from decoys: nothing can be learnt from these PSMs");
  return weights;
}

/// Accepted targets of the test folds, each by the weights of its fold.
template <class T>
std::int64_t Trainer<T>::count_tested() {
  std::vector<AcceptQuery> queries;
  for (std::int32_t f = 0; f < static_cast<std::int32_t>(folds_); ++f)
    queries.push_back({.part = fold_count, .bin = f + 1, .limit = options_.test_fdr, .plus_one = true});
  std::int64_t count = 0;
  for (const Accepted& one : ops_.accept(queries, result_.weights)) count += one.targets;
  return count;
}

/// At most one target of each spectrum, as Percolator chooses it: the one that std::sort leaves first.
template <class T>
std::vector<std::uint8_t> Trainer<T>::best_of_spectra(std::int32_t fold, double above) {
  std::vector<double> scores(static_cast<std::size_t>(rows_.size()));
  ops_.score(std::span(result_.weights).subspan(static_cast<std::size_t>(fold), 1), {}, scores);
  std::vector<std::int32_t> order;
  for (std::int32_t i = 0; i < rows_.size(); ++i)
    if (in_training(static_cast<std::size_t>(i), fold)) order.push_back(i);
  const RankOrder better{rows_, scores};
  std::sort(order.begin(), order.end(), better);
  const auto key = [&](std::int32_t i) {
    return std::tuple(static_cast<std::uint32_t>(rows_.keys.file(i)), static_cast<std::uint32_t>(rows_.keys.scan(i)),
                      -rows_.labels[static_cast<std::size_t>(i)]);
  };
  const auto by_key = [&](std::int32_t a, std::int32_t b) { return key(a) < key(b); };
  if (safe())
    std::stable_sort(order.begin(), order.end(), by_key);
  else
    std::sort(order.begin(), order.end(), by_key);
  const auto same = [&](std::int32_t a, std::int32_t b) { return key(a) == key(b); };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  std::vector<std::uint8_t> flags(scores.size(), 0);
  for (const std::int32_t i : order)
    flags[static_cast<std::size_t>(i)] = scores[static_cast<std::size_t>(i)] > above ? 1 : 0;
  return flags;
}

/// The positives of a fold by its present weights.
template <class T>
void Trainer<T>::mark(std::int32_t fold, double rate, FoldStep& step) {
  const auto weights = std::span(result_.weights).subspan(static_cast<std::size_t>(fold), 1);
  const AcceptQuery query{.part = fold, .limit = rate, .inclusive = true};
  const double above = ops_.accept(std::span(&query, 1), weights)[0].above;
  if (options_.nested > 1) draw_nested(fold);
  step.positives = options_.best_positive ? ops_.mark_positives(fold, best_of_spectra(fold, above))
                                          : ops_.mark_positives(fold, weights[0], above);
}

/// `left_out`: the nested bin that is not trained on; 0: none.
template <class T>
SvmTask Trainer<T>::task(std::int32_t fold, std::int32_t left_out, const CostPair& pair) const {
  SvmTask task{fold, std::vector<double>(static_cast<std::size_t>(code_of(options_.nested + 1, decoy)), 0.0)};
  for (std::int32_t bin = 1; bin <= options_.nested; ++bin) {
    if (bin == left_out) continue;
    task.costs[code_of(bin, positive)] = pair.positive;
    task.costs[code_of(bin, decoy)] = -pair.positive * pair.ratio;
  }
  return task;
}

template <class T>
std::vector<SvmTask> Trainer<T>::all_tasks() const {
  std::vector<SvmTask> tasks;
  for (std::int32_t f = 0; f < static_cast<std::int32_t>(folds_); ++f)
    for (std::int32_t bin = 1; bin <= options_.nested; ++bin)
      for (const CostPair& pair : pairs_) tasks.push_back(task(f, options_.nested > 1 ? bin : 0, pair));
  return tasks;
}

template <class T>
void Trainer<T>::iterate(double rate, int number) {
  RescoreIteration iteration;
  iteration.folds.resize(folds_);
  for (std::size_t f = 0; f < folds_; ++f) mark(static_cast<std::int32_t>(f), rate, iteration.folds[f]);
  if (!svms_) svms_ = std::make_unique<Svms<T>>(context_, ops_, all_tasks());
  choose(iteration);
  std::vector<AcceptQuery> queries;
  for (std::size_t f = 0; f < folds_; ++f)
    queries.push_back({.part = static_cast<std::int32_t>(f), .limit = options_.test_fdr, .plus_one = true});
  for (const Accepted& one : ops_.accept(queries, result_.weights)) iteration.estimated += one.targets;
  iteration.estimated /= static_cast<std::int64_t>(folds_) - 1;
  iteration.tested = count_tested();
  log(2,
      fmt::format("Iteration {}:\tEstimated {} PSMs with q<{:g}", number + 1, iteration.estimated, options_.test_fdr));
  result_.iterations.push_back(std::move(iteration));
}

/// The pair of costs with the most accepted targets, of equals the last; nested folds train once more on all of the
/// training part.
template <class T>
void Trainer<T>::choose(RescoreIteration& iteration) {
  const auto& weights = svms_->fit();
  const auto nested = static_cast<std::size_t>(options_.nested);
  std::vector<AcceptQuery> queries;
  for (std::size_t f = 0; f < folds_; ++f)
    for (std::size_t bin = 1; bin <= nested; ++bin)
      for (std::size_t k = 0; k < pairs_.size(); ++k)
        queries.push_back({.part = static_cast<std::int32_t>(f),
                           .bin = nested > 1 ? static_cast<std::int32_t>(bin) : 0,
                           .limit = options_.test_fdr});
  const auto accepted = ops_.accept(queries, weights);
  std::vector<SvmTask> again;
  std::vector<std::vector<double>> start;
  for (std::size_t f = 0; f < folds_; ++f) {
    std::int64_t most = 0;
    std::size_t best = pairs_.size();
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      std::int64_t count = 0;
      for (std::size_t bin = 0; bin < nested; ++bin) count += accepted[(f * nested + bin) * pairs_.size() + k].targets;
      if (count < most) continue;
      most = count;
      best = k;
    }
    const CostPair& pair = pairs_[best];
    FoldStep& step = iteration.folds[f];
    step.cost_positive = pair.positive;
    step.cost_ratio = pair.ratio / pair.in_units_of;
    step.accepted = most;
    result_.weights[f] = weights[f * nested * pairs_.size() + best];
    again.push_back(task(static_cast<std::int32_t>(f), 0, pair));
  }
  if (nested > 1) {
    const auto blocks = static_cast<std::int32_t>((queries.size() + most_svms - 1) / most_svms);
    result_.weights = Svms<T>(context_, ops_, std::move(again), blocks, result_.weights).fit();
  }
}

template <class T>
bool Trainer<T>::has_converged() const {
  const auto& done = result_.iterations;
  if (!options_.quick || done.size() < 3) return false;
  const auto now = done.back().estimated;
  const auto before = done[done.size() - 3].estimated;
  return now > 0 && before > 0 && static_cast<double>(now - before) <= static_cast<double>(before) * 0.01;
}

template <class T>
bool Trainer<T>::is_worse() const {
  if (result_.trained_accepted <= 0 || result_.initial_accepted > result_.trained_accepted) return true;
  const auto feature = static_cast<std::size_t>(std::abs(initial_.required_sign));
  return initial_.required_sign != 0 && std::any_of(result_.weights.begin(), result_.weights.end(), [&](const auto& w) {
           return w[feature - 1] * initial_.required_sign <= 0;
         });
}

/// Falls back to the initial direction where training lost targets, and scores every row: by the weights of the fold in
/// which it was tested. After Percolator's check has failed, its rules score all rows by the first fold's.
template <class T>
void Trainer<T>::finish() {
  std::vector<std::uint16_t> which = result_.folds;
  if (is_worse()) {
    if (!options_.keep_trained) {
      result_.fell_back = true;
      log(1, "Resetting score vector, using default vector. Use --override flag to prevent this.");
      if (safe())
        result_.weights = start_weights_;
      else
        result_.weights =
            initial_.fallback.empty() ? best_features(initial_fdr_) : std::vector(folds_, initial_.fallback);
    }
    if (!safe()) std::fill(which.begin(), which.end(), 0);
  }
  result_.scores.resize(static_cast<std::size_t>(rows_.size()));
  ops_.score(result_.weights, which, result_.scores);
}

}  // namespace

template <class T>
Trained train(const Context& context, RescoreOps<T>& ops, const TrainingRows& rows, const InitialDirection& initial,
              const RescoreOptions& options, ParkMiller& random) {
  return Trainer<T>(context, ops, rows, initial, options, random).train();
}

template Trained train(const Context&, RescoreOps<float>&, const TrainingRows&, const InitialDirection&,
                       const RescoreOptions&, ParkMiller&);
template Trained train(const Context&, RescoreOps<double>&, const TrainingRows&, const InitialDirection&,
                       const RescoreOptions&, ParkMiller&);

}  // namespace sheaf::rescore
