#include <sheaf/model.hpp>

#include <algorithm>
#include <numeric>

#include <sheaf/io.hpp>
#include <sheaf/solvers/splits.hpp>
#include <sheaf/solvers/stack.hpp>

#include "core/fail.hpp"
#include "core/memory/less_memory.hpp"
#include "core/names.hpp"
#include "data/budget.hpp"
#include "data/bytes/text_source.hpp"
#include "data/checks/magnitudes.hpp"
#include "data/labels.hpp"
#include "data/text/model_file.hpp"
#include "family/family.hpp"
#include "model/annotations_file.hpp"
#include "model/calibration_file.hpp"
#include "model/lines.hpp"
#include "model/threshold_file.hpp"
#include "pipeline/file.hpp"

namespace sheaf {
namespace {

Model read_own(ModelReader& reader) {
  std::vector<std::string> known;
  for (const auto* family : families()) known.emplace_back(family->name());
  auto model = read_model_lines(reader, read_model_family(reader, known));
  if (!reader.at_end()) reader.fail_expected("the end of the file");
  return model;
}

/// The trailing scaling steps of a pipeline as one step for each feature: x -> (x - shift) * factor.
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

/// Options that only a search heeds are not ignored.
void check_fit_alone(const ModelOptions& options) {
  const ModelOptions defaults = options.family().kinds().front().options;
  for (const auto& row : parameters_of(options))
    if (row.use == ParameterUse::search && row.get(options) != row.get(defaults))
      fail_usage("{} is for searches, and one model is trained", row.name);
}

}  // namespace

void write_model_lines(ModelWriter& file, const Model& model) {
  pipeline::write_pipeline(file, model.pipeline());
  write_calibration(file, model.calibration());
  write_threshold(file, model.threshold());
  write_annotations(file, model.annotations());
  model.trained().write(file);
}

Model read_model_lines(ModelReader& reader, std::string_view family) {
  auto [pipeline, features] = pipeline::read_pipeline(reader);
  auto calibration = read_calibration(reader);
  const auto threshold = read_threshold(reader);
  auto annotations = read_annotations(reader);
  Model model(find_family(family)->read(reader));
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
  model.set_annotations(std::move(annotations));
  return model;
}

std::string format_model(const TrainedModel& model, ModelFile format) {
  if (format == ModelFile::sheaf) {
    TextSink text;
    write_model_file(text, model.family(), plain_model_version, [&](ModelWriter& file) { model.write(file); });
    return std::move(text.text);
  }
  if (model.peer_format() != format)
    fail_usage("{}'s model files hold no model of the family {}; take Sheaf's own format", program_of(format),
               model.family());
  return model.peer_text();
}

Model::Model() : trained_(model_kinds().front().options.family().empty_model()) {}
Model Model::parse(std::string_view text, const std::string& name) {
  if (text.starts_with(model_file_magic)) {
    ModelReader reader(name, without_checksum(text, name));
    return read_own(reader);
  }
  ModelReader reader(name, text);
  if (text.starts_with("sheaf-")) return read_own(reader);  // whose error explains it
  reader.skip_space();
  for (const auto* family : families())
    if (!family->peer_word().empty() && reader.peek() == family->peer_word()) return Model(family->read_peer(reader));
  reader.fail_here(fmt::format(
      "this is no model: it begins neither with {} nor, as LIBLINEAR's and LIBSVM's do, with solver_type or "
      "svm_type",
      model_file_magic));
}

Model Model::load(const std::string& path) {
  const TextSource source(path, silent_progress());
  return parse(source.text(), path);
}

namespace {

void write_own(const Model& model, Sink& to) {
  const int version = model.annotations().empty() ? plain_model_version : model_file_version;
  write_model_file(to, model.family(), version, [&](ModelWriter& file) { write_model_lines(file, model); });
}

}  // namespace

std::string Model::text(ModelFile format) const {
  if (format == ModelFile::sheaf) {
    TextSink text;
    write_own(*this, text);
    return std::move(text.text);
  }
  const auto program = program_of(format);
  if (!pipeline_.empty())
    fail_usage("{}'s model files hold no steps before the model, and this one has {}; take Sheaf's own format", program,
               pipeline_.steps.size());
  if (threshold_)
    fail_usage("{}'s model files hold no threshold, and this model has one; take Sheaf's own format", program);
  return format_model(*trained_, format);
}

/// Columns that datasets must have: the inputs of the pipeline or, without one, the features of training.
Pipeline Model::inputs() const {
  auto result = pipeline_;
  if (!pipeline_.empty()) return result;
  result.features = trained_->features();
  result.feature_names = trained_->feature_names();
  if (const auto* stack = get_if<StackModel>()) result.levels = stack->levels;
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

void Model::save(const std::string& path, ModelFile format) const {
  if (format != ModelFile::sheaf) return write_text_file(path, text(format));
  save_model(*this, path, Links::follow);
}

void save_model(const Model& model, const std::string& path, Links links) {
  const auto file = open_plain_file(path, links);
  write_own(model, *file);
  file->finish();
}

std::optional<std::string> Model::peer_text() const {
  const auto format = trained_->peer_format();
  if (!format) return std::nullopt;
  try {
    return text(*format);
  } catch (const Error&) {  // classes that are no integers, or one against the rest
    return std::nullopt;
  }
}

std::string_view Model::family() const { return trained_->family(); }
std::int64_t Model::features() const { return trained_->features(); }
const std::vector<std::string>& Model::class_names() const { return trained_->class_names(); }
std::vector<std::string> Model::target_names() const { return trained_->target_names(); }
bool Model::is_regression() const { return trained_->is_regression(); }
bool Model::has_probabilities() const { return calibration_ || trained_->has_probabilities(); }
std::vector<std::string> Model::warnings() const {
  auto result = training_warnings_;
  for (auto& warning : trained_->warnings()) result.push_back(std::move(warning));
  return result;
}

std::optional<Coefficients> Model::coefficients() const {
  auto result = trained_->coefficients();
  if (!result) return result;
  if (const auto scaling = final_scaling(pipeline_, features())) add_unscaled(*scaling, *result);
  return result;
}

std::vector<double> Model::class_decisions(const Predictions& predictions) const {
  if (class_names().size() != 2 || predictions.columns != 2) return trained_->class_decisions(predictions);
  std::vector<double> result;
  for (std::size_t i = 0; i + 1 < predictions.decisions.size(); i += 2)
    result.push_back(predictions.decisions[i] - predictions.decisions[i + 1]);
  return result;
}

template <class T>
Predictions Model::predict(const Context& context, const Dataset<T>& dataset, bool probabilities,
                           std::span<const double> offsets) const {
  if (trained_->has_precomputed_columns()) return trained_->predict(context, dataset, probabilities, offsets);
  std::vector<std::string> warnings;
  const bool is_stack = get_if<StackModel>() != nullptr;  // whose members find their features by themselves
  const auto aligned =                                    // whose memory the next one may borrow
      is_stack ? dataset.borrowed() : align_features(context, inputs(), dataset, warnings);
  const auto prepared = apply_pipeline(context, pipeline_, aligned);
  const auto chosen = context.for_work(prediction_work(prepared, *this));
  const bool own = probabilities && !calibration_;
  auto result = retry_in_less_memory(
      chosen, [&](const Context& where) { return trained_->predict(where, prepared, own, offsets); },
      [&](std::string note) { warnings.push_back(std::move(note)); });
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
  return trained_->score(predictions, target);
}

std::string Model::prediction_text(const Predictions& predictions, std::size_t row) const {
  return trained_->prediction_text(predictions, row);
}

namespace {

/// The rows that a selection looks at, and the others.
struct Halves {
  std::vector<std::int32_t> select, train;
};

template <class T>
Halves draw_halves(const Dataset<T>& dataset, double share, std::uint64_t seed) {
  const auto rows = dataset.rows();
  auto classes = std::vector<std::int32_t>(static_cast<std::size_t>(rows), 0);
  if (!dataset.target.classes.empty() && dataset.target.looks_like_classes()) classes = dataset.target.classes;
  SplitOptions how;
  how.kind = dataset.groups.empty() ? SplitKind::stratified_shuffle : SplitKind::group_shuffle;
  how.count = 1;
  how.test_fraction = 1 - share;
  how.seed = seed;
  Halves halves;
  halves.train = make_splits(rows, classes, dataset.groups, how).test_rows(0);
  std::vector<bool> trained(static_cast<std::size_t>(rows), false);
  for (const auto row : halves.train) trained[static_cast<std::size_t>(row)] = true;
  for (std::int32_t row = 0; row < rows; ++row)
    if (!trained[static_cast<std::size_t>(row)]) halves.select.push_back(row);
  return halves;
}

/// Numbers of some rows; those of one row, which may be several, stand side by side.
template <class Number>
std::vector<Number> numbers_of(std::span<const Number> numbers, std::span<const std::int32_t> rows, std::int64_t all) {
  const auto width = numbers.size() / static_cast<std::size_t>(all);
  std::vector<Number> result;
  for (const auto row : rows) {
    const auto own = numbers.subspan(static_cast<std::size_t>(row) * width, width);
    result.insert(result.end(), own.begin(), own.end());
  }
  return result;
}

/// Steps are learnt on some of the rows, and the model is trained on the others.
template <class T>
Model fit_halves(const Context& context, const Dataset<T>& dataset, ModelOptions options,
                 std::span<const float> row_weights, PipelineOptions pipeline) {
  const auto halves = draw_halves(dataset, pipeline.select_share, context.seed());
  pipeline.select_share = 1;
  const auto steps = learn_pipeline(context, take_rows(dataset, halves.select, context.threads()), pipeline);
  for (const auto& row : parameters_of(options)) {
    if (!row.vector || !row.vector->per_row) continue;
    const auto numbers = row.vector->get(options);
    if (!numbers.empty()) row.vector->set(options, numbers_of(std::span(numbers), halves.train, dataset.rows()));
  }
  const auto weights =
      row_weights.empty() ? std::vector<float>() : numbers_of(row_weights, halves.train, dataset.rows());
  const auto train = take_rows(dataset, halves.train, context.threads());
  auto model = fit(context, apply_pipeline(context, steps, train), options, weights);
  auto learnt = steps;
  describe_training(context, train, learnt);
  model.set_pipeline(std::move(learnt));
  model.take_annotations(dataset);
  return model;
}

}  // namespace

template <class T>
void Model::take_annotations(const Dataset<T>& dataset) {
  if (dataset.annotations.empty()) return;
  const auto weights = trained_->coefficients();
  if (!weights) return set_annotations(annotations_of(dataset));
  std::vector<std::string> used;
  const auto columns = weights->columns.size();
  for (std::size_t j = 0; j < weights->feature_names.size(); ++j) {
    const auto* own = weights->values.data() + j * columns;
    if (std::any_of(own, own + columns, [](double weight) { return weight != 0; }))
      used.push_back(weights->feature_names[j]);
  }
  set_annotations(used.empty() ? Annotations() : annotations_of(dataset, used));
}

void Model::withhold_tests() { find_family(family())->withhold_tests(*trained_); }

template <class T>
Model fit(const Context& context, const Dataset<T>& dataset, const ModelOptions& options,
          std::span<const float> given_weights, const PipelineOptions& given) {
  const auto& own_weights = dataset.row_columns.weights;
  if (!given_weights.empty() && !own_weights.empty())
    fail_usage("row weights are given both in a column (weight-column) and in a list; give one of them");
  const auto row_weights = given_weights.empty() ? std::span<const float>(own_weights) : given_weights;
  auto pipeline = given;
  decide_steps(dataset, options, pipeline);
  if (!pipeline.select.empty() && pipeline.select_share < 1)
    return fit_halves(context, dataset, options, row_weights, pipeline);
  Pipeline learnt;
  Dataset<T> prepared;
  const bool steps = needs_pipeline(dataset, pipeline);
  if (steps) {
    learnt = learn_pipeline(context, dataset, pipeline);
    prepared = apply_pipeline(context, learnt, dataset);
  }
  const auto& rows = steps ? prepared : dataset;
  const auto& family = options.family();
  check_fit_alone(options);
  const auto chosen = context.for_work(training_work(rows, options));
  check_magnitudes(context, rows);
  check_feature_memory(context, rows, family.numbers_per_feature() * std::int64_t{sizeof(double)},
                       "the numbers that training keeps");
  const auto decided = family.with_defaults(options, summary_of(rows, row_weights));
  // One process alone trains what a team cannot.
  const bool without_team = context.team() != nullptr && context.team()->size() == 1 && !family.shares_rows(decided);
  if (!without_team) check_rows_shared(context, decided);
  std::vector<std::string> warnings;
  Model model(retry_in_less_memory(
      without_team ? chosen.with({.team = nullptr}) : chosen,
      [&](const Context& where) { return family.train(where, rows, decided, row_weights); },
      [&](std::string note) { warnings.push_back(std::move(note)); }));
  for (auto& warning : warnings) model.add_training_warning(std::move(warning));
  describe_training(context, dataset, learnt);
  model.set_pipeline(std::move(learnt));
  if (!pipeline.select.empty()) model.withhold_tests();
  model.take_annotations(dataset);
  return model;
}

template void Model::take_annotations(const Dataset<float>&);
template void Model::take_annotations(const Dataset<double>&);
template Predictions Model::predict(const Context&, const Dataset<float>&, bool, std::span<const double>) const;
template Predictions Model::predict(const Context&, const Dataset<double>&, bool, std::span<const double>) const;
template Model fit(const Context&, const Dataset<float>&, const ModelOptions&, std::span<const float>,
                   const PipelineOptions&);
template Model fit(const Context&, const Dataset<double>&, const ModelOptions&, std::span<const float>,
                   const PipelineOptions&);

}  // namespace sheaf
