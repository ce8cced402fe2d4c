// What chosen models predict, how their curves run, and what they weigh, as CSV.
#include <fmt/format.h>

#include <sheaf/report.hpp>

#include "report/csv_text.hpp"

namespace sheaf {
namespace {

void add_curve(std::string_view name, std::size_t split, const std::vector<double>& curve, std::string& text) {
  for (std::size_t k = 0; k < curve.size(); ++k)
    text += fmt::format("{},{},{},{}\n", name, split + 1,
                        static_cast<double>(k) / static_cast<double>(curve.size() - 1), curve[k]);
}

/// The chosen models: those of the outer folds where there are any, else those of the splits.
std::vector<const ModelScores*> chosen_models(const SearchResult& r) {
  std::vector<const ModelScores*> models;
  for (const auto& fold : r.outer) models.push_back(&fold.scores);
  if (!models.empty() || r.level.points.empty()) return models;
  const auto splits = static_cast<std::size_t>(r.splits);
  for (std::size_t s = 0; s < splits; ++s) models.push_back(&r.level.models[r.level.chosen.chosen * splits + s]);
  return models;
}

std::string class_name(const SearchResult& r, std::int32_t c) {
  return csv_field(r.class_names[static_cast<std::size_t>(c)]);
}

}  // namespace

std::string predictions_csv(const SearchResult& r) {
  const auto& found = *r.held_out;
  const bool classes = !r.class_names.empty();
  const auto columns = static_cast<std::size_t>(found.columns);
  const auto names = r.class_names.size();
  std::string text = "row,split,truth,prediction";
  for (std::size_t c = 0; c < columns && classes; ++c)
    text += columns == 1       ? ',' + csv_field("decision for " + r.class_names[0])
            : columns == names ? ',' + csv_field("decision for " + r.class_names[c])
                               : fmt::format(",decision {}", c + 1);
  for (std::size_t c = 0; c < names && !found.probabilities.empty(); ++c)
    text += ',' + csv_field("probability of " + r.class_names[c]);
  text += '\n';
  for (std::size_t i = 0; i < found.size(); ++i) {
    text += fmt::format("{},{},", found.rows[i] + 1, found.splits[i] + 1);
    text += classes ? fmt::format("{},{}", class_name(r, found.truth[i]), class_name(r, found.classes[i]))
                    : fmt::format("{},{}", found.values[i], found.decisions[i]);
    for (std::size_t c = 0; c < columns && classes; ++c) text += fmt::format(",{}", found.decisions[i * columns + c]);
    for (std::size_t c = 0; c < names && !found.probabilities.empty(); ++c)
      text += fmt::format(",{}", found.probabilities[i * names + c]);
    text += '\n';
  }
  return text;
}

std::string curves_csv(const SearchResult& r) {
  std::string text;
  const auto models = chosen_models(r);
  for (std::size_t s = 0; s < models.size(); ++s) {
    add_curve("roc", s, models[s]->roc, text);
    add_curve("precision-recall", s, models[s]->precision_recall, text);
  }
  return text.empty() ? text : "curve,split,x,y\n" + text;
}

std::string coefficients_csv(const Model& model) {
  const auto weights = *model.coefficients();
  std::string text = "feature";
  for (const auto& column : weights.columns)
    text += ',' + csv_field(column.empty() ? std::string("weight") : "weight for " + column);
  text += '\n';
  const auto columns = weights.columns.size();
  for (std::size_t j = 0; j < weights.feature_names.size(); ++j) {
    text += csv_field(weights.feature_names[j]);
    for (std::size_t c = 0; c < columns; ++c) text += fmt::format(",{}", weights.values[j * columns + c]);
    text += '\n';
  }
  text += "(intercept)";
  for (const double intercept : weights.intercepts) text += fmt::format(",{}", intercept);
  return text + '\n';
}

}  // namespace sheaf
