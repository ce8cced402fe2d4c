#include "rescore/training/train.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/fail.hpp"
#include "core/parallel.hpp"
#include "rescore/training/ranking.hpp"
#include "rescore/training/svm.hpp"

namespace sheaf::rescore {
namespace {

constexpr std::int32_t fold_count = 3;
constexpr std::array costs_positive{10.0, 1.0, 0.1};
constexpr std::array cost_ratios{1.0, 3.0, 10.0};
/// Iterations after which training is saved. Each time Hessians are computed anew, whether there is a file or not, so
/// that a run that was resumed gives the same bits as one that was not.
constexpr int saved_every = 5;
/// If no feature separates targets from decoys, the safe rules try these rates too.
constexpr std::array wider_rates{0.02, 0.05, 0.1, 0.2, 0.5};

struct CostPair {
  double positive;
  double ratio;        // of negatives to positives
  double in_units_of;  // the unit of `ratio`
};

template <class T>
class Trainer {
 public:
  Trainer(const Context& context, RescoreOps<T>& ops, const TrainingRows& rows, const InitialDirection& initial,
          const RescoreOptions& options, ParkMiller& random, CheckpointFile* saved)
      : context_(context),
        ops_(ops),
        rows_(rows),
        initial_(initial),
        options_(options),
        random_(random),
        saved_(saved) {
    train_fdr_ = options.train_fdr > 0 ? options.train_fdr : options.test_fdr;
    initial_fdr_ = options.initial_fdr > 0 ? options.initial_fdr : train_fdr_;
    choose_costs();
  }

  Trained train() {
    draw_folds();
    if (!resume()) begin();
    const Stage stage(context_.progress(), "training", options_.iterations, context_.stop());
    context_.progress().advance(iterations_done());
    while (iterations_done() < options_.iterations && !has_converged()) {
      iterate();
      context_.progress().advance(1);
      const bool last = iterations_done() == options_.iterations || has_converged();
      if (iterations_done() % saved_every == 0) svms_->forget();
      if (iterations_done() % saved_every == 0 || last) save();
    }
    if (svms_) svms_->forget();
    result_.trained_accepted = standing_.tested;
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

  int iterations_done() const { return static_cast<int>(result_.iterations.size()); }

  /// Targets accepted at the present weights of the folds.
  struct Standing {
    std::int64_t estimated = 0;  // accepted targets, by the training parts
    std::int64_t tested = 0;     // accepted targets of the test folds
    std::vector<double> above;   // of each fold: positives score more than this
  };

  void choose_costs();
  void begin();
  bool resume();
  void save() const;
  Standing standing(double rate);
  void draw_folds();
  void draw_nested(std::int32_t fold);
  std::vector<std::vector<double>> best_features(double rate);
  bool try_features(double rate, std::vector<std::vector<double>>& weights);
  void iterate();
  void mark(RescoreIteration& iteration);
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
  CheckpointFile* saved_;
  double train_fdr_ = 0;
  double initial_fdr_ = 0;
  std::size_t folds_ = fold_count;
  std::vector<CostPair> pairs_;
  std::vector<std::uint16_t> trained_on_;  // 0: in the subset to train on; empty: all are
  std::unique_ptr<Svms<T>> svms_;
  std::vector<std::vector<double>> start_weights_;
  Standing standing_;
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
void Trainer<T>::begin() {
  result_.weights = initial_.weights.empty() ? best_features(initial_fdr_) : std::vector(folds_, initial_.weights);
  start_weights_ = result_.weights;
  standing_ = standing(initial_fdr_);
  result_.initial_accepted = standing_.tested;
  log(1, fmt::format("Found {} test set positives with q<{:g} in initial direction", result_.initial_accepted,
                     options_.test_fdr));
}

template <class T>
bool Trainer<T>::resume() {
  if (saved_ == nullptr) return false;
  auto tasks = all_tasks();
  auto checkpoint = saved_->read(
      {static_cast<std::size_t>(options_.iterations), folds_, tasks.size(), static_cast<std::size_t>(ops_.weights())});
  if (!checkpoint) return false;
  result_.iterations = std::move(checkpoint->iterations);
  result_.initial_accepted = checkpoint->initial_accepted;
  result_.weights = std::move(checkpoint->weights);
  result_.warnings = std::move(checkpoint->warnings);
  start_weights_ = std::move(checkpoint->start_weights);
  svms_ = std::make_unique<Svms<T>>(context_, ops_, std::move(tasks), 0, std::move(checkpoint->svm_weights));
  standing_ = standing(train_fdr_);
  return true;
}

template <class T>
void Trainer<T>::save() const {
  if (saved_ != nullptr)
    saved_->write({result_.iterations, result_.initial_accepted, start_weights_, result_.weights, svms_->weights(),
                   result_.warnings});
}

template <class T>
void Trainer<T>::draw_folds() {
  const auto count = static_cast<std::size_t>(rows_.size());
  constexpr std::int64_t at_once = 1 << 16;
  const auto each_row = [&](const auto& set) {
    parallel_ranges(context_, rows_.size(), at_once, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) set(static_cast<std::size_t>(i));
    });
  };
  const auto spectrum = [&](std::size_t i, std::int32_t folds, std::uint64_t seed) {
    return spectrum_fold(rows_.keys, rows_.file_hashes, static_cast<std::int64_t>(i), folds, seed);
  };
  if (safe()) {
    result_.folds.resize(count);
    each_row([&](std::size_t i) { result_.folds[i] = spectrum(i, fold_count, options_.seed); });
  } else {
    std::vector<std::int32_t> all(count);
    std::iota(all.begin(), all.end(), 0);
    result_.folds = percolator_folds(rows_.keys, all, fold_count, random_);
  }
  if (safe() && options_.subset > 0 && options_.subset < rows_.size()) {
    const auto shares = static_cast<std::int32_t>(std::min<std::int64_t>(rows_.size() / options_.subset, 60000));
    trained_on_.resize(count);
    each_row([&](std::size_t i) { trained_on_[i] = spectrum(i, std::max(shares, 1), ~options_.seed); });
  }
  std::vector<std::uint16_t> bins(count);
  for (std::int32_t f = 0; f < fold_count; ++f) {
    each_row([&](std::size_t i) { bins[i] = in_training(i, f) ? 1 : 0; });
    ops_.set_part(f, bins);
  }
  each_row([&](std::size_t i) { bins[i] = static_cast<std::uint16_t>(result_.folds[i] + 1); });
  ops_.set_part(fold_count, bins);
}

/// Nested folds within a training part.
template <class T>
void Trainer<T>::draw_nested(std::int32_t fold) {
  std::vector<std::uint16_t> bins(result_.folds.size(), 0);
  std::vector<std::int32_t> members;
  for (std::size_t i = 0; i < bins.size(); ++i)
    if (in_training(i, fold)) members.push_back(static_cast<std::int32_t>(i));
  const auto drawn =
      safe() ? std::vector<std::uint16_t>{} : percolator_folds(rows_.keys, members, options_.nested, random_);
  const std::uint64_t seed = options_.seed + static_cast<std::uint64_t>(iterations_done()) + 1;
  for (std::size_t k = 0; k < members.size(); ++k) {
    const auto nested =
        safe() ? spectrum_fold(rows_.keys, rows_.file_hashes, members[k], options_.nested, seed) : drawn[k];
    bins[static_cast<std::size_t>(members[k])] = static_cast<std::uint16_t>(nested + 1);
  }
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

/// `rate`: the false discovery rate of the next positives. One look at the rows answers all questions.
template <class T>
auto Trainer<T>::standing(double rate) -> Standing {
  std::vector<AcceptQuery> queries;
  std::vector<std::vector<double>> weights;
  for (std::int32_t f = 0; f < static_cast<std::int32_t>(folds_); ++f) {
    queries.push_back({.part = f, .limit = options_.test_fdr, .plus_one = true});
    queries.push_back({.part = fold_count, .bin = f + 1, .limit = options_.test_fdr, .plus_one = true});
    queries.push_back({.part = f, .limit = rate, .inclusive = true});
    weights.insert(weights.end(), 3, result_.weights[static_cast<std::size_t>(f)]);
  }
  const auto accepted = ops_.accept(queries, weights);
  Standing result;
  for (std::size_t f = 0; f < folds_; ++f) {
    result.estimated += accepted[3 * f].targets;
    result.tested += accepted[3 * f + 1].targets;
    result.above.push_back(accepted[3 * f + 2].above);
  }
  result.estimated /= static_cast<std::int64_t>(folds_) - 1;
  return result;
}

/// At most one target of each spectrum, as Percolator chooses it: the one that std::sort leaves first.
template <class T>
std::vector<std::uint8_t> Trainer<T>::best_of_spectra(std::int32_t fold, double above) {
  const auto all = ops_.score(std::span(result_.weights).subspan(static_cast<std::size_t>(fold), 1), {});
  const auto here = all.to(Device::cpu());
  const auto scores = here.span();
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

/// The positives of each fold by its present weights.
template <class T>
void Trainer<T>::mark(RescoreIteration& iteration) {
  const auto folds = static_cast<std::int32_t>(folds_);
  if (options_.nested > 1)
    for (std::int32_t f = 0; f < folds; ++f) draw_nested(f);
  if (!options_.best_positive) {
    const auto counts = ops_.mark_positives(result_.weights, standing_.above);
    for (std::size_t f = 0; f < folds_; ++f) iteration.folds[f].positives = counts[f];
    return;
  }
  for (std::int32_t f = 0; f < folds; ++f) {
    const auto place = static_cast<std::size_t>(f);
    iteration.folds[place].positives = ops_.mark_positives(f, best_of_spectra(f, standing_.above[place]));
  }
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
void Trainer<T>::iterate() {
  RescoreIteration iteration;
  iteration.folds.resize(folds_);
  mark(iteration);
  if (!svms_) svms_ = std::make_unique<Svms<T>>(context_, ops_, all_tasks());
  choose(iteration);
  standing_ = standing(train_fdr_);
  iteration.estimated = standing_.estimated;
  iteration.tested = standing_.tested;
  result_.iterations.push_back(std::move(iteration));
  log(2, fmt::format("Iteration {}:\tEstimated {} PSMs with q<{:g}", iterations_done(), standing_.estimated,
                     options_.test_fdr));
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

/// Falls back to the initial direction if training lost targets, and scores every row: by the weights of the fold in
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
  result_.scores = ops_.score(result_.weights, which);
}

}  // namespace

template <class T>
Trained train(const Context& context, RescoreOps<T>& ops, const TrainingRows& rows, const InitialDirection& initial,
              const RescoreOptions& options, ParkMiller& random, CheckpointFile* saved) {
  return Trainer<T>(context, ops, rows, initial, options, random, saved).train();
}

template Trained train(const Context&, RescoreOps<float>&, const TrainingRows&, const InitialDirection&,
                       const RescoreOptions&, ParkMiller&, CheckpointFile*);
template Trained train(const Context&, RescoreOps<double>&, const TrainingRows&, const InitialDirection&,
                       const RescoreOptions&, ParkMiller&, CheckpointFile*);

}  // namespace sheaf::rescore
