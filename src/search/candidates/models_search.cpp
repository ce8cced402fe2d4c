// Several models in one search. A point is the model and a value for each parameter that any of them has; those that
// its own model does not have are absent.
#include <algorithm>
#include <deque>
#include <exception>
#include <map>

#include "core/fail.hpp"
#include "family/family.hpp"
#include "search/plan/make_search.hpp"

namespace sheaf::engine {
namespace {

/// The axes of all models side by side, those of the same name shared.
class JoinedAxes {
 public:
  JoinedAxes(const std::vector<std::unique_ptr<FamilySearch>>& models, std::vector<std::string> names) {
    axes_.push_back({"model", "model", false, false, std::move(names)});
    for (const auto& model : models) {
      auto& places = places_.emplace_back();
      for (const auto& axis : model->space().axes) places.push_back(place_of(axis));
    }
  }
  const std::vector<SearchAxis>& axes() const { return axes_; }
  Point joined(std::int32_t model, const Point& own) const {
    Point point(axes_.size(), SearchAxis::absent);
    point[0] = model + 1;
    const auto& places = places_[static_cast<std::size_t>(model)];
    for (std::size_t axis = 0; axis < own.size(); ++axis) point[places[axis]] = own[axis];
    return point;
  }
  OwnPoint own(const Point& point) const {
    OwnPoint result{static_cast<std::int32_t>(point.front()) - 1, {}};
    for (const auto place : places_[static_cast<std::size_t>(result.model)]) result.point.push_back(point[place]);
    return result;
  }

 private:
  std::size_t place_of(const SearchAxis& axis) {
    const auto same = [&](const SearchAxis& other) { return other.name == axis.name && other.names == axis.names; };
    const auto found = std::find_if(axes_.begin() + 1, axes_.end(), same);
    if (found != axes_.end()) return static_cast<std::size_t>(found - axes_.begin());
    axes_.push_back(axis);
    return axes_.size() - 1;
  }

  std::vector<SearchAxis> axes_;
  std::vector<std::vector<std::size_t>> places_;  // of each model's own axes
};

/// Trains jobs of one model at a time; only that model's trainer is kept.
class ModelsTrainer : public Trainer {
 public:
  ModelsTrainer(const Context& context, const FamilySearch& family) : context_(context), family_(family) {}

  void load(const SplitTable& table) override {
    table_ = &table;
    loaded_ = false;
  }
  std::vector<ModelScores> train(std::span<const Job> jobs, bool chosen) override {
    std::map<std::int32_t, std::vector<std::size_t>> by_model;
    std::vector<OwnPoint> own;
    for (std::size_t k = 0; k < jobs.size(); ++k) {
      own.push_back(family_.own_point(*jobs[k].point));
      by_model[own.back().model].push_back(k);
    }
    std::vector<ModelScores> scores(jobs.size());
    for (const auto& [model, members] : by_model) {
      prepare(model);
      std::vector<Job> some;
      for (const auto k : members) some.push_back({&own[k].point, jobs[k].split});
      auto found = trainer_->train(some, chosen);
      for (std::size_t k = 0; k < members.size(); ++k) scores[members[k]] = std::move(found[k]);
    }
    return scores;
  }

 private:
  void prepare(std::int32_t model) {
    if (!trainer_ || model != model_) {
      trainer_.reset();
      trainer_ = family_.models()[static_cast<std::size_t>(model)]->trainer(context_);
      model_ = model;
      loaded_ = false;
    }
    if (!loaded_) trainer_->load(*table_);
    loaded_ = true;
  }

  const Context& context_;
  const FamilySearch& family_;
  const SplitTable* table_ = nullptr;
  std::unique_ptr<Trainer> trainer_;
  std::int32_t model_ = 0;
  bool loaded_ = false;
};

class ModelsSearch : public FamilySearch {
 public:
  /// `options`: of each model, which refers to them.
  ModelsSearch(std::deque<SearchOptions> options, std::vector<std::unique_ptr<FamilySearch>> models,
               const std::vector<std::string>& names)
      : options_(std::move(options)),
        models_(std::move(models)),
        axes_(models_, names),
        title_(fmt::format("the best of {}", fmt::join(names, ", "))) {
    space_.axes = axes_.axes();
  }

  std::vector<const FamilySearch*> models() const override {
    std::vector<const FamilySearch*> list;
    for (const auto& model : models_) list.push_back(model.get());
    return list;
  }
  OwnPoint own_point(const Point& point) const override { return axes_.own(point); }
  Point joined_point(std::int32_t model, const Point& own) const override { return axes_.joined(model, own); }

  const Labels& labels() const override { return models_.front()->labels(); }
  std::string title() const override { return title_; }
  bool has_probabilities() const override {
    return std::all_of(models_.begin(), models_.end(), [](const auto& model) { return model->has_probabilities(); });
  }
  const Space& space() const override { return space_; }
  std::int32_t tasks() const override {
    std::int32_t most = 1;
    for (const auto& model : models_) most = std::max(most, model->tasks());
    return most;
  }
  std::int64_t least_rows() const override {
    std::int64_t most = 1;
    for (const auto& model : models_) most = std::max(most, model->least_rows());
    return most;
  }
  /// Limits of the first model; the engine gets the limits of each model from itself.
  BatchLimits limits(const Context& context, const SplitCounts& splits) const override {
    return models_.front()->limits(context, splits);
  }
  Point shared_part(const Point& point) const override {
    const auto own = own_point(point);
    auto part = model(own).shared_part(own.point);
    part.insert(part.begin(), own.model);
    return part;
  }
  std::vector<double> complexity(const Point& point, double size) const override {
    const auto own = own_point(point);
    auto keys = model(own).complexity(own.point, size);
    keys.insert(keys.begin(), own.model);
    return keys;
  }
  std::unique_ptr<Trainer> trainer(const Context& context) const override {
    return std::make_unique<ModelsTrainer>(context, *this);
  }
  std::unique_ptr<TrainedModel> refit(const Context& context, const Point& point) const override {
    const auto own = own_point(point);
    return model(own).refit(context, own.point);
  }
  std::vector<PathStep> path(const Context& context, const SplitTable& table, const Point& point) const override {
    const auto own = own_point(point);
    return model(own).path(context, table, own.point);
  }
  std::string failure(const TaskFit& fit) const override { return models_.front()->failure(fit); }
  KernelCounts kernel_counts() const override {
    KernelCounts sum;
    for (const auto& model : models_) {
      const auto counts = model->kernel_counts();
      sum.computed += counts.computed;
      sum.unshared += counts.unshared;
    }
    return sum;
  }
  /// Notes of the chosen model, on the levels that chose it.
  std::vector<std::string> notes(const SearchOutcome& outcome) const override {
    if (outcome.chosen.empty()) return {};
    const auto chosen = own_point(outcome.chosen.front()).model;
    SearchOutcome own;
    own.study = outcome.study;
    const auto outer = outcome.chosen.size() - outcome.outer.size();
    for (std::size_t k = 0; k < outcome.chosen.size(); ++k) {
      const auto point = own_point(outcome.chosen[k]);
      if (point.model != chosen) continue;
      own.chosen.push_back(point.point);
      if (k >= outer) own.outer.push_back(outcome.outer[k - outer]);
    }
    return models_[static_cast<std::size_t>(chosen)]->notes(own);
  }

 private:
  const FamilySearch& model(const OwnPoint& own) const { return *models_[static_cast<std::size_t>(own.model)]; }

  std::deque<SearchOptions> options_;
  std::vector<std::unique_ptr<FamilySearch>> models_;
  JoinedAxes axes_;
  std::string title_;
  Space space_;
};

/// Scores are compared only if all models have the same classes.
void check_labels(const std::vector<std::unique_ptr<FamilySearch>>& models, const std::vector<std::string>& names) {
  const auto& first = models.front()->labels();
  for (std::size_t m = 1; m < models.size(); ++m) {
    const auto& other = models[m]->labels();
    if (other.class_names != first.class_names || other.classes != first.classes ||
        other.events.empty() != first.events.empty() || other.targets != first.targets)
      fail_usage("the models {} and {} cannot be compared: they do not predict the same", names.front(), names[m]);
  }
}

}  // namespace

template <class T>
std::unique_ptr<FamilySearch> make_models_search(const Context& context, const Dataset<T>& dataset, SearchSpace& space,
                                                 const SearchOptions& options, std::vector<std::string>& notes) {
  std::deque<SearchOptions> owned;
  std::vector<std::unique_ptr<FamilySearch>> models;
  std::vector<std::string> names;
  std::exception_ptr failure;
  // By place: a search refers to the space of its candidate.
  std::vector<std::size_t> left_out;
  for (std::size_t k = 0; k < space.candidates.size(); ++k) {
    const auto& candidate = space.candidates[k];
    owned.push_back(options);
    owned.back().pipeline = candidate.pipeline;
    try {
      models.push_back(make_search(context, dataset, candidate.space, owned.back()));
      names.push_back(candidate.name);
    } catch (const Error& error) {
      if (!space.choose_candidates) throw;
      if (!failure) failure = std::current_exception();
      notes.push_back(fmt::format("the model {} is left out: {}", candidate.name, error.what()));
      left_out.push_back(k);
    }
  }
  if (models.empty()) std::rethrow_exception(failure);
  if (!left_out.empty()) {
    std::vector<Candidate> kept;
    for (std::size_t k = 0; k < space.candidates.size(); ++k)
      if (std::find(left_out.begin(), left_out.end(), k) == left_out.end()) kept.push_back(space.candidates[k]);
    space.candidates = std::move(kept);
    return make_models_search(context, dataset, space, options, notes);
  }
  check_labels(models, names);
  return std::make_unique<ModelsSearch>(std::move(owned), std::move(models), names);
}

template std::unique_ptr<FamilySearch> make_models_search(const Context&, const Dataset<float>&, SearchSpace&,
                                                          const SearchOptions&, std::vector<std::string>&);
template std::unique_ptr<FamilySearch> make_models_search(const Context&, const Dataset<double>&, SearchSpace&,
                                                          const SearchOptions&, std::vector<std::string>&);

}  // namespace sheaf::engine
