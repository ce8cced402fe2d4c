// Predictions, curves and weights of chosen models, as CSV.
#include <cmath>

#include <fmt/format.h>

#include <sheaf/report.hpp>
#include <sheaf/solvers/glm.hpp>

#include "core/fail.hpp"
#include "report/annotation_columns.hpp"
#include "report/held_out.hpp"
#include "report/search_charts.hpp"

namespace sheaf {
namespace {

void add_curve(std::string_view name, std::size_t split, const std::vector<double>& curve, std::string& text) {
  for (std::size_t k = 0; k < curve.size(); ++k)
    text += fmt::format("{},{},{},{}\n", name, split + 1,
                        static_cast<double>(k) / static_cast<double>(curve.size() - 1), curve[k]);
}

/// The chosen models: those of the outer folds if there are any, else those of the splits.
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
  const auto targets = r.target_names.size();
  std::string text = "row,split";
  for (const auto& name : r.target_names)
    text += ',' + csv_field("truth of " + name) + ',' + csv_field("prediction of " + name);
  if (targets == 0) text += ",truth,prediction";
  for (std::size_t c = 0; c < columns && classes; ++c) text += ',' + csv_field("decision for " + r.class_names[c]);
  for (std::size_t c = 0; c < names && !found.probabilities.empty(); ++c)
    text += ',' + csv_field("probability of " + r.class_names[c]);
  if (!found.by_threshold.empty()) text += ",prediction by threshold";
  text += '\n';
  for (std::size_t i = 0; i < found.size(); ++i) {
    text += fmt::format("{},{}", found.rows[i] + 1, found.splits[i] + 1);
    if (classes) text += fmt::format(",{},{}", class_name(r, found.truth[i]), class_name(r, found.classes[i]));
    for (std::size_t e = i * columns; e < (i + 1) * columns && !classes; ++e)
      text += fmt::format(",{},{}", found.values[e], found.decisions[e]);
    for (std::size_t c = 0; c < columns && classes; ++c) text += fmt::format(",{}", found.decisions[i * columns + c]);
    for (std::size_t c = 0; c < names && !found.probabilities.empty(); ++c)
      text += fmt::format(",{}", found.probabilities[i * names + c]);
    if (!found.by_threshold.empty()) text += ',' + class_name(r, found.by_threshold[i]);
    text += '\n';
  }
  return text;
}

std::string stack_csv(const SearchResult& r) {
  if (!r.stack) return {};
  const auto& members = r.stack->held_out;
  const auto& first = members.front();
  const bool classes = !r.class_names.empty();
  const auto width = classes ? r.class_names.size() : static_cast<std::size_t>(first.columns);
  std::string text = "row,split";
  if (r.target_names.empty()) text += ",truth";
  for (const auto& name : r.target_names) text += ',' + csv_field("truth of " + name);
  for (const auto& point : r.stack->all.members)
    for (std::size_t c = 0; c < width; ++c) {
      const auto what = classes                  ? "probability of " + r.class_names[c]
                        : r.target_names.empty() ? std::string("prediction")
                                                 : "prediction of " + r.target_names[c];
      text += ',' + csv_field(r.model_of(point)->candidate.name + ": " + what);
    }
  text += '\n';
  for (std::size_t i = 0; i < first.size(); ++i) {
    text += fmt::format("{},{}", first.rows[i] + 1, first.splits[i] + 1);
    if (classes) text += ',' + class_name(r, first.truth[i]);
    for (std::size_t c = 0; c < width && !classes; ++c) text += fmt::format(",{}", first.values[i * width + c]);
    for (const auto& member : members)
      for (std::size_t c = 0; c < width; ++c)
        text += fmt::format(",{}", (classes ? member.probabilities : member.decisions)[i * width + c]);
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

std::string confusion_csv(const SearchResult& r) {
  std::string text;
  const auto models = chosen_models(r);
  const auto classes = static_cast<std::int32_t>(r.class_names.size());
  for (std::size_t s = 0; s < models.size(); ++s)
    for (std::int32_t k = 0; k < static_cast<std::int32_t>(models[s]->confusion.size()); ++k)
      if (const auto count = models[s]->confusion[static_cast<std::size_t>(k)]; count > 0)
        text += fmt::format("{},{},{},{}\n", s + 1, class_name(r, k / classes), class_name(r, k % classes), count);
  return text.empty() ? text : "split,truth,prediction,rows\n" + text;
}

std::string reliability_csv(const SearchResult& r) {
  const auto bins = report::reliability_of(r);
  if (bins.empty()) return {};
  std::string text = "low,high,rows,mean_probability,share_true\n";
  for (const auto& bin : bins) {
    text += fmt::format("{},{},{}", bin.low, bin.high, bin.rows);
    text += bin.rows > 0 ? fmt::format(",{},{}\n", bin.probability, bin.share) : ",,\n";
  }
  return text;
}

std::string learning_curve_csv(const SearchResult& r) {
  const auto& curve = *r.learning_curve;
  std::string text = "share,split,rows,scored_on";
  for (const auto metric : r.metrics) text += fmt::format(",{}", info(metric).name);
  text += '\n';
  const auto splits = static_cast<std::size_t>(r.splits);
  for (std::size_t k = 0; k < curve.rows.size(); ++k)
    for (const bool training : {true, false}) {
      const auto& model = training ? curve.training[k] : curve.held_out[k];
      text += fmt::format("{},{},{},{}", curve.shares[k / splits], k % splits + 1, curve.rows[k],
                          training ? "training rows" : "held-out rows");
      for (const auto metric : r.metrics)
        text += std::isfinite(model.score(metric)) ? fmt::format(",{}", model.score(metric)) : ",";
      text += '\n';
    }
  return text;
}

std::string importance_csv(const SearchResult& r) {
  std::string text =
      fmt::format("feature,importance,standard_deviation{}\n", report::annotation_heading(r.annotations));
  for (const auto& feature : r.importance)
    text += fmt::format("{},{},{}{}\n", csv_field(feature.name), feature.drop.mean, feature.drop.standard_deviation,
                        report::annotation_fields(r.annotations, feature.name));
  return text;
}

std::string path_csv(const SearchResult& r) {
  std::string text = fmt::format("feature{},alpha,weight,standardised_weight{}\n",
                                 r.columns == 1          ? ""
                                 : r.class_names.empty() ? ",target"
                                                         : ",class",
                                 report::annotation_heading(r.annotations));
  for (std::int32_t c = 0; c < r.columns; ++c) {
    const auto column = r.columns == 1 ? "" : "," + csv_field(r.column_name(c));
    for (const auto& line : report::weight_paths(r, static_cast<std::size_t>(c)))
      for (std::size_t a = 0; a < r.path.size(); ++a)
        text += fmt::format("{}{},{},{},{}{}\n", csv_field(line.name), column, r.path[a].alpha, line.weights[a],
                            line.effects[a], report::annotation_fields(r.annotations, line.name));
  }
  return text;
}

std::string covariance_csv(const WeightCovariance& covariance) {
  const auto& names = covariance.names;
  std::string text = "weight";
  for (const auto& name : names) text += ',' + csv_field(name);
  text += '\n';
  for (std::size_t e = 0; e < covariance.values.size(); ++e) {
    const auto column = e % names.size();
    if (column == 0) text += csv_field(names[e / names.size()]);
    const double value = covariance.values[e];
    text += std::isnan(value) ? ",NA" : fmt::format(",{}", value);
    if (column + 1 == names.size()) text += '\n';
  }
  return text;
}

std::string coefficients_csv(const Model& model, std::span<const double> standard_deviations) {
  const auto weights = *model.coefficients();
  const auto columns = weights.columns.size();
  const bool scaled = !weights.unscaled_values.empty();
  std::string text = "feature";
  const auto heading = [&](const std::string& what) {
    for (const auto& column : weights.columns) text += ',' + csv_field(column.empty() ? what : what + " for " + column);
  };
  heading("weight");
  if (!standard_deviations.empty()) heading("standardised weight");
  if (scaled) heading("weight before scaling");
  text += report::annotation_heading(model.annotations()) + '\n';
  for (std::size_t j = 0; j < weights.feature_names.size(); ++j) {
    text += csv_field(weights.feature_names[j]);
    const auto* own = &weights.values[j * columns];
    for (std::size_t c = 0; c < columns; ++c) text += fmt::format(",{}", own[c]);
    for (std::size_t c = 0; c < columns && !standard_deviations.empty(); ++c)
      text += fmt::format(",{}", own[c] * standard_deviations[j]);
    for (std::size_t c = 0; c < columns && scaled; ++c)
      text += fmt::format(",{}", weights.unscaled_values[j * columns + c]);
    text += report::annotation_fields(model.annotations(), weights.feature_names[j]) + '\n';
  }
  text += "(intercept)";
  for (const double intercept : weights.intercepts) text += fmt::format(",{}", intercept);
  if (!standard_deviations.empty()) text.append(columns, ',');
  for (const double intercept : weights.unscaled_intercepts) text += fmt::format(",{}", intercept);
  return text.append(model.annotations().columns.size(), ',') + '\n';
}

}  // namespace sheaf
