// Linear models, elastic nets and generalised linear models as models of any family.
#include <fmt/ranges.h>

#include <sheaf/solvers/elastic_net.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/linear.hpp>
#include <sheaf/solvers/losses.hpp>

#include "family/family.hpp"
#include "linear/family/summary.hpp"
#include "linear/model/formats.hpp"
#include "linear/model/problem.hpp"

namespace sheaf {
namespace {

class TrainedLinear : public TrainedModelOf<TrainedLinear, LinearModel> {
 public:
  using TrainedModelOf::TrainedModelOf;

  std::string_view family() const override { return model_.net ? "elastic-net" : model_.glm ? "glm" : "linear"; }
  std::vector<std::string> target_names() const override { return model_.target_names; }
  bool is_regression() const override { return model_.is_regression(); }
  ModelTraits traits() const override {
    ModelTraits traits;
    traits.survival = model_.is_survival();
    traits.log_odds = true;
    traits.sums = !model_.glm && !(model_.net && info(net_loss(model_)).net.responds);
    traits.softmax = model_.columns > 1 && (model_.glm || (model_.net && net_loss(model_) == Loss::softmax));
    if (model_.net && info(net_loss(model_)).net.score == Metric::mean_pinball_loss)
      traits.quantile = model_.net->parameter;
    return traits;
  }

  ModelSummary summary(std::int64_t rows) const override { return model_summary(model_, rows); }
  std::string summary_json(std::int64_t rows) const override { return model_summary_json(model_, rows); }
  WeightCovariance covariance() const override { return weight_covariance(model_); }
  LikelihoodFit likelihood() const override {
    if (!model_.glm) return TrainedModel::likelihood();
    const auto& statistics = model_.glm->statistics;
    return {statistics.parameters, statistics.log_likelihood, statistics.deviance, aic(*model_.glm), bic(*model_.glm)};
  }
  LikelihoodRatioTest compare_likelihood(const TrainedModel& other) const override {
    const auto* second = static_cast<const LinearModel*>(other.holds(typeid(LinearModel)));
    if (second == nullptr) return other.compare_likelihood(*this);  // which refuses
    return likelihood_ratio_test(model_, *second);
  }

  std::optional<Coefficients> coefficients() const override {
    Coefficients result;
    const auto columns = static_cast<std::size_t>(model_.columns);
    const auto weights = static_cast<std::size_t>(model_.features) * columns;
    for (std::int64_t j = 0; j < model_.features; ++j) result.feature_names.push_back(model_.feature_name(j));
    for (std::size_t c = 0; c < columns; ++c)
      result.columns.push_back(model_.column_name(static_cast<std::int32_t>(c)));
    result.values.assign(model_.weights.begin(), model_.weights.begin() + static_cast<std::ptrdiff_t>(weights));
    for (std::size_t c = 0; c < columns; ++c)
      result.intercepts.push_back(model_.bias > 0 ? model_.bias * model_.weights[weights + c] : 0.0);
    return result;
  }
  std::unique_ptr<TrainedModel> with_features(std::span<const std::int64_t> features) const override {
    return trained_model(linear::keep_features(model_, features));
  }

  template <class T>
  Predictions predictions(const Context& context, const Dataset<T>& dataset, bool probabilities,
                          std::span<const double> offsets) const {
    return predict_linear(context, model_, dataset, probabilities, offsets);
  }
  double products_per_value() const override { return static_cast<double>(model_.columns); }
  std::string prediction_text(const Predictions& predictions, std::size_t row) const override {
    if (!model_.is_regression()) return model_.class_names[static_cast<std::size_t>(predictions.classes[row])];
    const auto columns = static_cast<std::size_t>(predictions.columns);
    return fmt::format("{}", fmt::join(std::span(predictions.decisions).subspan(row * columns, columns), ","));
  }

  void write(ModelWriter& file) const override { linear::write_sheaf_model(file, model_); }
  std::optional<ModelFile> peer_format() const override { return ModelFile::liblinear; }
  std::string peer_text() const override { return linear::format_liblinear_model(model_); }
};

}  // namespace

std::unique_ptr<TrainedModel> trained_model(LinearModel model) {
  return std::make_unique<TrainedLinear>(std::move(model));
}

std::unique_ptr<TrainedModel> trained_model(const LinearModel* model) { return std::make_unique<TrainedLinear>(model); }

}  // namespace sheaf
