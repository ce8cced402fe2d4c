#include <sheaf/model.hpp>

#include <algorithm>
#include <numeric>

#include <fmt/ranges.h>

#include <sheaf/elastic_net.hpp>
#include <sheaf/glm.hpp>
#include <sheaf/io.hpp>

#include "core/fail.hpp"
#include "core/names.hpp"
#include "data/budget.hpp"
#include "data/labels.hpp"
#include "data/read/text_source.hpp"
#include "data/text/model_file.hpp"
#include "kernel/model/file_text.hpp"
#include "linear/model/formats.hpp"
#include "model/calibration_file.hpp"
#include "model/threshold_file.hpp"
#include "neighbors/model/file.hpp"
#include "pipeline/file.hpp"

namespace sheaf {
namespace {

[[noreturn]] void fail_format(std::string_view program, std::string_view family) {
  fail_usage("{}'s model files hold no {} model; take Sheaf's own format", program, family);
}

Model read_own(ModelReader& reader) {
  static const std::vector<std::string> families{"linear", "elastic-net", "glm", "svm", "neighbors"};
  const auto family = read_model_family(reader, families);
  auto [pipeline, features] = pipeline::read_pipeline(reader);
  auto calibration = read_calibration(reader);
  const auto threshold = read_threshold(reader);
  auto model = family == "svm"         ? Model(kernel::read_sheaf_svm(reader))
               : family == "neighbors" ? Model(neighbors::read_sheaf_knn(reader))
                                       : Model(linear::read_sheaf_model(reader, family));
  if (!reader.at_end()) reader.fail_expected("the end of the file");
  if (calibration) {
    const auto classes = model.class_names().size();
    if (calibration->curves.size() != (classes > 2 ? classes : 1) || classes < 2)
      reader.fail_here("the calibration has another number of curves than the model has decision values");
    model.set_calibration(std::move(*calibration));
  }
  if (threshold) {
    if (model.class_names().size() != 2) reader.fail_here("a threshold is for two classes, and the model has others");
    model.set_threshold(*threshold);
  }
  if (features >= 0 && features != model.features())
    reader.fail_here(
        fmt::format("{} features come out of the pipeline, and the model has {}", features, model.features()));
  model.set_pipeline(std::move(pipeline));
  return model;
}

/// The lines of Sheaf's own file behind the pipeline.
std::string own_text(const LinearModel& model) { return linear::format_sheaf_model(model); }
std::string own_text(const SvmModel& model) { return kernel::format_sheaf_svm(model); }
std::string own_text(const KnnModel& model) { return neighbors::format_sheaf_knn(model); }

std::string text_for(const LinearModel& model, const Predictions& predictions, std::size_t row) {
  if (!model.is_regression()) return model.class_names[static_cast<std::size_t>(predictions.classes[row])];
  const auto columns = static_cast<std::size_t>(predictions.columns);
  return fmt::format("{}", fmt::join(std::span(predictions.decisions).subspan(row * columns, columns), ","));
}
std::string text_for(const SvmModel& model, const Predictions& predictions, std::size_t row) {
  if (is_regression(model.kind)) return fmt::format("{}", predictions.decisions[row]);
  return prediction_text(model, predictions, row);
}
std::string text_for(const KnnModel& model, const Predictions& predictions, std::size_t row) {
  if (model.is_regression()) return fmt::format("{}", predictions.decisions[row]);
  return model.class_names[static_cast<std::size_t>(predictions.classes[row])];
}

template <class T>
Predictions predictions_of(const Context& context, const LinearModel& model, const Dataset<T>& dataset, bool wanted,
                           std::span<const double> offsets) {
  return predict_linear(context, model, dataset, wanted, offsets);
}
void refuse_offsets(std::span<const double> offsets) {
  if (!offsets.empty()) fail_usage("offsets are for generalised linear models and elastic nets of counts and classes");
}
template <class T>
Predictions predictions_of(const Context& context, const SvmModel& model, const Dataset<T>& dataset, bool wanted,
                           std::span<const double> offsets) {
  refuse_offsets(offsets);
  return predict_svm(context, model, dataset, wanted);
}
template <class T>
Predictions predictions_of(const Context& context, const KnnModel& model, const Dataset<T>& dataset, bool wanted,
                           std::span<const double> offsets) {
  refuse_offsets(offsets);
  return predict_knn(context, model, dataset, wanted);
}

template <class T>
Model train(const Context& context, const Dataset<T>& dataset, const LinearOptions& options,
            std::span<const float> row_weights) {
  return train_linear(context, dataset, options, row_weights);
}
template <class T>
Model train(const Context& context, const Dataset<T>& dataset, const SvmOptions& options,
            std::span<const float> row_weights) {
  return train_svm(context, dataset, options, row_weights);
}
template <class T>
Model train(const Context& context, const Dataset<T>& dataset, const NetOptions& options,
            std::span<const float> row_weights) {
  return train_net(context, dataset, options, row_weights);
}
template <class T>
Model train(const Context& context, const Dataset<T>& dataset, const KnnOptions& options,
            std::span<const float> row_weights) {
  return train_knn(context, dataset, options, row_weights);
}
template <class T>
Model train(const Context& context, const Dataset<T>& dataset, const GlmOptions& options,
            std::span<const float> row_weights) {
  return train_glm(context, dataset, options, row_weights);
}

/// What the steps at the end of a pipeline that scale come to for each feature behind it: x -> (x - shift) * factor.
struct FinalScaling {
  std::vector<double> shift, factor;
};

std::optional<FinalScaling> final_scaling(const Pipeline& pipeline, std::int64_t features) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(features));
  std::iota(places.begin(), places.end(), 0);
  FinalScaling all{std::vector<double>(places.size(), 0), std::vector<double>(places.size(), 1)};
  bool scales = false;
  for (auto step = pipeline.steps.rbegin(); step != pipeline.steps.rend(); ++step) {
    if (const auto* take = std::get_if<TakeStep>(&*step)) {
      for (auto& place : places) place = take->features[static_cast<std::size_t>(place)];
    } else if (const auto* scaling = std::get_if<Scaling>(&*step)) {
      scales = true;
      for (std::size_t j = 0; j < places.size(); ++j) {
        const auto place = static_cast<std::size_t>(places[j]);
        all.shift[j] = scaling->shift[place] + all.shift[j] / scaling->factor[place];
        all.factor[j] *= scaling->factor[place];
      }
    } else {
      break;
    }
  }
  return scales ? std::optional(std::move(all)) : std::nullopt;
}

void add_unscaled(const FinalScaling& scaling, Coefficients& weights) {
  const auto columns = weights.columns.size();
  weights.unscaled_values = weights.values;
  weights.unscaled_intercepts = weights.intercepts;
  for (std::size_t k = 0; k < weights.values.size(); ++k) {
    weights.unscaled_values[k] *= scaling.factor[k / columns];
    weights.unscaled_intercepts[k % columns] -= weights.unscaled_values[k] * scaling.shift[k / columns];
  }
}

constexpr std::int64_t local_svm_rows = 40;  // of a neighbourhood, unless given

std::string_view family_of(const LinearModel& model) {
  return model.net ? "elastic-net" : model.glm ? "glm" : "linear";
}

}  // namespace

std::string format_model(const LinearModel& model, ModelFile format) {
  if (format == ModelFile::libsvm) fail_format("LIBSVM", "linear");
  if (format == ModelFile::liblinear) return linear::format_liblinear_model(model);
  return model_file_text(family_of(model), own_text(model));
}
std::string format_model(const SvmModel& model, ModelFile format) {
  if (format == ModelFile::liblinear) fail_format("LIBLINEAR", "SVM");
  if (format == ModelFile::libsvm) return kernel::format_libsvm_model(model);
  return model_file_text("svm", own_text(model));
}
std::string format_model(const KnnModel& model, ModelFile format) {
  if (format != ModelFile::sheaf)
    fail_format(format == ModelFile::libsvm ? "LIBSVM" : "LIBLINEAR", "nearest-neighbour");
  return model_file_text("neighbors", own_text(model));
}

Model Model::parse(std::string_view text, const std::string& name) {
  if (text.starts_with(model_file_magic)) {
    ModelReader reader(name, without_checksum(text, name));
    return read_own(reader);
  }
  ModelReader reader(name, text);
  if (text.starts_with("sheaf-")) return read_own(reader);  // which says what it is
  reader.skip_space();
  if (reader.peek() == "solver_type") return linear::read_liblinear_model(reader);
  if (reader.peek() == "svm_type") return kernel::read_libsvm_model(reader);
  reader.fail_here(fmt::format(
      "this is no model: it begins neither with {} nor, as LIBLINEAR's and LIBSVM's do, with solver_type or "
      "svm_type",
      model_file_magic));
}

Model Model::load(const std::string& path) {
  const TextSource source(path, silent_progress());
  return parse(source.text(), path);
}

std::string Model::text(ModelFile format) const {
  if (format == ModelFile::sheaf)
    return model_file_text(family(), pipeline::pipeline_text(pipeline_) + calibration_text(calibration_) +
                                         threshold_text(threshold_) +
                                         std::visit([](const auto& model) { return own_text(model); }, any_));
  const auto* program = format == ModelFile::liblinear ? "LIBLINEAR" : "LIBSVM";
  if (!pipeline_.empty())
    fail_usage("{}'s model files hold no steps before the model, and this one has {}; take Sheaf's own format", program,
               pipeline_.steps.size());
  if (threshold_)
    fail_usage("{}'s model files hold no threshold, and this model has one; take Sheaf's own format", program);
  return std::visit([&](const auto& model) { return format_model(model, format); }, any_);
}

/// What datasets must have: what the pipeline reads or, without one, what the model was trained on.
Pipeline Model::inputs() const {
  auto result = pipeline_;
  if (!pipeline_.empty()) return result;
  std::visit(
      [&](const auto& model) {
        result.features = model.features;
        result.feature_names = model.feature_names;
      },
      any_);
  return result;
}

KnownColumns Model::known_columns() const {
  auto read = inputs();
  KnownColumns known{read.features, std::move(read.feature_names), std::move(read.levels), std::move(read.label)};
  if (const auto targets = target_names(); !targets.empty()) {
    known.label = targets.front();
    known.further_labels.assign(targets.begin() + 1, targets.end());
  }
  return known;
}

std::int32_t Model::positive() const {
  const auto& names = class_names();
  const auto found = std::find(names.begin(), names.end(), pipeline_.positive);
  if (names.size() == 2 && found != names.end()) return static_cast<std::int32_t>(found - names.begin());
  return positive_class(names);
}

std::vector<std::string> Model::unknown_classes(const Target& target) const {
  std::vector<std::string> unknown;
  const auto match = match_classes(class_names(), target.class_names);
  for (std::size_t c = 0; c < match.size() && !class_names().empty(); ++c)
    if (match[c] < 0) unknown.push_back(target.class_names[c]);
  return unknown;
}

void Model::save(const std::string& path, ModelFile format) const { write_text_file(path, text(format)); }

std::optional<std::string> Model::peer_text() const {
  if (neighbors() != nullptr) return std::nullopt;
  try {
    return text(svm() != nullptr ? ModelFile::libsvm : ModelFile::liblinear);
  } catch (const Error&) {  // classes that are no integers, or one against the rest
    return std::nullopt;
  }
}

std::string_view Model::family() const {
  if (svm() != nullptr) return "svm";
  if (neighbors() != nullptr) return "neighbors";
  return family_of(*linear());
}

std::int64_t Model::features() const {
  return std::visit([](const auto& model) { return model.features; }, any_);
}

const std::vector<std::string>& Model::class_names() const {
  return std::visit([](const auto& model) -> const std::vector<std::string>& { return model.class_names; }, any_);
}

std::vector<std::string> Model::target_names() const {
  return linear() != nullptr ? linear()->target_names : std::vector<std::string>();
}

bool Model::is_regression() const {
  if (neighbors() != nullptr) return neighbors()->is_regression();
  return svm() != nullptr ? sheaf::is_regression(svm()->kind) : linear()->is_regression();
}

bool Model::has_probabilities() const {
  if (calibration_) return true;
  return std::visit([](const auto& model) { return model.has_probabilities(); }, any_);
}

std::vector<std::string> Model::warnings() const {
  return std::visit([](const auto& model) { return warnings_of(model); }, any_);
}

std::optional<Coefficients> Model::coefficients() const {
  const auto* model = linear();
  if (model == nullptr) return std::nullopt;
  Coefficients result;
  const auto columns = static_cast<std::size_t>(model->columns);
  const auto weights = static_cast<std::size_t>(model->features) * columns;
  for (std::int64_t j = 0; j < model->features; ++j) result.feature_names.push_back(model->feature_name(j));
  for (std::size_t c = 0; c < columns; ++c) result.columns.push_back(model->column_name(static_cast<std::int32_t>(c)));
  result.values.assign(model->weights.begin(), model->weights.begin() + static_cast<std::ptrdiff_t>(weights));
  for (std::size_t c = 0; c < columns; ++c)
    result.intercepts.push_back(model->bias > 0 ? model->bias * model->weights[weights + c] : 0.0);
  if (const auto scaling = final_scaling(pipeline_, model->features)) add_unscaled(*scaling, result);
  return result;
}

/// One value for two classes, above 0 speaking for the first, and one a class for more, where the family has such.
std::vector<double> Model::class_decisions(const Predictions& predictions) const {
  if (class_names().size() != 2 || predictions.columns != 2) return predictions.decisions;
  std::vector<double> result;
  for (std::size_t i = 0; i + 1 < predictions.decisions.size(); i += 2)
    result.push_back(predictions.decisions[i] - predictions.decisions[i + 1]);
  return result;
}

template <class T>
Predictions Model::predict(const Context& context, const Dataset<T>& dataset, bool probabilities,
                           std::span<const double> offsets) const {
  if (svm() != nullptr && svm()->kernel.type == KernelType::precomputed)  // columns are rows of the training
    return predictions_of(context, *svm(), dataset, probabilities, offsets);
  std::vector<std::string> warnings;
  const auto aligned = align_features(context, inputs(), dataset, warnings);  // whose memory the next one may borrow
  const auto prepared = apply_pipeline(context, pipeline_, aligned);
  const auto chosen = context.for_work(prediction_work(prepared, *this));
  const bool own = probabilities && !calibration_;
  auto result =
      std::visit([&](const auto& model) { return predictions_of(chosen, model, prepared, own, offsets); }, any_);
  if (probabilities && calibration_) result.probabilities = calibration_->probabilities(class_decisions(result));
  if (threshold_) {
    const auto values = class_decisions(result);
    const auto positive = this->positive();
    for (std::size_t i = 0; i < result.classes.size(); ++i)
      result.classes[i] = (positive == 0 ? values[i] : -values[i]) >= threshold_->value ? positive : 1 - positive;
  }
  for (auto& warning : warn_of_scale(inputs(), aligned)) warnings.push_back(std::move(warning));
  result.warnings.insert(result.warnings.begin(), warnings.begin(), warnings.end());
  return result;
}

std::optional<Score> Model::score(const Predictions& predictions, const Target& target) const {
  return std::visit([&](const auto& model) { return score_of(model, predictions, target); }, any_);
}

std::string Model::prediction_text(const Predictions& predictions, std::size_t row) const {
  return std::visit([&](const auto& model) { return text_for(model, predictions, row); }, any_);
}

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kinds = [] {
    std::vector<ModelKind> rows;
    const auto add = [&](std::string_view name, std::string_view family, std::string_view about, auto options) {
      auto& row = rows.emplace_back();
      row.name = name;
      row.family = family;
      row.about = about;
      row.options.template emplace<decltype(options)>(std::move(options));
    };
    add("linear", "linear", "linear model with an L2 penalty", LinearOptions{});
    add("svm", "svm", "support vector machine with a kernel", SvmOptions{});
    for (const auto& kind : net_kinds()) {
      NetOptions options;
      options.loss = kind.loss;
      if (kind.l1_ratio) options.l1_ratio = *kind.l1_ratio;
      add(kind.name, "elastic-net", kind.about, options);
    }
    add("glm", "glm", "generalised linear model with an L2 penalty or none, with standard errors", GlmOptions{});
    GlmOptions multinomial;
    multinomial.family = GlmFamily::multinomial;
    add("multinomial", "glm", "logistic regression of all classes in one model", multinomial);
    KnnOptions neighbors;
    add("knn", "neighbors", "the votes of the k nearest rows", neighbors);
    neighbors.rule = LocalRule::convex_hull;
    add("cknn", "neighbors", "the nearest convex hull of each class's k nearest rows", neighbors);
    neighbors.rule = LocalRule::hyperplane;
    add("hknn", "neighbors", "the nearest hyperplane of each class's k nearest rows", neighbors);
    neighbors.weighting = FeatureWeighting::class_ratio;
    add("alh", "neighbors", "adaptive local hyperplanes: the same with weights of features", neighbors);
    neighbors.weighting = FeatureWeighting::none;
    neighbors.k = local_svm_rows;
    neighbors.rule = LocalRule::local_svm;
    add("local-svm", "neighbors", "an SVM trained on the k nearest rows, for each prediction", neighbors);
    neighbors.rule = LocalRule::falk_svm;
    add("falk-svm", "neighbors", "local SVMs around rows that cover the others, shared by predictions", neighbors);
    return rows;
  }();
  return kinds;
}

const ModelKind& find_model_kind(std::string_view name) {
  std::vector<std::string> known;
  for (const auto& kind : model_kinds()) {
    if (kind.name == name) return kind;
    known.emplace_back(kind.name);
  }
  fail_unknown("model", name, known);
}

template <class T>
Model fit(const Context& context, const Dataset<T>& dataset, const ModelOptions& options,
          std::span<const float> row_weights, const PipelineOptions& pipeline) {
  Pipeline learnt;
  Dataset<T> prepared;
  const bool steps = needs_pipeline(dataset, pipeline);
  if (steps) {
    learnt = learn_pipeline(context, dataset, pipeline);
    prepared = apply_pipeline(context, learnt, dataset);
  }
  const auto& rows = steps ? prepared : dataset;
  const auto chosen = context.for_work(training_work(rows, options));
  // Weights, gradient, direction and the like; of SVMs the rows that are compared with others at once.
  const std::int64_t numbers = std::holds_alternative<KnnOptions>(options)   ? 0
                               : std::holds_alternative<SvmOptions>(options) ? 8
                                                                             : 6;
  check_feature_memory(context, rows, numbers * std::int64_t{sizeof(double)}, "the numbers that training keeps");
  auto model = std::visit([&](const auto& one) { return train(chosen, rows, one, row_weights); }, options);
  describe_training(context, dataset, learnt);
  model.set_pipeline(std::move(learnt));
  return model;
}

template Predictions Model::predict(const Context&, const Dataset<float>&, bool, std::span<const double>) const;
template Predictions Model::predict(const Context&, const Dataset<double>&, bool, std::span<const double>) const;
template Model fit(const Context&, const Dataset<float>&, const ModelOptions&, std::span<const float>,
                   const PipelineOptions&);
template Model fit(const Context&, const Dataset<double>&, const ModelOptions&, std::span<const float>,
                   const PipelineOptions&);

}  // namespace sheaf
