#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sheaf/report.hpp>

#include "data/parameter_json.hpp"
#include "information/stability_json.hpp"
#include "pipeline/selection_json.hpp"
#include "report/annotation_columns.hpp"
#include "report/held_out.hpp"
#include "report/search_charts.hpp"
#include "report/weights_json.hpp"

namespace sheaf {
namespace {

using Json = nlohmann::ordered_json;

/// JSON has no NaN.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

std::string key(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Json summary_json(const ScoreSummary& summary) {
  return {{"mean", number(summary.mean)},
          {"standard_deviation", number(summary.standard_deviation)},
          {"standard_error", number(summary.standard_error)},
          {"splits", summary.splits}};
}

/// Every score that the search has, of one model.
Json scores_json(const SearchResult& r, const ModelScores& model) {
  auto scores = Json::object();
  for (const auto metric : r.metrics) scores[std::string(info(metric).name)] = number(model.score(metric));
  return scores;
}

Json point_json(const SearchResult& r, const Point& point) {
  auto json = Json::object();
  for (std::size_t axis = 0; axis < r.axes.size(); ++axis) {
    if (point[axis] == SearchAxis::absent) continue;
    auto& value = json[key(r.axes[axis].name)];
    if (r.axes[axis].names.empty())
      value = point[axis];
    else
      value = r.axes[axis].text(point[axis]);
  }
  return json;
}

Json points_json(const SearchResult& r) {
  Json list = Json::array();
  for (std::size_t p = 0; p < r.level.points.size(); ++p) {
    auto row = point_json(r, r.point(r.level, p));
    if (const double size = r.size(r.level, p); size >= 0) row[r.size_words.key] = size;
    for (const auto metric : r.metrics) {
      auto summary = summary_json(r.summary(p, metric));
      summary["by_split"] = Json::array();
      for (const double score : r.scores(r.level, p, metric)) summary["by_split"].push_back(number(score));
      row[std::string(info(metric).name)] = std::move(summary);
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json chosen_json(const SearchResult& r) {
  auto row = point_json(r, r.chosen());
  row["best"] = point_json(r, r.point(r.level, r.level.chosen.best));
  if (const auto size = r.model->trained().size()) row[r.size_words.key] = *size;
  for (const auto metric : r.metrics)
    row[std::string(info(metric).name)] = summary_json(r.summary(r.level.chosen.chosen, metric));
  return row;
}

Json models_json(const SearchResult& r, const ModelScores& model) {
  Json list = Json::array();
  for (std::size_t c = 0; c < model.weights.size(); ++c) {
    const auto& of = model.weights[c];
    const auto& fit = model.fits[c];
    Json weights = Json::array();
    for (std::size_t k = 0; k < of.features.size(); ++k) weights.push_back({of.features[k], number(of.weights[k])});
    list.push_back({{"class", report::column_json(r.column_name(static_cast<std::int32_t>(c)))},
                    {"intercept", number(of.intercept)},
                    {"weights", std::move(weights)},
                    {"objective", number(fit.objective)},
                    {"duality_gap", number(fit.gradient_norm)},
                    {"tolerance", number(fit.tolerance)},
                    {"epochs", fit.iterations},
                    {"converged", fit.converged}});
  }
  return list;
}

/// The outer folds or resamples; null if there are none.
Json outer_json(const SearchResult& r) {
  if (r.outer.empty()) return nullptr;
  Json folds = Json::array();
  for (const auto& fold : r.outer) {
    const auto chosen = fold.level.chosen.chosen;
    auto row = point_json(r, r.point(fold.level, chosen));
    row["inner"] = summary_json(r.summary(fold.level, chosen, *r.options.score));
    row["scores"] = scores_json(r, fold.scores);
    if (!fold.scores.weights.empty()) row["models"] = models_json(r, fold.scores);
    folds.push_back(std::move(row));
  }
  Json answer{{"folds", std::move(folds)}};
  for (const auto metric : r.metrics) answer[std::string(info(metric).name)] = summary_json(r.outer_summary(metric));
  return answer;
}

/// One number for a numeric target or two classes, else one for each class or target.
Json by_class(const SearchResult& r, const std::vector<double>& values) {
  if (r.columns == 1) return number(values.front());
  Json list = Json::object();
  for (std::size_t c = 0; c < values.size(); ++c) list[r.column_name(static_cast<std::int32_t>(c))] = number(values[c]);
  return list;
}

Json features_json(const SearchResult& r) {
  Json list = Json::array();
  for (const auto& feature : r.stability) {
    list.push_back({{"index", feature.index},
                    {"name", feature.name},
                    {"frequency", feature.frequency},
                    {"mean_weight", by_class(r, feature.mean_weight)},
                    {"sign_agreement", by_class(r, feature.sign_agreement)},
                    {"median_rank", feature.median_rank},
                    {"standard_deviation", feature.standard_deviation}});
    report::add_annotations(r.annotations, feature.name, list.back());
  }
  return list;
}

Json stability_json(const SearchResult& r) {
  Json selected = Json::array();
  for (const auto& feature : r.selected()) selected.push_back(feature.name);
  Json surface = Json::array();
  for (std::size_t p = 0; p < r.points.size(); ++p) {
    auto row = point_json(r, r.points[p]);
    row.update(summary_json(r.overall_summary(p, *r.options.score)));
    surface.push_back(std::move(row));
  }
  return {{"value", number(r.overall.value)},
          {"interval", {number(r.overall.low), number(r.overall.high)}},
          {"standard_error", number(r.overall.standard_error)},
          {"by_chance", information::chance_json(r.chance)},
          {"min_frequency", r.options.min_frequency},
          {"selected", std::move(selected)},
          {"features", features_json(r)},
          {"best", point_json(r, r.points[static_cast<std::size_t>(r.best_overall)])},
          {"points", std::move(surface)}};
}

Json path_json(const SearchResult& r) {
  Json alphas = Json::array(), columns = Json::array();
  for (const auto& step : r.path) alphas.push_back(step.alpha);
  for (std::int32_t c = 0; c < r.columns; ++c) {
    Json features = Json::array();
    for (const auto& line : report::weight_paths(r, static_cast<std::size_t>(c))) {
      Json effects = Json::array();
      for (const double effect : line.effects) effects.push_back(number(effect));
      features.push_back({{"index", line.feature}, {"name", line.name}, {"effects", std::move(effects)}});
    }
    columns.push_back({{"class", report::column_json(r.column_name(c))}, {"features", std::move(features)}});
  }
  return {{"resample", r.options.path_split > 0 ? Json(r.options.path_split) : Json()},
          {"chosen", point_json(r, report::path_choice(r))},
          {"alphas", std::move(alphas)},
          {"columns", std::move(columns)}};
}

/// How the threshold does on held-out rows that it was chosen on, and on those that others like it were not chosen on.
Json threshold_json(const SearchResult& r) {
  const auto& threshold = *r.model->threshold();
  Json json{{"rule", to_string(threshold.options)},
            {"decision", threshold.value},
            {"sensitivity", threshold.sensitivity},
            {"specificity", threshold.specificity},
            {"elsewhere", nullptr}};
  if (const auto rates = report::threshold_rates(r))
    json["elsewhere"] = {{"sensitivity", number(rates->sensitivity)}, {"specificity", number(rates->specificity)}};
  return json;
}

Json learning_curve_json(const SearchResult& r) {
  Json list = Json::array();
  for (std::size_t k = 0; k < r.learning_curve->shares.size(); ++k) {
    const auto step = report::learning_step(r, k, *r.options.score);
    list.push_back({{"share", r.learning_curve->shares[k]},
                    {"rows", step.rows},
                    {"training", summary_json(step.training)},
                    {"held_out", summary_json(step.held_out)}});
  }
  return list;
}

Json importance_json(const SearchResult& r) {
  Json list = Json::array();
  for (const auto& feature : r.importance) {
    Json row{{"index", feature.index}, {"name", feature.name}};
    row.update(summary_json(feature.drop));
    report::add_annotations(r.annotations, feature.name, row);
    list.push_back(std::move(row));
  }
  return list;
}

/// Accuracies or, for a numeric target, mean squared errors.
Json weights_effect_json(const SearchResult& r) {
  const auto& effect = *r.weights_effect;
  const bool regression = r.class_names.empty();
  const char* score = regression ? "mean_squared_error" : "accuracy";
  const auto value = [&](const Score& of) { return number(regression ? of.squared_error : of.accuracy()); };
  return {{"rows", effect.rows},
          {"neighbours", effect.neighbours},
          {"neighbours_kept", effect.kept},
          {"predictions_changed", effect.changed},
          {"with_weights", {{score, value(effect.with)}}},
          {"without_weights", {{score, value(effect.without)}}}};
}

Json reliability_json(const SearchResult& r) {
  Json list = Json::array();
  for (const auto& bin : report::reliability_of(r))
    list.push_back({{"low", bin.low},
                    {"high", bin.high},
                    {"rows", bin.rows},
                    {"mean_probability", number(bin.probability)},
                    {"share_true", number(bin.share)}});
  return list;
}

Json asked_json(const SearchResult& r) {
  auto json = parameters_json(r.options);
  auto& training = json["training"];
  for (const auto& row : parameters_of(r.space.options))
    if (!row.vector) training[json_name(row.name)] = value_json(row.type, row.get(r.space.options));
  return json;
}

Json models_json(const SearchResult& r) {
  Json list = Json::array();
  for (const auto& row : r.leaderboard()) {
    const auto& model = r.models[static_cast<std::size_t>(row.model)];
    Json json{{"model", model.candidate.name},
              {"title", model.title},
              {"pipeline", parameters_json(model.candidate.pipeline)},
              {"points", model.points},
              {"dropped_after_splits", row.place < 0 ? Json(row.score.splits) : Json()},
              {"score", summary_json(row.score)},
              {"difference", number(row.difference)},
              {"interval", nullptr},
              {"best", nullptr}};
    if (row.has_interval) json["interval"] = {number(row.low), number(row.high)};
    if (row.place >= 0) json["best"] = point_json(r, r.point(r.level, static_cast<std::size_t>(row.place)));
    list.push_back(std::move(json));
  }
  return list;
}

Json learnt_stack_json(const SearchResult& r, const LearntStack& stack) {
  Json list = Json::array();
  for (std::size_t m = 0; m < stack.members.size(); ++m) {
    Json member{{"model", r.model_of(stack.members[m])->candidate.name},
                {"weight", stack.weights[m]},
                {"calibrated", stack.calibrations[m].has_value()},
                {"point", point_json(r, stack.members[m])}};
    list.push_back(std::move(member));
  }
  return list;
}

Json stack_json(const SearchResult& r) {
  Json outer = Json::array();
  for (const auto& stack : r.stack->outer) outer.push_back(learnt_stack_json(r, stack));
  return {{"members", learnt_stack_json(r, r.stack->all)}, {"outer", std::move(outer)}};
}

/// ",0.5,,0.25": the scores of one model, nothing if one is not defined.
std::string scores_text(const SearchResult& r, const ModelScores& model) {
  std::string text;
  for (const auto metric : r.metrics) {
    const double score = model.score(metric);
    text += std::isfinite(score) ? fmt::format(",{}", score) : ",";
  }
  return text;
}

std::string training_text(const ModelScores& model) {
  int iterations = 0;
  bool converged = true;
  for (const auto& fit : model.fits) {
    iterations += fit.iterations;
    converged = converged && fit.converged;
  }
  return fmt::format(",{},{}\n", iterations, converged ? "yes" : "no");
}

/// "cost,gamma": the names of the axes, then `rest`, the scores, and the columns of training.
std::string heading_text(const SearchResult& r, std::string_view rest, bool sizes) {
  std::string text;
  for (const auto& axis : r.axes) text += key(axis.name) + ',';
  text += rest;
  for (const auto metric : r.metrics) text += fmt::format(",{}", info(metric).name);
  if (sizes) text += fmt::format(",{}", r.size_words.key);
  return text + ",iterations,converged\n";
}

std::string point_text(const SearchResult& r, const Point& point) {
  std::string text;
  for (std::size_t axis = 0; axis < point.size(); ++axis)
    text += (r.axes[axis].names.empty() && point[axis] != SearchAxis::absent ? fmt::format("{}", point[axis])
                                                                             : r.axes[axis].text(point[axis])) +
            ',';
  return text;
}

/// The size in its column, if there is one; nothing in it of a model whose size is not counted.
std::string size_text(const ModelScores& model, bool sizes) {
  if (!sizes) return {};
  return model.size >= 0 ? fmt::format(",{}", model.size) : ",";
}

bool has_sizes(const std::vector<ModelScores>& models) {
  return std::any_of(models.begin(), models.end(), [](const ModelScores& model) { return model.size >= 0; });
}

}  // namespace

std::string search_json(const SearchResult& r) {
  const bool two = r.class_names.size() == 2;
  Json answer{{"source", r.source},
              {"rows", r.rows},
              {"features", r.features},
              {"groups", r.groups > 0 ? Json(r.groups) : Json()},
              {"label", r.label.empty() ? Json() : Json(r.label)},
              {"classes", r.class_names},
              {"targets", r.target_names},
              {"positive_class", two ? Json(r.class_names[static_cast<std::size_t>(r.positive)]) : Json()},
              {"positive_decisions_speak_for", two ? Json(r.class_names[0]) : Json()},
              {"model", r.space.options.family_name()},
              {"title", r.title},
              {"split", to_string(*r.options.split)},
              {"splits", r.splits},
              {"seed", r.seed},
              {"score", info(*r.options.score).name},
              {"asked", asked_json(r)}};
  if (const auto text = verdict(r); !text.empty()) answer["verdict"] = text;
  if (!r.models.empty()) answer["models"] = models_json(r);
  if (r.stack) answer["stack"] = stack_json(r);
  if (r.selection_binning)
    answer["selection"] = pipeline::selection_step_json(r.options.pipeline, *r.selection_binning);
  if (r.model) {
    answer["chosen"] = chosen_json(r);
    answer["points"] = points_json(r);
    if (const auto weights = r.model->trained().coefficients())
      answer["largest_weights"] = report::largest_weights_json(*weights, r.annotations);
  }
  if (r.model && r.model->threshold()) answer["threshold"] = threshold_json(r);
  if (r.held_out && !r.held_out->probabilities.empty()) answer["reliability"] = reliability_json(r);
  if (const auto calibrated = report::calibrated_scores(r))
    answer["calibrated"] = {{"log_loss", summary_json(calibrated->log_loss)},
                            {"brier_score", summary_json(calibrated->brier_score)}};
  if (r.learning_curve) answer["learning_curve"] = learning_curve_json(r);
  if (!r.importance.empty()) answer["importance"] = importance_json(r);
  if (r.permutation_test)
    answer["permutation_test"] = {{"score", number(r.permutation_test->score)},
                                  {"shuffled", r.permutation_test->scores},
                                  {"p_value", r.permutation_test->p_value}};
  if (r.weights_effect) answer["feature_weights"] = weights_effect_json(r);
  answer["outer"] = outer_json(r);
  if (!r.options.full) answer["stability"] = stability_json(r);
  if (!r.path.empty()) answer["path"] = path_json(r);
  answer["warnings"] = r.warnings;
  answer["notes"] = r.notes;
  return answer.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string search_csv(const SearchResult& r) {
  const auto splits = static_cast<std::size_t>(r.splits);
  const auto& models = r.level.models;
  const bool sizes = has_sizes(models);
  std::string text = heading_text(r, "split", sizes);
  for (std::size_t m = 0; m < models.size(); ++m)
    text += point_text(r, r.point(r.level, m / splits)) + fmt::format("{}", m % splits + 1) +
            scores_text(r, models[m]) + size_text(models[m], sizes) + training_text(models[m]);
  return text;
}

std::string outer_csv(const SearchResult& r) {
  const bool sizes =
      std::any_of(r.outer.begin(), r.outer.end(), [](const auto& fold) { return fold.scores.size >= 0; });
  std::string text = heading_text(r, "fold,inner", sizes);
  for (std::size_t k = 0; k < r.outer.size(); ++k) {
    const auto& fold = r.outer[k];
    const auto chosen = fold.level.chosen.chosen;
    const double inner = r.summary(fold.level, chosen, *r.options.score).mean;
    text += point_text(r, r.point(fold.level, chosen)) +
            fmt::format("{},{}", k + 1, std::isfinite(inner) ? fmt::format("{}", inner) : "") +
            scores_text(r, fold.scores) + size_text(fold.scores, sizes) + training_text(fold.scores);
  }
  return text;
}

std::string features_csv(const SearchResult& r) {
  std::string text = "index,name,frequency,median_rank,standard_deviation";
  for (std::int32_t c = 0; c < r.columns; ++c) {
    const auto of = r.columns == 1 ? "" : " of " + r.column_name(c);
    text += ',' + csv_field("mean_weight" + of) + ',' + csv_field("sign_agreement" + of);
  }
  text += report::annotation_heading(r.annotations) + '\n';
  for (const auto& feature : r.stability) {
    text += fmt::format("{},{},{},{},{}", feature.index, csv_field(feature.name), feature.frequency,
                        feature.median_rank, feature.standard_deviation);
    for (std::size_t c = 0; c < feature.mean_weight.size(); ++c)
      text += fmt::format(",{},{}", feature.mean_weight[c], feature.sign_agreement[c]);
    text += report::annotation_fields(r.annotations, feature.name) + '\n';
  }
  return text;
}

}  // namespace sheaf
