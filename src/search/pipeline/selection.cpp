#include "search/pipeline/selection.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "family/family.hpp"
#include "pipeline/learn.hpp"
#include "pipeline/split_selection.hpp"

namespace sheaf::engine {
namespace {

/// Models are trained together as long as they select so many times the features of one of them: features that a model
/// has as 0 cost it as much as others.
constexpr std::size_t widest = 4;

/// The features that the models of a split see, at one of the counts.
struct View {
  std::int32_t split = 0;  // column of the loaded table
  std::int64_t count = 0;
  auto operator<=>(const View&) const = default;
};

template <class T>
class SelectionTrainer : public Trainer {
 public:
  SelectionTrainer(const Context& context, const SelectionSetup<T>& setup, MoveWeights<T> move_weights)
      : context_(context),
        setup_(setup),
        search_(setup.search.options.family().with_known_points(setup.search)),
        scaling_{.scale = setup.pipeline.scale},
        move_weights_(std::move(move_weights)) {}

  void load(const SplitTable& table) override {
    table_ = &table;
    const auto splits = table.splits.size();
    const auto draws = table.draws(setup_.options.row_weights);
    std::vector<Draws> keys(splits);
    std::vector<std::size_t> fresh;
    for (std::size_t s = 0; s < splits; ++s) {
      for (std::size_t k = s; k < draws.size(); k += splits) keys[s].push_back(static_cast<std::uint16_t>(draws[k]));
      if (known_.try_emplace(keys[s]).second) fresh.push_back(s);
    }
    if (!fresh.empty()) {
      std::vector<float> drawn;
      for (std::size_t row = 0; row < draws.size(); row += splits)
        for (const auto s : fresh) drawn.push_back(draws[row + s]);
      auto ranked = pipeline::rank_splits(context_, *setup_.dataset, drawn, static_cast<std::int32_t>(fresh.size()),
                                          setup_.pipeline);
      for (std::size_t k = 0; k < fresh.size(); ++k) known_[keys[fresh[k]]] = std::move(ranked[k]);
    }
    ranked_.clear();
    for (const auto& key : keys) ranked_.push_back(&known_.at(key));
  }

  std::vector<ModelScores> train(std::span<const Job> jobs, bool chosen) override {
    std::map<View, std::vector<std::size_t>> members;
    for (std::size_t k = 0; k < jobs.size(); ++k)
      members[{jobs[k].split, setup_.counts.of(*jobs[k].point)}].push_back(k);
    std::vector<ModelScores> result(jobs.size());
    std::vector<View> together;
    std::set<std::int64_t> features;
    std::size_t most = 1;  // selected features of any view
    const auto train_all = [&] {
      if (!together.empty()) train_views(jobs, together, {features.begin(), features.end()}, members, chosen, result);
      together.clear();
      features.clear();
    };
    for (const auto& [view, of_view] : members) {
      const auto selected = selected_by(view);
      auto wider = features;
      wider.insert(selected.begin(), selected.end());
      most = std::max(most, selected.size());
      if (wider.size() > widest * most) {
        train_all();
        wider = {selected.begin(), selected.end()};
      }
      features = std::move(wider);
      together.push_back(view);
    }
    train_all();
    return result;
  }

 private:
  using Draws = std::vector<std::uint16_t>;  // how often a split draws each row

  std::span<const std::int64_t> selected_by(const View& view) const {
    const auto& ranked = *ranked_[static_cast<std::size_t>(view.split)];
    return std::span(ranked).first(std::min(ranked.size(), static_cast<std::size_t>(view.count)));
  }

  /// `features`: those that any of the views selected, ascending.
  void train_views(std::span<const Job> jobs, const std::vector<View>& views, const std::vector<std::int64_t>& features,
                   const std::map<View, std::vector<std::size_t>>& members, bool chosen,
                   std::vector<ModelScores>& result) const {
    const auto dataset = take_features(*setup_.dataset, features, context_.threads());
    std::vector<std::size_t> columns;
    for (const auto& view : views) columns.push_back(static_cast<std::size_t>(view.split));
    const auto table = take_splits(*table_, columns);
    const auto family = make_search(context_, dataset, search_, setup_.options);
    const auto trainer = family->trainer(context_);
    load_views(dataset, table, views, features, *trainer);
    std::vector<Point> points;
    std::vector<std::pair<std::size_t, std::int32_t>> places;  // job and view
    for (std::size_t v = 0; v < views.size(); ++v)
      for (const auto k : members.at(views[v])) {
        points.push_back(setup_.counts.own_part(*jobs[k].point));
        places.emplace_back(k, static_cast<std::int32_t>(v));
      }
    std::vector<Job> own;
    for (std::size_t p = 0; p < points.size(); ++p) own.push_back({&points[p], places[p].second});
    auto scores = trainer->train(own, chosen);
    for (std::size_t p = 0; p < points.size(); ++p) {
      move_weights_(dataset, scores[p]);
      result[places[p].first] = std::move(scores[p]);
    }
  }

  void load_views(const Dataset<T>& dataset, const SplitTable& table, const std::vector<View>& views,
                  std::span<const std::int64_t> features, Trainer& trainer) const {
    const bool all_alike = std::all_of(views.begin(), views.end(),
                                       [&](const View& view) { return selected_by(view).size() == features.size(); });
    if (all_alike && !scaling_.scale) return trainer.load(table);
    const auto size = features.size() * views.size();
    ColumnTransforms transforms{static_cast<std::int32_t>(views.size()), std::vector<double>(size),
                                std::vector<double>(size, 1.0)};
    if (scaling_.scale)
      transforms = pipeline::learn_transforms(context_, dataset, table.draws(setup_.options.row_weights),
                                              transforms.splits, scaling_);
    for (std::size_t v = 0; v < views.size(); ++v) {
      const auto selected = selected_by(views[v]);
      const std::set<std::int64_t> seen(selected.begin(), selected.end());
      for (std::size_t j = 0; j < features.size(); ++j)
        if (!seen.contains(features[j]))
          transforms.shifts[j * views.size() + v] = transforms.factors[j * views.size() + v] = 0;
    }
    trainer.load_transformed(table, std::move(transforms));
  }

  const Context& context_;
  const SelectionSetup<T>& setup_;
  SearchSpace search_;
  PipelineOptions scaling_;  // alone
  MoveWeights<T> move_weights_;
  const SplitTable* table_ = nullptr;
  std::map<Draws, std::vector<std::int64_t>> known_;      // of all splits so far: features, best first
  std::vector<const std::vector<std::int64_t>*> ranked_;  // of the loaded ones
};

}  // namespace

SplitTable take_splits(const SplitTable& table, std::span<const std::size_t> places) {
  const auto columns = table.splits.size();
  const auto classes = table.class_counts.size() / columns;
  SplitTable some;
  for (const auto place : places) {
    some.splits.push_back(table.splits[place]);
    const auto counts = table.class_counts.begin() + static_cast<std::ptrdiff_t>(place * classes);
    some.class_counts.insert(some.class_counts.end(), counts, counts + static_cast<std::ptrdiff_t>(classes));
    const auto rows = table.tests.rows.begin();
    const auto& begins = table.tests.begins;
    some.tests.rows.insert(some.tests.rows.end(), rows + begins[place], rows + begins[place + 1]);
    some.tests.begins.push_back(std::ssize(some.tests.rows));
  }
  some.weights.reserve(table.weights.size() / columns * places.size());
  for (std::size_t row = 0; row < table.weights.size(); row += columns)
    for (const auto place : places) some.weights.push_back(table.weights[row + place]);
  return some;
}

template <class T>
std::unique_ptr<Trainer> make_selection_trainer(const Context& context, const SelectionSetup<T>& setup,
                                                MoveWeights<T> move_weights) {
  return std::make_unique<SelectionTrainer<T>>(context, setup, std::move(move_weights));
}

template std::unique_ptr<Trainer> make_selection_trainer(const Context&, const SelectionSetup<float>&,
                                                         MoveWeights<float>);
template std::unique_ptr<Trainer> make_selection_trainer(const Context&, const SelectionSetup<double>&,
                                                         MoveWeights<double>);

}  // namespace sheaf::engine
