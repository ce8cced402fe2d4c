#include <algorithm>
#include <functional>
#include <memory>
#include <optional>

#include <sheaf/model.hpp>
#include <sheaf/solvers/glm.hpp>
#include <sheaf/solvers/stack.hpp>

#include "command.hpp"
#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/parameter_rows.hpp"
#include "liblinear/liblinear.hpp"
#include "tables.hpp"
#include "terminal.hpp"
#include "text/prediction_text.hpp"

namespace sheaf::cli {
namespace {

/// The entries of an explanation: features, or the rows that determine the prediction of a model of neighbours.
enum class ExplainBy : std::uint8_t { automatic, features, neighbours };

bool fills_missing(const Model& model) {
  if (const auto* stack = model.get_if<StackModel>())
    return std::all_of(stack->members.begin(), stack->members.end(),
                       [](const StackMember& member) { return fills_missing(member.model); });
  const auto& steps = model.pipeline().steps;
  return std::any_of(steps.begin(), steps.end(),
                     [](const auto& step) { return std::holds_alternative<ImputeStep>(step); });
}

struct Predict {
  std::string input, model_path, output, explain_path, offset_path;
  std::optional<std::size_t> explained;
  ExplainBy explain_by = ExplainBy::automatic;
  ExplainOptions explaining;
  bool probabilities = false, decisions = false;
  std::optional<double> threshold;
  ReadOptions reading;
  Common common;

  void run() {
    if (model_path.empty())
      fail_usage("--model-file FILE is missing: the model to apply, as sheaf fit, LIBLINEAR or LIBSVM wrote it");
    check_output(common, output);
    const auto model = Model::load(model_path);
    if (fills_missing(model)) reading.missing = Missing::keep;  // as in training
    if (!model.trained().has_precomputed_columns()) reading.known = model.known_columns();
    check_threshold(model);
    if (explain_by == ExplainBy::neighbours && model.trained().traits().decisive_rows == 0)
      fail_usage("--explain-by neighbours is for models of neighbours; this one is of the family {}", model.family());
    const auto reader = common.context();
    common.with_precision(input, [&]<class T>(std::type_identity<T>) {
      const auto dataset = read_dataset<T>(reader, input, reading);
      check_targets(model, dataset.target);
      const auto context = common.on_device(reader, prediction_work(dataset, model));
      const auto offsets = offset_path.empty() ? std::vector<double>() : read_offsets(offset_path, dataset.rows());
      const auto predictions = predict(context, model, dataset, offsets);
      std::optional<FeatureWeightsEffect> weights_effect;
      if (!explain_path.empty())
        write_text_file(explain_path, explanation(context, model, dataset, predictions, weights_effect));
      if (!common.quiet()) {
        if (model.threshold() && !threshold) say(threshold_note(model));
        say_notes(dataset.notes);  // if columns are missing, only the error is shown
        warn(warnings(model, predictions, dataset));
      }
      return_predictions(model, predictions, {dataset.kept, decisions},
                         {model.score(predictions, dataset.target), model.scores(context, predictions, dataset.target),
                          weights_effect},
                         output, common);
    });
  }

  template <class T>
  Predictions predict(const Context& context, const Model& model, const Dataset<T>& dataset,
                      const std::vector<double>& offsets = {}) const {
    auto predictions =
        model.predict(context, dataset, probabilities || (threshold && model.has_probabilities()), offsets);
    if (threshold) choose_by_threshold(model, predictions);
    if (!probabilities) predictions.probabilities.clear();
    return predictions;
  }

  template <class T>
  std::string explanation(const Context& context, const Model& model, const Dataset<T>& dataset,
                          const Predictions& predictions, std::optional<FeatureWeightsEffect>& weights_effect) const {
    if (model.trained().traits().decisive_rows == 0 || explain_by == ExplainBy::features) {
      auto options = explaining;
      options.most = explained.value_or(options.most);
      if (!model.keeps_means() && !common.quiet())
        say("the model keeps no means of its training rows: contributions are against 0");
      return explanations_csv(model, model.explain(context, dataset, options), predictions, dataset.kept);
    }
    auto lists = model.deciding_rows(context, dataset, model.trained().traits().decisive_rows);
    std::optional<Predictions> without;
    if (const auto plain = model.without_feature_weights(context)) {
      without = predict(context, *plain, dataset);
      weights_effect = compare_without_weights(lists, predictions, *without);
    }
    for (auto& list : lists)
      if (explained && list.size() > *explained) list.resize(*explained);
    return deciding_rows_csv(model, lists, predictions, without ? &*without : nullptr, dataset.kept);
  }

  /// Predictions are compared with the targets that they are of.
  void check_targets(const Model& model, const Target& target) const {
    const auto names = model.target_names();
    if (reading.label.empty() || target.empty() || target.target_names() == names) return;
    fail_usage("--label {}: the model predicts {}; name these columns in this order, or none", reading.label,
               names.empty() ? "one target" : join_names(names));
  }

  void check_threshold(const Model& model) const {
    if (!threshold) return;
    if (model.class_names().size() != 2) fail_usage("--threshold is for two classes");
    if (model.has_probabilities() && (*threshold < 0 || *threshold > 1))
      fail_usage("--threshold {}: the model has probabilities, so that it is one of 0 to 1", *threshold);
  }

  /// The positive class if its probability or, without, its decision value is at least the threshold.
  void choose_by_threshold(const Model& model, Predictions& predictions) const {
    const auto positive = model.positive();
    for (std::size_t i = 0; i < predictions.classes.size(); ++i) {
      const double value = model.has_probabilities()
                               ? predictions.probabilities[2 * i + static_cast<std::size_t>(positive)]
                               : (positive == 0 ? 1 : -1) * first_class_decision(predictions, i);
      predictions.classes[i] = value >= *threshold ? positive : 1 - positive;
    }
  }

  /// The decision value of two classes: above 0 favours the first.
  static double first_class_decision(const Predictions& predictions, std::size_t i) {
    if (predictions.columns == 1) return predictions.decisions[i];
    return predictions.decisions[2 * i] - predictions.decisions[2 * i + 1];
  }

  static std::string threshold_note(const Model& model) {
    const auto& chosen = *model.threshold();
    return fmt::format("{} is predicted if its decision value is at least {:.6g}, the threshold of the model ({})",
                       model.class_names()[static_cast<std::size_t>(model.positive())], chosen.value,
                       to_string(chosen.options));
  }

  template <class T>
  static std::vector<std::string> warnings(const Model& model, const Predictions& predictions,
                                           const Dataset<T>& dataset) {
    auto list = predictions.warnings;
    const auto unknown = model.unknown_classes(dataset.target);
    if (!unknown.empty())
      list.push_back(
          fmt::format("{}: the label{} has {} class{} that the model does not know: {}; no prediction of "
                      "their rows can be right",
                      dataset.source, dataset.target.name.empty() ? "" : fmt::format(" '{}'", dataset.target.name),
                      unknown.size(), unknown.size() == 1 ? "" : "es", join_names(unknown)));
    constexpr std::int64_t few = 10;  // rows that may well be alike
    const auto& all = model.is_regression() ? predictions.decisions : std::vector<double>();
    const bool same_numbers = std::adjacent_find(all.begin(), all.end(), std::not_equal_to<>()) == all.end();
    const auto& classes = predictions.classes;
    const bool same_classes =
        std::adjacent_find(classes.begin(), classes.end(), std::not_equal_to<>()) == classes.end();
    if (predictions.rows >= few && same_numbers && same_classes)
      list.push_back(fmt::format("{}: the prediction is the same, {}, for all {} rows", dataset.source,
                                 model.prediction_text(predictions, 0), predictions.rows));
    return list;
  }
};

std::function<void()> declare(Arguments& arguments) {
  auto predict = std::make_shared<Predict>();
  arguments.positional("FILE", predict->input, "the dataset to predict for; - is standard input");
  arguments.text("model-file", "FILE", predict->model_path,
                 "a model of sheaf fit or search, of LIBLINEAR or of LIBSVM");
  arguments.text("output", "FILE", predict->output, "write one line for each row as CSV; - is standard output");
  arguments.flag("probabilities", predict->probabilities,
                 "write each class's probability too (logistic regression, SVMs trained with --probability yes)");
  arguments.flag("decisions", predict->decisions, "write the decision values too");
  arguments.list("keep", "COLUMNS", predict->reading.keep,
                 "CSV: columns to write in front of the predictions, as they are read");
  arguments.add({"--threshold", "T",
                 "two classes: predict the positive one if its probability is at least T or, of models without "
                 "probabilities, its decision value",
                 "that of the model, else 0.5 or 0",
                 [predict](const std::string& text) { predict->threshold = flag_number("--threshold", text); }});
  arguments.text(
      "offset", "FILE", predict->offset_path,
      "of a generalised linear model or a net trained with offsets: those of these rows, as sheaf fit has them");
  arguments.text(
      "explain", "FILE", predict->explain_path,
      "write why, as CSV: what each feature adds to a row's decision value, against the mean of the training rows "
      "(Shapley values: exact of linear models, else from predictions); of models of neighbours the rows that decide "
      "and, if features have weights, what would be without these");
  arguments.add({"--explain-by", "NAME", "content of an explanation: features or neighbours",
                 "neighbours of models of neighbours, else features", [predict](const std::string& text) {
                   if (text != "features" && text != "neighbours")
                     fail_unknown("--explain-by", text, std::vector<std::string>{"features", "neighbours"});
                   predict->explain_by = text == "features" ? ExplainBy::features : ExplainBy::neighbours;
                 }});
  arguments.add({"--explain-orders", "N",
                 "SVMs and neighbours of more than 10 features: random orders of the features, each with its reverse, "
                 "over which contributions are averaged",
                 std::to_string(ExplainOptions{}.orders), [predict](const std::string& text) {
                   predict->explaining.orders = parse_number<std::int32_t>("--explain-orders", text, {1, 1000000});
                 }});
  arguments.add({"--explain-count", "N", "features or neighbours written for each row",
                 "10 features, or all neighbours that decide", [predict](const std::string& text) {
                   predict->explained = parse_number<std::size_t>("--explain-count", text, {1, 1000000000});
                 }});
  declare_reading(arguments, predict->reading);
  predict->common.declare(arguments, {"device", "threads", "memory", "seed"});
  arguments.reads({"FILE", "--model-file", "--offset"});
  arguments.writes({"--output", "--explain"});
  return [predict] { predict->run(); };
}

}  // namespace

Command predict_command() {
  return {"predict",
          "Apply a model to a dataset, and score the predictions if it has labels",
          {{"how good is it?", "sheaf predict test.csv --model-file iris.model"},
           {"a dataset without labels, with probabilities",
            "sheaf predict new.csv --model-file iris.model --output new.predicted.csv --probabilities"},
           {"patients by name, the sick found more often than not",
            "sheaf predict new.csv --model-file trial.model --keep id,site --threshold 0.3 --output new.predicted.csv"},
           {"why? the ten features that add most to each prediction",
            "sheaf predict new.csv --model-file trial.model --keep id --explain why.csv"},
           {"a model of LIBLINEAR", "sheaf predict a9a.t --model-file a9a.model --output a9a.predicted.csv"}},
          declare};
}

}  // namespace sheaf::cli
