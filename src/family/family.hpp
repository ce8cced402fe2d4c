// The table of families: one row holds everything that other parts of Sheaf need of a family of models. A family is a
// folder with a class that implements Family, and a line in table.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sheaf/context.hpp>
#include <sheaf/dataset.hpp>
#include <sheaf/solvers/model_options.hpp>
#include <sheaf/solvers/trained_model.hpp>

#include "family/search.hpp"

namespace sheaf {

class ModelReader;

/// A dataset as defaults and estimates see it.
struct DataSummary {
  const Target& target;
  const std::string& source;
  const std::vector<std::string>& feature_names;
  std::int64_t rows = 0;
  std::int64_t features = 0;
  std::int64_t stored = 0;  // values that are stored: all of a dense matrix
  std::int64_t bytes = 0;   // of the matrix
  std::span<const float> row_weights = {};
};
template <class T>
DataSummary summary_of(const Dataset<T>& dataset, std::span<const float> row_weights = {}) {
  return {dataset.target,     dataset.source,    dataset.feature_names,   dataset.rows(),
          dataset.features(), stored(dataset.x), matrix_bytes(dataset.x), row_weights};
}

class Family {
 public:
  Family() = default;
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;
  virtual ~Family() = default;

  /// In model files and results: "linear", "svm" ...
  virtual std::string_view name() const = 0;
  /// Heading of its options in help.
  virtual std::string_view section() const = 0;
  /// The kinds of models, by their usual names. The first one's name stands for the family in texts for users.
  virtual std::vector<ModelKind> kinds() const = 0;
  /// In the order in which help shows them.
  virtual std::vector<Parameter<ModelOptions>> parameters() const = 0;
  virtual SizeWords size_words() const { return {}; }

  /// The options with everything that was left open decided. Options that contradict each other, or do not suit the
  /// labels, are a UsageError or an Error.
  virtual ModelOptions with_defaults(ModelOptions options, const DataSummary& data) const = 0;
  /// Estimated work to train some models, precise enough to separate a job for a GPU from one that ends before the GPU
  /// has started.
  virtual WorkEstimate training_work(const ModelOptions& options, const DataSummary& data, double models) const = 0;
  /// The same of all points on `splits` splits of `levels` levels of a nested search.
  virtual WorkEstimate search_work(const SearchSpace& space, const DataSummary& data, double splits,
                                   double levels) const = 0;
  /// Points of a space that is decided.
  virtual std::int64_t points(const SearchSpace& space) const;
  /// Numbers that training keeps for each feature.
  virtual std::int64_t numbers_per_feature() const { return 6; }
  /// Whether models leave some features without a weight.
  virtual bool selects_features(const ModelOptions& /*options*/) const { return false; }
  /// Whether searches take column transforms; else a pipeline copies the dataset for each split.
  virtual bool takes_transforms(const ModelOptions& /*options*/) const { return false; }
  /// Whether the processes of a team can train a model together, each on rows of its own.
  virtual bool shares_rows(const ModelOptions& /*options*/) const { return false; }
  /// Whether models compare features with one another, so that these should have one scale.
  virtual bool wants_scaling(const ModelOptions& /*options*/) const { return false; }
  /// The kinds that a choice among models tries on such data, each with its place in the order from simple to complex.
  virtual std::vector<std::pair<int, std::string>> automatic_kinds(const DataSummary& /*data*/) const { return {}; }
  /// The space of a search whose points are given, so that no property of the dataset is needed, with column
  /// transforms.
  virtual SearchSpace with_known_points(SearchSpace space) const { return space; }

  virtual std::unique_ptr<TrainedModel> train(const Context& context, const Dataset<float>& dataset,
                                              const ModelOptions& options,
                                              std::span<const float> row_weights) const = 0;
  virtual std::unique_ptr<TrainedModel> train(const Context& context, const Dataset<double>& dataset,
                                              const ModelOptions& options,
                                              std::span<const float> row_weights) const = 0;
  /// Fills in the values to try that were left open.
  virtual engine::FamilyTraits decide(const Dataset<float>& dataset, SearchSpace& space,
                                      std::span<const float> row_weights) const = 0;
  virtual engine::FamilyTraits decide(const Dataset<double>& dataset, SearchSpace& space,
                                      std::span<const float> row_weights) const = 0;
  /// A search over a dataset; both arguments must outlive it.
  virtual std::unique_ptr<engine::FamilySearch> search(const Context& context, const Dataset<float>& dataset,
                                                       const SearchSpace& space,
                                                       const engine::TrainingOptions& options) const = 0;
  virtual std::unique_ptr<engine::FamilySearch> search(const Context& context, const Dataset<double>& dataset,
                                                       const SearchSpace& space,
                                                       const engine::TrainingOptions& options) const = 0;

  /// A model without weights or rows.
  virtual std::unique_ptr<TrainedModel> empty_model() const = 0;
  /// See Model::withhold_tests(). Nothing for families without tests.
  virtual void withhold_tests(TrainedModel& /*model*/) const {}
  /// The lines of a model file behind the pipeline.
  virtual std::unique_ptr<TrainedModel> read(ModelReader& reader) const = 0;
  /// The format of the program that the family stands in for.
  virtual std::optional<ModelFile> peer_format() const { return std::nullopt; }
  /// The first word of such a file; empty: there is none.
  virtual std::string_view peer_word() const { return {}; }
  virtual std::unique_ptr<TrainedModel> read_peer(ModelReader& reader) const;
  /// Whether that format can hold models of these options and labels, before one is trained; else an Error.
  virtual void check_peer_format(const ModelOptions& /*options*/, const Target& /*target*/) const {}
  /// Warnings about the data, to be shown before training.
  virtual std::vector<std::string> warnings_before(const Context& /*context*/, const Dataset<float>& /*dataset*/,
                                                   const ModelOptions& /*options*/) const {
    return {};
  }
  virtual std::vector<std::string> warnings_before(const Context& /*context*/, const Dataset<double>& /*dataset*/,
                                                   const ModelOptions& /*options*/) const {
    return {};
  }
  /// Whether models without a penalty have a likelihood, and their weights a covariance.
  virtual bool has_likelihood() const { return false; }
};

/// Models whose rows the context's team cannot share are a UsageError.
void check_rows_shared(const Context& context, const ModelOptions& options);

/// All of them, in the order in which help shows them.
std::span<const Family* const> families();
/// Adds a family of a program's own, which must live as long as the program. Before anything else uses the table.
void add_family(const Family& family);
/// The kinds whose families have a likelihood: "glm and multinomial".
std::string kinds_with_likelihood();
/// nullptr: there is no such family.
const Family* find_family(std::string_view name);

/// Implements Family's pairs of functions by one template each, for a family whose options are `Options`. `Row` has
/// decide_space() over Dataset<T>; `learn`, a function that trains the struct of a model, or its own train_model(); and
/// Search<T>, a FamilySearch, or its own make_search().
template <class Row, class Options>
class FamilyRow : public Family {
 public:
  std::vector<Parameter<ModelOptions>> parameters() const override;
  std::unique_ptr<TrainedModel> train(const Context& context, const Dataset<float>& dataset,
                                      const ModelOptions& options, std::span<const float> row_weights) const override {
    return row().train_model(context, dataset, options.get<Options>(), row_weights);
  }
  std::unique_ptr<TrainedModel> train(const Context& context, const Dataset<double>& dataset,
                                      const ModelOptions& options, std::span<const float> row_weights) const override {
    return row().train_model(context, dataset, options.get<Options>(), row_weights);
  }
  engine::FamilyTraits decide(const Dataset<float>& dataset, SearchSpace& space,
                              std::span<const float> row_weights) const override {
    return row().decide_space(dataset, space, row_weights);
  }
  engine::FamilyTraits decide(const Dataset<double>& dataset, SearchSpace& space,
                              std::span<const float> row_weights) const override {
    return row().decide_space(dataset, space, row_weights);
  }
  std::unique_ptr<engine::FamilySearch> search(const Context& context, const Dataset<float>& dataset,
                                               const SearchSpace& space,
                                               const engine::TrainingOptions& options) const override {
    return row().make_search(context, dataset, space, options);
  }
  std::unique_ptr<engine::FamilySearch> search(const Context& context, const Dataset<double>& dataset,
                                               const SearchSpace& space,
                                               const engine::TrainingOptions& options) const override {
    return row().make_search(context, dataset, space, options);
  }

  template <class T>
  std::unique_ptr<TrainedModel> train_model(const Context& context, const Dataset<T>& dataset, const Options& options,
                                            std::span<const float> row_weights) const {
    return trained_model(Row::learn(context, dataset, options, row_weights));
  }
  template <class T>
  std::unique_ptr<engine::FamilySearch> make_search(const Context& context, const Dataset<T>& dataset,
                                                    const SearchSpace& space,
                                                    const engine::TrainingOptions& options) const {
    return std::make_unique<typename Row::template Search<T>>(context, dataset, space, options);
  }

 protected:
  static ModelKind kind(std::string name, std::string about, Options options) {
    ModelKind result{std::move(name), {}, std::move(about), std::move(options)};
    result.options.set_kind(result.name);
    return result;
  }

 private:
  const Row& row() const { return static_cast<const Row&>(*this); }
};

/// A row of a family's own options as one of any model's.
template <class Options>
Parameter<ModelOptions> any_row(const Parameter<Options>& own) {
  Parameter<ModelOptions> row{own.name, own.value, own.help, own.default_text, own.choices, {}};
  row.set = [set = own.set](ModelOptions& options, std::string_view text) { set(options.get<Options>(), text); };
  if (own.get) row.get = [get = own.get](const ModelOptions& options) { return get(options.get<Options>()); };
  row.type = own.type;
  row.low = own.low;
  row.high = own.high;
  row.use = own.use;
  row.kinds = own.kinds;
  row.list = own.list;
  if (own.vector) {
    row.vector.emplace();
    row.vector->per_row = own.vector->per_row;
    row.vector->read = own.vector->read;
    row.vector->set = [set = own.vector->set](ModelOptions& options, std::vector<double> numbers) {
      set(options.get<Options>(), std::move(numbers));
    };
    row.vector->get = [get = own.vector->get](const ModelOptions& options) { return get(options.get<Options>()); };
  }
  return row;
}

template <class Row, class Options>
std::vector<Parameter<ModelOptions>> FamilyRow<Row, Options>::parameters() const {
  std::vector<Parameter<ModelOptions>> rows;
  for (const auto& own : sheaf::parameters<Options>()) rows.push_back(any_row(own));
  return rows;
}

/// Implements a family's trained model over its own struct, as far as all structs are alike. `Derived` is the class.
template <class Derived, class M>
class TrainedModelOf : public TrainedModel {
 public:
  explicit TrainedModelOf(M model) : own_(std::move(model)), model_(own_) {}
  /// The model must outlive this object.
  explicit TrainedModelOf(const M* model) : model_(*model) {}
  std::int64_t features() const override { return model_.features; }
  const std::vector<std::string>& feature_names() const override { return model_.feature_names; }
  const std::vector<std::string>& class_names() const override { return model_.class_names; }
  bool has_probabilities() const override { return model_.has_probabilities(); }
  std::vector<std::string> warnings() const override { return warnings_of(model_); }
  Predictions predict(const Context& context, const Dataset<float>& dataset, bool probabilities,
                      std::span<const double> offsets) const override {
    return static_cast<const Derived&>(*this).predictions(context, dataset, probabilities, offsets);
  }
  Predictions predict(const Context& context, const Dataset<double>& dataset, bool probabilities,
                      std::span<const double> offsets) const override {
    return static_cast<const Derived&>(*this).predictions(context, dataset, probabilities, offsets);
  }
  std::optional<Score> score(const Predictions& predictions, const Target& target) const override {
    return score_of(model_, predictions, target);
  }
  const void* holds(const std::type_info& type) const override { return type == typeid(M) ? &model_ : nullptr; }
  void* owns(const std::type_info& type) override { return type == typeid(M) && &model_ == &own_ ? &own_ : nullptr; }

 private:
  M own_;

 protected:
  const M& model_;
};

/// For families that predict without offsets.
void refuse_offsets(std::span<const double> offsets);

}  // namespace sheaf
