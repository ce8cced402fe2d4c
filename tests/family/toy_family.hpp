// A whole family of models in one file, added from outside: the mean of the target, moved towards 0 by a share that a
// search finds. Training, prediction, files, searches and settings by name work without another line anywhere.
#pragma once

#include <numeric>

#include <sheaf/model.hpp>
#include <sheaf/search.hpp>

#include "data/parameter_rows.hpp"
#include "data/text/model_file.hpp"
#include "family/family.hpp"
#include "family/summary.hpp"
#include "family/values.hpp"

namespace sheaf::toy {

struct MeanOptions {
  double shrink = 0;
  std::vector<double> offsets;
};

struct MeanModel {
  std::int64_t features = 0;
  std::vector<std::string> feature_names, class_names;
  double mean = 0;
  bool has_probabilities() const { return false; }
};
inline std::vector<std::string> warnings_of(const MeanModel& /*model*/) { return {}; }
inline std::optional<Score> score_of(const MeanModel& /*model*/, const Predictions& predictions, const Target& target) {
  return score_values(predictions.decisions, target.values);
}

class TrainedMean : public TrainedModelOf<TrainedMean, MeanModel> {
 public:
  using TrainedModelOf::TrainedModelOf;
  std::string_view family() const override { return "toy"; }
  bool is_regression() const override { return true; }
  template <class T>
  Predictions predictions(const Context& /*context*/, const Dataset<T>& dataset, bool /*probabilities*/,
                          std::span<const double> offsets) const {
    refuse_offsets(offsets);
    Predictions result;
    result.rows = dataset.rows();
    result.decisions.assign(static_cast<std::size_t>(result.rows), model_.mean);
    return result;
  }
  double products_per_value() const override { return 0; }
  ModelSummary summary(std::int64_t rows) const override {
    return {{shape_text(rows, model_.features, 0), fmt::format("the mean, {:.6g}", model_.mean)}, {}, {}};
  }
  std::string prediction_text(const Predictions& predictions, std::size_t row) const override {
    return fmt::format("{}", predictions.decisions[row]);
  }
  void write(ModelWriter& file) const override {
    file.text() += fmt::format("features {}\nmean {}\n", model_.features, model_.mean);
  }
};

inline std::unique_ptr<TrainedModel> trained_model(MeanModel model) {
  return std::make_unique<TrainedMean>(std::move(model));
}
inline std::unique_ptr<TrainedModel> trained_model(const MeanModel* model) {
  return std::make_unique<TrainedMean>(model);
}

inline double mean_of(const std::vector<double>& values, const auto& weight_of) {
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += weight_of(i) * values[i];
    weights += weight_of(i);
  }
  return sum / weights;
}

template <class T>
class MeanSearch : public engine::FamilySearch {
 public:
  MeanSearch(const Dataset<T>& dataset, const SearchSpace& space)
      : dataset_(dataset),
        labels_(make_labels(dataset.target, dataset.source, dataset.rows(), true, "")),
        space_(engine::product_space({{"shrink", "shrink"}}, {space.numbers("shrink")})) {}
  const Labels& labels() const override { return labels_; }
  std::string title() const override { return "the mean"; }
  bool has_probabilities() const override { return false; }
  const engine::Space& space() const override { return space_; }
  std::int32_t tasks() const override { return 1; }
  engine::BatchLimits limits(const Context& context, const engine::SplitCounts& splits) const override {
    return {context.memory(), 100, splits.all, false};
  }
  std::vector<double> complexity(const Point& point, double /*size*/) const override { return {-point.front()}; }
  std::unique_ptr<engine::Trainer> trainer(const Context& context) const override {
    return std::make_unique<OnDevice>(*this, context);
  }
  std::unique_ptr<TrainedModel> refit(const Context& /*context*/, const Point& point) const override {
    const double mean = mean_of(labels_.values, [](std::size_t) { return 1.0; });
    return trained_model(MeanModel{dataset_.features(), {}, {}, mean * (1 - point.front())});
  }
  std::string failure(const TaskFit& /*fit*/) const override { return {}; }

 private:
  class OnDevice : public engine::Trainer {
   public:
    OnDevice(const MeanSearch& search, const Context& context) : search_(search), context_(context) {}
    void load(const engine::SplitTable& table) override { table_ = &table; }
    std::vector<ModelScores> train(std::span<const engine::Job> jobs, bool /*chosen*/) override {
      std::vector<ModelScores> result;
      for (const auto& job : jobs) {
        const auto splits = table_->splits.size();
        const double mean = mean_of(search_.labels_.values, [&](std::size_t i) {
          return static_cast<double>(table_->weights[i * splits + static_cast<std::size_t>(job.split)]);
        });
        const auto tests = table_->tests.list(job.split);
        Block<double> values(std::ssize(tests), 1);
        for (std::int64_t i = 0; i < values.rows(); ++i) values(i, 0) = mean * (1 - job.point->front());
        result.push_back(std::move(engine::score_rows(context_, engine::labels_of(search_.labels_, tests), values,
                                                      Block<std::int32_t>(values.rows(), 0), false)
                                       .front()));
      }
      return result;
    }

   private:
    const MeanSearch& search_;
    const Context& context_;
    const engine::SplitTable* table_ = nullptr;
  };

  const Dataset<T>& dataset_;
  Labels labels_;
  engine::Space space_;
};

const Family& toy_family();
inline const Family& family_of(const MeanOptions& /*options*/) { return toy_family(); }

}  // namespace sheaf::toy

namespace sheaf {

template <>
inline const std::vector<Parameter<toy::MeanOptions>>& parameters() {
  using O = toy::MeanOptions;
  static const std::vector<Parameter<O>> rows{
      searched(number_row("shrink", &O::shrink, {0, 1}, "the share that is taken off"), "shares to try", "0,0.5",
               list_reader<double>("shrink", {0, 1})),
      vector_row<O>("offset", "one number to a line",
                    {true,
                     {},
                     [](O& options, std::vector<double> numbers) { options.offsets = std::move(numbers); },
                     [](const O& options) { return options.offsets; }}),
  };
  return rows;
}

}  // namespace sheaf

namespace sheaf::toy {

class ToyRow : public FamilyRow<ToyRow, MeanOptions> {
 public:
  std::string_view name() const override { return "toy"; }
  std::string_view section() const override { return "The mean (--model mean)"; }
  std::vector<ModelKind> kinds() const override { return {kind("mean", "the mean of the target", MeanOptions{})}; }
  ModelOptions with_defaults(ModelOptions options, const DataSummary& /*data*/) const override { return options; }
  WorkEstimate training_work(const ModelOptions&, const DataSummary&, double) const override { return {}; }
  WorkEstimate search_work(const SearchSpace&, const DataSummary&, double, double) const override { return {}; }
  template <class T>
  std::unique_ptr<TrainedModel> train_model(const Context&, const Dataset<T>& dataset, const MeanOptions& options,
                                            std::span<const float> weights) const {
    const auto weight_of = [&](std::size_t i) { return weights.empty() ? 1.0 : static_cast<double>(weights[i]); };
    return trained_model(
        MeanModel{dataset.features(), {}, {}, mean_of(dataset.target.values, weight_of) * (1 - options.shrink)});
  }
  template <class T>
  engine::FamilyTraits decide_space(const Dataset<T>&, SearchSpace& space, std::span<const float>) const {
    if (space["shrink"].empty()) space["shrink"] = {0, 0.5};
    return {true, false, Metric::rmse, Strategy::grid, "the mean"};
  }
  template <class T>
  std::unique_ptr<engine::FamilySearch> make_search(const Context&, const Dataset<T>& dataset, const SearchSpace& space,
                                                    const engine::TrainingOptions&) const {
    return std::make_unique<MeanSearch<T>>(dataset, space);
  }
  std::unique_ptr<TrainedModel> empty_model() const override { return trained_model(MeanModel()); }
  std::unique_ptr<TrainedModel> read(ModelReader& reader) const override {
    MeanModel model;
    number_line(reader, "features", model.features, 0);
    number_line(reader, "mean", model.mean);
    return trained_model(model);
  }
};

inline const Family& toy_family() {
  static const ToyRow row;
  return row;
}

}  // namespace sheaf::toy
