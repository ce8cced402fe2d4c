// The rows that determine predictions of a model of neighbours, and the effect of its feature weights.
#include <algorithm>

#include <sheaf/model.hpp>

namespace sheaf {

template <class T>
std::vector<std::vector<DecidingRow>> Model::deciding_rows(const Context& context, const Dataset<T>& dataset,
                                                           std::int64_t most) const {
  std::vector<std::string> warnings;
  const auto aligned = align_features(context, inputs(), dataset, warnings);
  const auto prepared = apply_pipeline(context, pipeline_, aligned);
  return trained_->deciding_rows(context.for_work(prediction_work(prepared, *this)), prepared, most);
}

FeatureWeightsEffect compare_without_weights(const std::vector<std::vector<DecidingRow>>& lists,
                                             const Predictions& with, const Predictions& without) {
  FeatureWeightsEffect effect;
  effect.rows = with.rows;
  for (const auto& list : lists) {
    effect.neighbours += std::ssize(list);
    effect.kept +=
        std::count_if(list.begin(), list.end(), [](const auto& one) { return one.rank_without_weights > 0; });
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(with.rows); ++i)
    if (with.classes.empty() ? with.decisions[i] != without.decisions[i] : with.classes[i] != without.classes[i])
      ++effect.changed;
  return effect;
}

std::optional<Model> Model::without_feature_weights(const Context& context) const {
  auto without = trained_->without_feature_weights(context);
  if (!without) return std::nullopt;
  Model plain(std::move(without));
  plain.pipeline_ = pipeline_;
  plain.calibration_ = calibration_;
  plain.threshold_ = threshold_;
  plain.annotations_ = annotations_;
  return plain;
}

template std::vector<std::vector<DecidingRow>> Model::deciding_rows(const Context&, const Dataset<float>&,
                                                                    std::int64_t) const;
template std::vector<std::vector<DecidingRow>> Model::deciding_rows(const Context&, const Dataset<double>&,
                                                                    std::int64_t) const;

}  // namespace sheaf
