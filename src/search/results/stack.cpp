#include "search/results/stack.hpp"

#include <algorithm>
#include <numeric>

#include "core/fail.hpp"
#include "family/values.hpp"
#include "pipeline/learn.hpp"
#include "search/plan/choose_among.hpp"
#include "search/plan/make_search.hpp"
#include "search/results/held_out.hpp"

namespace sheaf::engine {
namespace {

/// The points of one model, as a level of their own.
SearchLevel of_model(const SearchResult& result, const SearchLevel& level, std::int32_t model) {
  SearchLevel own;
  const auto splits = static_cast<std::size_t>(result.splits);
  for (std::size_t p = 0; p < level.points.size(); ++p) {
    if (static_cast<std::int32_t>(result.point(level, p).front()) != model + 1) continue;
    own.points.push_back(level.points[p]);
    for (std::size_t s = 0; s < splits; ++s) own.models.push_back(level.models[p * splits + s]);
  }
  return own;
}

/// The best point of each model that was not dropped, best first.
std::vector<Point> rank_models(const SearchResult& result, const FamilySearch& family, const SearchLevel& level) {
  const double sign = info(*result.options.score).larger_is_better ? 1 : -1;
  auto options = result.options;
  options.choice = Choice::best;
  std::vector<std::pair<double, Point>> best;
  for (std::int32_t m = 0; m < std::ssize(result.models); ++m) {
    const auto own = of_model(result, level, m);
    if (own.points.empty()) continue;
    const auto place = choose_among(family, options, result.points, own).best;
    best.emplace_back(sign * result.summary(own, place, *options.score).mean, result.point(own, place));
  }
  std::stable_sort(best.begin(), best.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Point> points;
  for (auto& [score, point] : best) points.push_back(std::move(point));
  return points;
}

/// All scores of predictions for some rows of the dataset.
ModelScores score_on(const Context& context, const Labels& all, std::span<const std::int32_t> rows,
                     const Predictions& predictions) {
  const auto labels = labels_of(all, rows);
  const auto columns = labels.columns();
  Block<double> values(labels.rows, columns);
  Block<std::int32_t> predicted(labels.rows, labels.regression() ? 0 : 1);
  for (std::int64_t i = 0; i < labels.rows; ++i) {
    for (std::int32_t c = 0; c < columns; ++c)
      values(i, c) = predictions.decisions[static_cast<std::size_t>(i * columns + c)];
    if (!labels.regression()) predicted(i, 0) = predictions.classes[static_cast<std::size_t>(i)];
  }
  return std::move(score_rows(context, labels, values, predicted, false, !labels.regression()).front());
}

/// Predictions of members for the held-out rows of a level, and the stack learnt from them.
class LevelStack {
 public:
  LevelStack(const Labels& labels, const SearchResult& result) : labels_(labels), result_(result) {}

  /// `level`: its number in the plan.
  template <class T>
  void train(const Context& context, const Dataset<T>& dataset, const Plan& plan, std::int32_t level,
             const std::vector<Point>& ranked) {
    for (const auto& point : ranked) {
      if (std::ssize(points_) == result_.options.stack) break;
      HeldOutPredictions found;
      for (std::int32_t s = 0; s < plan.splits(); ++s) {
        context.check_stop();
        const auto split = plan.inner_split(level, s);
        const auto tests = plan.test_rows(split);
        const auto model = train_on_split(context, dataset, plan, split, result_, point);
        const auto predictions =
            model.predict(context, take_rows(dataset, tests, context.threads()), model.has_probabilities());
        append_predictions(labels_, s, tests, predictions, model.class_decisions(predictions), found);
        context.progress().advance(1);
      }
      points_.push_back(point);
      found_.push_back(std::move(found));
    }
  }

  std::size_t members() const { return points_.size(); }
  /// Whether there are rows of all classes without those of any split.
  bool can_leave_out_splits() const { return without_parts_; }

  /// Learns the stack of all held-out rows, and one without those of each split.
  void learn() {
    const auto parts = parts_of(found_.front());
    without_parts_ = labels_.regression() ? parts.size() > 1
                                          : can_learn_without_parts(found_.front(), parts, labels_.class_names.size());
    std::vector<std::size_t> entries(found_.front().size());
    std::iota(entries.begin(), entries.end(), std::size_t{0});
    all_ = learn(entries);
    std::vector<LearntStack> of_parts;
    for (const auto& part : parts) of_parts.push_back(without_parts_ ? learn(part.others) : all_);
    for (std::size_t s = 0; s < static_cast<std::size_t>(result_.splits); ++s)
      splits_.push_back(of_parts[s % of_parts.size()]);
  }

  /// Scores on each split of the stack learnt without it.
  std::vector<ModelScores> scores(const Context& context) const {
    std::vector<std::vector<std::size_t>> entries(splits_.size());
    const auto& first = found_.front();
    for (std::size_t i = 0; i < first.size(); ++i) entries[static_cast<std::size_t>(first.splits[i])].push_back(i);
    std::vector<ModelScores> scores;
    for (std::size_t s = 0; s < splits_.size(); ++s) scores.push_back(score(context, splits_[s], entries[s]));
    return scores;
  }

  const LearntStack& all() const { return all_; }
  std::vector<LearntStack> take_splits() { return std::move(splits_); }
  /// With the probabilities that `all` was learnt on.
  std::vector<HeldOutPredictions> take_held_out() {
    std::vector<std::size_t> entries(found_.front().size());
    std::iota(entries.begin(), entries.end(), std::size_t{0});
    for (std::size_t m = 0; m < found_.size() && !labels_.regression(); ++m)
      found_[m].probabilities = values_of(all_, m, entries);
    return std::move(found_);
  }

 private:
  /// Probabilities (entries x classes) or predictions (entries x targets) of a member.
  std::vector<double> values_of(const LearntStack& stack, std::size_t member,
                                std::span<const std::size_t> entries) const {
    const auto& found = found_[member];
    if (!labels_.regression() && found.probabilities.empty())
      return stack.calibrations[member]->probabilities(rows_of(found, entries).decisions);
    const auto& values = labels_.regression() ? found.decisions : found.probabilities;
    const auto width = values.size() / found.size();
    std::vector<double> result;
    for (const auto i : entries)
      for (std::size_t c = 0; c < width; ++c) result.push_back(values[i * width + c]);
    return result;
  }

  LearntStack learn(std::span<const std::size_t> entries) const {
    LearntStack stack;
    stack.members = points_;
    stack.calibrations.resize(found_.size());
    for (std::size_t m = 0; m < found_.size(); ++m) {
      if (labels_.regression() || !found_[m].probabilities.empty()) continue;
      const auto rows = rows_of(found_[m], entries);
      stack.calibrations[m] =
          learn_calibration(CalibrationMethod::platt, rows.decisions, found_[m].columns, rows.classes);
    }
    stack.weights = labels_.regression() ? by_squares(stack, entries) : by_likelihood(stack, entries);
    return stack;
  }

  std::vector<double> by_likelihood(const LearntStack& stack, std::span<const std::size_t> entries) const {
    const auto members = found_.size();
    const auto classes = labels_.class_names.size();
    std::vector<double> of_truth(entries.size() * members);
    for (std::size_t m = 0; m < members; ++m) {
      const auto values = values_of(stack, m, entries);
      for (std::size_t k = 0; k < entries.size(); ++k)
        of_truth[k * members + m] = values[k * classes + static_cast<std::size_t>(found_.front().truth[entries[k]])];
    }
    return weights_by_likelihood(of_truth, members);
  }

  /// Each target counts in units of its own standard deviation.
  std::vector<double> by_squares(const LearntStack& stack, std::span<const std::size_t> entries) const {
    const auto members = found_.size();
    const auto targets = static_cast<std::size_t>(labels_.targets);
    std::vector<double> truth;
    for (const auto i : entries)
      for (std::size_t t = 0; t < targets; ++t) truth.push_back(found_.front().values[i * targets + t]);
    std::vector<double> units;
    for (std::size_t t = 0; t < targets; ++t) {
      std::vector<double> own;
      for (std::size_t k = t; k < truth.size(); k += targets) own.push_back(truth[k]);
      const double unit = standard_deviation(own);
      units.push_back(unit > 0 ? unit : 1);
    }
    std::vector<double> all(truth.size() * members);
    for (std::size_t m = 0; m < members; ++m) {
      const auto values = values_of(stack, m, entries);
      for (std::size_t k = 0; k < values.size(); ++k) all[k * members + m] = values[k] / units[k % targets];
    }
    for (std::size_t k = 0; k < truth.size(); ++k) truth[k] /= units[k % targets];
    return weights_by_squares(all, truth, members);
  }

  ModelScores score(const Context& context, const LearntStack& stack, std::span<const std::size_t> entries) const {
    std::vector<std::vector<double>> values;
    for (std::size_t m = 0; m < found_.size(); ++m) values.push_back(values_of(stack, m, entries));
    auto mean = average(values, stack.weights);
    Predictions predictions;
    if (labels_.regression())
      predictions.decisions = std::move(mean);
    else
      predictions = predictions_from(std::move(mean), labels_.class_names.size());
    std::vector<std::int32_t> rows;
    for (const auto i : entries) rows.push_back(found_.front().rows[i]);
    return score_on(context, labels_, rows, predictions);
  }

  const Labels& labels_;
  const SearchResult& result_;
  std::vector<Point> points_;
  std::vector<HeldOutPredictions> found_;  // of each member
  LearntStack all_;
  std::vector<LearntStack> splits_;
  bool without_parts_ = true;
};

/// A stack of trained models: `train` gives that of a point. Members of weight 0 are left out.
template <class Train>
Model build(const SearchResult& result, const LearntStack& learnt, const Train& train) {
  std::vector<StackMember> members;
  for (std::size_t m = 0; m < learnt.members.size(); ++m) {
    if (learnt.weights[m] == 0) continue;
    StackMember member{result.model_of(learnt.members[m])->candidate.name, learnt.weights[m], train(learnt.members[m])};
    if (learnt.calibrations[m]) member.model.set_calibration(*learnt.calibrations[m]);
    members.push_back(std::move(member));
  }
  return make_stack(std::move(members));
}

/// "svm + linear"
std::string names_of(const SearchResult& result, const LearntStack& stack) {
  std::string text;
  for (std::size_t m = 0; m < stack.members.size(); ++m)
    if (stack.weights[m] > 0) text += (text.empty() ? "" : " + ") + result.model_of(stack.members[m])->candidate.name;
  return text;
}

/// The stacks of all levels, and their scores on the splits of these.
struct LearntLevels {
  StackResult stacks;
  std::vector<ModelScores> scores;
  std::vector<std::vector<ModelScores>> outer_scores;
};

/// None: fewer than two models can be members. Notes state why.
template <class T>
std::optional<LearntLevels> learn_levels(const Context& context, const Dataset<T>& dataset, const FamilySearch& family,
                                         const Plan& plan, const SearchResult& result,
                                         std::vector<std::string>& notes) {
  const auto train = [&](std::int32_t number, const SearchLevel& level) {
    LevelStack stack(family.labels(), result);
    stack.train(context, dataset, plan, number, rank_models(result, family, level));
    return stack;
  };
  auto all = train(0, result.level);
  if (all.members() < 2) {
    notes.emplace_back("there is no stack: all models but one were dropped as worse");
    return std::nullopt;
  }
  all.learn();
  if (!all.can_leave_out_splits())
    notes.emplace_back(
        "the held-out rows of some split are all there are of a class, so that the stack is scored on rows that its "
        "weights were learnt on; take more folds");
  LearntLevels learnt;
  learnt.scores = all.scores(context);
  learnt.stacks.all = all.all();
  learnt.stacks.splits = all.take_splits();
  learnt.stacks.held_out = all.take_held_out();
  for (std::int32_t k = 0; k < plan.outer_folds(); ++k) {
    auto level = train(plan.level_of(k), result.outer[static_cast<std::size_t>(k)].level);
    level.learn();
    learnt.outer_scores.push_back(level.scores(context));
    for (auto& model : learnt.outer_scores.back()) model.drop_curves();
    learnt.stacks.outer.push_back(level.all());
  }
  return learnt;
}

/// Makes the stack one more model with one point, whose place is returned.
std::int32_t add_model(SearchResult& result) {
  ComparedModel compared;
  compared.title = "stack of " + names_of(result, result.stack->all);
  compared.candidate = {compared.title, SearchSpace(StackOptions{}), {}};
  compared.points = 1;
  result.models.push_back(std::move(compared));
  result.axes.front().names.emplace_back("stack");
  Point point(result.axes.size(), SearchAxis::absent);
  point.front() = static_cast<double>(result.models.size());
  result.points.push_back(std::move(point));
  return static_cast<std::int32_t>(result.points.size()) - 1;
}

/// The stack becomes the chosen point of a level.
void choose_stack(std::int32_t point, std::vector<ModelScores> scores, SearchLevel& level) {
  level.chosen = {level.points.size(), level.points.size()};
  level.points.push_back(point);
  for (auto& model : scores) level.models.push_back(std::move(model));
}

}  // namespace

template <class T>
Model train_stack(const Context& context, const Dataset<T>& dataset, const Plan& plan, std::int32_t split,
                  const SearchResult& result) {
  const auto first_outer = plan.outer_split(0);
  const auto& learnt = split >= first_outer ? result.stack->outer[static_cast<std::size_t>(split - first_outer)]
                                            : result.stack->splits[static_cast<std::size_t>(split)];
  return build(result, learnt,
               [&](const Point& point) { return train_on_split(context, dataset, plan, split, result, point); });
}

template <class T>
void add_stack(const Context& context, const Dataset<T>& dataset, const FamilySearch& family, const Plan& plan,
               SearchResult& result) {
  const auto models = std::min<std::int64_t>(result.options.stack, std::ssize(result.models));
  const Stage stage(context.progress(), "stacking", models * plan.splits() * plan.levels());
  auto learnt = learn_levels(context, dataset, family, plan, result, result.notes);
  if (!learnt) {
    if (result.options.refit) result.model = refit_model(context, family, result.chosen());
    return;
  }
  const auto metric = *result.options.score;
  const auto alone = result.outer_summary(metric);
  result.stack = std::move(learnt->stacks);
  const auto place = add_model(result);
  choose_stack(place, std::move(learnt->scores), result.level);
  for (std::int32_t k = 0; k < plan.outer_folds(); ++k) {
    auto& fold = result.outer[static_cast<std::size_t>(k)];
    choose_stack(place, std::move(learnt->outer_scores[static_cast<std::size_t>(k)]), fold.level);
    const auto tests = plan.test_rows(plan.outer_split(k));
    const auto model = train_stack(context, dataset, plan, plan.outer_split(k), result);
    const auto predictions = model.predict(context, take_rows(dataset, tests, context.threads()));
    fold.scores = score_on(context, family.labels(), tests, predictions);
  }
  if (!result.outer.empty())
    result.notes.push_back(
        fmt::format("by nested validation the stack has {} {:.4f}, and the best model of each outer fold alone {:.4f}",
                    info(metric).title, result.outer_summary(metric).mean, alone.mean));
  if (!result.options.refit) return;
  result.model =
      build(result, result.stack->all, [&](const Point& point) { return refit_model(context, family, point); });
  for (const auto& warning : result.model->warnings()) result.warnings.push_back("the final model: " + warning);
}

template <class T>
void describe_stack(const Context& context, const Dataset<T>& dataset,
                    const std::function<std::vector<FeatureSummary>()>& summarize, Model& model) {
  auto& stack = *model.get_if<StackModel>();
  for (auto& member : stack.members) {
    auto pipeline = member.model.pipeline();
    pipeline::describe_training(context, dataset, summarize, pipeline);
    if (&member != &stack.members.front()) {
      pipeline.means.clear();
      pipeline.spreads.clear();
    }
    member.model.set_pipeline(std::move(pipeline));
  }
  Pipeline names;
  names.label = stack.members.front().model.pipeline().label;
  names.positive = stack.members.front().model.pipeline().positive;
  model.set_pipeline(std::move(names));
}

template void add_stack(const Context&, const Dataset<float>&, const FamilySearch&, const Plan&, SearchResult&);
template void add_stack(const Context&, const Dataset<double>&, const FamilySearch&, const Plan&, SearchResult&);
template Model train_stack(const Context&, const Dataset<float>&, const Plan&, std::int32_t, const SearchResult&);
template Model train_stack(const Context&, const Dataset<double>&, const Plan&, std::int32_t, const SearchResult&);
template void describe_stack(const Context&, const Dataset<float>&, const std::function<std::vector<FeatureSummary>()>&,
                             Model&);
template void describe_stack(const Context&, const Dataset<double>&,
                             const std::function<std::vector<FeatureSummary>()>&, Model&);

}  // namespace sheaf::engine
